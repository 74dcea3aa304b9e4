"""HiGHS as an exact solver: the clauses as an integer program."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.problems import Max2Sat, MaxSat
from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError
from glasshouse.proofs.exact.solver import TOLERANCE, Answer, Tell, exact_solver, literals
from glasshouse.proofs.lp.highs import LinearProgramError, checked, new_highs


@exact_solver("highs", package="highspy", most_weight=2**28, is_apart=True, tells=True)
def solve(problem: Max2Sat | MaxSat, time_limit: float | None, tell: Tell) -> Answer:
    """Minimise the total weight of violated soft clauses with HiGHS."""
    import highspy

    clauses = literals(problem)
    weights = [weight for weight, _ in clauses if weight is not None]
    size = problem.num_variables
    # The default stops within 0.01 % of the optimum, which is not exact.
    options: dict[str, Any] = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.0}
    options |= {f"{name}_feasibility_tolerance": TOLERANCE for name in ("mip", "primal", "dual")}
    if time_limit is not None:
        options["time_limit"] = float(time_limit)
    # HiGHS runs in its own process, and may use all cores.
    solver = new_highs([0.0] * size + weights, upper=1.0, threads=0, **options)
    kinds = np.full(size, highspy.HighsVarType.kInteger)
    columns = np.arange(size, dtype=np.int32)
    checked(solver.changeColsIntegrality(size, columns, kinds), "integrality")
    relaxation = size
    for weight, clause in clauses:
        indices, values = [abs(x) - 1 for x in clause], [1.0 if x > 0 else -1.0 for x in clause]
        least = 1.0 - sum(x < 0 for x in clause)
        if weight is not None:
            indices.append(relaxation)
            values.append(1.0)
            relaxation += 1
        row = np.array(indices, dtype=np.int32), np.array(values)
        checked(solver.addRow(least, np.inf, len(indices), *row), "a row")
    solver.cbMipImprovingSolution += lambda event: tell(
        [round(x) for x in event.data_out.mip_solution[:size]]
    )
    checked(solver.run(), "run")
    status = solver.getModelStatus().name
    if status == "kInfeasible":
        raise HardClausesUnsatisfiableError("HiGHS found the hard clauses unsatisfiable")
    if status not in ("kOptimal", "kTimeLimit", "kInterrupt"):
        raise LinearProgramError(f"HiGHS ended with model status {status}; please report this bug")
    solution = solver.getSolution()
    if not solution.value_valid:
        return None, False
    return [round(x) for x in solution.col_value[:size]], status == "kOptimal"
