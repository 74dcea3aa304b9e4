"""Clauses and blocks of posiform planting."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled
from glasshouse.kernels.arrays import zeros
from glasshouse.kernels.xoshiro import below

BOTH, ONE = 0, 1  # literals of a clause that the planted state makes true


@compiled
def draw_edge_clauses(stream: Any, size: Any, edges: Any, clauses: Any) -> None:
    """Fill rows (i, j, kind) with clauses on random edges; on any two of all nodes without edges.

    Each of the three clauses of an edge that the planted state satisfies is equally likely: both
    literals true (i < j), or that of i alone.
    """
    for row in clauses:
        if len(edges):
            k = below(stream, len(edges))
            i, j = edges[k, 0], edges[k, 1]
        else:
            i, j = below(stream, size), below(stream, size - 1)
            j += 1 if j >= i else 0
            i, j = min(i, j), max(i, j)
        kind = below(stream, 3)
        row[0], row[1], row[2] = (j, i, ONE) if kind == 2 else (i, j, kind)


@compiled
def draw_coefficients(stream: Any, most: Any, values: Any) -> None:
    """Fill an int64 array with uniform numbers from 1 to `most`."""
    for k in range(len(values)):
        values[k] = 1 + below(stream, most)


@compiled
def grow_blocks(starts: Any, neighbours: Any, most: Any) -> Any:
    """The block of each node: up to `most` nodes, breadth first among those not taken yet."""
    size = len(starts) - 1
    blocks = zeros(size, np.int32)
    queue = zeros(size, np.int32)
    number, done = 0, 0
    for root in range(size):
        if blocks[root]:
            continue
        number += 1
        first, last, full = done, done + 1, done + most
        queue[first], blocks[root] = root, number
        while first < last:
            node = queue[first]
            first += 1
            for at in range(starts[node], starts[node + 1]):
                other = neighbours[at]
                if not blocks[other] and last < full:
                    blocks[other] = number
                    queue[last] = other
                    last += 1
        done = last
    return blocks
