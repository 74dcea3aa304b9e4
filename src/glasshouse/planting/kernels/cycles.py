"""Random simple cycles of a graph in compressed rows, drawn by several samplers.

A graph is a tuple (starts, neighbours, edge_ids, ends): the neighbours of node u, ascending, are
`neighbours[starts[u]:starts[u+1]]`, `edge_ids` is parallel to them, and `ends` has one row per
edge. If `starts` is empty, the graph is complete bipartite, (n, m) in `layers`, and is not stored.

A sampler writes the nodes of a cycle into `cycle` and returns their number, or 0 if this attempt
found none. `place`, one per node, is -1 between calls, and holds the position of a visited node
during a walk. Steps are counted down on `meter` (see `planting.demand`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inlined, inner
from glasshouse.kernels.arrays import enlarged
from glasshouse.kernels.xoshiro import below

# Steps that a node costs on the meter: for the memory access when it is visited, and more when it
# is kept.
VISITED, KEPT = 8, 16


@compiled
def core_nodes(starts: Any, neighbours: Any) -> Any:
    """Return the nodes left when dead ends are cut off repeatedly; cycles use only these nodes."""
    size = starts.size - 1
    degree = np.empty(size, np.int64)
    queue = np.empty(size, np.int32)
    head = tail = 0
    for u in range(size):
        degree[u] = starts[u + 1] - starts[u]
        if degree[u] < 2:
            queue[tail] = u
            tail += 1
    while head < tail:
        u = queue[head]
        head += 1
        degree[u] = 0
        for k in range(starts[u], starts[u + 1]):
            v = neighbours[k]
            if degree[v] >= 2:
                degree[v] -= 1
                if degree[v] == 1:
                    queue[tail] = v
                    tail += 1
    # The queue is done; its space is reused for the remaining nodes.
    left = 0
    for u in range(size):
        if degree[u] >= 2:
            queue[left] = u
            left += 1
    return queue[:left].copy()


@inlined
def find_edge(graph: Any, layers: Any, u: int, v: int) -> Any:
    """Return the id of the edge from u to v; -1 if there is none, 0 if the graph is not stored."""
    starts, neighbours, edge_ids, _ = graph
    if starts.size == 0:
        return 0 if (u < layers[0]) != (v < layers[0]) else -1
    place = _bisect(starts, neighbours, u, v)
    return edge_ids[place] if place >= 0 else -1


@inlined
def _bisect(starts: Any, neighbours: Any, u: int, v: int) -> Any:
    """Return the position of v among the neighbours of u; -1 if u and v are not neighbours."""
    low, high = starts[u], starts[u + 1]
    while low < high:
        middle = (low + high) >> 1
        if neighbours[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low if low < starts[u + 1] and neighbours[low] == v else -1


@inlined
def random_step(stream: Any, graph: Any, layers: Any, u: int) -> Any:
    """Return a uniformly random neighbour of u."""
    starts, neighbours = graph[0], graph[1]
    if starts.size == 0:
        if u < layers[0]:
            return np.int32(layers[0] + below(stream, layers[1]))
        return np.int32(below(stream, layers[0]))
    return neighbours[starts[u] + below(stream, starts[u + 1] - starts[u])]


@inlined
def walk_cycle(
    stream: Any, graph: Any, layers: Any, node: int, cycle: Any, place: Any, meter: Any
) -> Any:
    """Walk at random, never straight back, until the walk meets itself; keep only the cycle.

    Every node has at least two neighbours, so the walk ends in a cycle.
    """
    length = 0
    previous = -1
    while place[node] < 0:
        place[node] = length
        cycle[length] = node
        following = random_step(stream, graph, layers, node)
        while following == previous:
            following = random_step(stream, graph, layers, node)
        length += 1
        previous, node = node, following
    meter[0] -= VISITED * length
    first = place[node]
    for k in range(length):
        place[cycle[k]] = -1
    for k in range(first, length):
        cycle[k - first] = cycle[k]
    return length - first


@inner
def path_cycle(
    stream: Any, graph: Any, layers: Any, node: int, length: int, cycle: Any, place: Any,
    meter: Any,
) -> int:  # fmt: skip
    """Draw a self-avoiding random path of `length` nodes; return 0 unless its ends are adjacent."""
    found = steps = 0
    while True:
        place[node] = found
        cycle[found] = node
        found += 1
        if found == length:
            break
        following = random_step(stream, graph, layers, node)
        # A few redraws at a visited node cost less than a new path.
        redraws = 0
        while place[following] >= 0 and redraws < 16:
            following = random_step(stream, graph, layers, node)
            redraws += 1
        steps += redraws
        if place[following] >= 0:
            break
        node = following
    meter[0] -= VISITED * (found + steps)
    for k in range(found):
        place[cycle[k]] = -1
    if found < length:
        return 0
    return length if find_edge(graph, layers, cycle[length - 1], cycle[0]) >= 0 else 0


@inner
def basis_cycle(
    stream: Any, graph: Any, node: int, cycle: Any, place: Any, parent: Any, depth: Any, meter: Any
) -> Any:
    """Draw a simple cycle from the symmetric difference of up to three basis cycles near a node.

    A breadth-first tree grows from the node until enough edges outside the tree (chords) are met;
    each chord closes one cycle of a basis of that neighbourhood. A tree of the whole graph would
    work as well in theory, but in a wide graph most of its basis cycles are as long as the graph is
    wide. `parent` and `depth` are scratch arrays, by position in the tree; until the cycle is
    known, `cycle` holds the nodes of the tree.
    """
    size, chords = _neighbourhood(stream, graph, node, cycle, place, parent, depth)
    meter[0] -= VISITED * size
    for k in range(size):
        place[cycle[k]] = -1
    if len(chords) == 0:
        return 0
    # Edges of the difference: from a position of the tree to its parent, or a chord.
    odd_edge = np.zeros(size, np.bool_)
    odd_chord = np.zeros(len(chords), np.bool_)
    chord = below(stream, len(chords))
    for k in range(1 + below(stream, 3)):
        if k > 0:
            chord = _touching_chord(stream, chords, chord)
        odd_chord[chord] = not odd_chord[chord]
        a, b = chords[chord, 0], chords[chord, 1]
        while a != b:
            if depth[a] < depth[b]:
                a, b = b, a
            odd_edge[a] = not odd_edge[a]
            a = parent[a]
    ends = np.empty((size + len(chords), 2), np.int64)
    count = 0
    for k in range(size):
        if odd_edge[k]:
            ends[count, 0], ends[count, 1] = k, parent[k]
            count += 1
    for k in range(len(chords)):
        if odd_chord[k]:
            ends[count, 0], ends[count, 1] = chords[k, 0], chords[k, 1]
            count += 1
    if count == 0:
        return 0
    path, first = _follow(stream, ends[:count], size)
    nodes = cycle[:size].copy()
    for k in range(first, path.size):
        cycle[k - first] = nodes[path[k]]
    return path.size - first


@inner
def _neighbourhood(
    stream: Any, graph: Any, node: int, nodes: Any, place: Any, parent: Any, depth: Any
) -> Any:
    """Grow a breadth-first tree until it has enough nodes and chords; return its size and chords.

    At a node of high degree only some neighbours are drawn, because not every chord is needed.
    """
    starts, neighbours = graph[0], graph[1]
    enough_nodes, enough_chords, enough_neighbours = 64, 64, 16
    chords = np.empty((enough_chords, 2), np.int64)
    found = 0
    nodes[0] = node
    place[node], parent[0], depth[0] = 0, -1, 0
    size, head = 1, 0
    while head < size and found < enough_chords:
        first, degree = starts[nodes[head]], starts[nodes[head] + 1] - starts[nodes[head]]
        shift = below(stream, degree)
        for k in range(min(degree, enough_neighbours)):
            if degree > enough_neighbours:
                shift = below(stream, degree)
            following = neighbours[first + (shift + k) % degree]
            at = place[following]
            if at < 0 and (size < enough_nodes or found == 0):
                nodes[size] = following
                place[following], parent[size], depth[size] = size, head, depth[head] + 1
                size += 1
            elif at > head and parent[at] != head and found < enough_chords:
                chords[found, 0], chords[found, 1] = head, at
                found += 1
        head += 1
    return size, chords[:found]


@inner
def _touching_chord(stream: Any, chords: Any, last: int) -> Any:
    """Draw another chord, and prefer one that shares an end with the last chord (16 tries)."""
    chord = last
    for _ in range(16):
        chord = below(stream, len(chords))
        if chord != last and (
            chords[chord, 0] in (chords[last, 0], chords[last, 1])
            or chords[chord, 1] in (chords[last, 0], chords[last, 1])
        ):
            break
    return chord


@inner
def _follow(stream: Any, ends: Any, size: int) -> Any:
    """Walk along random edges until the walk meets itself.

    Every position has an even number of edges, so the walk can always continue.

    Returns:
        The visited positions, and the index in this path where the cycle begins.
    """
    visited = np.full(size, -1, np.int64)
    path = np.empty(size, np.int64)
    # Edge ends by position, as linked lists: end 2k + side belongs to edge k.
    heads = np.full(size, -1, np.int64)
    links = np.empty(2 * len(ends), np.int64)
    for k in range(len(ends)):
        for side in range(2):
            links[2 * k + side] = heads[ends[k, side]]
            heads[ends[k, side]] = 2 * k + side
    length = 0
    here = ends[below(stream, len(ends)), below(stream, 2)]
    came = -1
    while visited[here] < 0:
        visited[here] = length
        path[length] = here
        length += 1
        chosen, seen = -1, 0
        end = heads[here]
        while end >= 0:
            if end >> 1 != came:
                seen += 1
                if below(stream, seen) == 0:
                    chosen = end >> 1
            end = links[end]
        came = chosen
        here = ends[chosen, 0] + ends[chosen, 1] - here
    return path[:length], visited[here]


@inner
def block_cycle(stream: Any, graph: Any, inner: Any, border: int, inside: bool, cycle: Any) -> int:
    """Draw a 4-cycle i2, i3, i4, i1; i1 and i2 are inside the block (below `border`), i3 is not.

    This is the structured cycle on an adjacency matrix: i4 is inside the block for a left loop, and
        outside for a centre loop. `inner` lists the ids of the edges inside the block.
    """
    starts, neighbours, _, ends = graph
    edge = inner[below(stream, inner.size)]
    side = below(stream, 2)
    i1, i2 = ends[edge, side], ends[edge, 1 - side]
    i3 = neighbours[starts[i2] + below(stream, starts[i2 + 1] - starts[i2])]
    i4 = neighbours[starts[i1] + below(stream, starts[i1 + 1] - starts[i1])]
    if i3 < border or (i4 < border) != inside or i4 in (i2, i3):
        return 0
    cycle[0], cycle[1], cycle[2], cycle[3] = i2, i3, i4, i1
    return 4


@compiled
def list_cycles(starts: Any, neighbours: Any, length: int, most: int, work: int, meter: Any) -> Any:
    """List all cycles of one length, concatenated; the list is empty if there are too many.

    A cycle is found from its smallest node, towards the smaller of its two neighbours there.

    Returns:
        The table, and whether it is complete: at most `most` cycles in `work` steps.
    """
    table = np.empty(1024 * length, np.int32)
    found = 0
    path = np.empty(length, np.int32)
    at = np.empty(length, np.int64)
    on_path = np.zeros(starts.size - 1, np.bool_)
    steps = 0
    for root in range(starts.size - 1):
        path[0] = root
        at[0] = starts[root]
        level = 0
        while level >= 0:
            node = path[level]
            if at[level] == starts[node + 1]:
                on_path[node] = False
                level -= 1
                continue
            following = neighbours[at[level]]
            at[level] += 1
            steps += 1
            if steps > work:
                return table[:0], False
            if following <= root or on_path[following]:
                continue
            level += 1
            path[level] = following
            if level < length - 1:
                at[level] = starts[following]
                on_path[following] = True
                continue
            level -= 1
            if path[1] < following and _bisect(starts, neighbours, following, root) >= 0:
                meter[0] -= KEPT * length
                if found == most or meter[0] <= 0:
                    return table[:0], False
                if (found + 1) * length > table.size:
                    table = enlarged(table, 2 * table.size)
                for k in range(length):
                    table[found * length + k] = path[k]
                found += 1
    return table[: found * length].copy(), True
