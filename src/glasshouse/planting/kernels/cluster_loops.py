"""Loops on a grid of cells that leave every cell strong enough to stay in one piece."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled
from glasshouse.kernels.arrays import enlarged
from glasshouse.kernels.xoshiro import below
from glasshouse.planting.kernels.cycles import KEPT, find_edge, walk_cycle

# Steps that a try, and the search for an edge, count for on the meter.
_TRY, _LOOKUP = 8, 8


@compiled
def drop_cell_loops(
    stream: Any, graph: Any, columns: int, number: int, most: int, most_turns: int, patience: int,
    meter: Any,
) -> Any:  # fmt: skip
    """Drop loops of +1 and one -1 on a grid; fewer come back where no room was found.

    Args:
        stream: the generator's words.
        graph: the grid's edges in compressed rows; cells are numbered row by row.
        columns: cells of a row.
        number: how many loops.
        most: the largest magnitude that an edge may reach.
        most_turns: how many loops may turn in one cell.
        patience: tries without success before no more room is assumed.
        meter: the steps that are left, counted down.

    Returns:
        Cells and starts of the loops dropped, each loop's negative edge its last.
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
        fits = True
        for k in range(length):
            edges[k] = find_edge(graph, layers, cycle[k], cycle[(k + 1) % length])
            fits &= abs(totals[edges[k]] + (-1 if k == last else 1)) <= most
            fits &= turns[cycle[k]] + _is_turn(columns, cycle, length, k) <= most_turns
        if not fits:
            continue
        failed = 0
        meter[0] -= KEPT * length
        end = starts[placed] + length
        if end > cells.size:
            cells = enlarged(cells, 2 * end)
        for k in range(length):
            cells[starts[placed] + k] = cycle[(last + 1 + k) % length]
            totals[edges[k]] += -1 if k == last else 1
            turns[cycle[k]] += _is_turn(columns, cycle, length, k)
        placed += 1
        starts[placed] = end
    return cells[: starts[placed]].copy(), starts[: placed + 1].copy()


@compiled
def _is_turn(columns: int, cycle: Any, length: int, k: int) -> Any:
    """Whether a loop leaves its cell k along another axis than it came by."""
    before, after = cycle[(k + length - 1) % length], cycle[(k + 1) % length]
    return (before // columns != after // columns) & (before % columns != after % columns)
