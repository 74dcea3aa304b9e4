"""Exact sums of the amounts on repeated edges, in linear time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import kernels
from glasshouse.problems import IntArray

EdgeArray = npt.NDArray[np.int32]


def grouped(edges: npt.NDArray[Any], size: int) -> tuple[IntArray, IntArray]:
    """Return an order that groups equal edges, and the start of each group in it.

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
    """Add up the amounts of equal edges; return sorted edges i < j with nonzero sums, and the sums.

    Amounts are Python integers, or int64 whose sums the caller has shown to fit.

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
