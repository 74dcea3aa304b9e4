"""Compiled searches for elimination orders of narrow graphs, and the way back through the tables.

When a vertex is eliminated, all its neighbours become connected with each other. Orders are good if
every vertex has few neighbours when it is eliminated.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # spreads the keys of a hash table
_NEW, _BESIDE, _ON_FRONT, _ELIMINATED = range(4)


@compiled
def least_degree(starts: Any, neighbours: Any, most: int) -> Any:
    """Return an order in which every eliminated vertex has the least number of neighbours.

    Of several such vertices, the one whose neighbours changed last is eliminated. The order is
    incomplete if at some point every vertex has more than `most` neighbours.

    Args:
        starts: the index at which the neighbours of each vertex begin, and the end.
        neighbours: the neighbours of all vertices, concatenated.
        most: the largest number of neighbours of an eliminated vertex.
    """
    size = starts.size - 1
    order, length = np.empty(size, np.int32), 0
    alive, degree = np.ones(size, np.bool_), np.empty(size, np.int64)
    # The neighbours that fill the graph are kept in linked lists, one per vertex. A hash table
    # contains the edges of the graph and these lists.
    lists, used = np.full(size, -1, np.int64), 0
    ends, nexts = np.empty(1024, np.int32), np.empty(1024, np.int64)
    table, filled = np.zeros(_capacity(len(neighbours)), np.uint64), 0
    # The vertices of each degree, in doubly linked circles around `size` + degree.
    before = np.arange(size + most + 1, dtype=np.int64)
    after = np.arange(size + most + 1, dtype=np.int64)
    for v in range(size):
        degree[v] = starts[v + 1] - starts[v]
        for k in range(starts[v], starts[v + 1]):
            if neighbours[k] > v:
                filled += _insert(table, v, neighbours[k], size)
        if degree[v] <= most:
            _link(before, after, v, size + degree[v])
    near, least = np.empty(most, np.int32), 0
    while length < size:
        while least <= most and after[size + least] == size + least:
            least += 1
        if least > most:
            break
        v = after[size + least]
        _unlink(before, after, v)
        alive[v] = False
        order[length] = v
        length += 1
        count = 0
        for k in range(starts[v], starts[v + 1]):
            if alive[neighbours[k]]:
                near[count] = neighbours[k]
                count += 1
        k = lists[v]
        while k >= 0:
            if alive[ends[k]]:
                near[count] = ends[k]
                count += 1
            k = nexts[k]
        while used + count * count > ends.size:
            ends, nexts = _doubled(ends), _doubled(nexts)
        if 2 * (filled + count * count) > table.size:
            larger = np.zeros(2 * table.size, np.uint64)
            for key in table:
                if key:
                    _put(larger, key)
            table = larger
        for i in range(count):
            a = near[i]
            if degree[a] <= most:
                _unlink(before, after, a)
            degree[a] -= 1
        for i in range(count):
            a = near[i]
            for j in range(i):
                b = near[j]
                if _insert(table, min(a, b), max(a, b), size):
                    filled += 1
                    ends[used], nexts[used], lists[a] = b, lists[a], used
                    ends[used + 1], nexts[used + 1], lists[b] = a, lists[b], used + 1
                    used += 2
                    degree[a] += 1
                    degree[b] += 1
        for i in range(count):
            a = near[i]
            if degree[a] <= most:
                _link(before, after, a, size + degree[a])
                least = min(least, degree[a])
    return order[:length].copy()


@inner
def _link(before: Any, after: Any, v: int, end: int) -> None:
    """Insert a vertex at the beginning of a list."""
    following = after[end]
    before[v], after[v] = end, following
    after[end], before[following] = v, v


@inner
def _unlink(before: Any, after: Any, v: int) -> None:
    """Remove a vertex from its list."""
    after[before[v]], before[after[v]] = after[v], before[v]


@inner
def _doubled(array: Any) -> Any:
    longer = np.empty(2 * array.size, array.dtype)
    longer[: array.size] = array
    return longer


@inner
def _capacity(count: int) -> Any:
    """Return a power of two that is at least twice as large as `count`."""
    size = 64
    while size < 2 * count:
        size *= 2
    return size


@inner
def _insert(table: Any, low: int, high: int, size: int) -> Any:
    """Insert an edge into a hash table; return whether it was not in the table."""
    return _put(table, np.uint64(low) * np.uint64(size) + np.uint64(high) + np.uint64(1))


@inner
def _put(table: Any, key: Any) -> Any:
    """Insert a nonzero key into a hash table; return whether it was not in the table."""
    mask = np.uint64(table.size - 1)
    place = (key * _GOLDEN >> np.uint64(20)) & mask
    while table[place]:
        if table[place] == key:
            return False
        place = (place + np.uint64(1)) & mask
    table[place] = key
    return True


@compiled
def sweep(starts: Any, neighbours: Any, ranked: Any, most: int) -> Any:
    """Return an order that sweeps through the graph behind a narrow front of open vertices.

    The next vertex is on the front or next to it. It adds the fewest vertices to the front, less
    itself if it is on the front; of several such vertices, the one of the lowest rank. The order is
    incomplete if the front becomes longer than `most` vertices.

    Args:
        starts: the index at which the neighbours of each vertex begin, and the end.
        neighbours: the neighbours of all vertices, concatenated.
        ranked: all vertices, by rank; the sweep of each component begins at its first vertex.
        most: the largest length of the front.
    """
    size = starts.size - 1
    order, length, count = np.empty(size, np.int32), 0, 0
    # A vertex is new, then next to the front, then on it (not always), then eliminated.
    stage, rank = np.zeros(size, np.int8), np.empty(size, np.int64)
    for k in range(size):
        rank[ranked[k]] = k
    new = (starts[1:] - starts[:-1]).astype(np.int64)
    heap = [np.int64(0)]
    heap.pop()
    for root in ranked:
        if stage[root] != _NEW:
            continue
        stage[root] = _BESIDE
        heapq.heappush(heap, (new[root] + 1) << 32 | rank[root])
        while len(heap):
            key = heapq.heappop(heap)
            v = ranked[key & 0xFFFFFFFF]
            if stage[v] == _ELIMINATED or key >> 32 != new[v] + (stage[v] == _BESIDE):
                continue
            begin = length
            if stage[v] == _ON_FRONT:
                count -= 1
            else:
                order[length] = v
            # `v`, unless it was on the front, and its new neighbours are no longer new.
            for k in range(starts[v] - 1, starts[v + 1]):
                u = neighbours[k] if k >= starts[v] else v
                if stage[u] == _ELIMINATED or stage[u] == _ON_FRONT:
                    continue
                stage[u] = _ON_FRONT
                count += u != v
                for j in range(starts[u], starts[u + 1]):
                    x = neighbours[j]
                    new[x] -= 1
                    if stage[x] == _NEW:
                        stage[x] = _BESIDE
                    if stage[x] != _ELIMINATED:
                        heapq.heappush(heap, (new[x] + (stage[x] == _BESIDE)) << 32 | rank[x])
                heapq.heappush(heap, new[u] << 32 | rank[u])
            stage[v] = _ELIMINATED
            order[begin] = v
            length += 1
            if count > most:
                return order[:length].copy()
    return order


@compiled
def postorder(parents: Any, sizes: Any) -> Any:
    """Return an order of vertices in which each subtree is complete before the next one begins.

    The child with the largest table in its subtree comes first, so that few tables are in memory.

    Args:
        parents: the parent of each vertex, which is a later vertex; their number if there is none.
        sizes: the size of the table of each vertex; overwritten by the largest of its subtree.
    """
    size = parents.size
    first, following = np.full(size + 1, -1, np.int64), np.full(size, -1, np.int64)
    for v in range(size):
        if parents[v] < size:
            sizes[parents[v]] = max(sizes[parents[v]], sizes[v])
    # The lists begin with the child that was inserted last; so the largest one comes last.
    for v in np.argsort(sizes):
        following[v], first[parents[v]] = first[parents[v]], v
    order, length, path = np.empty(size, np.int64), size, [size]
    # Filled from the end, a vertex is followed by its children in reverse order.
    while len(path):
        v = path.pop()
        if v < size:
            length -= 1
            order[length] = v
        child = first[v]
        while child >= 0:
            path.append(child)
            child = following[child]
    return order


@compiled
def levels(starts: Any, neighbours: Any) -> Any:
    """Return each vertex's distance from a far end of its component."""
    size = starts.size - 1
    turn, found = np.zeros(size, np.int8), np.zeros(size, np.int64)
    queue = np.empty(size, np.int32)
    for first in range(size):
        if turn[first]:
            continue
        last = first
        for step in range(1, 4):  # the second end is far from the first one, and so on
            queue[0], turn[last], found[last] = last, step, 0
            begin, end = 0, 1
            while begin < end:
                v = queue[begin]
                begin += 1
                for k in range(starts[v], starts[v + 1]):
                    u = neighbours[k]
                    if turn[u] < step:
                        turn[u], found[u], queue[end] = step, found[v] + 1, u
                        end += 1
            last = queue[end - 1]
    return found


@compiled
def walk_back(scope_starts: Any, scopes: Any, choices: Any, choice_starts: Any, spins: Any) -> None:
    """Set the spins of a state of least value, from the last eliminated vertex to the first.

    Args:
        scope_starts: the index at which the open vertices of each vertex begin, and the end.
        scopes: the open vertices of all vertices, concatenated.
        choices: a bit for each state of the open vertices: whether the vertex is down.
        choice_starts: the byte at which the bits of each vertex begin.
        spins: receives the spins, in the order of elimination.
    """
    for v in range(len(spins) - 1, -1, -1):
        state = 0
        for i in range(scope_starts[v], scope_starts[v + 1]):
            if spins[scopes[i]] < 0:
                state |= 1 << (i - scope_starts[v])
        is_down = choices[choice_starts[v] + (state >> 3)] >> (state & 7) & 1
        spins[v] = -1 if is_down else 1
