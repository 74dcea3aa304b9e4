"""Adjacency of graphs in compressed rows (CSR): the neighbours and the edges of each node."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled
from glasshouse.kernels.arrays import zeros


class Adjacency(NamedTuple):
    """A graph in compressed rows: the row of a node lists its neighbours in ascending order.

    Row v is at indices `starts[v]` to `starts[v + 1]` - 1. Each edge is in the rows of both ends.
    """

    starts: npt.NDArray[np.int64]
    neighbours: npt.NDArray[np.int32]
    edge_ids: npt.NDArray[np.int32]  # the edge that leads to each neighbour


def adjacency(num_nodes: int, edges: npt.NDArray[Any]) -> Adjacency:
    """Return the adjacency of a graph, given its edges in any order.

    >>> adjacency(3, np.array([(1, 2), (0, 2)])).neighbours
    array([2, 2, 0, 1], dtype=int32)
    """
    # A copy, because Numba would compile the kernel again for arrays that cannot be written.
    ends = np.array(edges, dtype=np.int32, order="C").reshape(-1)
    starts, neighbours, edge_ids, is_ascending = fill_rows(num_nodes, ends)
    if not is_ascending:
        sort_rows(starts, ends, neighbours, edge_ids)
    return Adjacency(starts, neighbours, edge_ids)


@compiled
def fill_rows(num_nodes: Any, ends: Any) -> Any:
    """Return the three arrays of an adjacency, and whether its rows are already sorted.

    `ends` contains the two ends of each edge in turn. An index `half` of an end is half of an edge;
    the other half is `half ^ 1`.
    """
    starts, filled = zeros(num_nodes + 1, np.int64), zeros(num_nodes, np.int64)
    for half in range(ends.size):
        starts[ends[half] + 1] += 1
    for v in range(num_nodes):
        starts[v + 1] += starts[v]
        filled[v] = starts[v]
    neighbours, edge_ids = zeros(ends.size, np.int32), zeros(ends.size, np.int32)
    is_ascending = True  # rows are ascending if edges are sorted, the lower end first
    for half in range(ends.size):
        tail, head = ends[half], ends[half ^ 1]
        place = filled[tail]
        is_ascending &= place == starts[tail] or neighbours[place - 1] <= head
        neighbours[place], edge_ids[place] = head, half >> 1
        filled[tail] = place + 1
    return starts, neighbours, edge_ids, is_ascending


@compiled
def sort_rows(starts: Any, ends: Any, neighbours: Any, edge_ids: Any) -> None:
    """Sort every row of an adjacency by neighbour, with two stable sorts."""
    by_head, filled = zeros(ends.size, np.int64), zeros(starts.size, np.int64)
    for turn in range(2):
        for v in range(starts.size):
            filled[v] = starts[v]
        for k in range(ends.size):
            half = by_head[k] if turn else k
            node = ends[half ^ turn]
            place = filled[node]
            filled[node] = place + 1
            if turn:
                neighbours[place], edge_ids[place] = ends[half], half >> 1
            else:
                by_head[place] = half
