"""Whole numbers of any type from binary files, checked before anything computes with them.

Differences and casts of such numbers wrap around silently, and compiled code trusts them as places
in memory. They are therefore compared, as Python integers where types differ, and only then cast.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import IntArray


def whole_between(array: npt.NDArray[Any], least: int, most: int, what: str) -> IntArray:
    """A flat array of whole numbers from `least` to `most`, as int64.

    Raises:
        ValueError: it is of another shape or type, or a number lies outside.

    >>> whole_between(np.array([2, 2**64 - 1], dtype=np.uint64), 0, 9, "a place")
    Traceback (most recent call last):
    ...
    ValueError: a place is 18446744073709551615; expected 0 to 9
    """
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{what} should be one of a list of whole numbers, not {array.dtype} of shape "
            f"{array.shape}"
        )
    if array.size:
        for extreme in (int(array.min()), int(array.max())):
            if not least <= extreme <= most:
                raise ValueError(f"{what} is {extreme}; expected {least} to {most}")
    return array.astype(np.int64, copy=False)


def bounds_of(array: npt.NDArray[Any], end: int, what: str) -> IntArray:
    """Where parts of a list begin and the last one ends: ascending from 0 to `end`.

    Raises:
        ValueError: they do not.
    """
    bounds = whole_between(array, 0, end, what)
    if not bounds.size or bounds[0] != 0 or bounds[-1] != end:
        raise ValueError(f"{what} should run from 0 to {end}")
    if (bounds[1:] < bounds[:-1]).any():
        raise ValueError(f"{what} is below the one before; expected ascending ones")
    return bounds
