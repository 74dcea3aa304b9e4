"""Random loops on a grid of cells, such that every cell stays strong enough not to break."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inlined
from glasshouse.kernels.arrays import enlarged
from glasshouse.kernels.xoshiro import below
from glasshouse.planting.kernels.cycles import KEPT, find_edge, walk_cycle

# Steps that an attempt, and the search for an edge, cost on the meter.
_TRY, _LOOKUP = 8, 8


@compiled
def drop_cell_loops(
    stream: Any, graph: Any, number: int, most: int, most_turns: int, patience: int,
    meter: Any,
) -> Any:  # fmt: skip
    """Place up to `number` loops that fit on a grid; one edge of each is -1, the others are +1.

    Args:
        stream: the generator's words.
        graph: the grid's edges in compressed rows; cells are numbered row by row.
        number: the number of loops.
        most: the largest magnitude that an edge may reach.
        most_turns: the largest number of loops that may turn in one cell.
        patience: failed attempts after which no more space is assumed.
        meter: the steps that are left, counted down.

    Returns:
        Cells and starts of the placed loops; the last edge of each loop is negative.
    """
    layers = (0, 0)
    size = graph[0].size - 1
    cycle, place = np.empty(size, np.int32), np.full(size, -1, np.int64)
    edges = np.empty(size, np.int64)
    totals, turns = np.zeros(graph[1].size // 2, np.int64), np.zeros(size, np.int64)
    cells, starts = np.empty(max(16, 8 * number), np.int32), np.zeros(number + 1, np.int64)
    placed = failed = 0
    while placed < number and failed < patience and meter[0] > 0:
        length = walk_cycle(stream, graph, layers, below(stream, size), cycle, place, meter)
        last = below(stream, length)
        meter[0] -= _TRY + _LOOKUP * length
        failed += 1
        if not _fits(graph, cycle[:length], last, most, most_turns, totals, turns, edges):
            continue
        failed = 0
        meter[0] -= KEPT * length
        end = starts[placed] + length
        if end > cells.size:
            cells = enlarged(cells, 2 * end)
        for k in range(length):
            cells[starts[placed] + k] = cycle[(last + 1 + k) % length]
            totals[edges[k]] += -1 if k == last else 1
            turns[cycle[k]] += _is_turn(cycle[:length], k)
        placed += 1
        starts[placed] = end
    return cells[: starts[placed]].copy(), starts[: placed + 1].copy()


@compiled
def spread_over_spins(
    cells: Any, starts: Any, num_cells: int, shore: int, over: int, under: int
) -> Any:
    """Turn each loop over cells into `shore`² loops over spins; add the unused couplings.

    A cell has `shore` spins that are coupled up and down, then as many that are coupled left and
    right. A loop weighs 2·over; if it turns in a cell, it visits a spin of either kind. All
    couplings within a cell weigh 2·under·shore, of which each turn takes 2·over.

    Returns:
        Nodes, starts and weights of the loops; the last edge of each loop is negative.
    """
    turns = np.zeros(num_cells, np.int64)
    visits, number = cells.size, starts.size - 1
    for loop in range(number):
        cycle = cells[starts[loop] : starts[loop + 1]]
        for k in range(cycle.size):
            if _is_turn(cycle, k):
                turns[cycle[k]] += 1
                visits += 1
    left = 0
    for cell in range(num_cells):
        left += under * shore != over * turns[cell]
    size = shore * shore * visits + left * 2 * shore * shore
    nodes, weights = np.empty(size, np.int32), np.full(size, 2 * over, np.int64)
    bounds = np.zeros(shore * shore * number + left * shore + 1, np.int64)
    end = placed = 0
    for up in range(shore):
        for across in range(shore):
            for loop in range(number):
                cycle = cells[starts[loop] : starts[loop + 1]]
                for k in range(cycle.size):
                    before = cycle[k - 1] if k > 0 else cycle[cycle.size - 1]
                    came_across = abs(cycle[k] - before) == 1
                    turned = _is_turn(cycle, k)
                    first = 2 * shore * cycle[k]
                    nodes[end] = first + (shore + across if came_across else up)
                    if turned:
                        nodes[end + 1] = first + (up if came_across else shore + across)
                    end += 2 if turned else 1
                weights[end - 1] = -2 * over
                placed += 1
                bounds[placed] = end
    for cell in range(num_cells):
        amount = under * shore - over * turns[cell]
        if amount:
            _fill_cell(nodes, weights, bounds, placed, 2 * shore * cell, shore, amount)
            placed += shore
    return nodes, bounds, weights


@inlined
def _fill_cell(
    nodes: Any, weights: Any, bounds: Any, placed: int, first: int, shore: int, amount: int
) -> None:
    """Fill a cell with unfrustrated loops that add 2·`amount` to each of its couplings.

    Loop j goes from spin i of one shore to spin i+j of the other and back to i+1. Every coupling is
    part of two loops, or is the last edge of one, which weighs nothing, and has twice the weight in
    the other.
    """
    end = bounds[placed]
    for j in range(shore):
        for i in range(shore):
            nodes[end + 2 * i], nodes[end + 2 * i + 1] = first + i, first + shore + (i + j) % shore
            weights[end + 2 * i], weights[end + 2 * i + 1] = amount, amount
        weights[end] = 2 * amount
        end += 2 * shore
        weights[end - 1] = 0
        bounds[placed + j + 1] = end


@inlined
def _fits(
    graph: Any, cycle: Any, last: int, most: int, most_turns: int, totals: Any, turns: Any,
    edges: Any,
) -> bool:  # fmt: skip
    """Return whether all edges and cells of a loop have space for it; if so, fill `edges`."""
    for k in range(cycle.size):
        following = cycle[k + 1] if k + 1 < cycle.size else cycle[0]
        edges[k] = find_edge(graph, (0, 0), cycle[k], following)
        if abs(totals[edges[k]] + (-1 if k == last else 1)) > most:
            return False
        if turns[cycle[k]] + _is_turn(cycle, k) > most_turns:
            return False
    return True


@inlined
def _is_turn(cycle: Any, k: int) -> Any:
    """Return whether a loop enters and leaves its cell k along different axes.

    Cells of a row, of which there are at least two, have numbers that differ by one.
    """
    before = cycle[k - 1] if k > 0 else cycle[cycle.size - 1]
    after = cycle[k + 1] if k + 1 < cycle.size else cycle[0]
    return (abs(cycle[k] - before) == 1) != (abs(after - cycle[k]) == 1)
