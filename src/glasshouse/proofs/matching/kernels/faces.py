"""Compiled functions for the faces of a square lattice on a surface: distances, paths, seams.

Two faces that share an edge are neighbours, one step apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import enlarged


class Faces(NamedTuple):
    """The edges of each face, and the two faces at each edge."""

    edges: npt.NDArray[np.int32]
    sides: npt.NDArray[np.int32]


class Balls(NamedTuple):
    """Buffers for breadth-first searches of the faces around a face."""

    seen: npt.NDArray[np.int64]  # one entry per face, as in the next three arrays
    queue: npt.NDArray[np.int32]
    steps: npt.NDArray[np.int32]
    over: npt.NDArray[np.int32]  # the edge by which a face was reached
    stamp: npt.NDArray[np.int64]  # the number of the search


@compiled
def squares(starts: Any, neighbours: Any, edge_ids: Any, most: Any) -> Any:
    """Return all cycles of four edges, one per row; stop once there are more than `most`."""
    found = np.empty((most + 1, 4), np.int32)
    count = 0
    for a in range(len(starts) - 1):
        for s in range(starts[a], starts[a + 1]):
            for t in range(s + 1, starts[a + 1]):
                b, c = neighbours[s], neighbours[t]
                if b < a or c < a:
                    continue
                for u in range(starts[b], starts[b + 1]):
                    for v in range(starts[c], starts[c + 1]):
                        if neighbours[u] != neighbours[v] or neighbours[u] <= a:
                            continue
                        if count > most:
                            return found
                        found[count, 0], found[count, 1] = edge_ids[s], edge_ids[t]
                        found[count, 2], found[count, 3] = edge_ids[u], edge_ids[v]
                        count += 1
    return found[:count].copy()


@inner
def new_balls(faces: Any) -> Any:
    """Allocate the buffers for searches of faces."""
    size = len(faces.edges)
    return Balls(
        np.full(size, -1, np.int64),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.zeros(1, np.int64),
    )


@inner
def fill_ball(faces: Any, balls: Any, centre: Any, radius: Any) -> Any:
    """Queue all faces within `radius` steps, the nearest first, and return their number."""
    balls.stamp[0] += 1
    stamp = balls.stamp[0]
    balls.queue[0], balls.steps[centre], balls.seen[centre] = centre, 0, stamp
    head, tail = 0, 1
    while head < tail:
        face = balls.queue[head]
        head += 1
        if balls.steps[face] == radius:
            continue
        for k in range(faces.edges.shape[1]):
            edge = faces.edges[face, k]
            other = faces.sides[edge, 0] + faces.sides[edge, 1] - face
            if balls.seen[other] != stamp:
                balls.seen[other], balls.over[other] = stamp, edge
                balls.steps[other] = balls.steps[face] + 1
                balls.queue[tail] = other
                tail += 1
    return tail


@compiled
def near_pairs(faces: Any, place: Any, some: Any, radius: Any) -> Any:
    """Return the odd faces within `radius` steps of each given face, and twice their distances.

    `place` is the index of a face among the odd faces, -1 for all others.
    """
    balls = new_balls(faces)
    starts = np.zeros(len(some) + 1, np.int64)
    others, weights = np.empty(1024, np.int32), np.empty(1024, np.int32)
    used = 0
    for k in range(len(some)):
        count = fill_ball(faces, balls, some[k], radius)
        if used + count > len(others):
            others = enlarged(others, 2 * len(others) + count)
            weights = enlarged(weights, len(others))
        for t in range(1, count):
            face = balls.queue[t]
            if place[face] >= 0:
                others[used], weights[used] = place[face], 2 * balls.steps[face]
                used += 1
        starts[k + 1] = used
    return starts, others[:used].copy(), weights[:used].copy()


@compiled
def join(faces: Any, odd: Any, mate: Any, first: Any, last: Any, radius: Any, crossed: Any) -> None:
    """Mark the edges that the shortest paths between partners cross an odd number of times.

    Only the odd faces from `first` to before `last` are joined; `crossed` is changed in place.
    """
    balls = new_balls(faces)
    for k in range(first, last):
        if mate[k] < k:
            continue
        fill_ball(faces, balls, odd[k], radius)
        face = odd[mate[k]]
        while face != odd[k]:
            edge = balls.over[face]
            crossed[edge] = not crossed[edge]
            face = faces.sides[edge, 0] + faces.sides[edge, 1] - face


@compiled
def seams(faces: Any, rows: Any, ends: Any, root: Any) -> Any:
    """Return cycles along which the surface can be cut open into a disc.

    Two trees are grown: a tree of vertices, and a tree of faces that crosses no edge of the first.
    Each of the few other edges closes a cycle of the first tree. Every closed path over faces that
    winds around the surface crosses one of these cycles.

    Args:
        faces: the faces of the lattice.
        rows: the lattice itself, in compressed rows.
        ends: the ends of the lattice's edges.
        root: the root of the tree of vertices, which is grown breadth-first.

    Returns:
        One row for each cycle: whether an edge is on it.
    """
    starts, neighbours, edge_ids = rows
    size = len(starts) - 1
    up, depth = np.full(size, -1, np.int32), np.full(size, -1, np.int32)
    in_tree, queue = np.zeros(len(ends), np.bool_), np.empty(size, np.int32)
    queue[0], depth[root], head, tail = root, 0, 0, 1
    while head < tail:
        vertex = queue[head]
        head += 1
        for t in range(starts[vertex], starts[vertex + 1]):
            other = neighbours[t]
            if depth[other] < 0:
                depth[other], up[other] = depth[vertex] + 1, edge_ids[t]
                in_tree[edge_ids[t]] = True
                queue[tail] = other
                tail += 1
    left_over = edges_in_neither(faces, in_tree)
    on_seam = np.zeros((len(left_over), len(ends)), np.bool_)
    for k in range(len(left_over)):
        edge = left_over[k]
        on_seam[k, edge] = True
        left, right = ends[edge, 0], ends[edge, 1]
        while left != right:
            if depth[left] < depth[right]:
                left, right = right, left
            on_seam[k, up[left]] = True
            left = ends[up[left], 0] + ends[up[left], 1] - left
    return on_seam


@inner
def edges_in_neither(faces: Any, in_tree: Any) -> Any:
    """Return the edges that are in neither a tree of vertices nor a tree of faces."""
    size = len(faces.edges)
    reached, queue = np.zeros(size, np.bool_), np.empty(size, np.int32)
    used = in_tree.copy()
    queue[0], reached[0], head, tail = 0, True, 0, 1
    while head < tail:
        face = queue[head]
        head += 1
        for k in range(faces.edges.shape[1]):
            edge = faces.edges[face, k]
            other = faces.sides[edge, 0] + faces.sides[edge, 1] - face
            if not in_tree[edge] and not reached[other]:
                reached[other] = used[edge] = True
                queue[tail] = other
                tail += 1
    return np.flatnonzero(~used)
