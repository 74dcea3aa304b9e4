"""Compiled translation of a matching's regions into odd cycles of the graph.

While a region grows by its radius, the set of faces that it contains changes only when it reaches
another face. In between, the edges around the set are a *moat*: a set of cycles, of which at least
one is odd, because the set contains an odd number of odd faces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import enlarged
from glasshouse.proofs.matching.kernels.regions import push_parts


class Cut(NamedTuple):
    """The edges around a growing set of faces, and buffers for walks along them."""

    edges: npt.NDArray[np.int32]  # all edges that were around the set at some time
    inside: npt.NDArray[np.bool_]  # one per edge, as in the next array: whether it is around it now
    unused: npt.NDArray[np.bool_]  # whether the walk may still use it
    walk: npt.NDArray[np.int32]
    place: npt.NDArray[np.int32]  # one per vertex: its place in the walk, -1 if none,
    cursor: npt.NDArray[np.int64]  # and the place in its row from which to search for an edge


@compiled
def moats(regions: Any, rows: Any, ends: Any, negative: Any, first: Any, last: Any) -> Any:
    """Return the moats of the given regions as odd cycles with their widths.

    Args:
        regions: the regions of a matching of all odd faces.
        rows: the graph in compressed rows.
        ends: the ends of the graph's edges.
        negative: whether each edge is negative.
        first: the first region.
        last: the region to stop before.

    Returns:
        The edges of the cycles, where each cycle begins, and the widths.
    """
    size, num_vertices = len(ends), len(rows[0]) - 1
    cut = Cut(
        np.empty(size, np.int32), np.zeros(size, np.bool_), np.zeros(size, np.bool_),
        np.empty(size, np.int32), np.full(num_vertices, -1, np.int32), rows[0].copy(),
    )  # fmt: skip
    faces = np.empty(len(regions.source), np.int32)
    edges, begins = np.empty(4096, np.int32), np.zeros(512, np.int64)
    widths = np.empty(512, np.int64)
    count = 0
    for region in range(first, last):
        is_blossom = region >= len(regions.home)
        if regions.base[region] <= 0 or (is_blossom and regions.first[region] < 0):
            continue
        known, number = list_faces(regions, region, faces)
        listed, level, before = 0, np.int64(0), np.int64(0)
        for k in range(number + 1):
            level = regions.base[region]
            if k < number:
                level = np.int64(0) if k < known else level_of(regions, region, faces[k])
            if level > before:
                listed = drop_inside(cut, listed)
                start, steps = odd_cycle(rows, ends, negative, cut, listed)
                used = begins[count]
                if used + steps > len(edges):
                    edges = enlarged(edges, 2 * len(edges) + steps)
                if count + 2 > len(begins):
                    begins = enlarged(begins, 2 * count + 2)
                    widths = enlarged(widths, 2 * count + 2)
                for t in range(steps):
                    edges[used + t] = cut.walk[start + t]
                widths[count] = level - before
                count += 1
                begins[count] = used + steps
                before = level
            if k < number:
                listed = add_face(regions, faces[k], cut, listed)
        for k in range(listed):
            cut.inside[cut.edges[k]] = False
    return edges[: begins[count]].copy(), begins[: count + 1].copy(), widths[:count].copy()


@inner
def list_faces(regions: Any, region: Any, faces: Any) -> Any:
    """List the faces of a region in the order in which it reached them.

    Returns the number of faces that belong to its parts, and the number of all its faces.
    """
    count, known, stack = 0, 0, regions.stack
    waiting = push_parts(regions, region, 0)
    while waiting > 0:
        waiting -= 1
        part = stack[waiting]
        face = regions.shell[part]
        while face >= 0:
            faces[count] = face
            count += 1
            face = regions.below[face]
        waiting = push_parts(regions, part, waiting)
    known = count
    face = regions.shell[region]
    while face >= 0:
        faces[count] = face
        count += 1
        face = regions.below[face]
    left, right = known, count - 1
    while left < right:
        faces[left], faces[right] = faces[right], faces[left]
        left += 1
        right -= 1
    return known, count


@inner
def level_of(regions: Any, region: Any, face: Any) -> Any:
    """Return the radius that a region had when it reached a face of its shell."""
    part, level = regions.source[face], regions.depth[face]
    while part != region:
        level -= regions.base[part]
        part = regions.parent[part]
    return level


@inner
def add_face(regions: Any, face: Any, cut: Any, listed: Any) -> Any:
    """Add a face to the set inside a cut; return the new number of listed edges."""
    for t in range(regions.starts[face], regions.starts[face + 1]):
        edge = regions.ways[t]
        cut.inside[edge] = not cut.inside[edge]
        if cut.inside[edge]:
            cut.edges[listed] = edge
            listed += 1
    return listed


@inner
def drop_inside(cut: Any, listed: Any) -> Any:
    """Remove from the list all edges that are no longer around the set; return their number."""
    kept = 0
    for k in range(listed):
        edge = cut.edges[k]
        if cut.inside[edge]:
            cut.edges[kept] = edge
            kept += 1
    return kept


@inner
def odd_cycle(rows: Any, ends: Any, negative: Any, cut: Any, listed: Any) -> Any:
    """Find an odd simple cycle in a cut; return its start in `walk`, and its number of edges.

    The walk uses each edge of the cut once, and drops every even cycle that it closes. An even
    number of edges of the cut meet at each vertex, so a walk ends only where it began.
    """
    starts, neighbours, edge_ids = rows
    walk, place, first, steps = cut.walk, cut.place, 0, 0
    for k in range(listed):
        cut.unused[cut.edges[k]] = True
    for k in range(listed):
        start = cut.edges[k]
        if not cut.unused[start] or steps > 0:
            continue
        vertex, length = ends[start, 0], 0
        place[vertex] = 0
        while steps == 0:
            t = cut.cursor[vertex]
            while t < starts[vertex + 1] and not cut.unused[edge_ids[t]]:
                t += 1
            cut.cursor[vertex] = t
            if t == starts[vertex + 1]:
                break
            edge, other = edge_ids[t], neighbours[t]
            cut.unused[edge] = False
            walk[length] = edge
            length += 1
            if place[other] < 0:
                place[other] = length
                vertex = other
                continue
            parity = 0
            for i in range(place[other], length):
                parity ^= negative[walk[i]]
            if parity == 1:
                first, steps = place[other], length - place[other]
                break
            # Forget the cycle, and continue from where it was closed.
            for i in range(place[other], length):
                for side in range(2):
                    if ends[walk[i], side] != other:
                        place[ends[walk[i], side]] = -1
            length = place[other]
            vertex = other
        for i in range(length):
            place[ends[walk[i], 0]] = place[ends[walk[i], 1]] = -1
        place[vertex] = -1
    for k in range(listed):
        edge = cut.edges[k]
        cut.unused[edge] = False
        for side in range(2):
            cut.cursor[ends[edge, side]] = starts[ends[edge, side]]
    return first, steps
