"""Data for RBMs: small standard data sets, data files, and conversion to an RBM's units.

Rows contain 0 and 1, or -1 and 1.
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
    """Check that states contain only the two values of the units, and return them as int8."""
    array = np.asarray(values)
    if array.ndim and array.shape[-1] != width:
        raise ValueError(f"{name} has {array.shape[-1]} columns; expected {width}, one per unit")
    return np.ascontiguousarray(validation.states(values, width, (LOW[units], 1), name))


def shifting_bars(width: int = 9, length: int = 5) -> SpinArray:
    """Return one row for each position of a bar of ones on a ring of zeros.

    The paper (section 7) uses width 9 and length 5.

    >>> shifting_bars(4, 2).tolist()
    [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
    """
    width = validation.count(width, "width", 2)
    if not 1 <= validation.count(length, "length") < width:
        raise ValueError(f"length={length} must be from 1 to {width - 1}, one less than the width")
    places = (np.arange(width)[:, None] + np.arange(length)) % width
    rows = np.zeros((width, width), dtype=np.int8)
    np.put_along_axis(rows, places, 1, axis=1)
    return rows


def bars_and_stripes(side: int = 4) -> SpinArray:
    """Return all side × side images in which every row, or every column, has a single colour.

    Each row is an image of 0 and 1. Images of one colour occur once: there are 2^(side+1) - 2 rows.

    >>> len(bars_and_stripes(4)), bars_and_stripes(2)[1].tolist()
    (30, [1, 0, 1, 0])
    """
    side = validation.count(side, "side", 1)
    if side > 16:
        raise ValueError(f"side={side} gives 2^{side + 1} images; use a side of at most 16")
    codes = np.arange(1 << side)
    columns = ((codes[:, None] >> np.arange(side)) & 1).astype(np.int8)
    bars = np.repeat(columns[:, None, :], side, axis=1)
    stripes = bars.transpose(0, 2, 1)[1:-1]
    return np.concatenate([bars, stripes]).reshape(-1, side * side)


def digits(threshold: int = 8) -> SpinArray:
    """Return scikit-learn's 1797 images of handwritten digits as rows of 64 binary pixels.

    Args:
        threshold: the lowest pixel value, of 0 to 16, that becomes 1.
    """
    if not 1 <= validation.count(threshold, "threshold") <= 16:
        raise ValueError(f"threshold={threshold} must be from 1 to 16, the largest pixel value")
    pixels: npt.NDArray[np.float64] = (
        optional("sklearn.datasets", "the data set of digits").load_digits().data
    )
    return (pixels >= threshold).astype(np.int8)


def split(data: npt.ArrayLike, held_out: float, rng: RngLike = None) -> tuple[SpinArray, SpinArray]:
    """Randomly split rows into training rows and held-out rows.

    Args:
        data: one row per example; both parts keep the order of the rows.
        held_out: the fraction of the rows to hold out, above 0 and below 1.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> [len(part) for part in split(bars_and_stripes(4), 0.2, rng=1)]
    [24, 6]
    """
    rows = in_units(data, "binary")
    number = round(validation.share(held_out, "held_out") * len(rows))
    if not 0 < number < len(rows):
        raise ValueError(
            f"held_out={held_out} of {len(rows)} rows leaves no training rows or no held-out rows; "
            "use a fraction such as 0.5"
        )
    words = Seed.of(rng).sequence().generate_state(len(rows), np.uint64)
    is_held_out = np.zeros(len(rows), dtype=bool)
    is_held_out[np.argsort(words, kind="stable")[:number]] = True
    return rows[~is_held_out], rows[is_held_out]


def log_odds(rows: SpinArray, units: Units) -> FloatArray:
    """Return biases for which independent units have the same means as the data columns.

    Each value is counted once more than it occurs, so that all biases are finite.

    >>> log_odds(np.array([[0, 1], [0, 1], [0, 0]], dtype=np.int8), "binary").round(6).tolist()
    [-1.386294, 0.405465]
    """
    ups = (rows == 1).sum(axis=0) + 1.0
    return logarithms(ups / (len(rows) + 2.0 - ups)) / (1 - LOW[units])


def in_units(data: npt.ArrayLike, units: Units, name: str = "data") -> SpinArray:
    """Convert rows of 0 and 1, or of -1 and 1, to the values of the given units.

    Rows that contain only ones do not change.

    Raises:
        ValueError: the rows do not form a table, or contain other values.

    >>> in_units([[0, 1]], "spin").tolist(), in_units([[-1, 1]], "binary").tolist()
    ([[-1, 1]], [[0, 1]])
    """
    array = np.asarray(data)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{name} has shape {array.shape}; expected a non-empty table, one row per example"
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
    """Return the entropy of the empirical distribution of the rows, in nats."""
    counts = np.unique(validation.rows(rows), axis=0, return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


# The data sets by name; any other name is that of a file.
SETS = {
    "bars": shifting_bars,
    "stripes": bars_and_stripes,
    "digits": digits,
}


def _sizes(name: str) -> dict[str, int]:
    """Return the default parameters of the function that generates a data set."""
    make: Any = SETS[name]
    return {size: one.default for size, one in inspect.signature(make).parameters.items()}


@dataclass(frozen=True)
class DataOptions:
    """The options of `glasshouse train run` that select the training and held-out rows.

    Commands set these fields, stores keep them, and reports rebuild commands from them.

    Attributes:
        width: the number of units of `bars`.
        length: the number of ones in a bar.
        side: the side of an image of `stripes`, in pixels.
        threshold: the lowest pixel value of `digits` that becomes 1.
        held_out: the fraction of the rows that are held out.

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
        """Load the data set `name`; return its training rows, and its held-out rows or None."""
        options = asdict(self)
        share = options.pop("held_out")
        rows = load_data(name, **options)
        return (rows, None) if share is None else split(rows, share, rng=seed)

    @classmethod
    def of_name(cls, name: str, held_out: float | None = None) -> tuple[str, DataOptions]:
        """Parse a name such as `bars:9x5` or `digits:8` into a data set's name and options."""
        kind, _, sizes = name.partition(":")
        if kind not in SETS or kind == name:
            return name, cls(held_out=held_out)
        known, words = _sizes(kind), sizes.split("x")
        if len(words) != len(known) or not all(re.fullmatch("[0-9]{1,9}", word) for word in words):
            example = ":".join([kind, "x".join(str(value) for value in known.values())])
            form = "x".join(size.upper() for size in known)
            raise ValueError(f"{name!r} must have the form {kind}:{form}, such as {example}")
        return kind, cls(**dict(zip(known, map(int, words), strict=True)), held_out=held_out)

    def in_name(self, name: str) -> str:
        """Return a data set's name and these options, in the form that `of_name` parses.

        >>> DataOptions(width=6).in_name("bars"), DataOptions().in_name("bars")
        ('bars:6x5', 'bars')
        """
        known = _sizes(name) if name in SETS else {}
        given = {size: getattr(self, size) for size in known if getattr(self, size) is not None}
        return ":".join([name, *(["x".join(map(str, (known | given).values()))] if given else [])])

    def given(self) -> dict[str, Any]:
        """Return the options that are set, as JSON values."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def stored(cls, values: object) -> DataOptions:
        """Check and return options that were read from a store."""
        if not isinstance(values, dict) or not set(values) <= set(cls.__dataclass_fields__):
            raise ValueError(f"data_options={values!r:.60} must be an object with known options")
        for name, value in values.items():
            kinds = (int, float) if name == "held_out" else (int,)
            if isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value < 2**63:
                raise ValueError(f"data_options contain {name}={value!r:.60}, which is invalid")
        return cls(**values)


def load_data(name: str, **options: Any) -> SpinArray:
    """Return the rows of a standard data set (bars, stripes or digits) or of a file.

    >>> load_data("bars", width=4, length=2).shape, load_data("stripes", side=2).shape
    ((4, 4), (6, 4))
    """
    make: Any = SETS.get(name, read_data)
    known = list(inspect.signature(make).parameters) if name in SETS else []
    given = {option: value for option, value in options.items() if value is not None}
    for option, value in given.items():
        if option not in known:
            takes = f"; use only {', '.join(known)}" if known else "; remove it"
            raise ValueError(f"{option}={value} is not an option of {name}{takes}")
    if name in SETS:
        rows: SpinArray = make(**given)
        return rows
    if "." not in Path(name).name and not Path(name).exists():
        raise ValueError(f"{name!r} is neither one of {', '.join(SETS)} nor an existing file")
    return read_data(name)


def read_data(path: str | Path) -> SpinArray:
    """Read the rows of a data file as 0 and 1.

    A `.csv` file has one row per line, numbers separated by commas or spaces, and no header. A
    `.npy` file has one table. An `.npz` file has a single table, or one named data, X or x_train.
    Names may also end in `.gz` or `.xz`. Values must be 0 and 1, or -1 and 1.

    Raises:
        FileError: the file cannot be read, or does not contain such rows.
    """
    readers = {".csv": csv_numbers, ".npy": npy_numbers, ".npz": _npz_numbers}
    with opened(path) as source:
        suffix = format_suffix(Path(path))
        if suffix not in readers:
            raise source.error(f"is not a data file; its name must end in {' or '.join(readers)}")
        numbers = readers[suffix](source)
        try:
            return in_units(numbers, "binary")
        except ValueError as fault:
            raise source.error(str(fault)) from None


def _npz_numbers(source: Source) -> npt.NDArray[np.number]:
    with opened_archive(source, "is not an .npz file of data ({})") as archive:
        names = sorted(archive.names)
        found = names if len(names) == 1 else [name for name in _NAMES if name in archive]
        if len(found) != 1:
            raise source.error(
                f"has the arrays {', '.join(names)[:100] or '(none)'}; expected a single array, "
                f"or one named {' or '.join(_NAMES[:-1])}"
            )
        return archive.numbers(found[0], 2)
