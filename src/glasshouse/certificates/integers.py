"""Exact integers of any size: int64 arrays if all fit, otherwise arrays of Python integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import INT64_MAX, validation

# Sums of magnitudes below this limit can be multiplied by four in int64.
ROOM = 2**61


def positive_numbers(values: npt.ArrayLike, count: int, what: str) -> npt.NDArray[Any]:
    """Check that there are `count` multipliers above 0; return them as a read-only array."""
    numbers = whole_numbers(values, "multipliers")
    if len(numbers) != count:
        raise ValueError(f"{count} {what}s need {count} multipliers, not {len(numbers)}")
    if len(numbers) and numbers.min() < 1:
        raise ValueError(
            f"multiplier {validation.shown(numbers.min())} must be above 0; remove the {what}"
        )
    return numbers


def whole_numbers(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """Return integers as a read-only array: int64, or Python integers if one exceeds 2^63-1."""
    array = np.asarray(values)
    if not array.size:
        array = array.astype(np.int64)
    if array.dtype == object and all(type(x) is int for x in array.flat):
        if max(map(abs, array.flat), default=0) > INT64_MAX:
            return validation.read_only(array)
        array = array.astype(np.int64)
    if array.dtype == np.uint64:
        return whole_numbers(array.astype(object), name)
    whole = validation.weights(array, name)
    if whole.dtype != np.int64:
        raise ValueError(f"{name} must be integers; put fractions over a common denominator")
    return whole


def exact_dot(numbers: npt.NDArray[Any], counts: npt.NDArray[Any]) -> int:
    """Return the exact sum Σ number · count, for numbers of any size and counts of at least 0."""
    if numbers.dtype != object and counts.dtype != object:
        size = float(np.abs(numbers).astype(np.float64) @ counts.astype(np.float64))
        if size < ROOM:
            return int(numbers @ counts)
    return sum(map(int.__mul__, numbers.tolist(), counts.tolist()))
