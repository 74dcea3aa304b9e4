"""The judge: the least cost of a small problem, by exact enumeration of all states."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from glasshouse.problems import Ising, Max2Sat, Problem, Qubo, Rbm

MOST_VARIABLES = 12
MOST_TERMS = 300

Exact = int | Fraction


@lru_cache(maxsize=100)  # because many certificates belong to the same file
def least_cost(problem: Problem) -> Exact | None:
    """Return the least cost or energy; None if no state satisfies the hard clauses.

    No code of the library computes here. The problem's numbers become Python's numbers, which
    neither wrap nor round.
    """
    bits = _all_bits(problem.num_variables)
    costs = _costs_of_clauses(problem, bits) if isinstance(problem, Max2Sat) else None
    if costs is None:
        costs = _energies(problem, bits)
    kept = [cost for cost in costs.tolist() if cost is not None]
    return min(kept, default=None)


def contradicts(cost: int | float, problem: Problem | None) -> str:
    """Return why a verified optimum is wrong; empty if it is right or the problem is too large."""
    if (
        problem is None
        or problem.num_variables > MOST_VARIABLES
        or _number_of_terms(problem) > MOST_TERMS
    ):
        return ""
    least = least_cost(problem)
    if least is None:
        return "no state satisfies the hard clauses"
    true = float(least) if isinstance(cost, float) else least
    return "" if cost == true else f"the optimum is {least}"


def _costs_of_clauses(problem: Max2Sat, bits: list[Any]) -> Any:
    costs = np.zeros(1 << len(bits), dtype=object)
    for clause, weight in zip(problem.clauses.tolist(), problem.weights.tolist(), strict=True):
        costs = costs + _exact(weight) * _falsified(clause, bits)
    for clause in problem.hard.tolist():
        costs[_falsified(clause, bits) == 1] = None
    return costs


def _falsified(clause: list[int], bits: list[Any]) -> Any:
    """Return 1 for each state that falsifies all literals of a clause, otherwise 0."""
    product: Any = np.full(1 << len(bits), 1, dtype=object)
    for literal in clause:
        if literal:
            bit = bits[abs(literal) - 1]
            product = product * (1 - bit if literal > 0 else bit)
    return product


def _energies(problem: Ising | Qubo | Rbm, bits: list[Any]) -> Any:
    total = np.full(1 << len(bits), _exact(problem.offset), dtype=object)
    if isinstance(problem, Qubo):
        sign, values, single = 1, bits, problem.linear
    else:
        sign, values, single = -1, [2 * bit - 1 for bit in bits], problem.fields
    for (i, j), weight in zip(problem.edges.tolist(), problem.weights.tolist(), strict=True):
        total = total + sign * _exact(weight) * values[i] * values[j]
    for value, weight in zip(values, single.tolist(), strict=True):
        total = total + sign * _exact(weight) * value
    return total


def _all_bits(size: int) -> list[Any]:
    states = np.arange(1 << size)
    return [((states >> k) & 1).astype(object) for k in range(size)]


def _exact(number: Any) -> Exact:
    return Fraction(number) if isinstance(number, float) else int(number)


def _number_of_terms(problem: Problem) -> int:
    if isinstance(problem, Max2Sat):
        return len(problem.clauses) + len(problem.hard)
    return problem.num_edges
