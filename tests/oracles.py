"""Reference answers by slow and reliable methods: enumeration of all states, and RC2."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import Ising, Max2Sat, Problem, Qubo, Rbm


@lru_cache(maxsize=32)
def all_states(size: int, low: int) -> npt.NDArray[np.int8]:
    """Return every state of `size` variables with values `low` (-1 or 0) and 1, one per row."""
    states = np.array(list(itertools.product((low, 1), repeat=size)), dtype=np.int8)
    return states.reshape(-1, size)


def states_of(problem: Problem) -> npt.NDArray[np.int8]:
    if isinstance(problem, (Ising, Rbm)):
        return all_states(problem.num_variables, -1)
    return all_states(problem.num_variables, 0)


def energies_of(problem: Problem) -> npt.NDArray[np.generic]:
    """Return the energy (or cost) of every state, in the order of `states_of`."""
    states = states_of(problem)
    return problem.cost(states) if isinstance(problem, Max2Sat) else problem.energy(states)


def optimum(problem: Problem) -> tuple[object, set[tuple[int, ...]]]:
    """Return the least energy, and all states with this energy."""
    energies = energies_of(problem)
    best = energies.min()
    return best.item(), {tuple(map(int, s)) for s in states_of(problem)[energies == best]}


def energy_by_definition(
    problem: Problem, state: npt.NDArray[np.int8], number: Callable[[Any], Any] = lambda x: x
) -> Any:
    """Return the energy, summed term by term in Python numbers (exactly with `Fraction`)."""
    x = [int(v) for v in state]
    if isinstance(problem, Ising):
        pairs = zip(problem.edges.tolist(), problem.weights.tolist(), strict=True)
        bonds = sum(number(w) * x[i] * x[j] for (i, j), w in pairs)
        return number(problem.offset) - bonds - _dot(problem.fields, x, number)
    if isinstance(problem, Qubo):
        pairs = zip(problem.edges.tolist(), problem.weights.tolist(), strict=True)
        quadratic = sum(number(w) * x[i] * x[j] for (i, j), w in pairs)
        return number(problem.offset) + quadratic + _dot(problem.linear, x, number)
    if isinstance(problem, Rbm):
        matrix = problem.matrix.toarray() if problem.is_sparse else problem.matrix
        v, h = x[: problem.num_visible], x[problem.num_visible :]
        bonds = sum(_dot(row, h, number) * s for row, s in zip(matrix, v, strict=True))
        biases = _dot(problem.visible_bias, v, number) + _dot(problem.hidden_bias, h, number)
        return number(problem.offset) - bonds - biases
    broken = sum(not _satisfied(clause, x) for clause in problem.hard.tolist())
    return number(problem.hard_weight) * broken + sum(
        number(w)
        for clause, w in zip(problem.clauses.tolist(), problem.weights.tolist(), strict=True)
        if not _satisfied(clause, x)
    )


def rc2_cost(problem: Max2Sat) -> int:
    """Return the least cost that satisfies all hard clauses, by the core-guided solver RC2."""
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    formula = WCNF()
    for clause in problem.hard.tolist():
        formula.append([x for x in clause if x])
    clauses = zip(problem.clauses.tolist(), problem.weights.tolist(), strict=True)
    always_falsified = 0  # RC2 does not accept empty clauses
    for clause, weight in clauses:
        if not any(clause):
            always_falsified += weight
        elif weight:
            formula.append([x for x in clause if x], weight=weight)
    with RC2(formula) as solver:
        assert solver.compute() is not None, "hard clauses unsatisfiable"
        return int(solver.cost) + always_falsified


def _satisfied(clause: list[int], x: list[int]) -> bool:
    return any(literal != 0 and x[abs(literal) - 1] == (literal > 0) for literal in clause)


def _dot(values: npt.NDArray[Any], x: list[int], number: Callable[[Any], Any]) -> Any:
    return sum(number(a) * b for a, b in zip(values.tolist(), x, strict=True))
