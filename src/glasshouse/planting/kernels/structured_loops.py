"""Algorithm 2: loop atoms whose negative weights are all in the upper left block.

Weights outside that block B1 are never negative, so only the signs of B1 are stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.xoshiro import below, below_wide
from glasshouse.planting.kernels.cells import put_at, value_at

LEFT, UPPER, CENTER = 0, 1, 2
# Draws of a whole loop before a full scan of B1 searches for one instead.
_TRIES = 256
# Steps that such draws cost on the meter.
_COST = 16


@compiled
def drop_structured_loops(
    stream: Any, sizes: Any, kind: int, frustrated: bool, matrix: Any, nodes: Any, first: int,
    last: int, meter: Any,
) -> Any:  # fmt: skip
    """Place loops `first` to `last` - 1; return the first that does not fit, or `last` if all fit.

    A loop is uniform among all of its kind that oppose no other: W[i1,j1] ≤ 0, the rest ≥ 0.

    Args:
        stream: the generator's words.
        sizes: (n, m, n1, m1); B1 is the first n1 rows and m1 columns.
        kind: LEFT (two cells in B1, two below it), UPPER (two in B1, two to the right) or CENTER.
        frustrated: whether the negative weight is below zero.
        matrix: the signs in B1 so far (see `kernels.cells`).
        nodes: int32 (loops, 4), filled with j1, i2, j2, i1: the last edge is the negative one.
        first: the first loop to place.
        last: one more than the last loop.
        meter: the steps that are left, counted down (see `planting.demand`).
    """
    n, m1 = sizes[0], sizes[3]
    scan = sizes[2] * sizes[3]
    loop, found = first, True
    while found and loop < last and meter[0] > 0:
        i1, i2, j1, j2 = _draw_loop(stream, sizes, kind, matrix)
        meter[0] -= _COST
        if i1 < 0:
            meter[0] -= scan
        if i1 < 0 and meter[0] > 0:
            i1, i2, j1, j2 = _find_loop(stream, sizes, kind, matrix)
        found = i1 >= 0
        if found:
            put_at(matrix, i1 * m1 + j1, -1 if frustrated else 0, True)
            if kind == LEFT:
                put_at(matrix, i1 * m1 + j2, 1, True)
            if kind == UPPER:
                put_at(matrix, i2 * m1 + j1, 1, True)
            nodes[loop, 0], nodes[loop, 1], nodes[loop, 2], nodes[loop, 3] = n + j1, i2, n + j2, i1
            loop += 1
    return loop


@inner
def _draw_loop(stream: Any, sizes: Any, kind: int, matrix: Any) -> Any:
    """Draw rows and columns until they fit; return -1 if no attempt succeeds."""
    n, m, n1, m1 = sizes[0], sizes[1], sizes[2], sizes[3]
    i1 = i2 = j1 = j2 = np.int64(-1)
    fits, tries = False, 0
    while not fits and tries < _TRIES:
        i1, j1 = below(stream, n1), below(stream, m1)
        i2 = below(stream, n1) if kind == UPPER else n1 + below(stream, n - n1)
        j2 = below(stream, m1) if kind == LEFT else m1 + below(stream, m - m1)
        fits = value_at(matrix, i1 * m1 + j1) <= 0
        if kind == LEFT:
            fits &= (j1 != j2) & (value_at(matrix, i1 * m1 + j2) >= 0)
        if kind == UPPER:
            fits &= (i1 != i2) & (value_at(matrix, i2 * m1 + j1) >= 0)
        tries += 1
    return i1 if fits else np.int64(-1), i2, j1, j2


@inner
def _find_loop(stream: Any, sizes: Any, kind: int, matrix: Any) -> Any:
    """Search the whole block B1 for a loop that fits; return -1 if there is none."""
    n, m, n1, m1 = sizes[0], sizes[1], sizes[2], sizes[3]
    lines, length = (m1, n1) if kind == UPPER else (n1, m1)
    # The number of loops in each line of B1, without the factor of rows and columns outside.
    loops = np.zeros(lines, np.int64)
    lower, upper = np.empty(length, np.int64), np.empty(length, np.int64)
    for line in range(lines):
        lowers, uppers, zeros = _split(matrix, m1, kind, line, length, lower, upper)
        loops[line] = lowers if kind == CENTER else lowers * uppers - zeros
    i1 = i2 = j1 = j2 = np.int64(-1)
    total = loops.sum()
    if total > 0:
        choice, line = below_wide(stream, total), 0
        while choice >= loops[line]:
            choice -= loops[line]
            line += 1
        lowers, uppers, _ = _split(matrix, m1, kind, line, length, lower, upper)
        one = other = lower[below(stream, lowers)]
        while kind != CENTER and one == other:
            one, other = lower[below(stream, lowers)], upper[below(stream, uppers)]
        i1, j1 = (one, np.int64(line)) if kind == UPPER else (np.int64(line), one)
        i2 = other if kind == UPPER else n1 + below(stream, n - n1)
        j2 = other if kind == LEFT else m1 + below(stream, m - m1)
    return i1, i2, j1, j2


@compiled
def _split(matrix: Any, m1: int, kind: int, line: int, length: int, lower: Any, upper: Any) -> Any:
    """List the positions of a row or column with weights ≤ 0, and with weights ≥ 0; count zeros."""
    lowers = uppers = zeros = 0
    for k in range(length):
        value = value_at(matrix, k * m1 + line if kind == UPPER else line * m1 + k)
        if value <= 0:
            lower[lowers] = k
            lowers += 1
        if value >= 0:
            upper[uppers] = k
            uppers += 1
        zeros += value == 0
    return lowers, uppers, zeros
