"""Compiled recombination of states: what one of them does better, cluster by cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner


@compiled
def recombine(
    starts: Any, neighbours: Any, edge_ids: Any, couplings: Any, states: Any, passes: Any
) -> Any:
    """Let every state take over from every other what lowers its energy, in place.

    Args:
        starts: compressed rows, as the next two.
        neighbours: see `kernels`.
        edge_ids: see there.
        couplings: one per edge.
        states: one per row.
        passes: how many times at most; it ends when nothing changes.

    Returns:
        How many clusters were flipped.
    """
    size = states.shape[1]
    # Float sums have rounding errors; a flip must gain more than those, so that the loop ends.
    least = 1e-9 * np.max(np.abs(couplings)) if len(couplings) else 0.0
    members, seen = np.empty(size, np.int32), np.zeros(size, np.int64)
    kinds = np.empty(size, np.int8)
    flips = stamp = 0
    for _ in range(passes):
        before = flips
        for a in range(states.shape[0]):
            for b in range(states.shape[0]):
                if a != b:
                    stamp += 1
                    flips += take_over(
                        starts, neighbours, edge_ids, couplings, states[a], states[b],
                        kinds, members, seen, stamp, least,
                    )  # fmt: skip
        if flips == before:
            break
    return flips


@inner
def take_over(
    starts: Any, neighbours: Any, edge_ids: Any, couplings: Any, spins: Any, other: Any,
    kinds: Any, members: Any, seen: Any, stamp: Any, least: Any,
) -> Any:  # fmt: skip
    """Flip each cluster of spins in which two states differ, if that lowers the first one's energy.

    In a cluster the two are everywhere equal, or everywhere opposite: the first state flipped as a
    whole is as good. Clusters of one kind never touch, so what their flips gain just adds up.

    Returns:
        How many were flipped.
    """
    size = len(spins)
    for vertex in range(size):
        kinds[vertex] = spins[vertex] * other[vertex]
    flips = 0
    for root in range(size):
        if seen[root] == stamp:
            continue
        seen[root] = stamp
        members[0], count, done = root, 1, 0
        margin = 0.0
        while done < count:
            vertex = members[done]
            done += 1
            for t in range(starts[vertex], starts[vertex + 1]):
                neighbour = neighbours[t]
                if kinds[neighbour] != kinds[root]:
                    margin += couplings[edge_ids[t]] * spins[vertex] * spins[neighbour]
                elif seen[neighbour] != stamp:
                    seen[neighbour] = stamp
                    members[count] = neighbour
                    count += 1
        if margin < -least:
            for k in range(count):
                spins[members[k]] = -spins[members[k]]
            flips += 1
    return flips
