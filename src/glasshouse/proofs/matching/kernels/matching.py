"""Compiled minimum-weight perfect matching of points, with the duals that prove it minimal.

Edmonds' method. Every point has a *reach*. The reaches of two points in different blossoms add up
to at most the weight between them; if the sum equals the weight, the edge is *tight*. Trees of
tight edges, unmatched and matched in turn, grow from all free points at once. An edge between two
trees matches two more points. An edge within one tree closes an odd ring, which becomes a *blossom*
and from then on acts as one point. If no other edge is tight, the reaches of outer points grow and
the reaches of inner points shrink until a new edge is tight.

Points are 0 … n-1, and blossoms have higher numbers. The *width* of a point or blossom is its own
contribution to the reach of its points; a blossom's width is never negative. The weights must be
even, so that all widths are integers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner

_FREE, _OUTER, _INNER = 0, 1, 2
Numbers = npt.NDArray[np.int32]


class Forest(NamedTuple):
    """Points, blossoms, and the trees that they form."""

    mate: Numbers  # one per point, as in the next two arrays: the partner, -1 if none
    reach: Numbers
    top: Numbers  # the largest blossom around it
    width: Numbers  # one per point or blossom, as in the next eleven arrays
    parent: Numbers  # the next larger blossom, -1 if none
    base: Numbers  # the point of a blossom that is matched to the outside
    first: Numbers  # the ring of a blossom begins with the part of its base; -1 if unused
    after: Numbers  # the next part of a ring
    leave: Numbers  # the edge to it: a point of this part,
    enter: Numbers  # and one of the next
    label: Numbers
    root: Numbers  # the tree
    outside: Numbers  # the edge by which an inner blossom was reached: its point outside,
    inside: Numbers  # and its point inside
    stamp: Numbers  # for the search of common ancestors
    dead: npt.NDArray[np.bool_]  # whether a tree is finished until all trees restart
    # Outer points whose edges must be examined; behind them the head and the tail of the queue,
    # and the first blossom, counted from 0, that may be unused.
    queue: Numbers
    stack: npt.NDArray[np.int32]


# The result of `match_some` for an unfinished matching; 1 and 0 are its other results.
_GOES_ON = 2
# Points whose edges are examined in one call: about a tenth of a second.
_POINTS_AT_ONCE = 1 << 13


class Turn(NamedTuple):
    """The progress of a matching between two calls of `match_some`."""

    grown: npt.NDArray[np.int64]  # how much the reaches have grown
    is_growing: npt.NDArray[np.bool_]  # whether trees are growing: their queue is not empty
    has_found: npt.NDArray[np.bool_]  # whether these trees have matched more points


def match(
    starts: Any, others: Any, weights: Any, farthest: int,
    check: Callable[[], object] = lambda: None,
) -> tuple[bool, Forest]:  # fmt: skip
    """Find a perfect matching of all points with the least total weight.

    Args:
        starts: where the neighbours of each point begin, in compressed rows.
        others: the neighbours.
        weights: the pairs' weights: even numbers that satisfy the triangle inequality.
        farthest: the largest reach allowed; all pairs of weight up to twice this must be given.
        check: called about ten times per second; it may raise an exception to end the matching.

    Returns:
        Whether all points are matched, and the forest.
    """
    # The forest is created here, because Ctrl-C while compiled code returns a named tuple would end
    # the process.
    forest = new_forest(len(starts) - 1)
    turn = Turn(np.zeros(1, np.int64), np.zeros(1, np.bool_), np.zeros(1, np.bool_))
    while True:
        end = match_some(forest, starts, others, weights, farthest, turn, _POINTS_AT_ONCE)
        if end != _GOES_ON:
            return bool(end), forest
        check()


@compiled
def match_some(
    forest: Any, starts: Any, others: Any, weights: Any, farthest: Any, turn: Any, points: Any
) -> Any:
    """Match points of a forest: return 1 if all are matched, 0 if impossible, 2 if unfinished."""
    size = len(forest.mate)
    while True:
        if not turn.is_growing[0]:
            plant_trees(forest)
            turn.is_growing[0], turn.has_found[0] = True, False
        points = grow(forest, starts, others, weights, turn.has_found, points)
        if points == 0:
            return _GOES_ON
        turn.is_growing[0] = False
        if turn.has_found[0]:
            continue
        step = least_step(forest, starts, others, weights)
        if step == -1 or turn.grown[0] + step > farthest:
            return 1 if step == -1 else 0
        turn.grown[0] += step
        for point in range(size):
            label = forest.label[forest.top[point]]
            forest.reach[point] += step if label == _OUTER else -step if label == _INNER else 0
        for part in range(2 * size):
            if forest.parent[part] < 0 and (part < size or forest.first[part] >= 0):
                label = forest.label[part]
                forest.width[part] += step if label == _OUTER else -step if label == _INNER else 0


def new_forest(size: int) -> Forest:
    """Return a forest of points without partners."""
    per_part = ("width", "after", "leave", "enter", "label", "root", "outside", "inside", "stamp")
    return Forest(
        mate=np.full(size, -1, np.int32),
        reach=np.zeros(size, np.int32),
        top=np.arange(size, dtype=np.int32),
        parent=np.full(2 * size, -1, np.int32),
        base=np.arange(2 * size, dtype=np.int32),
        first=np.full(2 * size, -1, np.int32),
        dead=np.zeros(size, np.bool_),
        queue=np.zeros(size + 3, np.int32),
        stack=np.zeros((4 * size + 4, 2), np.int32),
        **{name: np.zeros(2 * size, np.int32) for name in per_part},
    )


@inner
def plant_trees(forest: Any) -> None:
    """Start new trees from all free points and blossoms; dissolve blossoms of width 0."""
    size = len(forest.mate)
    for blossom in range(2 * size - 1, size - 1, -1):
        dissolve(forest, blossom)
    forest.queue[size] = forest.queue[size + 1] = 0  # the head and the tail
    for part in range(2 * size):
        forest.label[part] = _FREE
        forest.stamp[part] = 0
    for point in range(size):
        forest.dead[point] = False
        top = forest.top[point]
        if forest.label[top] == _FREE and forest.mate[forest.base[top]] < 0:
            forest.root[top] = forest.base[top]
            forest.label[top] = _OUTER
            add_to_queue(forest, top)


@inner
def dissolve(forest: Any, blossom: Any) -> None:
    """Dissolve an outermost blossom of width 0, and those of its parts that have width 0."""
    size, stack = len(forest.mate), forest.stack
    stack[0, 0], waiting = blossom, 1
    while waiting > 0:
        waiting -= 1
        whole = stack[waiting, 0]
        is_largest = whole >= size and forest.first[whole] >= 0 and forest.parent[whole] < 0
        if not is_largest or forest.width[whole] > 0:
            continue
        part = forest.first[whole]
        while forest.parent[part] == whole:
            forest.parent[part] = -1
            set_top(forest, part, waiting)
            stack[waiting, 0] = part
            waiting += 1
            part = forest.after[part]
        forest.first[whole] = -1
        forest.queue[size + 2] = min(forest.queue[size + 2], whole - size)


@inner
def push_parts(forest: Any, whole: Any, waiting: Any) -> Any:
    """Push the parts of a blossom onto the stack; return the new height of the stack."""
    child = forest.first[whole]
    while True:
        forest.stack[waiting, 0] = child
        waiting += 1
        child = forest.after[child]
        if child == forest.first[whole]:
            return waiting


@inner
def set_top(forest: Any, whole: Any, used: Any) -> None:
    """Record a blossom as the outermost blossom of all its points."""
    size, stack = len(forest.mate), forest.stack
    stack[used, 0], waiting = whole, used + 1
    while waiting > used:
        waiting -= 1
        part = stack[waiting, 0]
        if part < size:
            forest.top[part] = whole
        else:
            waiting = push_parts(forest, part, waiting)


@inner
def add_to_queue(forest: Any, whole: Any) -> None:
    """Queue all points of a blossom, so that their edges will be examined."""
    size, stack = len(forest.mate), forest.stack
    stack[0, 0], waiting = whole, 1
    while waiting > 0:
        waiting -= 1
        part = stack[waiting, 0]
        if part < size:
            forest.queue[forest.queue[size + 1]] = part
            forest.queue[size + 1] += 1
        else:
            waiting = push_parts(forest, part, waiting)


@inner
def grow(forest: Any, starts: Any, others: Any, weights: Any, has_found: Any, points: Any) -> Any:
    """Grow trees along tight edges from at most `points` points; return how many were not used.

    Returns 0 if the trees may grow further. Sets `has_found` if more points were matched.
    """
    size = len(forest.mate)
    while forest.queue[size] < forest.queue[size + 1]:
        if points == 1:
            return 0
        points -= 1
        point = forest.queue[forest.queue[size]]
        forest.queue[size] += 1
        for t in range(starts[point], starts[point + 1]):
            other = others[t]
            here, there = forest.top[point], forest.top[other]
            if forest.dead[forest.root[here]]:
                break
            if here == there or weights[t] > forest.reach[point] + forest.reach[other]:
                continue
            if forest.label[there] == _FREE:
                forest.label[there] = _INNER
                forest.outside[there], forest.inside[there] = point, other
                forest.root[there] = forest.root[here]
                follower = forest.top[forest.mate[forest.base[there]]]
                forest.root[follower] = forest.root[here]
                forest.label[follower] = _OUTER
                add_to_queue(forest, follower)
            elif forest.label[there] == _OUTER and not forest.dead[forest.root[there]]:
                if forest.root[here] == forest.root[there]:
                    contract(forest, point, other)
                else:
                    forest.dead[forest.root[here]] = forest.dead[forest.root[there]] = True
                    augment(forest, point, other)
                    augment(forest, other, point)
                    has_found[0] = True
    return points


@inner
def least_step(forest: Any, starts: Any, others: Any, weights: Any) -> Any:
    """Return by how much reaches can change before the next event, or -1 if no point is free."""
    size = len(forest.mate)
    step = np.int64(2**30)
    is_free = False
    for point in range(size):
        is_free |= forest.mate[point] < 0
        here = forest.top[point]
        if forest.label[here] != _OUTER:
            continue
        for t in range(starts[point], starts[point + 1]):
            other = others[t]
            there = forest.top[other]
            if there == here or forest.label[there] == _INNER:
                continue
            slack = np.int64(weights[t] - forest.reach[point] - forest.reach[other])
            step = min(step, slack // 2 if forest.label[there] == _OUTER else slack)
    for blossom in range(size, 2 * size):
        is_largest = forest.first[blossom] >= 0 and forest.parent[blossom] < 0
        if is_largest and forest.label[blossom] == _INNER:
            step = min(step, np.int64(forest.width[blossom]))
    return step if is_free else np.int64(-1)


@inner
def parent_of(forest: Any, outer: Any) -> Any:
    """Return the next outer blossom on the path to the root, two edges from this blossom."""
    inner_one = forest.top[forest.mate[forest.base[outer]]]
    return forest.top[forest.outside[inner_one]]


@inner
def contract(forest: Any, left: Any, right: Any) -> None:
    """Form a blossom from the ring that an edge between two outer points of a tree closes."""
    size = len(forest.mate)
    meeting = common_ancestor(forest, forest.top[left], forest.top[right])
    blossom = size + forest.queue[size + 2]
    while forest.first[blossom] >= 0:
        blossom += 1
    forest.queue[size + 2] = blossom + 1 - size
    # From the left end to the meeting, against the ring's direction.
    forest.leave[forest.top[left]], forest.enter[forest.top[left]] = left, right
    here, after = forest.top[left], forest.top[right]
    forest.after[here] = after
    while here != meeting:
        own = forest.base[here]
        mate = forest.mate[own]
        between = forest.top[mate]
        forest.after[between], forest.leave[between], forest.enter[between] = here, mate, own
        outside, inside = forest.outside[between], forest.inside[between]
        here = forest.top[outside]
        forest.after[here], forest.leave[here], forest.enter[here] = between, outside, inside
    # From the right end to the meeting, in its direction.
    here = forest.top[right]
    while here != meeting:
        own = forest.base[here]
        mate = forest.mate[own]
        between = forest.top[mate]
        forest.after[here], forest.leave[here], forest.enter[here] = between, own, mate
        outside, inside = forest.outside[between], forest.inside[between]
        here = forest.top[outside]
        forest.after[between], forest.leave[between], forest.enter[between] = here, inside, outside
    forest.first[blossom], forest.base[blossom] = meeting, forest.base[meeting]
    forest.width[blossom], forest.parent[blossom] = 0, -1
    forest.label[blossom], forest.root[blossom] = _OUTER, forest.root[meeting]
    part = meeting
    while True:
        forest.parent[part] = blossom
        if forest.label[part] == _INNER:
            add_to_queue(forest, part)
        part = forest.after[part]
        if part == meeting:
            break
    set_top(forest, blossom, 0)


@inner
def common_ancestor(forest: Any, left: Any, right: Any) -> Any:
    """Return the blossom at which the paths of two outer blossoms to their root meet."""
    mark_way(forest, left, 1)
    meeting = right
    while forest.stamp[meeting] == 0:
        meeting = parent_of(forest, meeting)
    mark_way(forest, left, 0)
    return meeting


@inner
def mark_way(forest: Any, here: Any, stamp: Any) -> None:
    """Stamp an outer blossom and all outer blossoms on its path to the root."""
    forest.stamp[here] = stamp
    while forest.mate[forest.base[here]] >= 0:
        here = parent_of(forest, here)
        forest.stamp[here] = stamp


@inner
def augment(forest: Any, point: Any, partner: Any) -> None:
    """Match a point of a tree to a partner outside, and shift all pairs on the path to the root."""
    while True:
        here = forest.top[point]
        before = forest.mate[forest.base[here]]
        rebase(forest, here, point)
        forest.mate[point] = partner
        if before < 0:
            return
        between = forest.top[before]
        point, partner = forest.outside[between], forest.inside[between]
        rebase(forest, between, partner)
        forest.mate[partner] = point


@inner
def rebase(forest: Any, whole: Any, point: Any) -> None:
    """Match the points of a blossom among themselves, except for `point`, its new base."""
    stack = forest.stack
    stack[0, 0], stack[0, 1], waiting = whole, point, 1
    while waiting > 0:
        waiting -= 1
        blossom, base = stack[waiting, 0], stack[waiting, 1]
        if forest.base[blossom] == base:
            continue
        forest.base[blossom] = base
        part = base
        while forest.parent[part] != blossom:
            part = forest.parent[part]
        forest.first[blossom] = part
        stack[waiting, 0], stack[waiting, 1] = part, base
        waiting += 1
        one = forest.after[part]
        while one != part:
            two = forest.after[one]
            leave, enter = forest.leave[one], forest.enter[one]
            forest.mate[leave], forest.mate[enter] = enter, leave
            stack[waiting, 0], stack[waiting, 1] = one, leave
            stack[waiting + 1, 0], stack[waiting + 1, 1] = two, enter
            waiting += 2
            one = forest.after[two]
