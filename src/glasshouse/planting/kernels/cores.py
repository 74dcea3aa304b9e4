"""Frustrated cores drawn at random: clauses that cannot all hold, and a tree that proves it.

A template has clauses over a few positions that cannot all hold, and of which the assignment "all
true" falsifies one, the last clause. A core puts variables at the positions, and gauges the
template so that "all true" becomes the planted model. A clause that is shorter than wanted is
split on further variables, into one clause for each pattern of their signs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.xoshiro import below
from glasshouse.planting.kernels.draws import permute


@compiled
def draw_cores(
    stream: Any, model: Any, width: int, chosen: Any, templates: Any, literals: Any, tokens: Any
) -> Any:
    """Draw all cores: fill in their clauses and their trees.

    Args:
        stream: a generator's words.
        model: spins of the planted model.
        width: literals of every clause.
        chosen: the template of each core.
        templates: (sizes, firsts, starts, pattern): the number of positions of each template, its
            first clause, and the end of the last; where each clause of all templates begins; its
            literals: positions starting at 1, in ascending order.
        literals: int32, a row for each clause, filled here.
        tokens: int64, filled here.

    Returns:
        For each core the end of its clauses and the end of its tokens; and the clauses that the
        model falsifies.
    """
    sizes, firsts, starts, pattern = templates
    ends = np.zeros((len(chosen), 2), np.int64)
    falsified = np.zeros(len(chosen), np.int64)
    most_clauses = (firsts[1:] - firsts[:-1]).max()
    variables = np.zeros(sizes.max() + 1, np.int32)
    values = np.zeros(len(variables), np.int8)
    extra = np.zeros((most_clauses, width), np.int32)
    numbers = np.zeros(most_clauses + 1, np.int64)
    seen = np.full(len(model), -1, np.int64)
    place, token = 0, 0
    for core in range(len(chosen)):
        kind = chosen[core]
        size, first, number = sizes[kind], firsts[kind], firsts[kind + 1] - firsts[kind]
        _draw_distinct(stream, variables, size, seen, core)
        for clause in range(number):
            numbers[clause] = place
            place = _split(
                stream, model, first + clause, starts, pattern, variables, size, extra[clause],
                literals, place,
            )  # fmt: skip
        numbers[number] = place
        falsified[core] = _false_one(model, literals, numbers[number - 1], place)
        token = _write_tree(
            model, width, first, number, starts, pattern, variables, size, values, extra, numbers,
            tokens, token,
        )  # fmt: skip
        ends[core, 0], ends[core, 1] = place, token
    return ends, falsified


@inner
def _draw_distinct(stream: Any, variables: Any, size: int, seen: Any, stamp: int) -> None:
    """Draw distinct variables for positions 1 to `size`; every order is equally likely."""
    total = len(seen)
    for position in range(1, size + 1):
        # Floyd's algorithm for a uniform subset: as many draws as elements.
        most = total - size + position - 1
        variable = below(stream, most + 1)
        if seen[variable] == stamp:
            variable = most
        seen[variable] = stamp
        variables[position] = variable
    permute(stream, variables[1 : size + 1])


@inner
def _split(
    stream: Any, model: Any, clause: int, starts: Any, pattern: Any, variables: Any, size: int,
    extra: Any, literals: Any, place: int,
) -> Any:  # fmt: skip
    """Write a template's clause, split into one clause for each sign pattern of extra variables."""
    length = starts[clause + 1] - starts[clause]
    width = literals.shape[1]
    more = width - length
    for k in range(more):
        is_new = False
        while not is_new:
            extra[k] = below(stream, len(model))
            is_new = True
            for other in range(k):
                is_new = is_new and extra[other] != extra[k]
            for position in range(1, size + 1):
                is_new = is_new and variables[position] != extra[k]
    for signs in range(1 << more):
        for k in range(length):
            local = pattern[starts[clause] + k]
            variable = variables[abs(local)]
            sign = model[variable] if local > 0 else -model[variable]
            literals[place, k] = sign * (variable + 1)
        for k in range(more):
            # A bit 0 is for the half where the variable is false, so the literal is positive.
            sign = -1 if signs >> (more - 1 - k) & 1 else 1
            literals[place, length + k] = sign * (extra[k] + 1)
        place += 1
    return place


@inner
def _false_one(model: Any, literals: Any, first: int, last: int) -> Any:
    """Return the only clause among `first` to `last` - 1 that the model falsifies; -1 if none."""
    for clause in range(first, last):
        is_false = True
        for literal in literals[clause]:
            is_false = is_false and literal * model[abs(literal) - 1] < 0
        if is_false:
            return clause
    return -1


@inner
def _write_tree(
    model: Any, width: int, first: int, number: int, starts: Any, pattern: Any, variables: Any,
    size: int, values: Any, extra: Any, numbers: Any, tokens: Any, token: int,
) -> Any:  # fmt: skip
    """Write the tree that branches on the positions in order until a clause is falsified."""
    depth = 1
    values[:] = 0
    tokens[token] = variables[1] + 1
    token += 1
    values[1] = -model[variables[1]]  # the half where the variable is false comes first
    while depth > 0:
        clause = _falsified(first, number, starts, pattern, values, depth)
        if clause < 0:
            depth += 1
            variable = variables[depth]
            tokens[token] = variable + 1
            token += 1
            values[depth] = -model[variable]
            continue
        more = width - (starts[first + clause + 1] - starts[first + clause])
        for signs in range(1 << more):
            # As many further variables change from the last pattern as it has zeros at its end.
            zeros = 0
            while zeros < more and signs >> zeros & 1 == 0:
                zeros += 1
            for k in range(more - zeros, more):
                tokens[token] = extra[clause, k] + 1
                token += 1
            tokens[token] = -(numbers[clause] + signs + 1)
            token += 1
        while depth > 0 and values[depth] == model[variables[depth]]:
            values[depth] = 0
            depth -= 1
        if depth > 0:
            values[depth] = model[variables[depth]]
    return token


@inner
def _falsified(first: int, number: int, starts: Any, pattern: Any, values: Any, depth: int) -> Any:
    """Return the first clause that positions up to `depth` falsify; -1 if there is none."""
    for clause in range(number):
        begin, end = starts[first + clause], starts[first + clause + 1]
        if abs(pattern[end - 1]) == depth:
            is_false = True
            for k in range(begin, end):
                local = pattern[k]
                is_false = is_false and values[abs(local)] == (-1 if local > 0 else 1)
            if is_false:
                return clause
    return -1
