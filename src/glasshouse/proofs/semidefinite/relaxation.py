"""The semidefinite relaxation of dense problems, for the tree search."""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from glasshouse.certificates import Pair
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.relaxation import Outcome
from glasshouse.proofs.semidefinite.climb import Climb, Settings
from glasshouse.proofs.semidefinite.rounding import no_squares
from glasshouse.proofs.semidefinite.subproblem import Subproblem
from glasshouse.proofs.signed_graph import SignedGraph, Spins

# A graph is dense if it has this fraction of all pairs, or this many neighbours per vertex: with
# 8 neighbours, the semidefinite bound of 100 to 340 vertices is better than that of the cycle LP.
_DENSE, _NEIGHBOURS = 0.1, 8
# The fewest vertices, and the most: their eigenvalues then take a few hundredths of a second.
_FEWEST, _MOST = 12, 600


def is_dense(graph: SignedGraph) -> bool:
    """Return whether a graph is so dense that a semidefinite bound may beat its cycle LP."""
    size = graph.num_vertices
    degree = min(_DENSE * (size - 1), _NEIGHBOURS)
    return _FEWEST <= size <= _MOST and 2 * graph.num_edges >= degree * size


class SemidefiniteRelaxation:
    """A relaxation to positive semidefinite matrices that satisfy inequalities of odd cliques.

    The bound of every subproblem is certified by squares in exact integers: the cliques that
    matter, and the columns of an integer Cholesky decomposition of the remainder.
    """

    name = "semidefinite"
    num_bytes = 0  # the nodes of its tree share nothing

    def __init__(self, graph: SignedGraph) -> None:
        import scipy.linalg.lapack  # noqa: F401  # it has a BLAS of its own, to be limited below

        self._graph = graph
        self._threads = ThreadpoolController()

    def bound(self, pairs: list[Pair], incumbent: int, budget: Budget, warm: Any) -> Outcome:
        """Bound a node until the node is closed, progress stalls, or the budget ends.

        Closed means that no state is better than the incumbent *and the states returned*. If the
        pairs leave a single state and it is better than the incumbent, the outcome is not closed,
        has no branch, and returns that state.

        Args:
            pairs: the path from the root.
            incumbent: the cost of the best state known.
            budget: decides when to stop.
            warm: the `warm` data of the outcome of any node above, or None.
        """
        problem = Subproblem.of(self._graph, pairs)
        highest = problem.highest_below(self._graph.value(incumbent))
        least = problem.constant - int(np.abs(problem.weights).sum()) // 2
        if highest is None or least > highest:
            return Outcome(True, no_squares(problem).parts(problem))
        if problem.size == 0:
            state = problem.spread(np.ones(0))
            return Outcome(False, no_squares(problem).parts(problem), states=[state])
        # With such small matrices, threads would mostly wait for each other.
        with self._threads.limit(limits=1, user_api="blas"):
            return self._climbed(Climb(problem, highest, warm, Settings()), budget)

    def _climbed(self, climb: Climb, budget: Budget) -> Outcome:
        """Climb until a proof is found or a limit is reached; return the outcome of the node."""
        problem, proof = climb.problem, None
        with budget.hearing_ctrl_c():
            proof = climb.run(budget)
        parts = (proof or climb.rounded()).parts(problem)
        states: list[Spins] = [problem.spread(spins) for spins in climb.states]
        if proof is not None:
            return Outcome(True, parts, states=states)
        if budget.stopped == "Ctrl-C":
            return Outcome(False, parts, states=states)
        return Outcome(False, parts, climb.branch(), climb.inheritance(), states)
