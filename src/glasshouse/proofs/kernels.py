"""Compiled searches on signed graphs: odd cycles, blocks, rounding and descent.

A graph comes as compressed rows: the neighbours of vertex v are `neighbours[t]`, reached over edge
`edge_ids[t]`, for t from `starts[v]` to `starts[v + 1]`. `negative[e]` is 1 for an edge that wants
its two spins to differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled


@compiled
def sift_down(keys: Any, items: Any, size: Any) -> None:
    """Restore the heap order after the root was replaced."""
    key, item = keys[0], items[0]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[place], items[place] = keys[child], items[child]
        place = child
    keys[place], items[place] = key, item


@compiled
def sift_up(keys: Any, items: Any, place: Any) -> None:
    """Restore the heap order after an entry was put at `place`, the end."""
    key, item = keys[place], items[place]
    while place > 0:
        parent = (place - 1) >> 1
        if keys[parent] <= key:
            break
        keys[place], items[place] = keys[parent], items[parent]
        place = parent
    keys[place], items[place] = key, item


@compiled
def odd_cycles(
    starts: Any,
    neighbours: Any,
    edge_ids: Any,
    negative: Any,
    lengths: Any,
    hop: Any,
    limit: Any,
    sources: Any,
    clean: Any,
) -> Any:
    """Short odd cycles (an odd number of negative edges) through the given vertices.

    Dijkstra's search in the doubled graph: node 2v + p is vertex v reached over a walk of parity p.
    An edge between two nodes that were reached, and whose parities make it odd, closes a walk
    through the source. The shortest one has such an edge no further away than half its length, so
    the search ends there. For every edge at the source the shortest walk over it is returned if it
    is below `limit` and a simple cycle. The shortest odd closed walk of all is one, so that "no
    cycle found from any source" says that there is none.

    Each edge costs `hop` more than its length: of equally long cycles, those of fewest edges come.
    Where a search closes no walk at all, neither do those from vertices at distance 0: these are
    marked in `clean`, and left out as sources.

    Returns the cycles' edges one after the other, where each begins, and their lengths.
    """
    size = len(starts) - 1
    distance = np.full(2 * size, np.inf)
    pure = np.empty(2 * size)  # the distance without the hops
    settled = np.zeros(2 * size, np.bool_)
    parent = np.empty(2 * size, np.int32)
    over = np.empty(2 * size, np.int32)
    branch = np.empty(2 * size, np.int32)
    touched = np.empty(2 * size, np.int32)
    keys = np.empty(2 * len(neighbours) + 2)
    items = np.empty(2 * len(neighbours) + 2, np.int32)
    place = np.empty(len(lengths), np.int32)
    seen = np.zeros(size, np.int64)
    walk = np.empty(2 * size + 1, np.int32)
    stamp = 0
    degree = 0
    for vertex in range(size):
        degree = max(degree, starts[vertex + 1] - starts[vertex])
    shortest = np.empty(degree)
    ends = np.empty((degree, 2), np.int32)
    closing = np.empty(degree, np.int32)

    edges = np.empty(1024, np.int32)
    begins = np.empty(256, np.int64)
    totals = np.empty(256)
    used = count = 0

    for source in sources:
        if clean[source]:
            continue
        root = 2 * source
        degree = starts[source + 1] - starts[source]
        for k in range(degree):
            place[edge_ids[starts[source] + k]] = k
            shortest[k] = limit
            closing[k] = -1
        best = limit
        touched[0] = root
        num_touched = 1
        distance[root] = pure[root] = 0.0
        keys[0], items[0] = 0.0, root
        waiting = 1
        while waiting > 0:
            reached, node = keys[0], items[0]
            waiting -= 1
            keys[0], items[0] = keys[waiting], items[waiting]
            sift_down(keys, items, waiting)
            if settled[node]:
                continue
            if 2.0 * reached > best + hop:
                break
            settled[node] = True
            vertex, parity = node >> 1, node & 1
            for t in range(starts[vertex], starts[vertex + 1]):
                edge, other_vertex = edge_ids[t], neighbours[t]
                through = reached + lengths[edge] + hop
                mate = 2 * other_vertex + (1 ^ parity ^ negative[edge])
                if settled[mate] and node != root:
                    total = through + distance[mate]
                    best = min(best, total)
                    first = branch[node]
                    second = place[edge] if mate == root else branch[mate]
                    if first != second and total < limit:
                        for k in (first, second):
                            if total < shortest[k]:
                                shortest[k] = total
                                ends[k, 0], ends[k, 1] = node, mate
                                closing[k] = edge
                other = 2 * other_vertex + (parity ^ negative[edge])
                if other_vertex != source and through < limit and through < distance[other]:
                    if distance[other] == np.inf:
                        touched[num_touched] = other
                        num_touched += 1
                    distance[other] = through
                    pure[other] = pure[node] + lengths[edge]
                    parent[other], over[other] = node, edge
                    branch[other] = place[edge] if node == root else branch[node]
                    keys[waiting], items[waiting] = through, other
                    sift_up(keys, items, waiting)
                    waiting += 1

        for k in range(degree):
            if closing[k] < 0:
                continue
            stamp += 1
            walk[0] = closing[k]
            steps = 1
            total = lengths[closing[k]]
            simple = True
            for side in range(2):
                node = ends[k, side]
                while node != root and simple:
                    simple = seen[node >> 1] != stamp
                    seen[node >> 1] = stamp
                    walk[steps] = over[node]
                    steps += 1
                    total += lengths[over[node]]
                    node = parent[node]
            if not simple:
                continue
            if used + steps > len(edges):
                longer = np.empty(2 * len(edges) + steps, np.int32)
                longer[:used] = edges[:used]
                edges = longer
            if count + 2 > len(begins):
                more = np.empty(2 * len(begins), np.int64)
                more[:count] = begins[:count]
                begins = more
                more_totals = np.empty(2 * len(totals))
                more_totals[:count] = totals[:count]
                totals = more_totals
            begins[count] = used
            totals[count] = total
            count += 1
            for step in range(steps):
                edges[used + step] = walk[step]
            used += steps
        for k in range(num_touched):
            node = touched[k]
            if best >= limit and settled[node] and pure[node] == 0.0:
                clean[node >> 1] = True
            distance[node] = np.inf
            settled[node] = False
    begins[count] = used
    return edges[:used].copy(), begins[: count + 1].copy(), totals[:count].copy()


@compiled
def spread(order: Any, edges: Any, begins: Any, signatures: Any, num_edges: Any, cover: Any) -> Any:
    """Choose cycles in the given order so that no edge is in more than `cover` of them.

    Many cycles over one edge say almost the same; a spread batch moves the whole solution.
    `signatures` are one random number for each edge: cycles of equal sums are the same.
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


@compiled
def round_to_spins(
    starts: Any, neighbours: Any, edge_ids: Any, negative: Any, violation: Any
) -> Any:
    """Spins along a spanning tree that prefers the edges whose violation is nearest to 0 or 1."""
    size = len(starts) - 1
    spins = np.zeros(size, np.int8)
    doubt = np.full(size, np.inf)
    wanted = np.empty(size, np.int8)
    keys = np.empty(len(neighbours) + size + 1)
    items = np.empty(len(neighbours) + size + 1, np.int32)
    for root in range(size):
        if spins[root] != 0:
            continue
        wanted[root] = 1
        doubt[root] = 0.0
        keys[0], items[0] = 0.0, root
        waiting = 1
        while waiting > 0:
            vertex = items[0]
            waiting -= 1
            keys[0], items[0] = keys[waiting], items[waiting]
            sift_down(keys, items, waiting)
            if spins[vertex] != 0:
                continue
            spins[vertex] = wanted[vertex]
            for t in range(starts[vertex], starts[vertex + 1]):
                other, edge = neighbours[t], edge_ids[t]
                unsure = min(violation[edge], abs(1.0 - violation[edge]))
                if spins[other] == 0 and unsure < doubt[other]:
                    doubt[other] = unsure
                    differs = (violation[edge] > 0.5) != (negative[edge] == 1)
                    wanted[other] = -spins[vertex] if differs else spins[vertex]
                    keys[waiting], items[waiting] = unsure, other
                    sift_up(keys, items, waiting)
                    waiting += 1
    return spins


@compiled
def descend(starts: Any, neighbours: Any, edge_ids: Any, couplings: Any, spins: Any) -> None:
    """Flip spins, in place, as long as one flip lowers the energy."""
    size = len(starts) - 1
    # Float fields drift by rounding; a flip must gain more than that, so the loop ends.
    least = 1e-9 * np.max(np.abs(couplings)) if len(couplings) else 0.0
    local = np.zeros(size)
    queue = np.empty(size, np.int32)
    queued = np.ones(size, np.bool_)
    for vertex in range(size):
        queue[vertex] = vertex
        for t in range(starts[vertex], starts[vertex + 1]):
            local[vertex] += couplings[edge_ids[t]] * spins[neighbours[t]]
    head, waiting = 0, size
    while waiting > 0:
        vertex = queue[head]
        head = (head + 1) % size
        waiting -= 1
        queued[vertex] = False
        if spins[vertex] * local[vertex] >= -least:
            continue
        spins[vertex] = -spins[vertex]
        for t in range(starts[vertex], starts[vertex + 1]):
            other = neighbours[t]
            local[other] += 2.0 * couplings[edge_ids[t]] * spins[vertex]
            if not queued[other]:
                queued[other] = True
                queue[(head + waiting) % size] = other
                waiting += 1


@compiled
def blocks(starts: Any, neighbours: Any, edge_ids: Any, num_edges: Any) -> Any:
    """Number of each edge's biconnected block: two edges share one if a cycle runs over both.

    Tarjan's search without recursion. Returns the numbers and how many there are.
    """
    size = len(starts) - 1
    number = np.full(num_edges, -1, np.int32)
    found = np.full(size, -1, np.int64)
    lowest = np.empty(size, np.int64)
    cursor = starts[:-1].copy()
    path = np.empty(size + 1, np.int32)
    entry = np.empty(size + 1, np.int32)
    pending = np.empty(num_edges, np.int32)
    clock = count = 0
    for root in range(size):
        if found[root] >= 0:
            continue
        path[0], entry[0] = root, -1
        found[root] = lowest[root] = clock
        clock += 1
        depth = num_pending = 0
        while depth >= 0:
            vertex = path[depth]
            if cursor[vertex] < starts[vertex + 1]:
                edge, other = edge_ids[cursor[vertex]], neighbours[cursor[vertex]]
                cursor[vertex] += 1
                if edge == entry[depth]:
                    continue
                if found[other] < 0:
                    pending[num_pending] = edge
                    num_pending += 1
                    depth += 1
                    path[depth], entry[depth] = other, edge
                    found[other] = lowest[other] = clock
                    clock += 1
                elif found[other] < found[vertex]:
                    pending[num_pending] = edge
                    num_pending += 1
                    lowest[vertex] = min(lowest[vertex], found[other])
                continue
            depth -= 1
            if depth < 0:
                break
            above = path[depth]
            lowest[above] = min(lowest[above], lowest[vertex])
            if lowest[vertex] >= found[above]:
                while True:
                    num_pending -= 1
                    number[pending[num_pending]] = count
                    if pending[num_pending] == entry[depth + 1]:
                        break
                count += 1
    return number, count


@compiled
def agree(starts: Any, neighbours: Any, edge_ids: Any, relative: Any) -> Any:
    """Spins of a graph on whose every cycle the product of `relative` (±1 an edge) is +1."""
    size = len(starts) - 1
    spins = np.zeros(size, np.int8)
    stack = np.empty(size, np.int32)
    for root in range(size):
        if spins[root] != 0:
            continue
        spins[root] = 1
        stack[0] = root
        waiting = 1
        while waiting > 0:
            waiting -= 1
            vertex = stack[waiting]
            for t in range(starts[vertex], starts[vertex + 1]):
                other = neighbours[t]
                if spins[other] == 0:
                    spins[other] = spins[vertex] * relative[edge_ids[t]]
                    stack[waiting] = other
                    waiting += 1
    return spins
