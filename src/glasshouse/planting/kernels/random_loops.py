"""Algorithm 1: loop atoms placed at random, such that they never oppose each other.

Functions of the inner loop have one path: one exit, no `and` between lookups. Numba then keeps the
    reference counting of arrays out of the loop, where it would cost more than the work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.xoshiro import below, fill_spins
from glasshouse.planting.kernels.cells import clear, put_at, value_at
from glasshouse.planting.kernels.draws import discrete_gaussian

# Draws before a pair of rows or a column is searched for by a full scan instead.
_TRIES = 64
# Steps that one such search costs on the meter, without scans, and drawing normal weights.
_COST, _SCATTER_COST = 16, 128

# The value of `most` for matrices without a limit.
UNLIMITED = 2**63 - 1


@compiled
def only_signs_matter(most: int) -> Any:
    """Return whether the signs of cells suffice: if weights are unlimited, or no cell is shared."""
    return (most == UNLIMITED) | (most == 0)


@compiled
def drop_random_loops(
    stream: Any, n: int, m: int, law: Any, most: int, redraws: int, matrix: Any, nodes: Any,
    weights: Any, meter: Any,
) -> Any:  # fmt: skip
    """Place loops until `nodes` is full; return the number of loops that fit.

    Args:
        stream: the generator's words.
        n: rows (visible spins).
        m: columns (hidden spins).
        law: int64, (positive weight, its variance and scale, negative weight's magnitude, its
            variance and scale); variance 0 means that weights do not vary.
        most: the largest magnitude of a cell, or UNLIMITED; 0 keeps loops disjoint.
        redraws: how many times a loop may restart from a new column before the search stops.
        matrix: the weights so far, all zero (see `kernels.cells`).
        nodes: int32 (loops, 4), filled with j1, i1, j2, i2: the last edge is the negative one.
        weights: int64 (loops, 4), filled with the magnitudes of the loops' weights.
        meter: the steps that are left, counted down (see `planting.demand`).
    """
    dropped, placed = 0, True
    while placed and dropped < nodes.shape[0]:
        for k in range(4):
            weights[dropped, k] = law[3 if k == 3 else 0]
        if law[1] > 0:
            _scatter_weights(stream, law, weights, dropped)
            meter[0] -= _SCATTER_COST
        placed = False
        redraw = 0
        while not placed and redraw < redraws and meter[0] > 0:
            placed = _place_loop(stream, n, m, most, matrix, nodes, weights, dropped, meter)
            redraw += 1
        dropped += placed
    return dropped


@compiled
def drop_ensemble(
    streams: Any, n: int, m: int, law: Any, redraws: int, matrix: Any, nodes: Any, states: Any
) -> Any:
    """Place the loops of many instances in turn; each instance has its own pair of streams."""
    weights = np.empty((nodes.shape[1], 4), np.int64)
    meter = np.full(1, UNLIMITED, np.int64)
    complete = True
    for k in range(nodes.shape[0]):
        clear(matrix)
        dropped = drop_random_loops(
            streams[k, 0], n, m, law, UNLIMITED, redraws, matrix, nodes[k], weights, meter
        )
        complete &= dropped == nodes.shape[1]
        fill_spins(streams[k, 1], states[k])
    return complete


@inner
def _scatter_weights(stream: Any, law: Any, weights: Any, loop: int) -> None:
    """Draw one loop's magnitudes; the negative weight never exceeds the weakest positive weight."""
    for k in range(3):
        weights[loop, k] = _deviated(stream, law[0], law[1], law[2], 1)
    negative = law[3]
    if law[4] > 0:
        negative = _deviated(stream, law[3], law[4], law[5], 0)
    weights[loop, 3] = min(negative, weights[loop, 0], weights[loop, 1], weights[loop, 2])


@inner
def _deviated(stream: Any, mean: int, variance: int, scale: int, least: int) -> Any:
    """Draw a discrete Gaussian around the mean, truncated to `least` … 2·`mean` - `least`."""
    deviation = discrete_gaussian(stream, variance, scale)
    while abs(deviation) > mean - least:
        deviation = discrete_gaussian(stream, variance, scale)
    return mean + deviation


@inner
def _place_loop(
    stream: Any, n: int, m: int, most: int, matrix: Any, nodes: Any, weights: Any, loop: int,
    meter: Any,
) -> Any:  # fmt: skip
    """Draw a column, then two rows and a column that fit it; add the loop if they exist."""
    meter[0] -= _COST
    w0, w1, w2, w3 = weights[loop, 0], weights[loop, 1], weights[loop, 2], weights[loop, 3]
    j1 = below(stream, m)
    i1, i2 = _draw_rows(stream, n, m, j1, _room(most, w0), _room(most, w3), matrix)
    if i1 < 0:
        i1, i2 = _find_rows(stream, n, m, j1, _room(most, w0), _room(most, w3), matrix)
        meter[0] -= n
    j2 = np.int64(-1)
    if i1 >= 0:
        j2 = _draw_column(stream, m, i1, i2, j1, _room(most, w1), _room(most, w2), matrix)
        if j2 < 0:
            j2 = _find_column(stream, m, i1, i2, j1, _room(most, w1), _room(most, w2), matrix)
            meter[0] -= m
    if j2 >= 0:
        signs = only_signs_matter(most)
        put_at(matrix, i1 * m + j1, w0, signs)
        put_at(matrix, i1 * m + j2, w1, signs)
        put_at(matrix, i2 * m + j2, w2, signs)
        put_at(matrix, i2 * m + j1, -w3, signs)
        nodes[loop, 0], nodes[loop, 1], nodes[loop, 2], nodes[loop, 3] = n + j1, i1, n + j2, i2
    return j2 >= 0


@compiled
def _room(most: int, weight: int) -> Any:
    """Return the largest magnitude of a cell to which `weight` can still be added."""
    return most - weight if most > 0 else 0


@inner
def _draw_rows(
    stream: Any, n: int, m: int, j1: int, room_above: int, room_below: int, matrix: Any
) -> Any:
    """Draw rows i1 ≠ i2 with 0 ≤ W[i1,j1] ≤ room_above, 0 ≥ W[i2,j1] ≥ -room_below; -1 if none.

    Rows are drawn one by one, and the pair is rejected if they are equal, which leaves all pairs
    equally likely.
    """
    i1 = i2 = np.int64(-1)
    tries = 0
    while i1 == i2 and tries < _TRIES:
        i2 = below(stream, n)
        tries += 1
        while not -room_below <= value_at(matrix, i2 * m + j1) <= 0 and tries < _TRIES:
            i2 = below(stream, n)
            tries += 1
        i1 = below(stream, n)
        while not 0 <= value_at(matrix, i1 * m + j1) <= room_above and tries < _TRIES:
            i1 = below(stream, n)
            tries += 1
    if tries == _TRIES:
        i1 = i2 = np.int64(-1)
    return i1, i2


@inner
def _find_rows(
    stream: Any, n: int, m: int, j1: int, room_above: int, room_below: int, matrix: Any
) -> Any:
    """Search all rows for a pair as in `_draw_rows`; return -1 if there is none."""
    upper, lower = np.empty(n, np.int64), np.empty(n, np.int64)
    uppers = lowers = 0
    for row in range(n):
        value = value_at(matrix, row * m + j1)
        if 0 <= value <= room_above:
            upper[uppers] = row
            uppers += 1
        if -room_below <= value <= 0:
            lower[lowers] = row
            lowers += 1
    i1 = i2 = np.int64(-1)
    only_itself = uppers == 1 and lowers == 1 and upper[0] == lower[0]
    if uppers > 0 and lowers > 0 and not only_itself:
        while i1 == i2:  # equal rows come up in at most every other draw
            i1, i2 = upper[below(stream, uppers)], lower[below(stream, lowers)]
    return i1, i2


@inner
def _draw_column(
    stream: Any, m: int, i1: int, i2: int, j1: int, room1: int, room2: int, matrix: Any
) -> Any:
    """Draw a column j2 ≠ j1 with 0 ≤ W[i1,j2] ≤ room1 and 0 ≤ W[i2,j2] ≤ room2; -1 if not found."""
    j2 = below(stream, m)
    tries = 1
    while not _is_open(m, i1, i2, j1, j2, room1, room2, matrix) and tries < _TRIES:
        j2 = below(stream, m)
        tries += 1
    return j2 if tries < _TRIES else np.int64(-1)


@inner
def _find_column(
    stream: Any, m: int, i1: int, i2: int, j1: int, room1: int, room2: int, matrix: Any
) -> Any:
    """Search all columns for a column as in `_draw_column`; return -1 if there is none."""
    columns = np.empty(m, np.int64)
    count = 0
    for j2 in range(m):
        if _is_open(m, i1, i2, j1, j2, room1, room2, matrix):
            columns[count] = j2
            count += 1
    return columns[below(stream, count)] if count > 0 else np.int64(-1)


@inner
def _is_open(
    m: int, i1: int, i2: int, j1: int, j2: int, room1: int, room2: int, matrix: Any
) -> Any:
    """Return whether column j2 has space for two positive weights in rows i1 and i2."""
    value1, value2 = value_at(matrix, i1 * m + j2), value_at(matrix, i2 * m + j2)
    return (j2 != j1) & (value1 >= 0) & (value1 <= room1) & (value2 >= 0) & (value2 <= room2)
