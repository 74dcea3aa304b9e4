"""Data by name or out of files: rows of 0 and 1, or of -1 and 1."""

from __future__ import annotations

import inspect
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.data import bars_and_stripes, digits, in_units, shifting_bars, split
from glasshouse.files.archive import opened_archive
from glasshouse.files.matrices import csv_numbers, npy_numbers
from glasshouse.files.streams import Source, format_suffix, opened
from glasshouse.problems.validation import SpinArray

_NAMES = ("data", "X", "x_train", "arr_0")  # of which an archive of several arrays has one


# What a name stands for, unless it is that of a file.
SETS = {
    "bars": shifting_bars,
    "stripes": bars_and_stripes,
    "digits": digits,
}


@dataclass(frozen=True)
class DataOptions:
    """All options of `glasshouse train` that say which rows are learnt, and which are held out.

    Commands are read into these fields, stores keep them, and reports write commands out of them.

    Attributes:
        width: units of bars.
        length: how many units of a bar are ones.
        side: pixels along the side of bars and stripes.
        threshold: the least value of a pixel of digits that counts as one.
        held_out: the fraction of the rows that is not learnt.

    >>> rows, kept = DataOptions(width=4, length=2, held_out=0.25).load("bars", seed=1)
    >>> rows.shape, kept.shape
    ((3, 4), (1, 4))
    """

    width: int | None = None
    length: int | None = None
    side: int | None = None
    threshold: int | None = None
    held_out: float | None = None

    def load(self, name: str, seed: int) -> tuple[SpinArray, SpinArray | None]:
        """The rows to learn, and those that are held out: drawn by the seed, None if not asked."""
        options = asdict(self)
        share = options.pop("held_out")
        rows = load_data(name, **options)
        return (rows, None) if share is None else split(rows, share, rng=seed)

    def given(self) -> dict[str, Any]:
        """The options that were given, in JSON's values."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def stored(cls, values: object) -> DataOptions:
        """The options that a store keeps; a ValueError if no command can have had them."""
        if not isinstance(values, dict) or not set(values) <= set(cls.__dataclass_fields__):
            raise ValueError(f"options of data are {values!r:.60}")
        for name, value in values.items():
            kinds = (int, float) if name == "held_out" else (int,)
            if isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value < 2**63:
                raise ValueError(f"options of data have {name}={value!r:.60}")
        return cls(**values)


def load_data(name: str, **options: Any) -> SpinArray:
    """The rows of bars, stripes or digits with their options, or those of a file.

    >>> load_data("bars", width=4, length=2).shape, load_data("stripes", side=2).shape
    ((4, 4), (6, 4))
    """
    make: Any = SETS.get(name, read_data)
    known = list(inspect.signature(make).parameters) if name in SETS else []
    given = {option: value for option, value in options.items() if value is not None}
    for option, value in given.items():
        if option not in known:
            takes = f"; it takes {', '.join(known)}" if known else ""
            raise ValueError(f"{option}={value} does not belong to {name}{takes}")
    if name in SETS:
        rows: SpinArray = make(
            **{key: value for key, value in options.items() if value is not None}
        )
        return rows
    if "." not in Path(name).name and not Path(name).exists():
        raise ValueError(f"{name!r} is none of {', '.join(SETS)}, and no such file")
    return read_data(name)


def read_data(path: str | Path) -> SpinArray:
    """The rows of a file, as 0 and 1.

    A `.csv` has one row per line, numbers with commas or blanks between them, and no header; a
    `.npy` one table; a `.npz` one table, alone or called data, X or x_train. `.gz` and `.xz` may
    follow. What is neither 0 and 1 nor -1 and 1 is refused: thresholds are the user's choice.

    Raises:
        FileError: anything is wrong with the file; the message names it.
    """
    readers = {".csv": csv_numbers, ".npy": npy_numbers, ".npz": _npz_numbers}
    with opened(path) as source:
        suffix = format_suffix(Path(path))
        if suffix not in readers:
            raise source.error(f"is not data; expected a name that ends in {', '.join(readers)}")
        numbers = readers[suffix](source)
        try:
            return in_units(numbers, "binary")
        except ValueError as fault:
            raise source.error(str(fault)) from None


def _npz_numbers(source: Source) -> npt.NDArray[np.number]:
    with opened_archive(source, "is not an .npz of data ({})") as archive:
        names = sorted(archive.names)
        found = names if len(names) == 1 else [name for name in _NAMES if name in archive]
        if len(found) != 1:
            raise source.error(
                f"has arrays {', '.join(names)[:100] or 'none'}; expected one, or one called "
                f"{', '.join(_NAMES[:-1])}"
            )
        return archive.numbers(found[0], 2)
