"""Random clauses: with a fixed number of true literals, in regular tables, and on edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import zeros
from glasshouse.kernels.xoshiro import below, next_word
from glasshouse.planting.kernels.draws import permute

BOTH, ONE = 0, 1  # literals of an edge's clause that the planted state makes true


@compiled
def draw_clauses(
    stream: Any, num_variables: int, num_true: int, mirrored: bool, nodes: Any, signs: Any
) -> None:
    """Fill two tables with one row per clause: its variables, and its literals' values (true: +1).

    Every set of variables is equally likely, and every choice of `num_true` literals among them.
    With `mirrored`, each clause has all its signs turned with probability 1/2.

    Args:
        stream: a generator's words.
        num_variables: the number of variables to draw from.
        num_true: the number of true literals in each clause.
        mirrored: whether the same number of false literals is allowed as well.
        nodes: int32, one row per clause, filled here.
        signs: int64, of the same shape, filled here.
    """
    count, length = nodes.shape
    last_seen = np.full(num_variables, -1, dtype=np.int64)
    for clause in range(count):
        # Floyd's algorithm for a uniform subset: as many draws as elements.
        for place in range(length):
            most = num_variables - length + place
            variable = below(stream, most + 1)
            if last_seen[variable] == clause:
                variable = most
            last_seen[variable] = clause
            nodes[clause, place] = variable
        sign = 1
        if mirrored and next_word(stream) & np.uint64(1):
            sign = -1
        for place in range(length):
            signs[clause, place] = sign if place < num_true else -sign
        permute(stream, signs[clause])


@compiled
def draw_regular(stream: Any, num_variables: int, rows: Any, tries: int, swaps: int) -> bool:
    """Fill a table with the variables in turn, then shuffle it so that no row repeats a variable.

    This is the configuration model: all entries are shuffled, and the whole table is shuffled again
        while any row has a variable twice. The result is uniform. If all `tries` fail, random swaps
        of entries that keep every row valid start from the unshuffled table. That table is valid
        because consecutive entries, at least as many as a row has, are different variables. Swaps
        and their reverses are equally likely, so they converge to the same uniform distribution.

    Args:
        stream: a generator's words.
        num_variables: the number of variables, at least the number of entries in a row.
        rows: int32, filled here.
        tries: the number of shuffles.
        swaps: the number of attempted swaps after that, per entry.

    Returns:
        Whether a shuffle was valid.
    """
    entries = rows.reshape(-1)
    _fill_in_turn(entries, num_variables)
    for _ in range(tries):
        if _shuffled_well(stream, rows, entries):
            return True
    _fill_in_turn(entries, num_variables)
    for _ in range(swaps * entries.size):
        _swap_if_good(stream, rows, entries)
    return False


@inner
def _fill_in_turn(entries: Any, num_variables: int) -> None:
    for k in range(entries.size):
        entries[k] = k % num_variables


@inner
def _shuffled_well(stream: Any, rows: Any, entries: Any) -> bool:
    """Shuffle a table from the end; return False at the first row that has a variable twice."""
    length = rows.shape[1]
    for last in range(entries.size - 1, -1, -1):
        k = below(stream, last + 1)
        entries[last], entries[k] = entries[k], entries[last]
        if last % length == 0 and not _is_distinct(rows[last // length]):
            return False
    return True


@inner
def _is_distinct(row: Any) -> bool:
    for k in range(row.size):
        for j in range(k):
            if row[j] == row[k]:
                return False
    return True


@inner
def _swap_if_good(stream: Any, rows: Any, entries: Any) -> None:
    length = rows.shape[1]
    a, b = below(stream, entries.size), below(stream, entries.size)
    entries[a], entries[b] = entries[b], entries[a]
    if not (_is_distinct(rows[a // length]) and _is_distinct(rows[b // length])):
        entries[a], entries[b] = entries[b], entries[a]


@compiled
def draw_edge_clauses(stream: Any, size: Any, edges: Any, clauses: Any) -> None:
    """Fill rows (i, j, kind) with random clauses: on `edges`, or on any pairs if `edges` is empty.

    Each of the three clauses of an edge that the planted state satisfies is equally likely: both
        literals true (i < j), or only that of i.
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
    """Fill an int64 array with uniform random integers from 1 to `most`."""
    for k in range(len(values)):
        values[k] = 1 + below(stream, most)


@compiled
def grow_blocks(starts: Any, neighbours: Any, most: Any) -> Any:
    """Return each node's block: up to `most` nodes, found breadth first among the free nodes."""
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
