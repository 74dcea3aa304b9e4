"""D-Wave's tree decomposition: exact dynamic programming for graphs of small treewidth."""

from __future__ import annotations

from glasshouse.extras import optional
from glasshouse.problems import Max2Sat, MaxSat
from glasshouse.problems.convert import to_qubo
from glasshouse.proofs.exact.solver import Answer, RefusedError, exact_solver


# The solver adds up doubles, and hard clauses weigh one more than all soft clauses together. It has
# no time limit and holds Python's lock.
@exact_solver("dwave-tree", package="dwave-samplers", most_weight=2**30, is_apart=True)
def solve(problem: Max2Sat | MaxSat, time_limit: float | None) -> Answer:
    """Solve the problem's QUBO form by dynamic programming on a tree decomposition."""
    sampler = optional("dwave.samplers", "solver='dwave-tree'").TreeDecompositionSolver()
    qubo, reduction = to_qubo(problem)
    model = qubo.to_bqm()
    try:
        found = sampler.sample(model, num_reads=1).first.sample
    except ValueError as fault:
        if "treewidth" not in str(fault):
            raise
        most = sampler.properties["max_treewidth"]
        raise RefusedError(
            f"dwave-tree needs a tree decomposition of width at most {most}, but found only wider "
            "decompositions of this graph; use a different solver"
        ) from None
    state = [int(found[label]) for label in model.variables]
    return reduction.back(state).tolist(), True
