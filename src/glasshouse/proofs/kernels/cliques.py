"""Compiled search for violated odd cliques.

As in `arcs`, node 2v + p is vertex v over a walk of parity p. For a walk to count between nodes
2v + p and 2w + q of a clique, its parity is odd where p = q.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inlined, inner
from glasshouse.kernels.arrays import enlarged
from glasshouse.proofs.kernels.graphs import pop, push

# Two nodes of one vertex have no place in one clique, nor have nodes that are too far away.
_NEVER = 100.0


@compiled
def nearest_nodes(graph: Any, hop: Any, limit: Any, distance: Any, over: Any) -> None:
    """Shortest walks from each vertex to all nodes below a length: lengths, and the last arcs.

    Args:
        graph: an ArcGraph.
        hop: what an arc costs beside its length.
        limit: how far to look; nodes that are farther away are never reached.
        distance: one row for each vertex, one column for each node; to be filled.
        over: the same, the arc by which each node is reached.
    """
    size = len(graph.starts) - 1
    entries = 4 * len(graph.neighbours) + 2
    keys, items = np.empty(entries), np.empty(entries, np.int32)
    reached, settled = np.empty(2 * size), np.empty(2 * size, np.bool_)
    for source in range(size):
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


@inlined
def between(distance: Any, first: Any, second: Any) -> Any:
    """How long the walk between two nodes of a clique is."""
    if first >> 1 == second >> 1:
        return _NEVER
    return distance[first >> 1, second ^ (first & 1) ^ 1]


@compiled
def odd_cliques(distance: Any, size: Any, ball: Any, restarts: Any, violation: Any) -> Any:
    """Violated cliques of an odd size, some around each vertex.

    Each search starts with a vertex and one more node of those around it, adds what is nearest to
    all so far, and then exchanges nodes one by one as long as that helps.

    Args:
        distance: from `nearest_nodes`.
        size: of the cliques.
        ball: how many nodes around a vertex to choose from.
        restarts: searches around each vertex.
        violation: the least that counts. Each pair of a clique is at least half of it long.

    Returns:
        One clique per row, as nodes, and the sum of the walks of each.
    """
    num_vertices = len(distance)
    least = (size - 1) ** 2 // 4 - violation
    cliques = np.empty((num_vertices * restarts, size), np.int32)
    sums = np.empty(num_vertices * restarts)
    count = 0
    around = np.empty(ball + 1, np.int32)
    lengths = np.empty((ball + 1, ball + 1))
    members = np.empty(size, np.int64)
    load = np.empty(ball + 1)
    for vertex in range(num_vertices):
        found = choose_around(distance, vertex, 0.5 * violation, around)
        if found < size:
            continue
        for a in range(found):
            for b in range(found):
                lengths[a, b] = between(distance, around[a], around[b])
        for start in range(min(restarts, found - 1)):
            second = 1 + start * (found - 1) // restarts
            total = improve(lengths[:found, :found], second, members, load[:found])
            if total < least:
                for k in range(size):
                    cliques[count, k] = around[members[k]]
                sums[count] = total
                count += 1
    return cliques[:count].copy(), sums[:count].copy()


@inner
def choose_around(distance: Any, vertex: Any, shortest: Any, around: Any) -> Any:
    """The nodes nearest to a vertex, itself first; returns how many there are."""
    row = distance[vertex]
    keys, items = np.empty(len(row)), np.empty(len(row), np.int32)
    waiting = 0
    for node in range(len(row)):
        length = row[node ^ 1]
        if shortest <= length < _NEVER and node >> 1 != vertex:
            waiting = push(keys, items, waiting, length, node)
    around[0], count = 2 * vertex, 1
    while waiting > 0 and count < len(around):
        _, node, waiting = pop(keys, items, waiting)
        around[count] = node
        count += 1
    return count


@inner
def improve(lengths: Any, second: Any, members: Any, load: Any) -> Any:
    """Grow a clique from entry 0 and another one, exchange what is not 0; the sum of its walks.

    `load` is how far each entry is from all members.
    """
    size = len(members)
    members[0] = 0
    load[:] = lengths[0]
    for k in range(1, size):
        best = second
        if k > 1:
            for entry in range(len(load)):
                if load[entry] < load[best]:
                    best = entry
        members[k] = best
        load += lengths[best]
    better = True
    while better:
        better = False
        for k in range(1, size):
            old = members[k]
            best, least = old, load[old] - _NEVER - 1e-9
            for entry in range(len(load)):
                without = load[entry] - lengths[old, entry]
                if without < least:
                    best, least = entry, without
            if best != old:
                load += lengths[best] - lengths[old]
                members[k] = best
                better = True
    total = 0.0
    for k in range(size):
        total += load[members[k]] - _NEVER
    return 0.5 * total


@compiled
def walks_of(over: Any, ends: Any, negative: Any, cliques: Any) -> Any:
    """The walks between all pairs of each clique, each from its pair's second node to the first.

    Returns the arcs one after the other, the vertices where these begin, where each walk begins,
    and for each clique whether its walks pass no vertex twice.
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
