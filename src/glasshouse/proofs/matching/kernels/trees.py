"""Compiled changes of alternating trees, when regions meet or vanish.

A tree consists of regions that touch: an outer region at its root, below every outer region inner
regions, and below every inner region its partner, which is outer. Outer regions grow and inner
regions shrink. If two trees meet, the regions on the way from root to root change partners, and
both trees end. If two outer regions of a tree meet, they close a ring, which becomes a blossom. A
blossom that has shrunk to radius 0 falls apart, and a part of its ring takes its place.
"""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import inner
from glasshouse.proofs.matching.kernels.regions import (
    INNER,
    NEVER,
    NOW,
    OUTER,
    REST,
    STAMP,
    TREES,
    UNUSED,
    look,
    look_around,
    radius,
    set_slope,
    wait_to_shrink,
)


@inner
def meet(regions: Any, own: Any, other: Any) -> None:
    """Match regions, close a ring or extend a tree when the regions of two sources meet."""
    here, there = regions.top[own], regions.top[other]
    if regions.label[here] != OUTER:
        own, other, here, there = other, own, there, here
    if regions.label[there] == REST:
        partner = regions.top[regions.mate_out[there]]
        regions.link_in[there], regions.link_out[there] = other, own
        join_tree(regions, there, regions.tree[here], INNER)
        join_tree(regions, partner, regions.tree[here], OUTER)
    elif regions.tree[here] == regions.tree[there]:
        contract(regions, own, other)
    else:
        trees = regions.tree[here], regions.tree[there]
        augment(regions, own, other)
        augment(regions, other, own)
        for tree in trees:
            end_tree(regions, tree)
        regions.numbers[TREES] -= 2


@inner
def join_tree(regions: Any, region: Any, tree: Any, label: Any) -> None:
    """Add a region to a tree, and let it grow or shrink."""
    list_in_tree(regions, region, tree)
    set_label(regions, region, label)


@inner
def set_label(regions: Any, region: Any, label: Any) -> None:
    """Let a region grow (outer), shrink (inner) or rest, and find its next events."""
    regions.label[region] = label
    before = regions.slope[region]
    slope = 1 if label == OUTER else -1 if label == INNER else 0
    set_slope(regions, region, slope)
    if slope < 0:
        wait_to_shrink(regions, region)
    else:
        regions.wanted[len(regions.source) + region] = NEVER
    if slope > before:
        look_around(regions, region)


@inner
def list_in_tree(regions: Any, region: Any, tree: Any) -> None:
    """Put a region at the front of the list of a tree's regions."""
    front = regions.first_of_tree[tree]
    regions.tree[region] = tree
    regions.before_in_tree[region], regions.after_in_tree[region] = -1, front
    regions.first_of_tree[tree] = region
    if front >= 0:
        regions.before_in_tree[front] = region


@inner
def remove_from_tree(regions: Any, region: Any) -> None:
    """Remove a region from the list of its tree's regions."""
    before, after = regions.before_in_tree[region], regions.after_in_tree[region]
    if before >= 0:
        regions.after_in_tree[before] = after
    else:
        regions.first_of_tree[regions.tree[region]] = after
    if after >= 0:
        regions.before_in_tree[after] = before


@inner
def end_tree(regions: Any, tree: Any) -> None:
    """Let all regions of a tree rest."""
    region = regions.first_of_tree[tree]
    while region >= 0:
        following = regions.after_in_tree[region]
        set_label(regions, region, REST)
        region = following


@inner
def augment(regions: Any, own: Any, other: Any) -> None:
    """Match the region of a source to a region outside its tree, and shift pairs up to the root."""
    while True:
        here = regions.top[own]
        before = regions.mate_out[here]
        regions.mate_in[here], regions.mate_out[here] = own, other
        if before < 0:
            return
        between = regions.top[before]
        own, other = regions.link_out[between], regions.link_in[between]
        regions.mate_in[between], regions.mate_out[between] = other, own


@inner
def region_above(regions: Any, outer: Any) -> Any:
    """Return the next outer region on the path to the root, or -1 at the root."""
    if regions.mate_out[outer] < 0:
        return -1
    return regions.top[regions.link_out[regions.top[regions.mate_out[outer]]]]


@inner
def common_ancestor(regions: Any, left: Any, right: Any) -> Any:
    """Return the outer region at which the paths of two outer regions to their root meet."""
    regions.numbers[STAMP] += 1
    stamp = regions.numbers[STAMP]
    while True:
        if left >= 0:
            if regions.stamp[left] == stamp:
                return left
            regions.stamp[left] = stamp
            left = region_above(regions, left)
        left, right = right, left


@inner
def contract(regions: Any, left: Any, right: Any) -> None:
    """Form a blossom from the ring that two touching sources of a tree's outer regions close."""
    meeting = common_ancestor(regions, regions.top[left], regions.top[right])
    regions.numbers[UNUSED] -= 1
    blossom = regions.unused[regions.numbers[UNUSED]]
    # From the left end to the meeting, against the ring's direction.
    here, after = regions.top[left], regions.top[right]
    regions.after[here], regions.leave[here], regions.enter[here] = after, left, right
    while here != meeting:
        own, mate = regions.mate_in[here], regions.mate_out[here]
        between = regions.top[mate]
        regions.after[between], regions.leave[between], regions.enter[between] = here, mate, own
        outside, inside = regions.link_out[between], regions.link_in[between]
        here = regions.top[outside]
        regions.after[here], regions.leave[here], regions.enter[here] = between, outside, inside
    # From the right end to the meeting, in its direction.
    here = regions.top[right]
    while here != meeting:
        own, mate = regions.mate_in[here], regions.mate_out[here]
        between = regions.top[mate]
        regions.after[here], regions.leave[here], regions.enter[here] = between, own, mate
        outside, inside = regions.link_out[between], regions.link_in[between]
        here = regions.top[outside]
        regions.after[between] = here
        regions.leave[between], regions.enter[between] = inside, outside
    regions.first[blossom], regions.parent[blossom] = meeting, -1
    regions.mate_in[blossom] = regions.mate_in[meeting]
    regions.mate_out[blossom] = regions.mate_out[meeting]
    regions.shell[blossom] = -1
    regions.slope[blossom], regions.base[blossom] = 1, -regions.numbers[NOW]
    regions.label[blossom] = OUTER
    list_in_tree(regions, blossom, regions.tree[meeting])
    enclose(regions, blossom)


@inner
def enclose(regions: Any, blossom: Any) -> None:
    """Make regions the parts of a new blossom; the inner ones stop shrinking and grow with it."""
    meeting = regions.first[blossom]
    part, last = meeting, -1
    while True:
        own = radius(regions, part)
        regions.slope[part], regions.base[part], regions.parent[part] = 0, own, blossom
        regions.wanted[len(regions.source) + part] = NEVER
        remove_from_tree(regions, part)
        if last < 0:
            regions.source_head[blossom] = regions.source_head[part]
        else:
            regions.after_source[last] = regions.source_head[part]
        last = regions.source_tail[part]
        source = regions.source_head[part]
        while True:
            regions.top[source] = blossom
            regions.inside[source] += own
            if source == last:
                break
            source = regions.after_source[source]
        part = regions.after[part]
        if part == meeting:
            break
    regions.source_tail[blossom] = last
    while True:
        if regions.label[part] == INNER:
            look_around(regions, part)
        part = regions.after[part]
        if part == meeting:
            break


@inner
def shrink(regions: Any, region: Any) -> None:
    """Remove from a shrinking region the face that it can no longer reach, or the region itself."""
    face = regions.shell[region]
    if face < 0:
        fall_apart(regions, region)
    elif regions.below[face] < 0 and region < len(regions.home):
        # The regions above and below now touch at this region's source.
        contract(regions, regions.mate_out[region], regions.link_out[region])
    else:
        regions.shell[region] = regions.below[face]
        regions.source[face] = -1
        wait_to_shrink(regions, region)
        look(regions, face)


@inner
def part_around(regions: Any, blossom: Any, source: Any) -> Any:
    """Return the part of a blossom that contains a source."""
    part = source
    while regions.parent[part] != blossom:
        part = regions.parent[part]
    return part


@inner
def fall_apart(regions: Any, blossom: Any) -> None:
    """Replace an inner blossom of radius 0 in its tree by an odd number of the ring's parts.

    The other parts are matched in pairs.
    """
    tree, start = regions.tree[blossom], regions.first[blossom]
    upper = part_around(regions, blossom, regions.link_in[blossom])
    lower = part_around(regions, blossom, regions.mate_in[blossom])
    remove_from_tree(regions, blossom)
    part, steps = upper, 0
    while part != lower:
        part = regions.after[part]
        steps += 1
    part = start
    while True:
        regions.parent[part] = -1
        own, last = regions.base[part], regions.source_tail[part]
        source = regions.source_head[part]
        while True:
            regions.top[source] = part
            regions.inside[source] -= own
            if source == last:
                break
            source = regions.after_source[source]
        regions.slope[part] = -1  # as a part of the blossom; the label below changes it
        regions.base[part] = own + regions.numbers[NOW]
        part = regions.after[part]
        if part == start:
            break
    # The way from the upper part to the lower part has an even number of steps in one direction.
    begin, end = (upper, lower) if steps % 2 == 0 else (lower, upper)
    match_ring(regions, end, begin)
    regions.link_in[upper] = regions.link_in[blossom]
    regions.link_out[upper] = regions.link_out[blossom]
    here = begin
    while here != end:
        outer = regions.after[here]
        further = regions.after[outer]
        # The partner of an outer part is the inner part above it, towards the upper part.
        if steps % 2 == 0:
            pair(regions, here, regions.leave[here], regions.enter[here], outer)
            regions.link_in[further], regions.link_out[further] = (
                regions.enter[outer], regions.leave[outer],
            )  # fmt: skip
        else:
            pair(regions, outer, regions.leave[outer], regions.enter[outer], further)
            regions.link_in[here], regions.link_out[here] = (
                regions.leave[here], regions.enter[here],
            )  # fmt: skip
        here = further
    regions.mate_in[lower] = regions.mate_in[blossom]
    regions.mate_out[lower] = regions.mate_out[blossom]
    regions.first[blossom] = -1
    regions.unused[regions.numbers[UNUSED]] = blossom
    regions.numbers[UNUSED] += 1
    here = begin
    while here != end:
        join_tree(regions, here, tree, INNER)
        join_tree(regions, regions.after[here], tree, OUTER)
        here = regions.after[regions.after[here]]
    join_tree(regions, end, tree, INNER)
    here = regions.after[end]
    while here != begin:
        set_label(regions, here, REST)
        here = regions.after[here]


@inner
def pair(regions: Any, one: Any, own: Any, other: Any, two: Any) -> None:
    """Make two regions partners that touch at given sources."""
    regions.mate_in[one], regions.mate_out[one] = own, other
    regions.mate_in[two], regions.mate_out[two] = other, own


@inner
def match_ring(regions: Any, end: Any, begin: Any) -> None:
    """Match the parts of a ring that lie between two parts, each with the next."""
    one = regions.after[end]
    while one != begin:
        two = regions.after[one]
        pair(regions, one, regions.leave[one], regions.enter[one], two)
        one = regions.after[two]
