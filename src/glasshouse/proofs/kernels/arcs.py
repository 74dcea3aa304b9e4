"""Compiled search for violated cycle inequalities, flipped ones too.

For a cycle C and some of its edges F, with u_e = 1 where edge e is violated,

    Σ_{C∖F} u + Σ_F (1 - u) ≥ 1   whenever |F| plus the number of negative edges of C is odd.

So every edge is two *arcs*: arc 2e, plain, is u_e long and has the parity of the edge; arc 2e + 1,
flipped, is 1 - u_e long and has the other one. A violated inequality is a cycle of odd parity that
is shorter than 1. Both arcs matter: the shorter one alone misses inequalities where u is near 1/2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import enlarged
from glasshouse.proofs.kernels.cycles import note
from glasshouse.proofs.kernels.graphs import pop, push


class ArcGraph(NamedTuple):
    """A signed graph in compressed rows, with the lengths of its arcs."""

    starts: npt.NDArray[np.int64]
    neighbours: npt.NDArray[np.int32]
    edge_ids: npt.NDArray[np.int32]
    negative: npt.NDArray[np.uint8]  # one per edge
    lengths: npt.NDArray[np.float64]  # one per arc


class ArcSearch(NamedTuple):
    """What a search from one source keeps: node 2v + p is vertex v over a walk of parity p."""

    distance: npt.NDArray[np.float64]  # one per node, as the next four
    settled: npt.NDArray[np.bool_]
    parent: npt.NDArray[np.int32]
    over: npt.NDArray[np.int32]  # the arc from the parent
    branch: npt.NDArray[np.int32]  # which of the source's edges the walk began with
    touched: npt.NDArray[np.int32]  # the nodes to clean up
    keys: npt.NDArray[np.float64]  # the heap
    items: npt.NDArray[np.int32]
    place: npt.NDArray[np.int32]  # one per edge: where it stands among the source's
    shortest: npt.NDArray[np.float64]  # of the odd walks over each of the source's edges
    ends: npt.NDArray[np.int32]  # the two nodes that it joins
    closing: npt.NDArray[np.int32]  # by which arc


@compiled
def violated_cycles(graph: Any, hop: Any, limit: Any, sources: Any) -> Any:
    """Odd cycles below a length through the given vertices, for each edge there the shortest one.

    Dijkstra's search, from both ends at once: the shortest odd walk through the source is closed by
    an arc that is no further away than half its length. The shortest odd walk of all is a simple
    cycle, so that "none found from any source" says that there is none.

    Args:
        graph: an ArcGraph.
        hop: what an arc costs beside its length: of equally long cycles, those of few edges come.
        limit: what a cycle has to be shorter than, hops counted.
        sources: the vertices.

    Returns:
        The cycles' arcs, each cycle's in its order, the vertices at which these begin, where each
        cycle begins, and the lengths, without hops.
    """
    search = new_search(graph)
    size = len(graph.starts) - 1
    walk, corners = np.empty(2 * size + 2, np.int32), np.empty(2 * size + 2, np.int32)
    seen = np.zeros(size, np.int64)
    arcs, vertices = np.empty(4096, np.int32), np.empty(4096, np.int32)
    begins, totals = np.zeros(512, np.int64), np.empty(512)
    stamp = count = 0
    for source in sources:
        num_touched = close_walks(graph, hop, limit, source, search)
        for k in range(graph.starts[source + 1] - graph.starts[source]):
            stamp += 1
            steps = trace(search, source, k, walk, corners, seen, stamp)
            if steps == 0:
                continue
            used = begins[count]
            if used + steps > len(arcs):
                arcs = enlarged(arcs, 2 * len(arcs) + steps)
                vertices = enlarged(vertices, len(arcs))
            if count + 2 > len(begins):
                begins, totals = enlarged(begins, 2 * count + 2), enlarged(totals, 2 * count + 2)
            totals[count] = 0.0
            for step in range(steps):
                arcs[used + step], vertices[used + step] = walk[step], corners[step]
                totals[count] += graph.lengths[walk[step]]
            count += 1
            begins[count] = used + steps
        for k in range(num_touched):
            search.distance[search.touched[k]] = np.inf
            search.settled[search.touched[k]] = False
    used = begins[count]
    return arcs[:used].copy(), vertices[:used].copy(), begins[: count + 1].copy(), totals[:count]


@inner
def new_search(graph: Any) -> Any:
    """Room for the searches of a graph, one after the other."""
    size = len(graph.starts) - 1
    degree = 0
    for vertex in range(size):
        degree = max(degree, graph.starts[vertex + 1] - graph.starts[vertex])
    entries = 4 * len(graph.neighbours) + 2
    return ArcSearch(
        np.full(2 * size, np.inf),
        np.zeros(2 * size, np.bool_),
        np.empty(2 * size, np.int32),
        np.empty(2 * size, np.int32),
        np.empty(2 * size, np.int32),
        np.empty(2 * size, np.int32),
        np.empty(entries),
        np.empty(entries, np.int32),
        np.empty(len(graph.negative), np.int32),
        np.empty(degree),
        np.empty((degree, 2), np.int32),
        np.empty(degree, np.int32),
    )


@inner
def close_walks(graph: Any, hop: Any, limit: Any, source: Any, search: Any) -> Any:
    """Fill `shortest`, `ends` and `closing` for a source; returns how many nodes were touched."""
    distance, settled, touched = search.distance, search.settled, search.touched
    branch, place, keys, items = search.branch, search.place, search.keys, search.items
    first = graph.starts[source]
    for k in range(graph.starts[source + 1] - first):
        place[graph.edge_ids[first + k]] = k
        search.shortest[k] = limit
        search.closing[k] = -1
    best, root = limit, 2 * source
    touched[0], num_touched = root, 1
    distance[root] = 0.0
    waiting = push(keys, items, 0, 0.0, root)
    while waiting > 0:
        reached, node, waiting = pop(keys, items, waiting)
        if settled[node]:
            continue
        if 2.0 * reached > best + hop:
            break
        settled[node] = True
        vertex, parity = node >> 1, node & 1
        for t in range(graph.starts[vertex], graph.starts[vertex + 1]):
            edge, neighbour = graph.edge_ids[t], graph.neighbours[t]
            for flipped in range(2):
                arc = 2 * edge + flipped
                through = reached + graph.lengths[arc] + hop
                if through >= limit:
                    continue
                there = 2 * neighbour + (parity ^ graph.negative[edge] ^ flipped)
                mate = there ^ 1
                if settled[mate] and node != root:
                    total = through + distance[mate]
                    best = min(best, total)
                    mates_branch = place[edge] if mate == root else branch[mate]
                    if branch[node] != mates_branch and total < limit:
                        note(search, branch[node], total, node, mate, arc)
                        note(search, mates_branch, total, node, mate, arc)
                # Beyond half the limit no walk is continued.
                if (
                    neighbour != source
                    and 2.0 * through < limit + hop
                    and through < distance[there]
                ):
                    if distance[there] == np.inf:
                        touched[num_touched] = there
                        num_touched += 1
                    distance[there] = through
                    search.parent[there], search.over[there] = node, arc
                    branch[there] = place[edge] if node == root else branch[node]
                    waiting = push(keys, items, waiting, through, there)
    return num_touched


@inner
def trace(search: Any, source: Any, k: Any, walk: Any, corners: Any, seen: Any, stamp: Any) -> Any:
    """Write the arcs of the walk over the source's k-th edge, and where each begins; their number.

    That is 0 where there is no walk, or none that is a simple cycle. `stamp`, a new number each
    time, marks in `seen` the vertices of this walk.
    """
    if search.closing[k] < 0:
        return 0
    root, steps = 2 * source, 0
    node = search.ends[k, 0]
    while node != root:
        if seen[node >> 1] == stamp:
            return 0
        seen[node >> 1] = stamp
        walk[steps], corners[steps] = search.over[node], search.parent[node] >> 1
        steps += 1
        node = search.parent[node]
    for step in range(steps // 2):  # found backwards
        other = steps - 1 - step
        walk[step], walk[other] = walk[other], walk[step]
        corners[step], corners[other] = corners[other], corners[step]
    walk[steps], corners[steps] = search.closing[k], search.ends[k, 0] >> 1
    steps += 1
    node = search.ends[k, 1]
    while node != root:
        if seen[node >> 1] == stamp:
            return 0
        seen[node >> 1] = stamp
        walk[steps], corners[steps] = search.over[node], node >> 1
        steps += 1
        node = search.parent[node]
    return steps
