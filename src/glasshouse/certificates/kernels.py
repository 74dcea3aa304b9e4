"""Compiled linear-time passes over cycles, edges and squares.

The caller has shown that no sum of weights can overflow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled

# The faults of a list of cycles or squares; a kernel returns one with its index.
FINE, TOO_SHORT, REPEATED, UNSORTED = 0, 1, 2, 3


@compiled
def find_bad_cycle(nodes: Any, starts: Any, size: int) -> Any:
    """Return the fault and index of the first cycle that is too short or visits a node twice.

    Nodes are below `size`, and `starts` ascends from 0 to the number of nodes.
    """
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
def find_bad_square(nodes: Any, starts: Any) -> Any:
    """Return the fault and position of the first square that is empty or has unsorted nodes.

    Returns:
        TOO_SHORT and the square, REPEATED and the index of the second of two equal neighbours,
        UNSORTED, or FINE. The caller guarantees that `starts` ascends from 0 to the number of
        nodes.
    """
    for square in range(starts.size - 1):
        if starts[square] == starts[square + 1]:
            return TOO_SHORT, square
    for square in range(starts.size - 1):
        for place in range(starts[square] + 1, starts[square + 1]):
            if nodes[place] < nodes[place - 1]:
                return UNSORTED, place
            if nodes[place] == nodes[place - 1]:
                return REPEATED, place
    return FINE, -1


@compiled
def upper_pairs(matrix: Any, names: Any, factor: int) -> Any:
    """Return the nonzero entries above the diagonal as edges between `names`, times `factor`.

    Entries are integers, and their multiples fit into int64.
    """
    size, number = matrix.shape[0], 0
    for i in range(size):
        for j in range(i + 1, size):
            number += matrix[i, j] != 0
    edges, sums = np.empty((number, 2), np.int32), np.empty(number, np.int64)
    number = 0
    for i in range(size):
        for j in range(i + 1, size):
            if matrix[i, j] != 0:
                edges[number, 0], edges[number, 1] = names[i], names[j]
                sums[number] = factor * np.int64(matrix[i, j])
                number += 1
    return edges, sums


@compiled
def order_by_edge(low: Any, high: Any, size: int) -> Any:
    """Return an order that sorts edges by their lower and then by their higher end.

    Ends are below `size`. Two stable counting sorts are used, first by the higher end.
    """
    length = low.size
    low_places, high_places = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    for k in range(length):
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
    return order


@compiled
def sum_by_edge(low: Any, high: Any, amounts: Any, size: int) -> Any:
    """Add up the weights of equal edges; return sorted edges with nonzero sums, and the sums.

    Ends are below `size`. The caller has shown that no sum can overflow.
    """
    edges, sums = np.empty((low.size, 2), np.int32), np.empty(low.size, np.int64)
    number = 0
    for k in order_by_edge(low, high, size):
        if number and edges[number - 1, 0] == low[k] and edges[number - 1, 1] == high[k]:
            sums[number - 1] += amounts[k]
            continue
        if number and sums[number - 1] == 0:
            number -= 1
        edges[number, 0], edges[number, 1], sums[number] = low[k], high[k], amounts[k]
        number += 1
    if number and sums[number - 1] == 0:
        number -= 1
    return edges[:number].copy(), sums[:number].copy()


@compiled
def add_squares(
    first: int,
    last: int,
    count: int,
    nodes: Any,
    coefficients: Any,
    square_of: Any,
    starts: Any,
    factors: Any,
    node_starts: Any,
    places: Any,
    wanted_starts: Any,
    wanted: Any,
    wanted_sums: Any,
    kept_starts: Any,
    kept: Any,
    kept_sums: Any,
) -> Any:
    """Add up factor · a_i · a_j over all squares, for each pair i < j with first ≤ i < last.

    `count` sums of earlier rows are not zero. `places` lists the positions of node i in the
    squares, starting at `node_starts[i]`; nodes ascend within a square. `wanted` are columns j of
    pairs (i, j) whose sums the caller needs. The caller has shown that no sum can overflow.

    Returns:
        Σ |sum| over the pairs of these rows, and the number of non-zero sums up to the last row.
        `kept_starts` receives the start of each row among these sums. The sums are kept, in
        ascending order, as long as the buffers have space.
    """
    size = node_starts.size - 1
    sums, last_row = np.zeros(size, np.int64), np.full(size, -1, np.int32)
    touched = np.empty(size, np.int32)
    total = 0
    for i in range(first, last):
        kept_starts[i] = count
        number = 0
        for k in range(node_starts[i], node_starts[i + 1]):
            place = places[k]
            square = square_of[place]
            factor = factors[square] * coefficients[place]
            for other in range(place + 1, starts[square + 1]):
                j = nodes[other]
                if last_row[j] != i:
                    last_row[j] = i
                    touched[number] = j
                    number += 1
                sums[j] += factor * coefficients[other]
        for k in range(wanted_starts[i], wanted_starts[i + 1]):
            wanted_sums[k] = sums[wanted[k]]
        row = touched[:number]
        if kept.size:
            row = np.sort(row)
        for j in row:
            if sums[j] != 0:
                total += abs(sums[j])
                if count < kept.size:
                    kept[count], kept_sums[count] = j, sums[j]
                count += 1
                sums[j] = 0
    kept_starts[last] = count
    return total, count
