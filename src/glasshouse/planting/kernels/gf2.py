"""Linear equations over GF(2) with few variables each, and the number of free variables.

A few variables are declared known, until every other one follows from an equation in turn. Each is
then a sum of the known ones, stored as packed bits; unused equations become equations between the
known ones. There are few of both, and those are eliminated densely.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner

_ONE = np.uint64(1)


@compiled
def solving_order(rows: Any, starts: Any, rows_of: Any) -> Any:
    """Return an order in which to solve variables, and for each the equation that determines it.

    Args:
        rows: the variables of each equation, distinct; one row per equation.
        starts: where the equations of each variable begin in `rows_of`, and the end of the last.
        rows_of: equations, variable by variable.

    Returns:
        All variables in the order in which they become known, and for each of them the equation
        from which it follows; -1 if it is declared known.
    """
    size = len(starts) - 1
    unknown = np.full(len(rows), rows.shape[1], dtype=np.int32)
    order = np.empty(size, dtype=np.int32)
    reason = np.full(size, -1, dtype=np.int32)
    is_known = np.zeros(size, dtype=np.bool_)
    # Equations that once had one or two unknowns; they may have fewer by now.
    single, pair = np.empty(len(rows), dtype=np.int32), np.empty(len(rows), dtype=np.int32)
    singles = pairs = found = following = 0
    while found < size:
        row, singles = _last_with(1, single, singles, unknown)
        is_forced = row >= 0
        if not is_forced:
            # Knowing one of two determines the other.
            row, pairs = _last_with(2, pair, pairs, unknown)
        if row >= 0:
            variable = _first_unknown(rows[row], is_known)
        else:
            while is_known[following]:
                following += 1
            variable = following
        if is_forced:
            reason[variable] = row
        is_known[variable] = True
        order[found] = variable
        found += 1
        for place in range(starts[variable], starts[variable + 1]):
            other = rows_of[place]
            unknown[other] -= 1
            if unknown[other] == 1:
                single[singles] = other
                singles += 1
            elif unknown[other] == 2:
                pair[pairs] = other
                pairs += 1
    return order, reason


@inner
def _last_with(number: int, stack: Any, height: int, unknown: Any) -> Any:
    """Pop equations until one has `number` unknowns; return it (or -1) and the stack's height."""
    while height:
        height -= 1
        if unknown[stack[height]] == number:
            return stack[height], height
    return -1, 0


@inner
def _first_unknown(row: Any, is_known: Any) -> Any:
    for variable in row:
        if not is_known[variable]:
            return variable
    return -1


@compiled
def remaining_equations(rows: Any, order: Any, reason: Any, num_known: int) -> Any:
    """Return equations between known variables: one row of packed bits for each unused equation."""
    words = (num_known + 63) // 64
    sums = np.zeros((len(order), words), dtype=np.uint64)
    is_used = np.zeros(len(rows), dtype=np.bool_)
    known = 0
    for variable in order:
        row = reason[variable]
        if row < 0:
            sums[variable, known >> 6] = _ONE << np.uint64(known & 63)
            known += 1
        else:
            is_used[row] = True
            for other in rows[row]:
                if other != variable:
                    for w in range(words):
                        sums[variable, w] ^= sums[other, w]
    left = np.zeros((len(rows) - (len(order) - num_known), words), dtype=np.uint64)
    k = 0
    for row in range(len(rows)):
        if not is_used[row]:
            for other in rows[row]:
                for w in range(words):
                    left[k, w] ^= sums[other, w]
            k += 1
    return left


@compiled
def rank(matrix: Any) -> int:
    """Return the rank of a matrix of packed bits, by Gaussian elimination in place."""
    height, words = matrix.shape
    found = 0
    for column in range(64 * words):
        word, bit = column >> 6, _ONE << np.uint64(column & 63)
        pivot = found
        while pivot < height and not matrix[pivot, word] & bit:
            pivot += 1
        if pivot == height:
            continue
        for w in range(word, words):
            matrix[pivot, w], matrix[found, w] = matrix[found, w], matrix[pivot, w]
        for row in range(pivot + 1, height):
            if matrix[row, word] & bit:
                for w in range(word, words):
                    matrix[row, w] ^= matrix[found, w]
        found += 1
    return found
