"""PySAT's RC2, a core-guided MaxSAT solver."""

from __future__ import annotations

from typing import Any

from glasshouse.extras import optional
from glasshouse.problems import Max2Sat, MaxSat
from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError
from glasshouse.proofs.exact.solver import Answer, exact_solver, literals
from glasshouse.waiting import interruptible


@exact_solver("rc2", package="python-sat")
def solve(problem: Max2Sat | MaxSat, time_limit: float | None) -> Answer:
    """Solve with PySAT's RC2 and its default options."""
    return _compute("RC2", _formula(problem), problem.num_variables, time_limit)


@exact_solver("rc2-stratified", package="python-sat")
def solve_stratified(problem: Max2Sat | MaxSat, time_limit: float | None) -> Answer:
    """Solve with PySAT's RC2Stratified, which handles heavy clauses first."""
    return _compute("RC2Stratified", _formula(problem), problem.num_variables, time_limit)


def _formula(problem: Max2Sat | MaxSat) -> Any:
    formula = optional("pysat.formula", "solver='rc2'").WCNF()
    for weight, clause in literals(problem):
        formula.append(clause, weight=weight)
    return formula


@exact_solver("rc2-stratified-edge", package="python-sat")
def solve_edges(problem: Max2Sat | MaxSat, time_limit: float | None) -> Answer:
    """Solve with RC2Stratified, with one relaxation variable shared by both clauses of an edge."""
    formula = optional("pysat.formula", "solver='rc2'").WCNF()
    relaxed: dict[tuple[int, ...], tuple[int, int]] = {}
    for weight, clause in literals(problem):
        opposite = tuple(sorted(-x for x in clause))
        if weight is None or len(clause) == 1:
            formula.append(clause, weight=weight)
            continue
        # At most one of l ∨ m and ¬l ∨ ¬m is false, so both can use one variable for equal weights.
        variable, shared = relaxed.get(opposite, (0, 0))
        if weight != shared:
            variable = problem.num_variables + len(relaxed) + 1
            relaxed[tuple(sorted(clause))] = variable, weight
            formula.append([-variable], weight=weight)
        formula.append([*clause, variable])
    return _compute("RC2Stratified", formula, problem.num_variables, time_limit)


def _compute(variant: str, formula: Any, num_variables: int, time_limit: float | None) -> Answer:
    rc2 = optional("pysat.examples.rc2", "solver='rc2'")
    running: list[Any] = []

    def work() -> list[int] | None:
        with getattr(rc2, variant)(formula) as solver:  # freed by the thread that uses it
            running.append(solver)
            model: list[int] | None = solver.compute(expect_interrupt=True)
            if model is None and not solver.interrupted:
                raise HardClausesUnsatisfiableError("RC2 found the hard clauses unsatisfiable")
            return model

    model = interruptible(work, lambda: [s.interrupt() for s in running], time_limit)
    if model is None:
        return None, False
    true = {literal for literal in model if literal > 0}
    return [int(v in true) for v in range(1, num_variables + 1)], True
