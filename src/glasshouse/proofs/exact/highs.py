"""HiGHS: an integer program."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.problems import Max2Sat
from glasshouse.proofs.exact.solver import TOLERANCE, Answer, exact_solver, literals
from glasshouse.proofs.interruption import interruptible


@exact_solver("highs", package="highspy", most_weight=2**28)
def solve(problem: Max2Sat, time_limit: float | None) -> Answer:
    """Minimise the weight of relaxed clauses."""
    import highspy

    make: Any = highspy.Highs
    solver = make()
    solver.setOptionValue("output_flag", False)
    # The default stops within 0.01 % of the optimum, which is not exact.
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.0)
    for name in ("mip", "primal", "dual"):
        solver.setOptionValue(f"{name}_feasibility_tolerance", TOLERANCE)
    if time_limit is not None:
        solver.setOptionValue("time_limit", float(time_limit))
    clauses = literals(problem)
    weights = [weight for weight, _ in clauses if weight is not None]
    size = problem.num_variables
    count = size + len(weights)
    solver.addVars(count, np.zeros(count), np.ones(count))
    columns = np.arange(count, dtype=np.int32)
    solver.changeColsCost(count, columns, np.array([0.0] * size + [float(w) for w in weights]))
    kinds = np.full(size, highspy.HighsVarType.kInteger)
    solver.changeColsIntegrality(size, columns[:size], kinds)
    relaxation = size
    for weight, clause in clauses:
        indices, values = [abs(x) - 1 for x in clause], [1.0 if x > 0 else -1.0 for x in clause]
        least = 1.0 - sum(x < 0 for x in clause)
        if weight is not None:
            indices.append(relaxation)
            values.append(1.0)
            relaxation += 1
        row = np.array(indices, dtype=np.int32), np.array(values)
        solver.addRow(least, highspy.kHighsInf, len(indices), *row)
    solver.HandleUserInterrupt = True
    interruptible(solver.run, solver.cancelSolve)
    solution = solver.getSolution()
    if not solution.value_valid:
        return None, False
    optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return [round(x) for x in solution.col_value[:size]], bool(optimal)
