"""Compiled functions for the faces of a graph on a surface: recognition, loops, and cuts.

Edge e has two *darts*: dart 2e leads from its first end to its second, and dart 2e + 1 back. Each
dart is on the boundary of one face. If a surface is oriented, all faces are on the same side of
their darts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner


class Faces(NamedTuple):
    """The faces of a graph on an oriented surface.

    The darts around face f are at indices `starts[f]` to `starts[f + 1]` - 1, in cyclic order.
    """

    darts: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    sides: npt.NDArray[np.int32]  # the faces of the two darts of each edge


@compiled
def rings(rows: Any, ends: Any, length: Any, most: Any) -> Any:
    """Return all cycles of `length` edges as rows of darts; stop once there are more than `most`.

    Each cycle begins at its lowest vertex. The time is linear if all degrees are bounded.
    """
    starts, neighbours, edge_ids = rows
    found = np.empty((most + 1, length), np.int32)
    path, cursor = np.empty(length + 1, np.int32), np.empty(length + 1, np.int64)
    count = 0
    for root in range(len(starts) - 1):
        path[0], cursor[0], depth = root, starts[root], 0
        while depth >= 0:
            vertex, t = path[depth], cursor[depth]
            if t == starts[vertex + 1]:
                depth -= 1
                continue
            cursor[depth] += 1
            other = neighbours[t]
            if depth + 1 < length:
                is_new = other > root
                for k in range(1, depth + 1):
                    is_new &= path[k] != other
                if is_new:
                    depth += 1
                    path[depth], cursor[depth] = other, starts[other]
            elif other == root and path[1] < path[depth]:  # in one of both directions
                if count > most:
                    return found
                for k in range(length):
                    edge = edge_ids[cursor[k] - 1]
                    found[count, k] = 2 * edge + (ends[edge, 0] != path[k])
                count += 1
    return found[:count].copy()


@compiled
def orient(darts: Any, num_edges: Any) -> Any:
    """Reverse faces, in place, so that every dart is on one face; return whether that is possible.

    Every edge must be on two faces. All faces have the same number of darts.
    """
    size, length = darts.shape
    at = np.full((num_edges, 2), -1, np.int32)
    for face in range(size):
        for k in range(length):
            edge = darts[face, k] >> 1
            at[edge, 0 if at[edge, 0] < 0 else 1] = face
    queue, is_reached = np.empty(size, np.int32), np.zeros(size, np.bool_)
    queue[0], is_reached[0], head, tail = 0, True, 0, 1
    while head < tail:
        face = queue[head]
        head += 1
        for k in range(length):
            dart = darts[face, k]
            other = at[dart >> 1, 0] + at[dart >> 1, 1] - face
            is_same = False
            for i in range(length):
                is_same |= darts[other, i] == dart
            if other == face or (is_same and is_reached[other]):
                return False
            if is_same:
                darts[other] = darts[other, ::-1].copy() ^ 1
            if not is_reached[other]:
                is_reached[other] = True
                queue[tail] = other
                tail += 1
    return tail == size


@compiled
def trace(after: Any) -> Any:
    """Return the darts around all faces and where each face begins, given the dart after each."""
    darts, starts = np.empty(len(after), np.int32), np.zeros(len(after) + 1, np.int64)
    is_used = np.zeros(len(after), np.bool_)
    count = used = 0
    for first in range(len(after)):
        dart = first
        while not is_used[dart]:
            is_used[dart], darts[used] = True, dart
            used += 1
            dart = after[dart]
        if starts[count] < used:
            count += 1
            starts[count] = used
    return darts, starts[: count + 1].copy()


@compiled
def loops(rows: Any, ends: Any, dual_rows: Any, sides: Any, root: Any) -> Any:
    """Return cycles of a graph along which its surface can be cut open into a disc.

    Two trees are grown: a tree of vertices, and a tree of faces that crosses no edge of the first.
    Each of the few other edges closes a cycle of the first tree. Every closed path over faces that
    winds around the surface crosses one of these cycles.

    If the graph and its dual are exchanged, the result are closed paths over faces.

    Args:
        rows: the graph in compressed rows.
        ends: the ends of its edges.
        dual_rows: the faces in compressed rows.
        sides: the faces of each edge.
        root: the root of the tree of vertices, which is grown breadth-first.

    Returns:
        One row for each cycle: whether an edge is on it.
    """
    size, none = len(rows[0]) - 1, np.zeros(len(ends), np.bool_)
    up, depth = np.full(size, -1, np.int32), np.full(size, -1, np.int32)
    used = grow_tree(rows, root, none, up, depth)
    faces = len(dual_rows[0]) - 1
    used |= grow_tree(
        dual_rows, 0, used, np.full(faces, -1, np.int32), np.full(faces, -1, np.int32)
    )
    unused = np.flatnonzero(~used)
    on_loop = np.zeros((len(unused), len(ends)), np.bool_)
    for k in range(len(unused)):
        edge = unused[k]
        on_loop[k, edge] = True
        left, right = ends[edge, 0], ends[edge, 1]
        while left != right:
            if depth[left] < depth[right]:
                left, right = right, left
            on_loop[k, up[left]] = True
            left = ends[up[left], 0] + ends[up[left], 1] - left
    return on_loop


@inner
def grow_tree(rows: Any, root: Any, closed: Any, up: Any, depth: Any) -> Any:
    """Grow a breadth-first tree along edges that are not closed; return a mask of its edges."""
    starts, neighbours, edge_ids = rows
    in_tree, queue = np.zeros(len(closed), np.bool_), np.empty(len(starts) - 1, np.int32)
    queue[0], depth[root], head, tail = root, 0, 0, 1
    while head < tail:
        vertex = queue[head]
        head += 1
        for t in range(starts[vertex], starts[vertex + 1]):
            other, edge = neighbours[t], edge_ids[t]
            if depth[other] < 0 and not closed[edge]:
                depth[other], up[other] = depth[vertex] + 1, edge
                in_tree[edge] = True
                queue[tail] = other
                tail += 1
    return in_tree


@compiled
def cut_along(darts: Any, starts: Any, sides: Any, on_loop: Any) -> Any:
    """Remove the edges that a closed path over faces crosses; return the new sides of all edges.

    The faces on the path are replaced by two new ones, one on each side of it. A removed edge has
    the same new face on both sides.
    """
    size = len(starts) - 1
    place = np.empty(len(darts), np.int64)
    for k in range(len(darts)):
        place[darts[k]] = k
    new = sides.copy()
    first = 2 * np.flatnonzero(on_loop)[0]
    entry = first
    while True:
        face = sides[entry >> 1, entry & 1]
        side, k = 0, place[entry]
        while True:
            k += 1
            if k == starts[face + 1]:
                k = starts[face]
            dart = darts[k]
            if dart == entry:
                break
            if on_loop[dart >> 1]:
                side, leave = 1, dart
            else:
                new[dart >> 1, dart & 1] = size + side
        entry = leave ^ 1
        if entry == first:
            break
    for edge in np.flatnonzero(on_loop):
        new[edge, 0] = new[edge, 1] = size
    return new
