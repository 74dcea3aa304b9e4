"""What RBMs learn: small sets that the literature uses, and anybody's own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.units import LOW, Units
from glasshouse.extras import optional
from glasshouse.problems import validation
from glasshouse.problems.validation import SpinArray
from glasshouse.randomness import RngLike, Seed


def shifting_bars(width: int = 9, length: int = 5) -> SpinArray:
    """A bar of ones at every place of a ring: one row per place, 0 and 1.

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
    """All images of side × side pixels whose columns, or whose rows, are of one colour each.

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
    """Scikit-learn's 1797 handwritten digits of 8 × 8 pixels: 1 where a pixel is dark enough.

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
    """Rows to learn and rows that are held out, drawn at random, each in their order.

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


def in_units(data: npt.ArrayLike, units: Units, name: str = "data") -> SpinArray:
    """Rows of 0 and 1, or of -1 and 1, in the values of some units.

    Rows of ones alone are ones in both.

    Raises:
        ValueError: they are no table, or hold other values than two of these.

    >>> in_units([[0, 1]], "spin").tolist(), in_units([[-1, 1]], "binary").tolist()
    ([[-1, 1]], [[0, 1]])
    """
    array = np.asarray(data)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{name} has shape {array.shape}; expected a table, one row per example, not empty"
        )
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} holds {array.dtype}; expected numbers 0 and 1, or -1 and 1")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinity; expected 0 and 1, or -1 and 1")
    is_up = array == 1
    lows = np.unique(array[~is_up])
    if lows.tolist() == [-1, 0]:
        raise ValueError(f"{name} mixes 0 and -1; expected 0 and 1, or -1 and 1")
    if len(lows) > 1 or (len(lows) and lows[0] not in (0, -1)):
        raise ValueError(
            f"{name} holds other values than 0 and 1, or -1 and 1, such as {lows[-1]}; "
            "threshold it first"
        )
    return np.where(is_up, 1, LOW[units]).astype(np.int8)


def entropy(rows: SpinArray) -> float:
    """Of the distribution that the rows are all of, in nats."""
    counts = np.unique(validation.rows(rows), axis=0, return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())
