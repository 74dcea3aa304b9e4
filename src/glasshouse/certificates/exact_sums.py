"""Exact integers of any size, and their sums on repeated edges, in linear time.

Integers are int64 arrays if all fit, otherwise arrays of Python integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import kernels
from glasshouse.problems import INT64_MAX, IntArray, validation

EdgeArray = npt.NDArray[np.int32]

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


def grouped(edges: npt.NDArray[Any], size: int) -> tuple[IntArray, IntArray]:
    """Return an order that groups equal edges, and the start of each group in this order.

    Args:
        edges: (k, 2) array of nodes in [0, size), each pair in either order.
        size: the number of nodes.
    """
    low, high = ends_of(edges)
    order: IntArray = kernels.order_by_edge(low, high, size)
    low, high = low[order], high[order]
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    return order, np.flatnonzero(is_first)


def summed(
    edges: npt.NDArray[Any], amounts: npt.NDArray[Any], size: int
) -> tuple[EdgeArray, npt.NDArray[Any]]:
    """Add up the weights of equal edges; return sorted edges i < j with nonzero sums, and the sums.

    The weights (`amounts`) are Python integers, or int64 whose sums the caller has shown to fit.

    >>> summed(np.array([[2, 0], [0, 1], [0, 2]]), np.array([3, 1, 4]), 3)
    (array([[0, 1], [0, 2]], dtype=int32), array([1, 7]))
    """
    if not len(edges):
        return np.empty((0, 2), dtype=np.int32), amounts
    if amounts.dtype == np.int64:
        whole: tuple[EdgeArray, IntArray] = kernels.sum_by_edge(*ends_of(edges), amounts, size)
        return whole
    order, starts = grouped(edges, size)
    sums = np.add.reduceat(amounts[order], starts)
    kept = (sums != 0).astype(np.bool_)
    return np.column_stack(ends_of(edges[order[starts[kept]]])), sums[kept]


def ends_of(edges: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the lower and the higher end of each edge."""
    first, second = edges[:, 0].astype(np.int32), edges[:, 1].astype(np.int32)
    return np.minimum(first, second), np.maximum(first, second)
