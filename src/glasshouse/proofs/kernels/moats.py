"""Compiled work on the faces of a square lattice on a closed surface: distances, paths, moats.

Two faces that share an edge are neighbours, one step apart. A *moat* is the boundary of a set of
faces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import enlarged


class Faces(NamedTuple):
    """Which edges a face has, and which two faces an edge is between."""

    edges: npt.NDArray[np.int32]
    sides: npt.NDArray[np.int32]


class Balls(NamedTuple):
    """Room for the search of faces around a face."""

    seen: npt.NDArray[np.int64]  # one per face, as the others
    queue: npt.NDArray[np.int32]
    steps: npt.NDArray[np.int32]
    over: npt.NDArray[np.int32]  # the edge by which a face was reached
    stamp: npt.NDArray[np.int64]  # the number of the search


@compiled
def squares(starts: Any, neighbours: Any, edge_ids: Any, most: Any) -> Any:
    """All cycles of four edges, as rows of edges; stops once there are more than `most`."""
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
    """Room for searches."""
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
    """Faces up to some steps from one, nearest first, into the queue; returns their number."""
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
def near_pairs(faces: Any, odd: Any, radius: Any) -> Any:
    """For each of some faces the others up to some steps away, and twice the steps."""
    balls = new_balls(faces)
    place = np.full(len(faces.edges), -1, np.int32)
    for k in range(len(odd)):
        place[odd[k]] = k
    starts = np.zeros(len(odd) + 1, np.int64)
    others, weights = np.empty(1024, np.int32), np.empty(1024, np.int32)
    used = 0
    for k in range(len(odd)):
        count = fill_ball(faces, balls, odd[k], radius)
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
def join(faces: Any, odd: Any, mate: Any, radius: Any) -> Any:
    """Which edges the shortest paths between partners cross, an odd number of times."""
    balls = new_balls(faces)
    crossed = np.zeros(len(faces.sides), np.bool_)
    for k in range(len(odd)):
        if mate[k] < k:
            continue
        fill_ball(faces, balls, odd[k], radius)
        face = odd[mate[k]]
        while face != odd[k]:
            edge = balls.over[face]
            crossed[edge] = not crossed[edge]
            face = faces.sides[edge, 0] + faces.sides[edge, 1] - face
    return crossed


@compiled
def moats(faces: Any, rows: Any, ends: Any, negative: Any, odd: Any, forest: Any) -> Any:
    """What the duals of a matching of odd faces are on the lattice: odd cycles and their widths.

    Around each odd face, then around each blossom of them, the set of faces within reach grows.
    Its boundary is, at any moment, an odd set of cycles, of which an odd one is taken.

    Args:
        faces: of the lattice.
        rows: the lattice itself, in compressed rows.
        ends: of its edges.
        negative: whether an edge is.
        odd: faces with an odd number of negative edges.
        forest: of the matching.

    Returns:
        The cycles' edges, where each begins, and their widths, in half steps.
    """
    balls = new_balls(faces)
    size = len(odd)
    members, before = np.empty(size, np.int32), np.empty(size, np.int32)
    inside = np.full(len(faces.edges), -1, np.int64)
    in_cut = np.zeros(len(ends), np.bool_)
    walk, place = np.empty(len(ends), np.int32), np.full(len(rows[0]) - 1, -1, np.int32)
    cut, region = np.empty(len(ends), np.int32), np.empty(len(faces.edges), np.int32)
    edges, begins = np.empty(4096, np.int32), np.zeros(512, np.int64)
    widths = np.empty(512, np.int64)
    count, stamp = 0, 0
    for part in range(2 * size):
        if forest.width[part] <= 0 or (part >= size and forest.first[part] < 0):
            continue
        num_members = list_members(forest, part, members, before)
        last = -1
        for moment in range(forest.width[part]):
            stamp += 1
            num_faces = 0
            for k in range(num_members):
                ball = fill_ball(faces, balls, odd[members[k]], (before[k] + moment) // 2)
                for t in range(ball):
                    face = balls.queue[t]
                    if inside[face] != stamp:
                        inside[face] = stamp
                        region[num_faces] = face
                        num_faces += 1
            if num_faces == last:  # sets only grow, so this is the same one
                widths[count - 1] += 1
                continue
            last = num_faces
            num_cut = 0
            for k in range(num_faces):
                for t in range(faces.edges.shape[1]):
                    edge = faces.edges[region[k], t]
                    other = faces.sides[edge, 0] + faces.sides[edge, 1] - region[k]
                    if inside[other] != stamp:
                        cut[num_cut] = edge
                        in_cut[edge] = True
                        num_cut += 1
            first, steps = odd_cycle(rows, ends, negative, cut[:num_cut], in_cut, walk, place)
            used = begins[count]
            if used + steps > len(edges):
                edges = enlarged(edges, 2 * len(edges) + steps)
            if count + 2 > len(begins):
                begins, widths = enlarged(begins, 2 * count + 2), enlarged(widths, 2 * count + 2)
            for k in range(steps):
                edges[used + k] = walk[first + k]
            widths[count] = 1
            count += 1
            begins[count] = used + steps
    return edges[: begins[count]].copy(), begins[: count + 1].copy(), widths[:count].copy()


@inner
def list_members(forest: Any, whole: Any, members: Any, before: Any) -> Any:
    """The points of a blossom, and how far each had come when the blossom was made."""
    size, stack = len(forest.mate), forest.stack
    stack[0, 0], waiting, count = whole, 1, 0
    while waiting > 0:
        waiting -= 1
        part = stack[waiting, 0]
        if part >= size:
            child = forest.first[part]
            while True:
                stack[waiting, 0] = child
                waiting += 1
                child = forest.after[child]
                if child == forest.first[part]:
                    break
            continue
        members[count], before[count] = part, 0
        while part != whole:
            before[count] += forest.width[part]
            part = forest.parent[part]
        count += 1
    return count


@inner
def odd_cycle(
    rows: Any, ends: Any, negative: Any, cut: Any, in_cut: Any, walk: Any, place: Any
) -> Any:
    """An odd simple cycle among the edges of a cut: where it begins in `walk`, and its length.

    Walks over edges of the cut, each once, and leaves out every even cycle that it closes. An even
    number of them meets at each vertex, so that a walk ends only where it began.
    """
    starts, neighbours, edge_ids = rows
    first = steps = 0
    for start in cut:
        if not in_cut[start] or steps > 0:
            continue
        vertex, length = ends[start, 0], 0
        place[vertex] = 0
        while steps == 0:
            edge = -1
            for t in range(starts[vertex], starts[vertex + 1]):
                if in_cut[edge_ids[t]]:
                    edge, other = edge_ids[t], neighbours[t]
                    break
            if edge < 0:
                break
            in_cut[edge] = False
            walk[length] = edge
            length += 1
            if place[other] < 0:
                place[other] = length
                vertex = other
                continue
            parity = 0
            for k in range(place[other], length):
                parity ^= negative[walk[k]]
            if parity == 1:
                first, steps = place[other], length - place[other]
                break
            # Forget the cycle, and go on from where it was closed.
            for k in range(place[other], length):
                for side in range(2):
                    if ends[walk[k], side] != other:
                        place[ends[walk[k], side]] = -1
            length = place[other]
            vertex = other
        for k in range(length):
            place[ends[walk[k], 0]] = place[ends[walk[k], 1]] = -1
        place[vertex] = -1
    for edge in cut:
        in_cut[edge] = False
    return first, steps
