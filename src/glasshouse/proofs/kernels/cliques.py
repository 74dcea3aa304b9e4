"""Compiled search for violated odd cliques.

As in `cycles`, node 2v + p is vertex v over a walk of parity p. For a walk to count between nodes
2v + p and 2w + q of a clique, its parity is odd where p = q.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import enlarged
from glasshouse.proofs.kernels.graphs import pop, push

# Two nodes of one vertex have no place in one clique, nor have nodes that are too far away. A power
# of two, so that adding it and taking it off again loses few digits of a float32.
_NEVER = np.float32(16.0)
# An exchange that gains less may be one of rounding.
_GAIN = np.float32(1e-4)


@compiled
def nearest_nodes(
    graph: Any, hop: Any, limit: Any, first: Any, last: Any, distance: Any, over: Any
) -> None:
    """Shortest walks from each vertex to all nodes below a length: lengths, and the last arcs.

    Args:
        graph: an ArcGraph.
        hop: what an arc costs beside its length.
        limit: how far to look; nodes that are farther away are never reached.
        first: the first vertex.
        last: the one after the last vertex.
        distance: one row for each vertex, one column for each node; to be filled.
        over: the same, the arc by which each node is reached.
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
    """How long the walk between each two nodes of a clique is.

    Args:
        distance: from `nearest_nodes`.
        shortest: shorter pairs are left out; a clique with one is violated only where a cycle is.
        pairs: one row and one column for each node; to be filled.
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
    """Violated cliques of an odd size, some around each of some vertices.

    Each search starts with a vertex and the nearest node that no search before it came upon, adds
    what is nearest to all so far, and then exchanges nodes one by one as long as that helps. All
    nodes are looked at in each step, row by row: that is quicker than choosing some of them first.

    Args:
        pairs: from `fill_pairs`.
        size: of the cliques.
        restarts: searches around each vertex.
        violation: the least that counts.
        first: the first vertex.
        last: the one after the last vertex.

    Returns:
        One clique per row, as nodes, and the sum of the walks of each.
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
    """Add to the first two members of a clique, exchange all but the first; the sum of its walks.

    `load` is how far each node is from all members.
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
    """The place of the least entry. Its value first, which takes one instruction for many."""
    least = load[0]
    for entry in range(1, len(load)):
        least = min(least, load[entry])
    for entry in range(len(load)):
        if load[entry] == least:
            return entry
    return 0


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
