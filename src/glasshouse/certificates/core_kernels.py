"""Compiled check of frustrated cores, in time linear in their trees and clauses.

The caller has shown that no sum of weights can wrap around. For larger weights, the caller runs the
same code on Python integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled

FINE, TRUNCATED, EXTRA, VARIABLE, REPEATED, CLAUSE, UNSORTED, TRUE, AMOUNT, CHEAP = range(10)
FAULTS = (
    "fine",
    "the tree ends before its last leaf",
    "numbers follow the last leaf of the tree; remove them",
    "the problem has no such variable",
    "the variable is already on the path",
    "the problem has no such clause, or it is a hard clause in a list of amounts",
    "the clauses of a leaf must be in ascending order",
    "the path does not falsify the clause",
    "the amount must be above 0, and the cores must not charge a clause more than its weight",
    "the amounts of the leaf add up to less than the cost of the core",
)


@compiled
def check_cores(
    literals: Any, clause_starts: Any, left: Any, values: Any, tokens: Any, starts: Any, costs: Any
) -> Any:
    """Return the first fault in a list of cores, the core's index, and the position in its tree.

    Args:
        literals: the literals of all clauses, soft clauses first; zeros are ignored.
        clause_starts: the index at which each clause begins, and the end of the last clause.
        left: the weight of each soft clause; the charges of cores are subtracted from it.
        values: zeros, a buffer for the value of each variable (from 1) on a path.
        tokens: all trees, concatenated.
        starts: the index at which each tree begins, and the end of the last tree.
        costs: the cost of each core.
    """
    num_soft, num_clauses = len(left), len(clause_starts) - 1
    charged = np.zeros_like(left)
    charged_by = np.full(num_soft, -1, np.int64)
    path = np.zeros(len(values), np.int64)
    for core in range(len(starts) - 1):
        first, last = starts[core], starts[core + 1]
        place, depth = first, 0
        while True:
            if place >= last:
                return TRUNCATED, core, place - first
            token = tokens[place]
            place += 1
            if token > 0:
                if token >= len(values):
                    return VARIABLE, core, place - 1 - first
                if values[token] != 0:
                    return REPEATED, core, place - 1 - first
                values[token] = -1
                path[depth] = token
                depth += 1
                continue
            count = 1
            if token == 0:
                if place >= last or tokens[place] > (last - place - 1) // 2:
                    return TRUNCATED, core, place - first
                count = tokens[place]
                place += 1
            before, paid, cost = 0, 0, costs[core]
            for _ in range(count):
                clause, amount, is_listed = -token, cost, token == 0
                if is_listed:
                    clause, amount = tokens[place], tokens[place + 1]
                    place += 2
                if clause < 1 or clause > (num_soft if is_listed else num_clauses):
                    return CLAUSE, core, place - 1 - first
                if clause <= before:
                    return UNSORTED, core, place - 1 - first
                before = clause
                for k in range(clause_starts[clause - 1], clause_starts[clause]):
                    literal = literals[k]
                    if literal != 0 and values[abs(literal)] != (-1 if literal > 0 else 1):
                        return TRUE, core, place - 1 - first
                if clause > num_soft:
                    paid += cost
                    continue
                k = clause - 1
                if charged_by[k] != core:
                    charged_by[k], charged[k] = core, 0
                if amount < 1 or amount - charged[k] > left[k]:
                    return AMOUNT, core, place - 1 - first
                if amount > charged[k]:
                    left[k] -= amount - charged[k]
                    charged[k] = amount
                paid += amount
            if paid < cost:
                return CHEAP, core, place - 1 - first
            while depth > 0 and values[path[depth - 1]] > 0:
                depth -= 1
                values[path[depth]] = 0
            if depth == 0:
                break
            values[path[depth - 1]] = 1
        if place < last:
            return EXTRA, core, place - first
    return FINE, 0, 0
