"""Residual energy over time: the expected best of k reads, and the median over instances."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.summaries import Summarised

Floats = npt.NDArray[np.float64]

_TIMES = 48  # points of a curve over all instances


@dataclass(frozen=True, eq=False, repr=False)
class ResidualCurve(Summarised):
    """The expected energy per spin above the target, over elapsed seconds.

    Attributes:
        seconds: elapsed times, in ascending order.
        residual: the expected residual energy per spin of the best read until each time.
    """

    seconds: Floats
    residual: Floats


def best_of(values: npt.ArrayLike, numbers: npt.ArrayLike) -> Floats:
    """Return the expected minimum of k values, drawn without replacement, for each k in `numbers`.

    The probability that none of the i least values is drawn is C(n-i, k)/C(n, k). It is a product
    of i factors, so nothing is sampled and nothing overflows.

    >>> best_of([1.0, 2.0, 6.0], [1, 2, 3])
    array([3.        , 1.33333333, 1.        ])
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    size, places = len(ordered), np.arange(len(ordered))
    steps = np.diff(ordered, prepend=0.0)
    found = []
    for k in np.asarray(numbers).tolist():
        if not 1 <= k <= size:
            raise ValueError(f"the best of {k} values cannot be computed from {size} values")
        chances = np.cumprod(np.maximum(size - places - k, 0) / (size - places))
        found.append(ordered[0] + float(steps[1:] @ chances[:-1]))
    return np.array(found)


def doubling(most: int) -> npt.NDArray[np.int64]:
    """Return the powers of two below `most`, followed by `most`; empty if `most` is 0."""
    return np.unique([*(2**j for j in range(most.bit_length())), most][: None if most else 0])


def median_curve(curves: list[ResidualCurve]) -> ResidualCurve:
    """Return the median of curves at common times; it begins when half of the curves have begun."""
    begun = [one for one in curves if len(one.seconds)]
    if 2 * len(begun) < len(curves):
        return ResidualCurve(np.empty(0), np.empty(0))
    first, last = min(one.seconds[0] for one in begun), max(one.seconds[-1] for one in begun)
    times: Floats = np.geomspace(first, last, _TIMES, dtype=np.float64)
    heights = np.full((len(curves), _TIMES), math.inf)
    for row, one in zip(heights, begun, strict=False):
        reached = np.searchsorted(one.seconds, times * (1 + 1e-9), side="right") - 1
        row[reached >= 0] = one.residual[reached[reached >= 0]]
    middle = np.sort(heights, axis=0)[(len(heights) - 1) // 2]
    has_begun = np.isfinite(middle)
    return ResidualCurve(times[has_begun], middle[has_begun])
