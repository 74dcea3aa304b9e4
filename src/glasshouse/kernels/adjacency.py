"""Edges in compressed rows: which edges meet at a node, and where they lead."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled
from glasshouse.kernels.arrays import zeros32, zeros64


class Adjacency(NamedTuple):
    """The neighbours of node v stand from `starts[v]` to `starts[v + 1]` - 1, ascending.

    Each edge stands in the rows of both its ends.
    """

    starts: npt.NDArray[np.int64]
    neighbours: npt.NDArray[np.int32]
    edge_ids: npt.NDArray[np.int32]  # the edge that leads to each neighbour


def adjacency(num_nodes: int, edges: npt.NDArray[Any]) -> Adjacency:
    """The rows of a graph given by its edges, in any order; parallel ones keep theirs.

    >>> adjacency(3, np.array([(1, 2), (0, 2)])).neighbours
    array([2, 2, 0, 1], dtype=int32)
    """
    # A copy: arrays that cannot be written are another type to Numba, compiled once more.
    return Adjacency(*fill_rows(num_nodes, np.array(edges, dtype=np.int32, order="C")))


@compiled
def fill_rows(num_nodes: Any, edges: Any) -> Any:
    """The three arrays of an adjacency."""
    starts = zeros64(num_nodes + 1)
    for k in range(edges.shape[0]):
        starts[edges[k, 0] + 1] += 1
        starts[edges[k, 1] + 1] += 1
    for v in range(num_nodes):
        starts[v + 1] += starts[v]
    # Sorted by the node that an edge leads to, then, keeping that order, by where it comes from.
    size = 2 * edges.shape[0]
    by_head = zeros64(size)
    ends = starts.copy()
    for half in range(size):
        head = edges[half >> 1, half & 1]
        by_head[ends[head]] = half
        ends[head] += 1
    neighbours, edge_ids = zeros32(size), zeros32(size)
    for v in range(num_nodes):  # by hand: Numba compiles for seconds to assign a slice
        ends[v] = starts[v]
    for half in by_head:
        tail = edges[half >> 1, 1 - (half & 1)]
        neighbours[ends[tail]] = edges[half >> 1, half & 1]
        edge_ids[ends[tail]] = half >> 1
        ends[tail] += 1
    return starts, neighbours, edge_ids
