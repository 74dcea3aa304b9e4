"""Third-party exact solvers, used if they are installed.

They solve the problem's clauses. `prove` needs none of these solvers; they serve to confirm its
results and to compare its speed. Importing a solver's module adds the solver to the catalogue.

* `solver`: the catalogue. `solving`: one call. `apart`: a call in its own process.
* `cpsat`, `dwave_tree`, `highs`, `rc2`, `scip`, `toulbar2`: one solver each.
"""

from glasshouse.proofs.exact import cpsat as cpsat
from glasshouse.proofs.exact import dwave_tree as dwave_tree
from glasshouse.proofs.exact import highs as highs
from glasshouse.proofs.exact import rc2 as rc2
from glasshouse.proofs.exact import scip as scip
from glasshouse.proofs.exact import toulbar2 as toulbar2
from glasshouse.proofs.exact.solver import (
    EXACT_SOLVERS,
    OURS,
    ExactSolver,
    RefusedError,
    exact_solver,
    literals,
)
from glasshouse.proofs.exact.solving import ExactResult, solve_exactly

__all__ = [
    "EXACT_SOLVERS", "OURS", "ExactResult", "ExactSolver", "RefusedError", "exact_solver",
    "literals", "solve_exactly",
]  # fmt: skip
