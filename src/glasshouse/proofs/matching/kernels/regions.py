"""Compiled data of growing regions of faces, and the events that are due.

Every odd face is the *source* of a region: the faces, and parts of the ways between faces, within
its reach. Regions grow and shrink at unit speed, all at the same time. An odd number of regions
that touch in a ring form a *blossom*, which from then on is one region. Regions 0 … k-1 belong to
the k sources, and blossoms have higher numbers.

The *radius* of a region is its own contribution to the reach of its sources; the radii of all
blossoms around a source are added. A face remembers its nearest source, its distance from it, and
the faces that were reached before it, so that a shrinking region gives faces up in reverse order.

The next event of each face and each region is kept in a heap. An event may be too early, because
another region has stopped in the meantime; it is then computed again. It is never too late.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.adjacency import Adjacency
from glasshouse.proofs.kernels.graphs import pop, push

Numbers = npt.NDArray[np.int32]
Lengths = npt.NDArray[np.int64]

# The labels of an outermost region: matched and at rest, or at an even or odd depth of a tree.
REST, OUTER, INNER = 0, 1, 2
# A time after all events; sums of two such times must not overflow.
NEVER = 1 << 62
# Indices of `numbers`: the time, the entries of the heap, the unmatched trees, the unused blossoms,
# and the last stamp.
NOW, WAITING, TREES, UNUSED, STAMP = range(5)


class Regions(NamedTuple):
    """The regions, the faces that they contain, their trees, and the events that are due."""

    starts: Lengths  # the neighbours of each face in compressed rows
    others: Numbers
    ways: Numbers  # the edge that leads to each neighbour
    lengths: Lengths  # one even number per edge
    source: Numbers  # one per face, as in the next two arrays: the nearest source, -1 if none
    depth: Lengths  # the distance from the source
    below: Numbers  # the face of the same region that was reached before, -1 if none
    home: Numbers  # one per source, as in the next four arrays: its face
    top: Numbers  # the outermost region around it
    inside: Lengths  # the sum of the radii of all regions around it, without the outermost
    after_source: Numbers  # the next source of the same blossom
    first_of_tree: Numbers  # the first of the regions of the tree that began at this source
    base: Lengths  # one per region, as in the next arrays: the radius is base + slope * time
    slope: npt.NDArray[np.int8]
    parent: Numbers  # the next larger blossom, -1 if none
    first: Numbers  # any part of a blossom, -1 if it does not exist
    after: Numbers  # the next part of a ring
    leave: Numbers  # the touching sources: one of this part,
    enter: Numbers  # and one of the next
    shell: Numbers  # the last face that the region reached, not counting its parts; -1 if none
    source_head: Numbers  # its first source,
    source_tail: Numbers  # and its last
    label: npt.NDArray[np.int8]
    mate_in: Numbers  # if it is matched: its source that touches the partner, otherwise -1,
    mate_out: Numbers  # and the partner's source
    link_in: Numbers  # if it is inner: its source that touches the region above in the tree,
    link_out: Numbers  # and that region's source
    tree: Numbers  # the source at which its tree began
    before_in_tree: Numbers  # the neighbours in the list of the tree's regions
    after_in_tree: Numbers
    stamp: Lengths  # for the search of common ancestors
    unused: Numbers  # a stack of numbers of blossoms
    stack: Numbers
    wanted: Lengths  # one per face, then one per region: the time of its next event
    queued: Lengths  # the time of its earliest entry in the heap
    keys: Lengths  # the heap: times,
    items: Numbers  # and faces or regions
    numbers: Lengths


def new_regions(dual: Adjacency, lengths: Lengths, sources: Numbers) -> Regions:
    """Return one region of radius 0 for each source, as the root of its own tree.

    Args:
        dual: the faces, each next to the faces with which it shares an edge.
        lengths: one even length for each edge.
        sources: the odd faces.
    """
    faces, count = len(dual.starts) - 1, len(sources)
    size = count + count // 2 + 1
    every, none = np.arange(size, dtype=np.int32), np.full(size, -1, np.int32)
    own = np.arange(count, dtype=np.int32)
    source, shell = np.full(faces, -1, np.int32), none.copy()
    source[sources], shell[:count] = own, sources
    slope, numbers = np.zeros(size, np.int8), np.zeros(5, np.int64)
    slope[:count] = 1
    numbers[TREES], numbers[UNUSED] = count, size - count
    items = faces + size
    # The other arrays of regions, in which -1 stands for none.
    links = ("parent", "first", "after", "leave", "enter", "mate_in", "mate_out", "link_in",
             "link_out", "before_in_tree", "after_in_tree")  # fmt: skip
    return Regions(
        starts=dual.starts,
        others=dual.neighbours,
        ways=dual.edge_ids,
        lengths=lengths,
        source=source,
        depth=np.zeros(faces, np.int64),
        below=np.full(faces, -1, np.int32),
        home=sources.astype(np.int32),
        top=own.copy(),
        inside=np.zeros(count, np.int64),
        after_source=np.full(count, -1, np.int32),
        first_of_tree=own.copy(),
        base=np.zeros(size, np.int64),
        slope=slope,
        shell=shell,
        source_head=every.copy(),
        source_tail=every.copy(),
        label=slope.copy(),
        tree=every.copy(),
        stamp=np.zeros(size, np.int64),
        unused=np.arange(size - 1, count - 1, -1, dtype=np.int32),
        stack=np.empty(2 * size, np.int32),
        wanted=np.full(items, NEVER),
        queued=np.full(items, NEVER),
        keys=np.empty(2 * items + 1, np.int64),
        items=np.empty(2 * items + 1, np.int32),
        numbers=numbers,
        **{name: none.copy() for name in links},
    )


@inlined
def radius(regions: Any, region: Any) -> Any:
    """Return the current radius of a region."""
    return regions.base[region] + regions.slope[region] * regions.numbers[NOW]


@inlined
def reach(regions: Any, face: Any) -> Any:
    """Return how far the region around a face reaches beyond the face."""
    source = regions.source[face]
    return regions.inside[source] - regions.depth[face] + radius(regions, regions.top[source])


@inlined
def set_slope(regions: Any, region: Any, slope: Any) -> None:
    """Let a region grow, shrink or rest from now on."""
    now = radius(regions, region)
    regions.slope[region] = slope
    regions.base[region] = now - slope * regions.numbers[NOW]


@inner
def wait(regions: Any, item: Any, time: Any) -> None:
    """Set the time of the next event of a face, or of a region (after all faces)."""
    regions.wanted[item] = time
    if time >= regions.queued[item]:
        return
    numbers = regions.numbers
    if numbers[WAITING] == len(regions.keys):
        drop_outdated(regions)
    regions.queued[item] = time
    numbers[WAITING] = push(regions.keys, regions.items, numbers[WAITING], time, item)


@inner
def drop_outdated(regions: Any) -> None:
    """Remove all entries of the heap except for the earliest of each face or region."""
    count = regions.numbers[WAITING]
    regions.numbers[WAITING] = 0
    for k in range(count):
        key, item = regions.keys[k], regions.items[k]
        if key == regions.queued[item]:
            regions.queued[item] = -key - 1  # so that an equal entry is removed
            kept = regions.numbers[WAITING]
            regions.numbers[WAITING] = push(regions.keys, regions.items, kept, key, item)
    for k in range(regions.numbers[WAITING]):
        item = regions.items[k]
        regions.queued[item] = -regions.queued[item] - 1


@inner
def next_item(regions: Any) -> Any:
    """Move the time on to the next event; return its face or region, or -1 if there is none."""
    numbers = regions.numbers
    while numbers[WAITING] > 0:
        time, item, numbers[WAITING] = pop(regions.keys, regions.items, numbers[WAITING])
        if time != regions.queued[item]:
            continue
        regions.queued[item] = NEVER
        if regions.wanted[item] == time:
            regions.wanted[item] = NEVER
            numbers[NOW] = time
            return item
        if regions.wanted[item] != NEVER:
            wait(regions, item, regions.wanted[item])
    return -1


@inner
def next_meeting(regions: Any, face: Any) -> Any:
    """Return when and by which neighbour (as a place in its row) something happens at a face.

    Either a growing region reaches an empty face, or two regions meet between the two faces.
    """
    best: Any = np.int64(NEVER)
    place: Any = np.int64(-1)
    now = regions.numbers[NOW]
    source = regions.source[face]
    top, slope, own = np.int64(-1), np.int64(0), np.int64(0)
    if source >= 0:
        top = regions.top[source]
        slope, own = np.int64(regions.slope[top]), reach(regions, face)
        if slope < 0:
            return best, place
    for t in range(regions.starts[face], regions.starts[face + 1]):
        other = regions.others[t]
        speed, left = slope, regions.lengths[regions.ways[t]] - own
        if regions.source[other] >= 0:
            there = regions.top[regions.source[other]]
            if there == top:
                continue
            speed += regions.slope[there]
            if speed <= 0:
                continue
            left -= reach(regions, other)
        if speed > 0:
            time = now + (left >> 1 if speed == 2 else left)
            if time < best:
                best, place = time, t
    return best, place


@inner
def look(regions: Any, face: Any) -> None:
    """Compute the next event of a face, after something has changed there."""
    wait(regions, face, next_meeting(regions, face)[0])


@inner
def look_around(regions: Any, region: Any) -> None:
    """Compute the next event of each face of a region, after the region became faster."""
    stack = regions.stack
    stack[0], waiting = region, 1
    while waiting > 0:
        waiting -= 1
        part = stack[waiting]
        face = regions.shell[part]
        while face >= 0:
            look(regions, face)
            face = regions.below[face]
        waiting = push_parts(regions, part, waiting)


@inner
def push_parts(regions: Any, whole: Any, waiting: Any) -> Any:
    """Put the parts of a blossom onto the stack; return the new height of the stack."""
    if whole >= len(regions.home):
        part = regions.first[whole]
        while True:
            regions.stack[waiting] = part
            waiting += 1
            part = regions.after[part]
            if part == regions.first[whole]:
                break
    return waiting


@inner
def take(regions: Any, face: Any, neighbour: Any, way: Any) -> None:
    """Add an empty face to the region of a neighbour, across the edge `way`."""
    source = regions.source[neighbour]
    region = regions.top[source]
    regions.source[face] = source
    regions.depth[face] = regions.depth[neighbour] + regions.lengths[way]
    regions.below[face], regions.shell[region] = regions.shell[region], face
    look(regions, face)


@inner
def wait_to_shrink(regions: Any, region: Any) -> None:
    """Set the time at which a shrinking region loses its next face, or vanishes."""
    face = regions.shell[region]
    left = radius(regions, region) if face < 0 else reach(regions, face)
    wait(regions, len(regions.source) + region, regions.numbers[NOW] + left)
