"""An exact solver that tries all assignments in order."""

from __future__ import annotations

import itertools

from glasshouse.problems import Max2Sat
from glasshouse.proofs.exact import exact_solver


@exact_solver("patience", package="patience")
def solve(problem: Max2Sat, time_limit: float | None) -> tuple[list[int] | None, bool]:
    """Return the assignment of the least cost, and that it is optimal."""
    every = itertools.product((0, 1), repeat=problem.num_variables)
    return list(min(every, key=lambda bits: problem.cost(list(bits)))), True
