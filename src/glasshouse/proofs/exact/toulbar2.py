"""toulbar2: branch and bound on cost functions."""

from __future__ import annotations

import math

from glasshouse.extras import optional
from glasshouse.problems import Max2Sat, MaxSat
from glasshouse.proofs.exact.solver import Answer, RefusedError, exact_solver, literals

_LONGEST = 10**6  # seconds
_MOST_LITERALS = 12


# pytoulbar2 passes costs as doubles and scales them.
@exact_solver("toulbar2", package="pytoulbar2", most_weight=2**45, is_apart=True)
def solve(problem: Max2Sat | MaxSat, time_limit: float | None) -> Answer:
    """Minimise the total weight of violated soft clauses with toulbar2."""
    pytoulbar2 = optional("pytoulbar2", "solver='toulbar2'")
    top = int(problem.hard_weight)
    network = pytoulbar2.CFN(top, vac=0)
    for variable in range(problem.num_variables):
        network.AddVariable(f"x{variable + 1}", range(2))
    for weight, clause in literals(problem):
        if len(clause) > _MOST_LITERALS:
            raise RefusedError(
                f"a clause has {len(clause)} literals, but toulbar2 supports at most "
                f"{_MOST_LITERALS}; use solver='rc2-stratified'"
            )
        scope = [abs(x) - 1 for x in clause]
        costs = [0] * 2 ** len(clause)
        # Falsified if every literal is false; the table's last variable varies fastest.
        place = sum((x < 0) << k for k, x in enumerate(reversed(clause)))
        costs[place] = top if weight is None else weight
        network.AddFunction(scope, costs)
    # Whole seconds, rounded down, because the process is killed soon after the limit.
    seconds = 0 if time_limit is None else max(1, math.floor(min(time_limit, _LONGEST)))
    answer = network.Solve(timeLimit=seconds, showSolutions=0)
    if not answer:
        return None, False
    return [int(bit) for bit in answer[0]], bool(network.GetDDualBound() >= answer[1])
