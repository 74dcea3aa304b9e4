"""Compiled translation of a matching's duals into odd cycles of the lattice."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import enlarged
from glasshouse.proofs.matching.kernels.faces import fill_ball, new_balls
from glasshouse.proofs.matching.kernels.matching import push_parts


class Region(NamedTuple):
    """A set of faces of the lattice."""

    inside: npt.NDArray[np.int64]  # one per face: the mark, if it is in the set
    faces: npt.NDArray[np.int32]  # the faces of the set
    number: npt.NDArray[np.int64]  # the number of faces in the set
    mark: npt.NDArray[np.int64]  # a new number for every set


@compiled
def moats(
    faces: Any,
    rows: Any,
    ends: Any,
    negative: Any,
    odd: Any,
    forest: Any,
    first_part: Any,
    last_part: Any,
) -> Any:
    """Return the duals of a matching of odd faces as odd cycles and their widths.

    Around each odd face, then around each blossom of odd faces, the set of faces within reach
    grows. At any moment its boundary is a set of cycles, of which an odd cycle is taken.

    Args:
        faces: the faces of the lattice.
        rows: the lattice itself, in compressed rows.
        ends: the ends of the lattice's edges.
        negative: whether each edge is negative.
        odd: faces with an odd number of negative edges.
        forest: the forest of the matching.
        first_part: the first odd face or blossom to begin with.
        last_part: the odd face or blossom to stop before.

    Returns:
        The edges of the cycles, where each cycle begins, and the widths in half steps.
    """
    size = len(odd)
    balls, region = new_balls(faces), new_region(faces)
    members, before = np.empty(size, np.int32), np.empty(size, np.int32)
    in_cut, cut = np.zeros(len(ends), np.bool_), np.empty(len(ends), np.int32)
    walk, place = np.empty(len(ends), np.int32), np.full(len(rows[0]) - 1, -1, np.int32)
    edges, begins = np.empty(4096, np.int32), np.zeros(512, np.int64)
    widths = np.empty(512, np.int64)
    count = 0
    for part in range(first_part, last_part):
        if forest.width[part] <= 0 or (part >= size and forest.first[part] < 0):
            continue
        num_members = list_members(forest, part, members, before)
        last = -1
        for moment in range(forest.width[part]):
            clear(region)
            for k in range(num_members):
                ball = fill_ball(faces, balls, odd[members[k]], (before[k] + moment) // 2)
                add_faces(region, balls.queue[:ball])
            if region.number[0] == last:  # regions only grow, so this is the same one
                widths[count - 1] += 1
                continue
            last = region.number[0]
            num_cut = boundary(faces, region, cut, in_cut)
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
def new_region(faces: Any) -> Any:
    """Return an empty set of faces of a lattice."""
    size = len(faces.edges)
    mark = np.ones(1, np.int64)
    return Region(np.zeros(size, np.int64), np.empty(size, np.int32), np.zeros(1, np.int64), mark)


@inner
def clear(region: Any) -> None:
    """Remove all faces from a set."""
    region.mark[0] += 1
    region.number[0] = 0


@inner
def add_faces(region: Any, new: Any) -> None:
    """Add to a set those faces that the set does not contain yet."""
    for face in new:
        if region.inside[face] != region.mark[0]:
            region.inside[face] = region.mark[0]
            region.faces[region.number[0]] = face
            region.number[0] += 1


@inner
def boundary(faces: Any, region: Any, cut: Any, in_cut: Any) -> Any:
    """List and mark the edges on the boundary of a set of faces; return their number."""
    size = 0
    for k in range(region.number[0]):
        face = region.faces[k]
        for t in range(faces.edges.shape[1]):
            edge = faces.edges[face, t]
            other = faces.sides[edge, 0] + faces.sides[edge, 1] - face
            if region.inside[other] != region.mark[0]:
                cut[size] = edge
                in_cut[edge] = True
                size += 1
    return size


@inner
def list_members(forest: Any, whole: Any, members: Any, before: Any) -> Any:
    """List the points of a blossom, and the reach of each when the blossom was formed."""
    size, stack = len(forest.mate), forest.stack
    stack[0, 0], waiting, count = whole, 1, 0
    while waiting > 0:
        waiting -= 1
        part = stack[waiting, 0]
        if part >= size:
            waiting = push_parts(forest, part, waiting)
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
    """Find an odd simple cycle in a cut; return its start in `walk`, and its number of edges.

    The walk uses each edge of the cut once, and drops every even cycle that it closes. An even
    number of edges of the cut meet at each vertex, so a walk ends only where it began.
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
            # Forget the cycle, and continue from where it was closed.
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
