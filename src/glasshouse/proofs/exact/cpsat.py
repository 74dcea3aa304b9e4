"""OR-Tools CP-SAT: clause learning with bounds from linear programs."""

from __future__ import annotations

from typing import Any

from glasshouse.extras import optional
from glasshouse.problems import Max2Sat, MaxSat
from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError
from glasshouse.proofs.exact.solver import Answer, Tell, exact_solver, literals


# CP-SAT computes in 64-bit integers and refuses sums that might overflow.
@exact_solver("cpsat", package="ortools", most_weight=2**61, is_apart=True, tells=True)
def solve(problem: Max2Sat | MaxSat, time_limit: float | None, tell: Tell) -> Answer:
    """Minimise the total weight of violated soft clauses with CP-SAT, on one thread."""
    cp_model = optional("ortools.sat.python.cp_model", "solver='cpsat'")
    model, solver = cp_model.CpModel(), cp_model.CpSolver()
    variables = [model.new_bool_var("") for _ in range(problem.num_variables)]
    relaxed, weights = [], []
    for weight, clause in literals(problem):
        ends = [variables[abs(x) - 1] if x > 0 else ~variables[abs(x) - 1] for x in clause]
        if weight is not None:
            relaxed.append(model.new_bool_var("") if len(ends) > 1 else ~ends.pop())
            weights.append(weight)
            ends.append(relaxed[-1])
        if len(ends) > 1 or weight is None:
            model.add_bool_or(ends)
    model.minimize(cp_model.LinearExpr.weighted_sum(relaxed, weights))
    solver.parameters.num_workers = 1
    # By default CP-SAT stops if best and bound agree up to 1e-4 as floats, which is not exact.
    solver.parameters.absolute_gap_limit = 0.0
    if time_limit is not None:
        solver.parameters.max_time_in_seconds = min(time_limit, 1e9)

    def bits(found: Any) -> list[int]:
        return [int(found.boolean_value(x)) for x in variables]

    class Listener(cp_model.CpSolverSolutionCallback):  # type: ignore[misc, name-defined]
        def on_solution_callback(self) -> None:
            tell(bits(self))

    status = solver.solve(model, Listener())
    if status == cp_model.INFEASIBLE:
        raise HardClausesUnsatisfiableError("CP-SAT found the hard clauses unsatisfiable")
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, False
    return bits(solver), bool(status == cp_model.OPTIMAL)
