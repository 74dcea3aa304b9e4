"""Sums over loops in linear time: validity of cycles, weights edge by edge, what a proof leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled

# What can be wrong with a list of cycles; `find_bad_cycle` returns one of these and where.
FINE, TOO_SHORT, REPEATED = 0, 1, 2


@compiled
def find_bad_cycle(nodes: Any, starts: Any, size: int) -> Any:
    """The first cycle that is shorter than 3 or visits a node twice; nodes lie in [0, size)."""
    last_visit = np.full(size, -1, np.int64)
    for loop in range(starts.size - 1):
        if starts[loop + 1] - starts[loop] < 3:
            return TOO_SHORT, loop
        for k in range(starts[loop], starts[loop + 1]):
            node = nodes[k]
            if last_visit[node] == loop:
                return REPEATED, loop
            last_visit[node] = loop
    return FINE, -1


@compiled
def find_bad_weights(starts: Any, weights: Any) -> int:
    """The first loop whose last weight is positive or outweighs another one; -1 if none does."""
    for loop in range(starts.size - 1):
        end = starts[loop + 1] - 1
        if weights[end] > 0:
            return loop
        for k in range(starts[loop], end):
            if weights[k] <= 0 or weights[k] < -weights[end]:
                return loop
    return -1


@compiled
def sum_edges(nodes: Any, starts: Any, weights: Any, size: int) -> Any:
    """Add up the weights of all loops' edges; edges i < j ascending, zeros dropped.

    Two stable counting sorts, first by the larger end, then by the smaller: linear in nodes and
    edges. The caller has made sure that no sum leaves int64.
    """
    length = nodes.size
    low, high = np.empty(length, np.int32), np.empty(length, np.int32)
    low_places, high_places = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    for loop in range(starts.size - 1):
        first, end = starts[loop], starts[loop + 1] - 1
        for k in range(first, end + 1):
            a, b = nodes[k], nodes[first if k == end else k + 1]
            low[k], high[k] = min(a, b), max(a, b)
            low_places[low[k] + 1] += 1
            high_places[high[k] + 1] += 1
    for node in range(size):
        low_places[node + 1] += low_places[node]
        high_places[node + 1] += high_places[node]
    by_high = np.empty(length, np.int64)
    for k in range(length):
        by_high[high_places[high[k]]] = k
        high_places[high[k]] += 1
    order = np.empty(length, np.int64)
    for k in by_high:
        order[low_places[low[k]]] = k
        low_places[low[k]] += 1

    edges, sums = np.empty((length, 2), np.int32), np.empty(length, np.int64)
    count, k = 0, 0
    while k < length:
        a, b = low[order[k]], high[order[k]]
        total = np.int64(0)
        while k < length and low[order[k]] == a and high[order[k]] == b:
            total += weights[order[k]]
            k += 1
        if total != 0:
            edges[count, 0], edges[count, 1], sums[count] = a, b, total
            count += 1
    return edges[:count].copy(), sums[:count].copy()


@compiled
def add_to_matrix(
    nodes: Any, starts: Any, weights: Any, spins: Any, matrix: Any, biases: Any
) -> None:
    """Add all loops to a weight matrix and its biases, turned from all up to `spins`.

    Nodes are rows, then columns, then the ghost. A loop of a bipartite problem alternates.
    """
    rows, ghost = matrix.shape[0], biases.size
    for loop in range(starts.size - 1):
        first, end = starts[loop], starts[loop + 1] - 1
        for k in range(first, end + 1):
            a, b = nodes[k], nodes[first if k == end else k + 1]
            low, high = min(a, b), max(a, b)
            if high == ghost:
                biases[low] += weights[k] * spins[low]
            else:
                matrix[low, high - rows] += weights[k] * spins[low] * spins[high]


@compiled
def negative_rest(edges: Any, weights: Any, other_edges: Any, other_weights: Any) -> Any:
    """Sum of |R| over the edges where R = weights - other weights is negative.

    Both lists are ascending; an edge that one of them lacks weighs nothing there.
    """
    total = np.int64(0)
    j = 0
    for i in range(weights.size + 1):
        while j < other_weights.size and (
            i == weights.size
            or other_edges[j, 0] < edges[i, 0]
            or (other_edges[j, 0] == edges[i, 0] and other_edges[j, 1] < edges[i, 1])
        ):
            total += max(np.int64(0), other_weights[j])
            j += 1
        if i == weights.size:
            break
        rest = weights[i]
        if (
            j < other_weights.size
            and other_edges[j, 0] == edges[i, 0]
            and other_edges[j, 1] == edges[i, 1]
        ):
            rest -= other_weights[j]
            j += 1
        total += max(np.int64(0), -rest)
    return total
