"""Data for RBMs: the small sets of the literature, files, and conversion to a machine's units.

Rows have 0 and 1, or -1 and 1.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.extras import optional
from glasshouse.files.formats.matrices import csv_numbers, npy_numbers
from glasshouse.files.text.archive import opened_archive
from glasshouse.files.text.streams import Source, format_suffix, opened
from glasshouse.problems import FloatArray, SpinArray, validation
from glasshouse.problems.elementary import logarithms
from glasshouse.problems.naming import Units as Units
from glasshouse.randomness import RngLike, Seed

LOW: dict[Units, int] = {"spin": -1, "binary": 0}
_NAMES = ("data", "X", "x_train", "arr_0")  # the array to read from an archive of several arrays


def as_units(values: npt.ArrayLike, width: int, units: Units, name: str) -> SpinArray:
    """Return states as values of the given units; raise if a value is neither of the two."""
    array = np.asarray(values)
    if array.ndim and array.shape[-1] != width:
        raise ValueError(f"{name} has {array.shape[-1]} columns, but the layer has {width} units")
    return np.ascontiguousarray(validation.states(values, width, (LOW[units], 1), name))


def shifting_bars(width: int = 9, length: int = 5) -> SpinArray:
    """Return a bar of ones at every position of a ring: one row per position, 0 and 1.

    The paper's data (section 7) are those of width 9 and length 5.

    >>> shifting_bars(4, 2).tolist()
    [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
    """
    width = validation.count(width, "width", 2)
    if not 1 <= validation.count(length, "length") < width:
        raise ValueError(f"length={length} is not from 1 to {width - 1}, below the width")
    places = (np.arange(width)[:, None] + np.arange(length)) % width
    rows = np.zeros((width, width), dtype=np.int8)
    np.put_along_axis(rows, places, 1, axis=1)
    return rows


def bars_and_stripes(side: int = 4) -> SpinArray:
    """Return all images of side × side pixels whose columns, or whose rows, have one colour each.

    One row per image, 0 and 1; the two images of one colour come once: 2^(side+1) - 2 in all.

    >>> len(bars_and_stripes(4)), bars_and_stripes(2)[1].tolist()
    (30, [1, 0, 1, 0])
    """
    side = validation.count(side, "side", 1)
    if side > 16:
        raise ValueError(f"side={side} has 2^{side + 1} images; use at most 16")
    codes = np.arange(1 << side)
    columns = ((codes[:, None] >> np.arange(side)) & 1).astype(np.int8)
    bars = np.repeat(columns[:, None, :], side, axis=1)
    stripes = bars.transpose(0, 2, 1)[1:-1]
    return np.concatenate([bars, stripes]).reshape(-1, side * side)


def digits(threshold: int = 8) -> SpinArray:
    """Return scikit-learn's 1797 handwritten digits of 8 × 8 pixels: 1 if a pixel is dark enough.

    Args:
        threshold: ones are the pixels from this value on, of 0 to 16.
    """
    if not 1 <= validation.count(threshold, "threshold") <= 16:
        raise ValueError(f"threshold={threshold} is not from 1 to 16, the values of a pixel")
    pixels: npt.NDArray[np.float64] = (
        optional("sklearn.datasets", "the data set of digits").load_digits().data
    )
    return (pixels >= threshold).astype(np.int8)


def split(data: npt.ArrayLike, held_out: float, rng: RngLike = None) -> tuple[SpinArray, SpinArray]:
    """Split rows at random into those to learn and those held out, each in their order.

    Args:
        data: one row per example.
        held_out: the share of rows that are not learnt, above 0 and below 1.
        rng: a seed, or whatever `numpy.random.default_rng` takes.

    >>> [len(part) for part in split(bars_and_stripes(4), 0.2, rng=1)]
    [24, 6]
    """
    rows = in_units(data, "binary")
    number = round(validation.share(held_out, "held_out") * len(rows))
    if not 0 < number < len(rows):
        raise ValueError(f"held_out={held_out} of {len(rows)} rows leaves one part empty")
    words = Seed.of(rng).sequence().generate_state(len(rows), np.uint64)
    is_held_out = np.zeros(len(rows), dtype=bool)
    is_held_out[np.argsort(words, kind="stable")[:number]] = True
    return rows[~is_held_out], rows[is_held_out]


def log_odds(rows: SpinArray, units: Units) -> FloatArray:
    """Return the biases with which independent units have the means of the rows.

    One more row of each kind is counted, against infinity.

    >>> log_odds(np.array([[0, 1], [0, 1], [0, 0]], dtype=np.int8), "binary").round(6).tolist()
    [-1.386294, 0.405465]
    """
    ups = (rows == 1).sum(axis=0) + 1.0
    return logarithms(ups / (len(rows) + 2.0 - ups)) / (1 - LOW[units])


def in_units(data: npt.ArrayLike, units: Units, name: str = "data") -> SpinArray:
    """Convert rows of 0 and 1, or of -1 and 1, to the values of the given units.

    Rows of ones alone are ones in both.

    Raises:
        ValueError: the rows do not form a table, or contain other values.

    >>> in_units([[0, 1]], "spin").tolist(), in_units([[-1, 1]], "binary").tolist()
    ([[-1, 1]], [[0, 1]])
    """
    array = np.asarray(data)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{name} has shape {array.shape}; expected a table, one row per example, not empty"
        )
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} has type {array.dtype}; expected numbers 0 and 1, or -1 and 1")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity; expected 0 and 1, or -1 and 1")
    is_up = array == 1
    lows = np.unique(array[~is_up])
    if lows.tolist() == [-1, 0]:
        raise ValueError(f"{name} mixes 0 and -1; expected 0 and 1, or -1 and 1")
    if len(lows) > 1 or (len(lows) and lows[0] not in (0, -1)):
        raise ValueError(
            f"{name} contains values other than 0 and 1, or -1 and 1, such as {lows[-1]}; "
            "threshold it first"
        )
    return np.where(is_up, 1, LOW[units]).astype(np.int8)


def entropy(rows: SpinArray) -> float:
    """Return the entropy of the distribution of the rows, in nats."""
    counts = np.unique(validation.rows(rows), axis=0, return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


# What a name stands for, unless it is that of a file.
SETS = {
    "bars": shifting_bars,
    "stripes": bars_and_stripes,
    "digits": digits,
}


def _sizes(name: str) -> dict[str, int]:
    """Return the size parameters that a data set accepts, in order, and their defaults."""
    make: Any = SETS[name]
    return {size: one.default for size, one in inspect.signature(make).parameters.items()}


@dataclass(frozen=True)
class DataOptions:
    """The options of `glasshouse train run` that choose the rows to learn and to hold out.

    Commands are read into these fields, stores keep them, and reports write commands out of them.

    Attributes:
        width: units of bars.
        length: how many units of a bar are ones.
        side: pixels along the side of bars and stripes.
        threshold: the least value of a pixel of digits that counts as one.
        held_out: the fraction of the rows that is not learnt.

    >>> DataOptions.of_name("bars:9x5")
    ('bars', DataOptions(width=9, length=5, side=None, threshold=None, held_out=None))
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
        """Return the rows to learn, and the held-out rows, drawn by the seed; None without any."""
        options = asdict(self)
        share = options.pop("held_out")
        rows = load_data(name, **options)
        return (rows, None) if share is None else split(rows, share, rng=seed)

    @classmethod
    def of_name(cls, name: str, held_out: float | None = None) -> tuple[str, DataOptions]:
        """Split names such as `bars:9x5` or `digits:8` into the data set's name and its options."""
        kind, _, sizes = name.partition(":")
        if kind not in SETS or kind == name:
            return name, cls(held_out=held_out)
        known, words = _sizes(kind), sizes.split("x")
        if len(words) != len(known) or not all(re.fullmatch("[0-9]{1,9}", word) for word in words):
            example = ":".join([kind, "x".join(str(value) for value in known.values())])
            form = "x".join(size.upper() for size in known)
            raise ValueError(f"{name!r} must be {kind}:{form}, such as {example}")
        return kind, cls(**dict(zip(known, map(int, words), strict=True)), held_out=held_out)

    def in_name(self, name: str) -> str:
        """Return the name of data with these options in it, as `of_name` reads it.

        >>> DataOptions(width=6).in_name("bars"), DataOptions().in_name("bars")
        ('bars:6x5', 'bars')
        """
        known = _sizes(name) if name in SETS else {}
        given = {size: getattr(self, size) for size in known if getattr(self, size) is not None}
        return ":".join([name, *(["x".join(map(str, (known | given).values()))] if given else [])])

    def given(self) -> dict[str, Any]:
        """Return the given options, as JSON values."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def stored(cls, values: object) -> DataOptions:
        """Return the options in a store; raise a ValueError if no command can have had them."""
        if not isinstance(values, dict) or not set(values) <= set(cls.__dataclass_fields__):
            raise ValueError(f"options of data are {values!r:.60}")
        for name, value in values.items():
            kinds = (int, float) if name == "held_out" else (int,)
            if isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value < 2**63:
                raise ValueError(f"options of data have {name}={value!r:.60}")
        return cls(**values)


def load_data(name: str, **options: Any) -> SpinArray:
    """Return the rows of bars, stripes or digits with their options, or those of a file.

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
        rows: SpinArray = make(**given)
        return rows
    if "." not in Path(name).name and not Path(name).exists():
        raise ValueError(f"{name!r} is neither one of {', '.join(SETS)} nor a file")
    return read_data(name)


def read_data(path: str | Path) -> SpinArray:
    """Read the rows of a file, as 0 and 1.

    A `.csv` has one row per line, numbers separated by commas or spaces, and no header; a
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
                f"has arrays {', '.join(names)[:100] or 'none'}; expected one array, or one named "
                f"{', '.join(_NAMES[:-1])}"
            )
        return archive.numbers(found[0], 2)
