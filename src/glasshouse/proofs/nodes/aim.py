"""Where to look for cuts at a node: between the LP's solution and a centre of its good states.

As in `linear.centring`: a cut through a point on the way to the centre is deeper than one through
the solution, which is one corner of very many. Here the centre is the mean of annealed states that
agree with the node, so it violates no cut at all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.nodes.ties import Ties
from glasshouse.proofs.signed_graph import SignedGraph
from glasshouse.proofs.states import agreements, annealed_states, mean_violation

Point = npt.NDArray[np.float64]

# Where on the way from the centre to the solution to begin, and from where to go all the way.
_FIRST_SHARE, _LAST_SHARE = 0.7, 0.95
# Annealed states, and the sweeps of each; the better half of them makes the centre.
_RUNS, _SWEEPS = 128, 500


class Aim:
    """A point that comes nearer and nearer to the LP's solution.

    Args:
        centre: a point that violates no cut; None aims at the solution from the beginning.
    """

    def __init__(self, centre: Point | None = None) -> None:
        self.centre = np.zeros(0) if centre is None else centre
        self.share = 1.0 if centre is None else _FIRST_SHARE

    @property
    def is_there(self) -> bool:
        """Whether it has reached the solution."""
        return self.share == 1.0

    def point(self, solution: Point) -> Point:
        """Where to look for cuts."""
        if self.is_there:
            return solution
        return self.share * solution + (1.0 - self.share) * self.centre

    def come_nearer(self, unviolated: Point | None = None) -> None:
        """Go half of the way that is left, from a better centre if one is known."""
        if unviolated is not None:
            self.centre = unviolated
        self.share = (1.0 + self.share) / 2 if self.share < _LAST_SHARE else 1.0


def states_of(ties: Ties, seconds: float) -> npt.NDArray[np.int8]:
    """Annealed states of a node, the best first; none where all its states have one value."""
    small = contracted(ties)
    if not small.num_edges:
        return np.empty((0, len(ties.classes)), np.int8)
    found, interrupted = annealed_states(small, _RUNS, 0, seconds, _SWEEPS)
    if interrupted:
        raise KeyboardInterrupt
    states: npt.NDArray[np.int8] = found[:, ties.classes] * ties.signs
    return states[np.argsort(np.negative(agreements(ties.graph, states)), kind="stable")]


def centre_of(ties: Ties, states: npt.NDArray[np.int8]) -> Point | None:
    """In which share of the better half of some states each edge is violated."""
    return mean_violation(ties.graph, states[: (len(states) + 1) // 2]) if len(states) else None


def contracted(ties: Ties) -> SignedGraph:
    """What is left of the graph at a node: one vertex for each class."""
    weights = ties.aggregate(ties.graph.weights)
    kept = np.flatnonzero(weights)
    pairs = ties.bundles[0][kept].astype(np.int32)
    return SignedGraph(int(ties.classes.max(initial=0)) + 1, pairs, weights[kept])
