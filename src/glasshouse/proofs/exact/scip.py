"""SCIP as an exact solver: the clauses as an integer program."""

from __future__ import annotations

from typing import Any

from glasshouse.extras import optional
from glasshouse.problems import Max2Sat, MaxSat
from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError
from glasshouse.proofs.exact.solver import TOLERANCE, Answer, Tell, exact_solver, literals
from glasshouse.waiting import interruptible


@exact_solver("scip", package="pyscipopt", most_weight=2**28, tells=True)
def solve(problem: Max2Sat | MaxSat, time_limit: float | None, tell: Tell) -> Answer:
    """Minimise the total weight of violated soft clauses with SCIP."""
    pyscipopt = optional("pyscipopt", "solver='scip'")
    model = pyscipopt.Model()
    model.hideOutput()
    for name in ("sumepsilon", "feastol", "dualfeastol"):
        model.setParam(f"numerics/{name}", TOLERANCE)
    if time_limit is not None:
        model.setParam("limits/time", time_limit)
    variables = [model.addVar(vtype="B") for _ in range(problem.num_variables)]
    cost: Any = 0
    for weight, clause in literals(problem):
        relaxed: Any = 0
        if weight is not None:
            relaxed = model.addVar(lb=0, ub=1)
            cost += weight * relaxed
        terms = [variables[abs(x) - 1] if x > 0 else 1 - variables[abs(x) - 1] for x in clause]
        model.addCons(pyscipopt.quicksum(terms) + relaxed >= 1)
    model.setObjective(cost, "minimize")

    def work() -> Answer:
        model.optimizeNogil()
        if model.getStatus() == "infeasible":
            raise HardClausesUnsatisfiableError("SCIP found the hard clauses unsatisfiable")
        if not model.getNSols():
            return None, False
        best: Any = model.getBestSol()
        bits = [round(best[x]) for x in variables]
        tell(bits)
        return bits, model.getStatus() == "optimal"

    return interruptible(work, model.interruptSolve, time_limit)
