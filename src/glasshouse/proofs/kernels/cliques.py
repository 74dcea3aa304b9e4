"""Compiled search for violated odd cliques.

As in `cycles`, node 2v + p is vertex v reached over a walk of parity p. A walk counts between nodes
2v + p and 2w + q of a clique if its parity is odd for p = q, and even otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import enlarged
from glasshouse.proofs.kernels.graphs import pop, push

# The distance of nodes that cannot be in one clique: two nodes of one vertex, and nodes too far
# apart. A power of two, so that adding and subtracting it loses few digits of a float32.
_NEVER = np.float32(16.0)
# Smaller gains of an exchange may be due to rounding.
_GAIN = np.float32(1e-4)


@compiled
def nearest_nodes(
    graph: Any, hop: Any, limit: Any, first: Any, last: Any, distance: Any, over: Any
) -> None:
    """Compute shortest walks to all nodes closer than `limit`, from vertices `first` to `last` - 1.

    Args:
        graph: an ArcGraph.
        hop: the cost of an arc in addition to its length.
        limit: the greatest length; nodes that are farther away are never reached.
        first: the first vertex.
        last: the vertex after the last one.
        distance: one row for each vertex, one column for each node; filled here.
        over: the arc by which each node is reached, in the same layout; filled here.
    """
    size = len(graph.starts) - 1
    entries = 4 * len(graph.neighbours) + 2
    keys, items = np.empty(entries), np.empty(entries, np.int32)
    reached, settled = np.empty(2 * size), np.empty(2 * size, np.bool_)
    for source in range(first, last):
        reached[:], settled[:] = np.inf, False
        reached[2 * source] = 0.0
        waiting = push(keys, items, 0, 0.0, 2 * source)
        while waiting > 0:
            here, node, waiting = pop(keys, items, waiting)
            if settled[node]:
                continue
            settled[node] = True
            vertex, parity = node >> 1, node & 1
            for t in range(graph.starts[vertex], graph.starts[vertex + 1]):
                edge = graph.edge_ids[t]
                for flipped in range(2):
                    arc = 2 * edge + flipped
                    there = 2 * graph.neighbours[t] + (parity ^ graph.negative[edge] ^ flipped)
                    through = here + graph.lengths[arc] + hop
                    if through < reached[there] and through < limit:
                        reached[there] = through
                        over[source, there] = arc
                        waiting = push(keys, items, waiting, through, there)
        for node in range(2 * size):
            distance[source, node] = reached[node] if settled[node] else _NEVER


@compiled
def fill_pairs(distance: Any, shortest: Any, pairs: Any) -> None:
    """Compute the length of the shortest walk between any two nodes that may be in one clique.

    Args:
        distance: the distances from `nearest_nodes`.
        shortest: closer pairs are skipped; they violate a clique only if a cycle is violated, too.
        pairs: one row and one column for each node; filled here.
    """
    for first in range(len(pairs)):
        row = distance[first >> 1]
        other = (first & 1) ^ 1
        for second in range(len(pairs)):
            length = row[second ^ other]
            pairs[first, second] = length if length >= shortest else _NEVER
        pairs[first, first] = pairs[first, first ^ 1] = _NEVER


@compiled
def odd_cliques(pairs: Any, size: Any, restarts: Any, violation: Any, first: Any, last: Any) -> Any:
    """Return violated cliques of `size` nodes, from several searches around each vertex.

    Each search starts with a vertex and the nearest node that no earlier search found, adds the
    node nearest to all of these, and then exchanges nodes one by one while that helps. All nodes
    are evaluated in each step, row by row: that is quicker than selecting some of them first.

    Args:
        pairs: the lengths from `fill_pairs`.
        size: the size of the cliques.
        restarts: the number of searches around each vertex.
        violation: the least violation that counts.
        first: the first vertex.
        last: the vertex after the last one.

    Returns:
        One clique per row, as nodes, and the sum of each clique's walk lengths.
    """
    num_nodes = len(pairs)
    least = (size - 1) ** 2 // 4 - violation
    cliques = np.empty(((last - first) * restarts, size), np.int32)
    sums = np.empty(len(cliques))
    members, load = np.empty(size, np.int64), np.empty(num_nodes, np.float32)
    untried = np.empty(num_nodes, np.float32)
    count = 0
    for node in range(2 * first, 2 * last, 2):
        untried[:] = pairs[node]
        for _ in range(restarts):
            members[0], members[1] = node, nearest(untried)
            if untried[members[1]] == _NEVER:
                break
            untried[members[1]] = _NEVER
            total = improve(pairs, members, load)
            for member in members:
                untried[member] = _NEVER
            if total < least:
                cliques[count], sums[count] = members, total
                count += 1
    return cliques[:count].copy(), sums[:count].copy()


@inner
def improve(pairs: Any, members: Any, load: Any) -> Any:
    """Extend a pair to a clique, improve the clique by exchanges, and return its sum of lengths.

    `load` is the sum of the distances of each node to all members.
    """
    size = len(members)
    load[:] = pairs[members[0]]
    load += pairs[members[1]]
    for k in range(2, size):
        members[k] = nearest(load)
        load += pairs[members[k]]
    better = True
    while better:
        better = False
        for k in range(1, size):
            old = members[k]
            load -= pairs[old]
            new = nearest(load)
            if load[new] < load[old] - _GAIN:
                members[k], better = new, True
            load += pairs[members[k]]
    total = 0.0
    for k in range(size):
        for j in range(k):
            total += pairs[members[k], members[j]]
    return total


@inner(fastmath={"nnan", "nsz"})
def nearest(load: Any) -> Any:
    """Return the index of the least entry of `load`."""
    least = load[0]
    for entry in range(1, len(load)):
        least = min(least, load[entry])
    for entry in range(len(load)):
        if load[entry] == least:
            return entry
    return 0


@compiled
def walks_of(over: Any, ends: Any, negative: Any, cliques: Any) -> Any:
    """Return the walks between all pairs of nodes in each clique.

    A walk leads from the second node of a pair to the first. Returns the concatenated arcs, the
    vertices at which these begin, where each walk begins, and whether a clique's walks are simple.
    """
    size = cliques.shape[1]
    pairs = size * (size - 1) // 2
    arcs, vertices = np.empty(4096, np.int32), np.empty(4096, np.int32)
    begins = np.zeros(len(cliques) * pairs + 1, np.int64)
    is_simple = np.ones(len(cliques), np.bool_)
    seen = np.full(len(over), -1, np.int64)
    used = walk = 0
    for k in range(len(cliques)):
        for i in range(size):
            for j in range(i):
                source = cliques[k, i] >> 1
                node = cliques[k, j] ^ (cliques[k, i] & 1) ^ 1
                seen[source] = walk
                while node != 2 * source:
                    if used + 2 > len(arcs):
                        arcs, vertices = enlarged(arcs, 2 * used), enlarged(vertices, 2 * used)
                    arc, vertex = over[source, node], node >> 1
                    if seen[vertex] == walk:
                        is_simple[k] = False
                        break
                    seen[vertex] = walk
                    arcs[used], vertices[used] = arc, vertex
                    used += 1
                    edge = arc >> 1
                    other = ends[edge, 0] + ends[edge, 1] - vertex
                    node = 2 * other + ((node ^ arc) & 1 ^ negative[edge])
                walk += 1
                begins[walk] = used
    return arcs[:used].copy(), vertices[:used].copy(), begins, is_simple
