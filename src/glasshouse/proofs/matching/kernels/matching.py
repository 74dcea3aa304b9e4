"""Compiled matching of all odd faces of a surface in pairs, with the least total length.

Regions grow around all odd faces at the same time, until each is matched (Edmonds' method, as in
the *sparse blossom* algorithm of Higgott and Gidney). The radii in the end are duals: no edge is
covered by more than its length, and they add up to the length of the matching.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.adjacency import Adjacency
from glasshouse.proofs.kernels.graphs import pop, push
from glasshouse.proofs.matching.kernels.regions import (
    NOW,
    TREES,
    Lengths,
    Numbers,
    Regions,
    look,
    new_regions,
    next_item,
    next_meeting,
    take,
    wait,
)
from glasshouse.proofs.matching.kernels.trees import meet, part_around, shrink

# The results of `match_some`.
_IMPOSSIBLE, _MATCHED, _UNFINISHED = range(3)
# Events, and sources whose paths are searched, between two checks of the clock: a few hundredths of
# a second.
_EVENTS_AT_ONCE, _PATHS_AT_ONCE = 1 << 13, 1 << 11


class Search(NamedTuple):
    """Buffers for searches of shortest paths between faces."""

    far: Lengths  # one per face, as in the next three arrays: its distance
    before: Numbers  # the face before it on the shortest path,
    over: Numbers  # and the edge between them
    stamp: Lengths  # the number of the search that reached it
    keys: Lengths
    items: Numbers


def match(
    dual: Adjacency,
    lengths: Lengths,
    sources: Numbers,
    check: Callable[[], object] = lambda: None,
) -> Regions | None:
    """Match all sources with the least total length; return None if that is impossible.

    Args:
        dual: the faces, each next to the faces with which it shares an edge.
        lengths: one even length ≥ 0 for each edge; they add up to less than 2^61.
        sources: the faces to match.
        check: called many times per second; it may raise an exception to end the matching.
    """
    # The regions are created here, because Ctrl-C while compiled code returns a named tuple would
    # end the process.
    regions = new_regions(dual, lengths, sources)
    begin(regions)
    while True:
        end = match_some(regions, _EVENTS_AT_ONCE)
        if end != _UNFINISHED:
            return regions if end == _MATCHED else None
        check()


@compiled
def begin(regions: Any) -> None:
    """Find the first events."""
    for face in regions.home:
        look(regions, face)


@compiled
def match_some(regions: Any, events: Any) -> Any:
    """Let the next events happen; return whether all sources are matched, or none ever will be."""
    for _ in range(events):
        if regions.numbers[TREES] == 0:
            return _MATCHED
        item = next_item(regions)
        if item < 0:
            return _IMPOSSIBLE
        if item < len(regions.source):
            happen(regions, item)
        else:
            shrink(regions, item - len(regions.source))
    return _UNFINISHED


@inner
def happen(regions: Any, face: Any) -> None:
    """Let a region reach a face or its neighbour, or let two regions meet between them."""
    time, place = next_meeting(regions, face)
    if place < 0:
        return
    if time > regions.numbers[NOW]:
        wait(regions, face, time)
        return
    other, way = regions.others[place], regions.ways[place]
    if regions.source[face] < 0:
        take(regions, face, other, way)
        return
    if regions.source[other] < 0:
        take(regions, other, face, way)
    else:
        meet(regions, regions.source[face], regions.source[other])
    look(regions, face)


def crossed_edges(
    regions: Regions, check: Callable[[], object] = lambda: None
) -> npt.NDArray[np.bool_]:
    """Return the edges that shortest paths between partners cross, in total an odd number of times.

    Args:
        regions: the regions of a matching.
        check: called many times per second; it may raise an exception.
    """
    size, faces = len(regions.home), len(regions.source)
    mate = np.full(size, -1, np.int32)
    pair_sources(regions, mate)
    crossed = np.zeros(len(regions.lengths), np.bool_)
    search = Search(
        np.empty(faces, np.int64), np.empty(faces, np.int32), np.empty(faces, np.int32),
        np.full(faces, -1, np.int64),
        np.empty(len(regions.others) + 1, np.int64), np.empty(len(regions.others) + 1, np.int32),
    )  # fmt: skip
    for first in range(0, size, _PATHS_AT_ONCE):
        check()
        join(regions, mate, search, first, min(first + _PATHS_AT_ONCE, size), crossed)
    return crossed


@compiled
def pair_sources(regions: Any, mate: Any) -> None:
    """Fill in the partner of each source, given the partners of the outermost regions."""
    size, stack = len(regions.home), regions.stack
    for source in range(size):
        whole = regions.top[source]
        if regions.mate_in[whole] != source:
            continue
        mate[source] = regions.mate_out[whole]
        stack[0], stack[1], waiting = whole, source, 2
        while waiting > 0:
            waiting -= 2
            blossom, base = stack[waiting], stack[waiting + 1]
            if blossom < size:
                continue
            part = part_around(regions, blossom, base)
            stack[waiting], stack[waiting + 1] = part, base
            waiting += 2
            one = regions.after[part]
            while one != part:
                two, own, other = regions.after[one], regions.leave[one], regions.enter[one]
                mate[own], mate[other] = other, own
                stack[waiting], stack[waiting + 1] = one, own
                stack[waiting + 2], stack[waiting + 3] = two, other
                waiting += 4
                one = regions.after[two]


@compiled
def join(regions: Any, mate: Any, search: Any, first: Any, last: Any, crossed: Any) -> None:
    """Cross, or cross back, the edges of a shortest path from each given source to its partner."""
    for source in range(first, last):
        if mate[source] < source:
            continue
        goal = regions.home[mate[source]]
        begin = regions.home[source]
        search.far[begin], search.stamp[begin] = 0, source
        waiting = push(search.keys, search.items, 0, 0, begin)
        while True:
            far, face, waiting = pop(search.keys, search.items, waiting)
            if face == goal:
                break
            if far > search.far[face]:
                continue
            for t in range(regions.starts[face], regions.starts[face + 1]):
                other, way = regions.others[t], regions.ways[t]
                there = far + regions.lengths[way]
                if search.stamp[other] != source or there < search.far[other]:
                    search.stamp[other], search.far[other] = source, there
                    search.before[other], search.over[other] = face, way
                    waiting = push(search.keys, search.items, waiting, there, other)
        while goal != begin:
            crossed[search.over[goal]] = not crossed[search.over[goal]]
            goal = search.before[goal]
