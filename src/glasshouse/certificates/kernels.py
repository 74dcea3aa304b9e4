"""Compiled passes over cycles and edges, all linear. They hold indices, never weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled

# What can be wrong with a list of cycles; `find_bad_cycle` returns one of these and where.
FINE, TOO_SHORT, REPEATED = 0, 1, 2


@compiled
def find_bad_cycle(nodes: Any, starts: Any, size: int) -> Any:
    """The first cycle that is shorter than 3 or visits a node twice; nodes lie in [0, size).

    The caller has made sure that `starts` ascends from 0 to the number of nodes.
    """
    last_visit = np.full(size, -1, np.int64)
    for loop in range(starts.size - 1):
        if starts[loop + 1] - starts[loop] < 3:
            return TOO_SHORT, loop
        for k in range(starts[loop], starts[loop + 1]):
            node = nodes[k]
            if last_visit[node] == loop:
                return REPEATED, loop
            last_visit[node] = loop
    return FINE, -1


@compiled
def order_by_edge(low: Any, high: Any, size: int) -> Any:
    """The order that puts equal edges next to each other, ascending; ends lie in [0, size).

    Two stable counting sorts, first by the larger end, then by the smaller.
    """
    length = low.size
    low_places, high_places = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    for k in range(length):
        low_places[low[k] + 1] += 1
        high_places[high[k] + 1] += 1
    for node in range(size):
        low_places[node + 1] += low_places[node]
        high_places[node + 1] += high_places[node]
    by_high = np.empty(length, np.int64)
    for k in range(length):
        by_high[high_places[high[k]]] = k
        high_places[high[k]] += 1
    order = np.empty(length, np.int64)
    for k in by_high:
        order[low_places[low[k]]] = k
        low_places[low[k]] += 1
    return order
