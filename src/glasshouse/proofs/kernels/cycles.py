"""Compiled search for odd cycles in signed graphs, which are stored as an `ArcGraph`.

For a cycle C and some of its edges F, with u_e = 1 if edge e is violated,

    Σ_{C∖F} u + Σ_F (1 - u) ≥ 1   whenever |F| plus the number of negative edges of C is odd.

So an edge has one *arc* or two: the plain arc has length u_e and the parity of the edge; the
flipped arc has length 1 - u_e and the opposite parity. A violated inequality is a cycle of odd
parity that is shorter than 1. The root of a tree needs plain arcs only. If an edge has both arcs,
both matter: the shorter arc alone misses inequalities if u is near 1/2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inlined, inner
from glasshouse.kernels.arrays import enlarged
from glasshouse.proofs.kernels.graphs import pop, push


class ArcGraph(NamedTuple):
    """A signed graph in compressed rows, with the lengths of its arcs.

    The length of `sides` is part of the type, so a kernel is compiled for each number of arcs.
    """

    starts: npt.NDArray[np.int64]
    neighbours: npt.NDArray[np.int32]
    edge_ids: npt.NDArray[np.int32]
    negative: npt.NDArray[np.uint8]  # one per edge
    lengths: npt.NDArray[np.float64]  # one per arc; the arcs of an edge are adjacent
    sides: tuple[int, ...]  # (0,) if all edges have only a plain arc, (0, 1) if also a flipped arc


class Search(NamedTuple):
    """The buffers for a search from one source; a node is (vertex, parity of the walk to it)."""

    distance: npt.NDArray[np.float64]  # one per node, like the next five
    pure: npt.NDArray[np.float64]  # the distance without the hops
    settled: npt.NDArray[np.bool_]
    parent: npt.NDArray[np.int32]
    over: npt.NDArray[np.int32]  # the arc from the parent
    branch: npt.NDArray[np.int32]  # the source's edge with which the walk began
    touched: npt.NDArray[np.int32]  # nodes to reset
    keys: npt.NDArray[np.float64]  # the heap
    items: npt.NDArray[np.int32]
    place: npt.NDArray[np.int32]  # one per edge: its index among the source's edges
    shortest: npt.NDArray[np.float64]  # least length of an odd walk over each edge of the source
    ends: npt.NDArray[np.int32]  # the two nodes that the closing arc joins
    closing: npt.NDArray[np.int32]  # the closing arc


@compiled
def odd_cycles(graph: Any, hop: Any, limit: Any, sources: Any, clean: Any) -> Any:
    """Return short cycles of odd parity through the given vertices.

    This is Dijkstra's search in the doubled graph: node 2v + p is vertex v reached over a walk of
    parity p. An arc between two reached nodes with suitable parities closes an odd walk through the
    source. The shortest walk has such an arc within half its length, so the search ends there. For
    every edge of the source, the shortest walk over it is returned if it is a simple cycle below
    `limit`. The shortest of all odd closed walks is a simple cycle, so if no source yields a cycle,
    there is no cycle.

    Each arc costs `hop` more than its length, so that of equally long cycles the cycles with the
    fewest edges are found. If a search closes no walk, neither do searches from vertices at
    distance 0; these are marked in `clean`, and skipped as sources.

    Returns the concatenated arcs of all cycles, the start of each, and the lengths without hops.
    """
    search = new_search(graph)
    size = len(graph.starts) - 1
    walk, seen = np.empty(2 * size + 1, np.int32), np.zeros(size, np.int64)
    arcs = np.empty(1024, np.int32)
    begins = np.zeros(256, np.int64)
    totals = np.empty(256)
    stamp = count = 0
    for source in sources:
        if clean[source]:
            continue
        best, num_touched = close_walks(graph, hop, limit, source, search)
        for k in range(graph.starts[source + 1] - graph.starts[source]):
            stamp += 1
            steps, total = trace(graph, search, 2 * source, k, walk, seen, stamp)
            if steps == 0:
                continue
            used = begins[count]
            if used + steps > len(arcs):
                arcs = enlarged(arcs, 2 * len(arcs) + steps)
            if count + 2 > len(begins):
                begins, totals = enlarged(begins, 2 * count + 2), enlarged(totals, 2 * count + 2)
            for step in range(steps):
                arcs[used + step] = walk[step]
            totals[count] = total
            count += 1
            begins[count] = used + steps
        for k in range(num_touched):
            node = search.touched[k]
            if best >= limit and search.settled[node] and search.pure[node] == 0.0:
                clean[node >> 1] = True
            search.distance[node] = np.inf
            search.settled[node] = False
    return arcs[: begins[count]].copy(), begins[: count + 1].copy(), totals[:count].copy()


@inner
def new_search(graph: Any) -> Any:
    """Allocate the buffers for the searches of a graph."""
    size = len(graph.starts) - 1
    degree = 0
    for vertex in range(size):
        degree = max(degree, graph.starts[vertex + 1] - graph.starts[vertex])
    entries = 2 * len(graph.sides) * len(graph.neighbours) + 2
    return Search(
        np.full(2 * size, np.inf),
        np.empty(2 * size),
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
    """Search for closed walks through `source`; set `shortest`, `ends` and `closing` in `search`.

    Returns the length of the shortest odd walk, `limit` if there is none, and the number of touched
    nodes.
    """
    distance, pure, settled, touched = search.distance, search.pure, search.settled, search.touched
    branch, place, keys, items = search.branch, search.place, search.keys, search.items
    first = graph.starts[source]
    for k in range(graph.starts[source + 1] - first):
        place[graph.edge_ids[first + k]] = k
        search.shortest[k] = limit
        search.closing[k] = -1
    best, root = limit, 2 * source
    touched[0], num_touched = root, 1
    distance[root] = pure[root] = 0.0
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
            for side in range(len(graph.sides)):
                arc = len(graph.sides) * edge + side
                through = reached + graph.lengths[arc] + hop
                if through >= limit:
                    continue
                there = 2 * neighbour + (parity ^ graph.negative[edge] ^ side)
                mate = there ^ 1
                if settled[mate] and node != root:
                    total = through + distance[mate]
                    best = min(best, total)
                    mates_branch = place[edge] if mate == root else branch[mate]
                    if branch[node] != mates_branch and total < limit:
                        note(search, branch[node], total, node, mate, arc)
                        note(search, mates_branch, total, node, mate, arc)
                # Beyond half the limit no node is settled. Skipping such nodes pays off for flipped
                # arcs, which are long; for plain ones it only changes the order of equal cycles.
                is_near = len(graph.sides) == 1 or 2.0 * through < limit + hop
                if is_near and neighbour != source and through < distance[there]:
                    if distance[there] == np.inf:
                        touched[num_touched] = there
                        num_touched += 1
                    distance[there] = through
                    pure[there] = pure[node] + graph.lengths[arc]
                    search.parent[there], search.over[there] = node, arc
                    branch[there] = place[edge] if node == root else branch[node]
                    waiting = push(keys, items, waiting, through, there)
    return best, num_touched


@inlined
def note(search: Any, k: Any, total: Any, node: Any, mate: Any, closing: Any) -> None:
    """Record a closed walk over the source's k-th edge if it is the shortest so far."""
    if total < search.shortest[k]:
        search.shortest[k] = total
        search.ends[k, 0], search.ends[k, 1] = node, mate
        search.closing[k] = closing


@inner
def trace(graph: Any, search: Any, root: Any, k: Any, walk: Any, seen: Any, stamp: Any) -> Any:
    """Trace the closed walk over the source's k-th edge; return its number of arcs and length.

    The number is 0 if there is no walk, or if it is not a simple cycle. `stamp`, a new number each
    time, marks in `seen` the vertices of this walk.
    """
    arc = search.closing[k]
    if arc < 0:
        return 0, 0.0
    walk[0], steps, total = arc, 1, graph.lengths[arc]
    for side in range(2):
        node = search.ends[k, side]
        while node != root:
            if seen[node >> 1] == stamp:
                return 0, 0.0
            seen[node >> 1] = stamp
            walk[steps] = search.over[node]
            total += graph.lengths[search.over[node]]
            steps += 1
            node = search.parent[node]
    return steps, total


@compiled
def spread(order: Any, edges: Any, begins: Any, signatures: Any, num_edges: Any, cover: Any) -> Any:
    """Choose cycles in the given order, such that at most `cover` of them share an edge.

    Many cycles over one edge are almost redundant; a spread batch moves the whole solution.
    `signatures` are random numbers, one per edge; cycles with equal sums are treated as equal.
    """
    load = np.zeros(num_edges, np.int32)
    chosen = np.empty(len(order), np.int64)
    marks = np.empty(len(order), np.uint64)
    for k in range(len(order)):
        mark = np.uint64(0)
        for t in range(begins[order[k]], begins[order[k] + 1]):
            mark += signatures[edges[t]]
        marks[k] = mark
    sorted_marks = np.sort(marks)
    taken = np.zeros(len(order), np.bool_)
    count = 0
    for k in range(len(order)):
        place = np.searchsorted(sorted_marks, marks[k])
        if taken[place]:
            continue
        first, end = begins[order[k]], begins[order[k] + 1]
        full = False
        for t in range(first, end):
            if load[edges[t]] >= cover:
                full = True
                break
        if full:
            continue
        taken[place] = True
        for t in range(first, end):
            load[edges[t]] += 1
        chosen[count] = order[k]
        count += 1
    return chosen[:count]
