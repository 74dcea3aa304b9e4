"""Compiled elimination of vertices in a given order, by exact dynamic programming.

Vertices are numbered in the order of their elimination. The *open* vertices of v are those that an
edge or an earlier table connects with v when v is eliminated. The least value over the spin of v is
a table over its open vertices; bit i of an index is set if the i-th open vertex is down. The table
is added to the *message* to the first open vertex, which contains the tables of all vertices that
end there. The message to v is over v, as bit 0, and some open vertices of v. Tables without open
vertices are added to the message to the vertex after the last one.

Numbers are int64 or rows of digits (see `digit_kernels`). The caller has shown that no sum can
overflow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasshouse.certificates.digit_kernels import (
    DIGIT,
    MASK,
    add,
    clear,
    copy,
    is_less,
    subtract,
    zeros_like,
)
from glasshouse.compiled import compiled, inner

# Bits of an index whose fields and places are tabulated.
_LOW = 6


class Plan(NamedTuple):
    """The open vertices of each vertex, in ascending order, and the sizes of all tables.

    Attributes:
        scope_starts: the index at which the open vertices of each vertex begin, and the end.
        scopes: the open vertices of all vertices, concatenated.
        parents: the first open vertex of each vertex, or the number of vertices if none is open.
        children: for each vertex, and for the end, the number of tables in its message.
        masks: bit i is set if the message to a vertex is over its i-th open vertex.
        bits: the number of vertices of each message.
    """

    scope_starts: Any
    scopes: Any
    parents: Any
    children: Any
    masks: Any
    bits: Any


@compiled
def planned(starts: Any, later: Any, most_open: int) -> Any:
    """Return the first vertex with too many open vertices, or -1, and all arrays of a plan.

    The caller makes the plan of them, because Ctrl-C while compiled code returns a named tuple
    would crash the process.

    Args:
        starts: the index at which the later neighbours of each vertex begin, and the end.
        later: the later neighbours of all vertices, concatenated.
        most_open: the largest number of open vertices that is allowed.
    """
    size = starts.size - 1
    scope_starts, scopes = np.zeros(size + 1, np.int64), np.empty(4 * size + 64, np.int32)
    parents, children = np.full(size, size, np.int32), np.zeros(size + 1, np.int32)
    masks, bits = np.zeros(size + 1, np.int32), np.zeros(size + 1, np.int8)
    first_child, next_child = np.full(size + 1, -1, np.int32), np.full(size, -1, np.int32)
    found_by, place = np.full(size, -1, np.int32), np.zeros(size, np.int32)
    found = np.empty(most_open + 1, np.int32)
    fault = -1
    for v in range(size):
        count = 0
        found_by[v] = v
        child, k, end = first_child[v], starts[v], starts[v + 1]
        source = later
        while count <= most_open:
            if k == end:
                if child < 0:
                    break
                source, k, end = scopes, scope_starts[child], scope_starts[child + 1]
                child = next_child[child]
                continue
            u = source[k]
            k += 1
            if found_by[u] != v:
                found_by[u] = v
                found[count] = u
                count += 1
        if count > most_open:
            fault = v
            break
        if scope_starts[v] + count > scopes.size:
            longer = np.empty(2 * scopes.size, np.int32)
            longer[: scopes.size] = scopes
            scopes = longer
        open_vertices = np.sort(found[:count])
        for i in range(count):
            scopes[scope_starts[v] + i] = open_vertices[i]
            place[open_vertices[i]] = i
        scope_starts[v + 1] = scope_starts[v] + count
        child = first_child[v]
        while child >= 0:
            for i in range(scope_starts[child] + 1, scope_starts[child + 1]):
                masks[v] |= 1 << place[scopes[i]]
            child = next_child[child]
        bits[v] = children[v] > 0
        for i in range(count):
            bits[v] += masks[v] >> i & 1
        parent = open_vertices[0] if count else size
        parents[v] = parent
        children[parent] += 1
        next_child[v], first_child[parent] = first_child[parent], v
    return fault, scope_starts, scopes, parents, children, masks, bits


@compiled
def sizes_of(plan: Any) -> Any:
    """Return how many numbers an elimination computes, and how many are in memory at once."""
    size = plan.parents.size
    numbers, held, most = 0, 0, 0
    begun = np.zeros(size + 1, np.bool_)
    for v in range(size):
        parent = plan.parents[v]
        numbers += 2 << (plan.scope_starts[v + 1] - plan.scope_starts[v])
        if plan.children[parent] > 1:
            numbers += 1 << plan.bits[parent]
        if parent < size and not begun[parent]:
            begun[parent] = True
            held += 1 << plan.bits[parent]
        most = max(most, held)
        if plan.children[v]:
            held -= 1 << plan.bits[v]
    return numbers, most


class Memory(NamedTuple):
    """The messages in memory; they are moved together if there is no space for another message.

    Attributes:
        numbers: the numbers of all messages. The first two numbers stay zero; they are the message
            to each vertex that no table is added to.
        table: a buffer for one table.
        places: for each vertex, and for the end, the index of its message; 0 if there is none.
        owners: the vertices of messages in the order of their indices, and some earlier ones.
        used: the number of owners, and the number of numbers in use.
    """

    numbers: Any
    table: Any
    places: Any
    owners: Any
    used: Any


@compiled
def eliminate(
    first: int, most: int, plan: Any, starts: Any, later: Any, weights: Any, fields: Any,
    memory: Any, choices: Any, choice_starts: Any,
) -> Any:  # fmt: skip
    """Eliminate vertices from `first` on, at least one; return the vertex at which to continue.

    Args:
        first: the first vertex to eliminate.
        most: the number of computed numbers after which to return.
        plan: the plan.
        starts: the index at which the later neighbours of each vertex begin, and the end.
        later: the later neighbours of all vertices, concatenated.
        weights: the weights of these edges.
        fields: the field of each vertex.
        memory: the messages; they are changed.
        choices: receives a bit for each number of each table: whether the vertex is down. May be
            empty.
        choice_starts: the byte at which the bits of each vertex begin.
    """
    size = plan.parents.size
    position = np.zeros(size + 1, np.int32)
    moves, places = np.zeros(32, np.int64), np.zeros(1 << _LOW, np.int64)
    field, turns = zeros_like(fields, 1), zeros_like(fields, 32)
    changes = zeros_like(fields, 1 << _LOW)
    done, v = 0, first
    while v < size and (v == first or done < most):
        begin = plan.scope_starts[v]
        count = plan.scope_starts[v + 1] - begin
        parent = plan.parents[v]
        step = 2
        for i in range(count):
            position[plan.scopes[begin + i]] = i
            moves[i] = step * (plan.masks[v] >> i & 1)
            step <<= plan.masks[v] >> i & 1
            clear(turns, i)
        clear(field, 0)
        add(field, 0, fields, v)
        for k in range(starts[v], starts[v + 1]):
            add(field, 0, weights, k)
            subtract(turns, position[later[k]], weights, k)
            subtract(turns, position[later[k]], weights, k)
        is_fresh = memory.places[parent] == 0
        if is_fresh:
            _reserve(memory, parent, plan.bits)
        is_alone = plan.children[parent] == 1
        source, target = memory.places[v], memory.places[parent]
        least(
            memory.numbers, source, moves, places, count, field, turns, changes,
            memory.numbers if is_alone else memory.table, target if is_alone else 0,
            choices, choice_starts[v],
        )  # fmt: skip
        memory.places[v] = 0
        done += 2 << count
        if not is_alone:
            _place_in_message(moves, plan, parent, position, begin, count)
            spread(memory.table, moves, places, plan.bits[parent], memory.numbers, target, is_fresh)
            done += 1 << plan.bits[parent]
        v += 1
    return v


@inner
def _reserve(memory: Any, owner: int, bits: Any) -> None:
    """Reserve the space of a message, and close the gaps between messages if needed."""
    length = 1 << bits[owner]
    if memory.used[1] + length > len(memory.numbers):
        owners, end = 0, 2
        for k in range(memory.used[0]):
            other = memory.owners[k]
            begin = memory.places[other]
            if begin == 0:
                continue
            for i in range(1 << bits[other]):
                copy(memory.numbers, end + i, memory.numbers, begin + i)
            memory.places[other], memory.owners[owners] = end, other
            owners += 1
            end += 1 << bits[other]
        memory.used[0], memory.used[1] = owners, end
    memory.owners[memory.used[0]], memory.places[owner] = owner, memory.used[1]
    memory.used[0] += 1
    memory.used[1] += length


@inner
def _place_in_message(
    moves: Any, plan: Any, parent: int, position: Any, begin: int, count: int
) -> None:
    """Set the moves of a table's index for each bit of the message that the table is added to."""
    moves[: plan.bits[parent]] = 0
    if count == 0:
        return
    moves[0], bit = 1, 1
    base = plan.scope_starts[parent]
    for i in range(plan.scope_starts[parent + 1] - base):
        if plan.masks[parent] >> i & 1:
            u = plan.scopes[base + i]
            spot = position[u]
            if spot < count and plan.scopes[begin + spot] == u:
                moves[bit] = 1 << spot
            bit += 1


@inner
def _fill_low(places: Any, moves: Any, bits: int) -> None:
    """Tabulate the places of all indices below 2^bits."""
    places[0] = 0
    for bit in range(bits):
        for x in range(1 << bit):
            places[x + (1 << bit)] = places[x] + moves[bit]


@inner
def _place_of(high: int, moves: Any) -> Any:
    """Return the place of an index whose low bits are zero."""
    place, bit = 0, 0
    while high:
        if high & 1:
            place += moves[bit]
        high >>= 1
        bit += 1
    return place


@inner
def least(
    numbers: Any, source: int, moves: Any, places: Any, count: int, field: Any, turns: Any,
    changes: Any, out: Any, target: int, choices: Any, choice_start: int,
) -> None:  # fmt: skip
    """Write the least values over the spin of a vertex, for all states of its open vertices.

    Args:
        numbers: contains the message to the vertex.
        source: the index of the message.
        moves: for each open vertex, the change of the message's index if it is down.
        places: a buffer.
        count: the number of open vertices.
        field: the field of the vertex if all open vertices are up.
        turns: for each open vertex, the change of the field if it is down.
        changes: a buffer.
        out: the array that receives the table.
        target: the index of the table in `out`.
        choices: receives a bit for each number, unless it is empty.
        choice_start: the byte at which these bits begin.
    """
    low = min(count, _LOW)
    _fill_low(places, moves, low)
    clear(changes, 0)
    for bit in range(low):
        for x in range(1 << bit):
            copy(changes, x + (1 << bit), changes, x)
            add(changes, x + (1 << bit), turns, bit)
    base, own = zeros_like(field, 1), zeros_like(field, 1)
    up, down = zeros_like(field, 1), zeros_like(field, 1)
    for high in range(1 << (count - low)):
        start = source + _place_of(high << low, moves)
        copy(base, 0, field, 0)
        for bit in range(low, count):
            if high << low >> bit & 1:
                add(base, 0, turns, bit)
        to = target + (high << low)
        if numbers.ndim == 1:
            for x in range(1 << low):
                effect, i = base[0] + changes[x], start + places[x]
                one, other = numbers[i] - effect, numbers[i + 1] + effect
                out[to + x] = min(one, other)
                if choices.size and other < one:
                    choices[choice_start + ((high << low) + x >> 3)] |= 1 << (x & 7)
        elif numbers.shape[1] == 2:
            for x in range(1 << low):
                i = start + places[x]
                effect, effect_1 = base[0, 0] + changes[x, 0], base[0, 1] + changes[x, 1]
                one, other = numbers[i, 0] - effect, numbers[i + 1, 0] + effect
                one_1 = numbers[i, 1] - effect_1 + (one >> DIGIT)
                other_1 = numbers[i + 1, 1] + effect_1 + (other >> DIGIT)
                one, other = one & MASK, other & MASK
                is_down = other_1 < one_1 or (other_1 == one_1 and other < one)
                out[to + x, 0] = other if is_down else one
                out[to + x, 1] = other_1 if is_down else one_1
                if choices.size and is_down:
                    choices[choice_start + ((high << low) + x >> 3)] |= 1 << (x & 7)
        else:
            for x in range(1 << low):
                i = start + places[x]
                copy(own, 0, base, 0)
                add(own, 0, changes, x)
                copy(up, 0, numbers, i)
                subtract(up, 0, own, 0)
                copy(down, 0, numbers, i + 1)
                add(down, 0, own, 0)
                is_down = is_less(down, up)
                copy(out, to + x, down if is_down else up, 0)
                if choices.size and is_down:
                    choices[choice_start + ((high << low) + x >> 3)] |= 1 << (x & 7)


@inner
def spread(
    table: Any, moves: Any, places: Any, bits: int, out: Any, target: int, is_fresh: bool
) -> None:
    """Add a table to a message over `bits` vertices, which is overwritten if it is fresh.

    Args:
        table: the table.
        moves: for each vertex of the message, the change of the table's index if it is down.
        places: a buffer.
        bits: the number of vertices of the message.
        out: contains the message.
        target: the index of the message.
        is_fresh: whether the message contains no other table.
    """
    low = min(bits, _LOW)
    _fill_low(places, moves, low)
    for high in range(1 << (bits - low)):
        start, to = _place_of(high << low, moves), target + (high << low)
        for x in range(1 << low):
            if is_fresh:
                clear(out, to + x)
            add(out, to + x, table, start + places[x])
