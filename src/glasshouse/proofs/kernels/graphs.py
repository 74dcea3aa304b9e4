"""Compiled searches on signed graphs: blocks, rounding and descent.

A graph is in compressed rows: the neighbours of vertex v are `neighbours[t]`, reached over edge
`edge_ids[t]`, for t from `starts[v]` to `starts[v + 1]`. `negative[e]` is 1 for an edge that
favours opposite spins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.flips import Walker, flip


@inner
def pop(keys: Any, items: Any, size: Any) -> Any:
    """Pop the item with the least key from a heap; return the key, the item and the new size."""
    least, first = keys[0], items[0]
    size -= 1
    key, item = keys[size], items[size]
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
    return least, first, size


@inner
def push(keys: Any, items: Any, size: Any, key: Any, item: Any) -> Any:
    """Push an item with its key onto a heap of `size` entries; return the new size."""
    place = size
    while place > 0:
        parent = (place - 1) >> 1
        if keys[parent] <= key:
            break
        keys[place], items[place] = keys[parent], items[parent]
        place = parent
    keys[place], items[place] = key, item
    return size + 1


@compiled
def round_to_spins(
    starts: Any, neighbours: Any, edge_ids: Any, negative: Any, violation: Any
) -> Any:
    """Round violations to spins along a spanning tree that prefers violations near 0 or 1."""
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
        waiting = push(keys, items, 0, 0.0, root)
        while waiting > 0:
            _, vertex, waiting = pop(keys, items, waiting)
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
                    waiting = push(keys, items, waiting, unsure, other)
    return spins


@compiled
def descend(starts: Any, neighbours: Any, edge_ids: Any, couplings: Any, spins: Any) -> None:
    """Flip spins in place until no single flip lowers the energy.

    The first improving flip is made, so the time is about linear in the size of the graph;
    `solvers.descend` searches for the steepest of all flips.
    """
    size = len(starts) - 1
    # Float fields drift by rounding; a flip must gain more than that, so that the loop ends.
    least = 1e-9 * np.max(np.abs(couplings)) if len(couplings) else 0.0
    weights = np.empty(len(edge_ids))
    margins = np.zeros(size)
    queue = np.empty(size, np.int32)
    queued = np.ones(size, np.bool_)
    for vertex in range(size):
        queue[vertex] = vertex
        for t in range(starts[vertex], starts[vertex + 1]):
            weights[t] = couplings[edge_ids[t]]
            margins[vertex] += weights[t] * spins[neighbours[t]] * spins[vertex]
    walker = Walker(starts, neighbours, weights, 0, spins, margins)
    head, waiting = 0, size
    while waiting > 0:
        vertex = queue[head]
        head = (head + 1) % size
        waiting -= 1
        queued[vertex] = False
        if margins[vertex] >= -least:
            continue
        flip(walker, vertex, 0, size)
        for t in range(starts[vertex], starts[vertex + 1]):
            other = neighbours[t]
            if not queued[other]:
                queued[other] = True
                queue[(head + waiting) % size] = other
                waiting += 1


@compiled
def blocks(starts: Any, neighbours: Any, edge_ids: Any, num_edges: Any) -> Any:
    """Return the biconnected block of each edge; edges share a block if they lie on one cycle.

    This is Tarjan's search without recursion. Returns the block numbers and the number of blocks.
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
    """Return spins with product `relative` on every edge, or on a forest if cycles conflict."""
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


@compiled
def walk_cycles(ends: Any, num_vertices: Any, edges: Any, starts: Any) -> Any:
    """Sort the edges of each cycle in the order of a walk that starts with the lowest edge.

    Returns the vertices, the index in `edges` of the edge after each of them, and whether each set
    of edges is indeed one cycle.
    """
    nodes, places = np.empty(len(edges), np.int32), np.empty(len(edges), np.int64)
    here, sum_of_two = np.full(num_vertices, -1, np.int64), np.empty(num_vertices, np.int64)
    for k in range(len(starts) - 1):
        begin, end = starts[k], starts[k + 1]
        lowest = begin
        for t in range(begin, end):
            if edges[t] < edges[lowest]:
                lowest = t
            for side in range(2):
                vertex = ends[edges[t], side]
                if here[vertex] != k:
                    here[vertex], sum_of_two[vertex] = k, 0
                sum_of_two[vertex] += t
        if begin == end:
            return nodes, places, False
        place, vertex = lowest, ends[edges[lowest], 0]
        for t in range(begin, end):
            if here[vertex] != k or place < begin or place >= end:
                return nodes, places, False
            first, second = ends[edges[place], 0], ends[edges[place], 1]
            if vertex != first and vertex != second:
                return nodes, places, False
            here[vertex] = -1
            nodes[t], places[t] = vertex, place
            vertex = first + second - vertex
            place = sum_of_two[vertex] - place
        if vertex != nodes[begin] or place != lowest:
            return nodes, places, False
    return nodes, places, True
