"""Edges in compressed rows: which edges meet at a node, and where they lead."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import zeros


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
    starts = zeros(num_nodes + 1, np.int64)
    for k in range(edges.shape[0]):
        starts[edges[k, 0] + 1] += 1
        starts[edges[k, 1] + 1] += 1
    for v in range(num_nodes):
        starts[v + 1] += starts[v]
    size = 2 * edges.shape[0]
    neighbours, edge_ids, ends = (
        zeros(size, np.int32),
        zeros(size, np.int32),
        zeros(num_nodes, np.int64),
    )
    for v in range(num_nodes):  # by hand: Numba compiles for seconds to assign a slice
        ends[v] = starts[v]
    is_ascending = True  # as rows are if edges are sorted, the lower end first
    for half in range(size):
        tail, head = edges[half >> 1, half & 1], edges[half >> 1, 1 - (half & 1)]
        place = ends[tail]
        is_ascending &= place == starts[tail] or neighbours[place - 1] <= head
        neighbours[place], edge_ids[place] = head, half >> 1
        ends[tail] = place + 1
    if not is_ascending:
        sort_rows(starts, edges, neighbours, edge_ids)
    return starts, neighbours, edge_ids


@inner
def sort_rows(starts: Any, edges: Any, neighbours: Any, edge_ids: Any) -> None:
    """Sort by the node that an edge leads to, then, keeping that order, by where it comes from."""
    by_head, ends = zeros(neighbours.size, np.int64), zeros(starts.size, np.int64)
    for turn in range(2):
        for v in range(starts.size):
            ends[v] = starts[v]
        for k in range(neighbours.size):
            half = by_head[k] if turn else k
            head = edges[half >> 1, 1 - (half & 1)] if turn else edges[half >> 1, half & 1]
            place = ends[head]
            ends[head] = place + 1
            if turn:
                neighbours[place], edge_ids[place] = edges[half >> 1, half & 1], half >> 1
            else:
                by_head[place] = half
