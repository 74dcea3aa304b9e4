"""Random loops, placed on a graph one by one under a rule for their overlap."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import enlarged
from glasshouse.kernels.xoshiro import below, below_wide
from glasshouse.planting.kernels.cycles import (
    KEPT,
    basis_cycle,
    block_cycle,
    find_edge,
    path_cycle,
    walk_cycle,
)

# The samplers of cycles.
WALK, PATH, BASIS, TABLE, BLOCK = 0, 1, 2, 3, 4
# Steps that an attempt, and the search for an edge, cost on the meter.
_TRY, _LOOKUP = 8, 8
# How loops may share edges: in any way, only with equal signs, or not at all.
ANY, CONSTRUCTIVE, DISJOINT = 0, 1, 2
_NO_LIMIT = int(np.iinfo(np.int64).max)  # cached code that calls `np.iinfo` loads SciPy


class CycleSource(NamedTuple):
    """The source of cycles: a sampler and the data that it needs."""

    sampler: int
    graph: Any  # (starts, neighbours, edge_ids, ends), see `cycles`
    layers: tuple[int, int]  # (n, m) of a complete bipartite graph that is not stored, else (0, 0)
    roots: npt.NDArray[np.int32]  # start nodes of walks; empty stands for all nodes
    table: npt.NDArray[np.int32]  # TABLE: all cycles of one length, concatenated
    inner: npt.NDArray[np.int64]  # BLOCK: the edges inside the block
    border: int  # BLOCK: the size of the block
    inside: bool  # BLOCK: whether the fourth node is inside, too


class LoopRule(NamedTuple):
    """The weights of loops, and how loops may overlap.

    The negative weight of a loop of length L is -(constant + slope·(L-1)).
    """

    shortest: int
    longest: int
    positive: int
    constant: int
    slope: int
    overlap: int  # how loops may share edges
    most: int  # the largest magnitude that an edge may reach


@compiled
def drop_loops(
    stream: Any, source: Any, rule: Any, nodes: Any, starts: Any, state: Any, patience: int,
    totals: Any, meter: Any, least: int,
) -> Any:  # fmt: skip
    """Place loops until `starts` is full, `patience` attempts have failed, or a pause is due.

    Called again, it continues where it returned, and draws the same as without pauses.

    Args:
        stream: the generator's words.
        source: the source of cycles.
        rule: the rule for weights and overlap.
        nodes: int32, filled with the nodes of the loops; the last edge of each is negative.
        starts: int64, one more than the number of loops, filled with the start of each loop.
        state: int64 (2), the number of loops, and of attempts since the last loop; both 0 at first.
        patience: failed attempts before a loop is repeated, or the search stops.
        totals: the weight of each edge, changed in place; empty if no rule needs it.
        meter: the steps that are left, counted down.
        least: the value of the meter at which a pause is due.

    Returns:
        `nodes`, or a larger copy if they did not fit.
    """
    graph, layers, roots = source.graph, source.layers, source.roots
    size = layers[0] + layers[1] if graph[0].size == 0 else graph[0].size - 1
    cycle, place = np.empty(size, np.int32), np.full(size, -1, np.int64)
    edges = np.empty(size, np.int64)
    parent, depth = np.empty(size, np.int64), np.empty(size, np.int64)
    # Without a limit on weights, an existing loop can always be placed again.
    may_repeat = rule.overlap == CONSTRUCTIVE and rule.most == _NO_LIMIT
    placed, failed = state[0], state[1]
    while placed < starts.size - 1 and meter[0] > least:
        fixed = -1
        # The samplers are called here directly: another function around them takes seconds to
        # compile
        if failed >= patience:
            if not may_repeat or placed == 0:
                break  # no space
            again = below_wide(stream, placed)
            length = _copy(nodes, starts[again], starts[again + 1] - starts[again], cycle)
            fixed = length - 1
        elif source.sampler == TABLE:
            chosen = below_wide(stream, source.table.size // rule.shortest)
            length = _copy(source.table, chosen * rule.shortest, rule.shortest, cycle)
        elif source.sampler == BLOCK:
            length = block_cycle(stream, graph, source.inner, source.border, source.inside, cycle)
            fixed = 3
        else:
            root = roots[below(stream, roots.size)] if roots.size else below(stream, size)
            if source.sampler == BASIS:
                length = basis_cycle(stream, graph, root, cycle, place, parent, depth, meter)
            elif source.sampler == WALK:
                length = walk_cycle(stream, graph, layers, root, cycle, place, meter)
            else:
                length = path_cycle(stream, graph, layers, root, rule.shortest, cycle, place, meter)
        failed += 1
        meter[0] -= _TRY + length
        if length < rule.shortest or length > rule.longest:
            continue
        if totals.size:
            meter[0] -= _LOOKUP * length
            if not _find_edges(graph, layers, cycle, edges, length):
                continue
        negative = rule.constant + rule.slope * (length - 1)
        last = _negative_edge(stream, rule, totals, edges, length, fixed, negative)
        if last < 0:
            continue
        failed = 0
        meter[0] -= KEPT * length
        end = starts[placed] + length
        if end > nodes.size:
            nodes = enlarged(nodes, 2 * end)
        for k in range(length):
            turned = (last + 1 + k) % length
            nodes[starts[placed] + k] = cycle[turned]
            if totals.size:
                totals[edges[turned]] += -negative if turned == last else rule.positive
        placed += 1
        starts[placed] = end
    state[0], state[1] = placed, failed
    return nodes


@inner
def _copy(nodes: Any, first: int, length: int, cycle: Any) -> Any:
    """Copy a cycle from a list of cycles; return its length."""
    for k in range(length):
        cycle[k] = nodes[first + k]
    return length


@inner
def _find_edges(graph: Any, layers: Any, cycle: Any, edges: Any, length: int) -> bool:
    """Find the ids of a cycle's edges; return False if one is missing."""
    for k in range(length):
        edges[k] = find_edge(graph, layers, cycle[k], cycle[(k + 1) % length])
        if edges[k] < 0:
            return False
    return True


@inner
def _negative_edge(
    stream: Any, rule: Any, totals: Any, edges: Any, length: int, fixed: int, negative: int
) -> int:
    """Draw the position of the negative edge among those that the rule allows; -1 if there is none.

    `fixed` is the only position to consider, unless it is -1.
    """
    positive, most = rule.positive, rule.most
    chosen = fixed
    if rule.overlap == ANY:
        if fixed < 0:
            chosen = below(stream, length)
        if totals.size:
            for k in range(length):
                change = -negative if k == chosen else positive
                if abs(totals[edges[k]] + change) > most:
                    return -1
        return chosen
    # An edge that is already negative stays negative; otherwise an empty edge becomes negative, or
    # any edge if the negative weight is 0.
    is_set = False
    open_places = 0
    for k in range(length):
        total = totals[edges[k]]
        if total != 0 and rule.overlap == DISJOINT:
            return -1
        if total < 0:
            if is_set or (fixed >= 0 and fixed != k) or negative - total > most:
                return -1
            is_set = True
            chosen = k
        elif total == 0 or negative == 0:
            open_places += 1
            if fixed < 0 and not is_set and below(stream, open_places) == 0:
                chosen = k
    if chosen < 0 or (not is_set and negative > 0 and totals[edges[chosen]] != 0):
        return -1
    for k in range(length):
        if k != chosen and totals[edges[k]] + positive > most:
            return -1
    return chosen
