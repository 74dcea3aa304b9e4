"""The search for cuts at points between the LP's solution and a centre.

The LP's solution is a corner, often one of very many. A cut through it may move the solution to the
next corner and gain nothing. A cut through a point towards a *centre*, a point that violates no
cycle, is deeper: it cuts off the corner and its neighbourhood (Ben-Ameur and Neto's in-out
separation). If no cycle is violated at that point, it is the next centre.

The centre is a mean of annealed states, so it violates no cut at all. At a node these states agree
with the node.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp.cuts import Cut
from glasshouse.proofs.lp.tied_graph import TiedGraph
from glasshouse.proofs.signed_graph import SignedGraph
from glasshouse.proofs.states import agreements, annealed_states, mean_violation

Point = npt.NDArray[np.float64]

# The number of annealed states, half of which form the centre, and the sweeps of each state.
_CENTRE_RUNS, _CENTRE_SWEEPS = 128, 500


class Aim:
    """A point that approaches the LP's solution step by step.

    Args:
        centre: a point that violates no cut; None starts at the solution itself.
        first: the first fraction of the way from the centre to the solution.
        last: the fraction after which the point jumps to the solution.
    """

    def __init__(self, centre: Point | None, first: float, last: float) -> None:
        self.centre = np.zeros(0) if centre is None else centre
        self.share, self.last = 1.0 if centre is None else first, last

    @property
    def is_there(self) -> bool:
        """Whether the point has reached the LP's solution."""
        return self.share == 1.0

    def point(self, solution: Point) -> Point:
        """Return the point at which to search for cuts."""
        if self.is_there:
            return solution
        return self.share * solution + (1.0 - self.share) * self.centre

    def come_nearer(self) -> None:
        """Halve the distance to the LP's solution; set it to 0 once the fraction reaches `last`."""
        self.share = (1.0 + self.share) / 2 if self.share < self.last else 1.0

    def cuts(
        self, solution: Point, look: Callable[[Point], list[Cut]], few: float, budget: Budget
    ) -> list[Cut]:
        """Return cuts that the LP's solution violates; empty if there are none or the time is up.

        Args:
            solution: the solution of the LP.
            look: returns cuts that a point violates.
            few: a number of cuts that is not worth a round far from the solution.
            budget: decides when to stop.
        """
        while True:
            point = self.point(solution)
            cuts = look(point)
            if self.is_there or len(cuts) > few:
                return cuts
            if not cuts:
                self.centre = point
            self.come_nearer()
            if cuts or budget.asks_to_stop():
                return cuts


def states_of(ties: TiedGraph, budget: Budget) -> npt.NDArray[np.int8]:
    """Return annealed states of a node, best first; empty if all states have the same value."""
    small = contracted(ties)
    if not small.num_edges:
        return np.empty((0, len(ties.classes)), np.int8)
    found = annealed_states(small, _CENTRE_RUNS, 0, budget, _CENTRE_SWEEPS)
    states: npt.NDArray[np.int8] = found[:, ties.classes] * ties.signs
    return states[np.argsort(np.negative(agreements(ties.graph, states)), kind="stable")]


def centre_of(ties: TiedGraph, states: npt.NDArray[np.int8]) -> Point | None:
    """Return the centre: per edge, the fraction of the better half of `states` that violates it."""
    return mean_violation(ties.graph, states[: (len(states) + 1) // 2]) if len(states) else None


def contracted(ties: TiedGraph) -> SignedGraph:
    """Return the graph of a node of the tree, with one vertex for each class of tied spins."""
    weights = ties.aggregate(ties.graph.weights)
    kept = np.flatnonzero(weights)
    pairs = ties.bundles[0][kept].astype(np.int32)
    return SignedGraph(int(ties.classes.max(initial=0)) + 1, pairs, weights[kept])
