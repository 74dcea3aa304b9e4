"""Compiled recombination of states, which are improved with parts of other states."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner


@compiled
def mix(
    starts: Any,
    neighbours: Any,
    edge_ids: Any,
    couplings: Any,
    states: Any,
    partners: Any,
    first: Any,
    last: Any,
) -> None:
    """Improve each state in place by taking over the parts in which a partner state is better.

    The spins in which two states differ form connected parts, and so do the spins in which they
    agree. No two parts of one kind touch, so each can be flipped independently: the best of all
    combinations is at least as good as both states. `partners[k, i]` is the k-th partner of i;
    states from `first` to before `last` are improved.
    """
    size = len(starts) - 1
    least = 1e-9 * np.max(np.abs(couplings)) if len(couplings) else 0.0
    seen, queue = np.empty(size, np.bool_), np.empty(size, np.int32)
    for turn in range(partners.shape[0]):
        for one in range(first, last):
            mine, other = states[one], states[partners[turn, one]]
            for relation in (-1, 1):
                seen[:] = False
                for vertex in range(size):
                    if seen[vertex] or mine[vertex] * other[vertex] != relation:
                        continue
                    count, margin = gather(
                        starts, neighbours, edge_ids, couplings, mine, other, vertex, seen, queue
                    )
                    if margin < -least:
                        for k in range(count):
                            mine[queue[k]] = -mine[queue[k]]


@inner
def gather(
    starts: Any,
    neighbours: Any,
    edge_ids: Any,
    couplings: Any,
    mine: Any,
    other: Any,
    first: Any,
    seen: Any,
    queue: Any,
) -> Any:
    """List the connected part around `first`; return its size, and Σ w s s over its border."""
    relation = mine[first] * other[first]
    queue[0], head, count = first, 0, 1
    seen[first] = True
    margin = 0.0
    while head < count:
        vertex = queue[head]
        head += 1
        for t in range(starts[vertex], starts[vertex + 1]):
            near = neighbours[t]
            if mine[near] * other[near] != relation:
                margin += couplings[edge_ids[t]] * mine[vertex] * mine[near]
            elif not seen[near]:
                seen[near] = True
                queue[count] = near
                count += 1
    return count, margin
