"""Frustrated rings on a given hypergraph: the clauses of each ring, and a tree that proves it.

A ring visits variables and sets in turn; each set contains the variables before and after it. A
set carries the equation that these two variables are equal in the planted gauge, or, for the last
set of a ring, that they differ. An equation has one clause for each pattern of signs on all
variables of its set that contradicts the equation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner


@compiled
def write_rings(
    model: Any, variables: Any, sets: Any, bounds: Any, members: Any, starts: Any, literals: Any,
    tokens: Any,
) -> Any:  # fmt: skip
    """Write the clauses and the trees of all rings.

    Args:
        model: spins of the planted model.
        variables: the variables of all rings, ring by ring.
        sets: the set after each of these variables; it contains this variable and the next one.
        bounds: the first variable of each ring, and the end of the last ring.
        members: the variables of all sets.
        starts: the first member of each set, and the end of the last set.
        literals: int32, filled here.
        tokens: int64, filled here; two for each clause are enough.

    Returns:
        For each ring the end of its clauses and the end of its tokens; and the clause of each ring
        that the model falsifies.
    """
    number = len(bounds) - 1
    ends = np.zeros((number, 2), np.int64)
    falsified = np.zeros(number, np.int64)
    place = np.full(len(model), -1, np.int64)
    longest = (bounds[1:] - bounds[:-1]).max()
    firsts = np.zeros(longest, np.int64)
    pending = np.zeros(longest, np.bool_)
    extra = np.zeros((longest, (starts[1:] - starts[:-1]).max()), np.int32)
    counts = np.zeros(longest, np.int64)
    clause, literal, token = 0, 0, 0
    for ring in range(number):
        own = variables[bounds[ring] : bounds[ring + 1]]
        size = len(own)
        for k in range(size):
            place[own[k]] = k
            joined = sets[bounds[ring] + k]
            following = own[(k + 1) % size]
            counts[k] = 0
            for variable in members[starts[joined] : starts[joined + 1]]:
                if variable not in (own[k], following):
                    extra[k, counts[k]] = variable
                    counts[k] += 1
            firsts[k] = clause
            literal = _write_equation(
                model, own[k], following, k == size - 1, extra[k, : counts[k]], literals, literal
            )
            clause += 2 << counts[k]
        last = extra[size - 1, : counts[size - 1]]
        falsified[ring] = firsts[size - 1] + _code(model, last)
        token = _write_tree(model, own, place, firsts, extra, counts, pending, tokens, token)
        ends[ring, 0], ends[ring, 1] = clause, token
        for variable in own:
            place[variable] = -1
    return ends, falsified


@inner
def _write_equation(
    model: Any, first: int, second: int, differs: bool, extra: Any, literals: Any, literal: int
) -> Any:
    """Write an equation's clauses, first those that `first` falsifies with its planted value."""
    for half in (1, -1):
        other = half if differs else -half
        for signs in range(1 << len(extra)):
            literals[literal] = -half * model[first] * (first + 1)
            literals[literal + 1] = -other * model[second] * (second + 1)
            literal += 2
            for k in range(len(extra)):
                # A bit 0 is for the half where the variable is false, so the literal is positive.
                sign = -1 if signs >> (len(extra) - 1 - k) & 1 else 1
                literals[literal] = sign * (extra[k] + 1)
                literal += 1
    return literal


@inner
def _code(model: Any, extra: Any) -> Any:
    """Return the position of the clause that the model falsifies among patterns of signs."""
    code = 0
    for variable in extra:
        code = code << 1 | (model[variable] > 0)
    return code


@inner
def _write_tree(
    model: Any, own: Any, place: Any, firsts: Any, extra: Any, counts: Any, pending: Any,
    tokens: Any, token: int,
) -> Any:  # fmt: skip
    """Write the tree that branches on a ring's variables until an equation is violated."""
    size = len(own)
    tokens[token] = own[0] + 1
    token += 1
    # The half where a variable is false comes first. In each half of the first variable, all
    # variables have their planted values, or all have the opposite ones, until two are unequal.
    for value in (-1, 1):
        turn = value * model[own[0]]
        for k in range(1, size):
            tokens[token] = own[k] + 1
            token += 1
            pending[k] = turn * model[own[k]] < 0
            if not pending[k]:
                token = _write_leaves(
                    model, turn, k, place, firsts[k - 1], extra[k - 1, : counts[k - 1]], tokens,
                    token,
                )  # fmt: skip
        token = _write_leaves(
            model, turn, size, place, firsts[size - 1], extra[size - 1, : counts[size - 1]],
            tokens, token,
        )  # fmt: skip
        for k in range(size - 1, 0, -1):
            if pending[k]:
                token = _write_leaves(
                    model, turn, k, place, firsts[k - 1], extra[k - 1, : counts[k - 1]], tokens,
                    token,
                )  # fmt: skip
    return token


@inner
def _write_leaves(
    model: Any, turn: int, depth: int, place: Any, first: int, extra: Any, tokens: Any, token: int
) -> Any:
    """Branch on those extra variables of a violated equation whose values are not known yet.

    Positions below `depth` have `turn` times their planted value.
    """
    base = first if turn > 0 else first + (1 << len(extra))
    known, more = 0, 0
    for variable in extra:
        if 0 <= place[variable] < depth:
            known = known << 1 | (turn * model[variable] > 0)
        else:
            known <<= 1
            more += 1
    for pattern in range(1 << more):
        # As many variables change from the last pattern as it has zeros at its end.
        zeros = 0
        while zeros < more and pattern >> zeros & 1 == 0:
            zeros += 1
        code, left = known, more
        for k in range(len(extra)):
            if not 0 <= place[extra[k]] < depth:
                left -= 1
                code |= (pattern >> left & 1) << (len(extra) - 1 - k)
                if left < zeros:
                    tokens[token] = extra[k] + 1
                    token += 1
        tokens[token] = -(base + code + 1)
        token += 1
    return token
