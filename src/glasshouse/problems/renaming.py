"""Renaming a problem's variables, which changes their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems.convert import Problem, to_ising
from glasshouse.problems.max2sat import Max2Sat
from glasshouse.problems.pairs import reordered
from glasshouse.problems.polynomial import Polynomial
from glasshouse.problems.rbm import Rbm
from glasshouse.problems.reduction import Reduction


def renamed(problem: Problem, names: npt.NDArray[np.integer[Any]]) -> tuple[Problem, Reduction]:
    """Rename variable k to `names[k]`; an RBM becomes an Ising problem, because its layers mix.

    Labels are dropped, because they are names, too.

    >>> from glasshouse.problems import Ising
    >>> bond = Ising.from_edges(3, [(0, 1)], [5], [0, 0, 7])
    >>> problem, reduction = renamed(bond, np.array([2, 0, 1]))
    >>> problem.edges.tolist(), problem.fields.tolist()
    ([[0, 2]], [0, 7, 0])
    >>> reduction.back([-1, 1, 1])
    array([ 1, -1,  1], dtype=int8)
    """
    if isinstance(problem, Rbm):
        problem = to_ising(problem)[0]
    size, old = problem.num_variables, np.argsort(names)
    new: Problem
    if isinstance(problem, Max2Sat):
        parts = (_moved(part, names) for part in (problem.clauses, problem.hard))
        clauses, hard = parts
        new = Max2Sat(size, clauses, problem.weights, hard)
    elif isinstance(problem, Polynomial):
        new = problem.reordered(names)
    else:
        new = reordered(problem, names)
    reduction = Reduction(
        problem.space, new.space, lambda state: state[..., old], lambda state: state[..., names]
    )
    return new, reduction


def _moved(clauses: npt.NDArray[np.int32], names: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Rename the variables of literals and keep the signs; 0 is a missing literal."""
    with_none = np.concatenate([[0], names + 1]).astype(np.int32)
    return np.sign(clauses) * with_none[np.abs(clauses)]
