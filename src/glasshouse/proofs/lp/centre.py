"""Cuts from between the LP's solution and a centre.

The LP's solution is a corner, often one of very many. A cut through it may move the solution to the
next corner and gain nothing. A cut through a point on the way to a *centre*, a point that violates
no cycle, is deeper: it cuts off the corner and its neighbourhood (Ben-Ameur and Neto's in-out
separation). Where no cycle is violated on the way, that point is the next centre.

`Centring` does this at the root, `Aim` at a node of a tree. There the centre is the mean of
annealed states that agree with the node, so it violates no cut at all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp.cut_lp import TOLERANCE
from glasshouse.proofs.lp.cuts import Cut
from glasshouse.proofs.lp.separation import Separation
from glasshouse.proofs.lp.tied_graph import TiedGraph
from glasshouse.proofs.signed_graph import SignedGraph
from glasshouse.proofs.states import agreements, annealed_states, mean_violation

Point = npt.NDArray[np.float64]

# What an edge costs beside its length, in turn: short cycles first, from searches that stay local.
_HOPS = (0.12, 0.05, 0.02)
# How many of them may share an edge, and how many where searches are exact.
_COVER, _EXACT_COVER = 2, 6
# Of the vertices: so many cycles are enough to choose from; so few are not worth a round.
_ENOUGH, _FEW = 0.05, 0.01
# Where on the way from the centre to the LP's solution to begin, and from where to go all the way.
_FIRST_SHARE, _LAST_SHARE = 0.5, 0.98
# Lengths below this are the LP's noise.
_NOISE = 1e-7
# Where on the way from the centre to the solution to begin, and from where to go all the way.
_FIRST_AIM, _LAST_AIM = 0.7, 0.95
# Annealed states, and the sweeps of each; the better half of them makes the centre.
_CENTRE_RUNS, _CENTRE_SWEEPS = 128, 500


class Centring:
    """Finds cuts round by round, nearer and nearer to the LP's solution.

    Args:
        separation: of the graph.
        centre: a mean of states' violations, or anything else that violates no cycle.
    """

    def __init__(self, separation: Separation, centre: Point) -> None:
        self.separation = separation
        self.centre = centre
        self.share = _FIRST_SHARE
        self.level = 0
        self.size = separation.graph.num_vertices

    @property
    def is_late(self) -> bool:
        """Whether cuts near the centre have become rare."""
        return self.level == len(_HOPS) and self.share > 0.9

    def skip_short(self) -> None:
        """Leave out the searches that stay local."""
        self.level = len(_HOPS)

    def start(self) -> list[Cut]:
        """The shortest odd cycles of all."""
        nothing = np.zeros(self.separation.graph.num_edges)
        while self.level < len(_HOPS):
            new = self.separation.short(nothing, 1.0, _HOPS[self.level], _COVER)
            if len(new) > _FEW * self.size:
                return new
            self.level += 1
        return self.cuts(nothing)

    def cuts(self, violation: Point) -> list[Cut]:
        """Cycles that the LP's solution violates; none only if there is none."""
        while True:
            point = self.share * violation + (1.0 - self.share) * self.centre
            # Without the rounding, noise of the LP would outweigh the preference for few edges.
            lengths = np.round(point, 9)
            lengths[point < _NOISE] = 0.0
            new = self._cuts_at(lengths)
            if len(new) > _FEW * self.size:
                return new
            if self.level < len(_HOPS):
                self.level += 1
                continue
            is_solution = self.share == 1.0
            self.share = (1.0 + self.share) / 2 if self.share < _LAST_SHARE else 1.0
            if new or is_solution or self.separation.expired():
                return new
            self.centre = point

    def _cuts_at(self, lengths: Point) -> list[Cut]:
        limit, enough = 1.0 - TOLERANCE, _ENOUGH * self.size
        if self.level < len(_HOPS):
            hop = _HOPS[self.level]
            return self.separation.short(lengths, limit, hop, _COVER, enough, shuffled=True)
        return self.separation.exact(lengths, limit, _EXACT_COVER, enough)


class Aim:
    """A point that comes nearer and nearer to the LP's solution.

    Args:
        centre: a point that violates no cut; None aims at the solution from the beginning.
    """

    def __init__(self, centre: Point | None = None) -> None:
        self.centre = np.zeros(0) if centre is None else centre
        self.share = 1.0 if centre is None else _FIRST_AIM

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
        self.share = (1.0 + self.share) / 2 if self.share < _LAST_AIM else 1.0


def states_of(ties: TiedGraph, budget: Budget) -> npt.NDArray[np.int8]:
    """Annealed states of a node, the best first; none where all its states have one value."""
    small = contracted(ties)
    if not small.num_edges:
        return np.empty((0, len(ties.classes)), np.int8)
    found = annealed_states(small, _CENTRE_RUNS, 0, budget, _CENTRE_SWEEPS)
    states: npt.NDArray[np.int8] = found[:, ties.classes] * ties.signs
    return states[np.argsort(np.negative(agreements(ties.graph, states)), kind="stable")]


def centre_of(ties: TiedGraph, states: npt.NDArray[np.int8]) -> Point | None:
    """In which share of the better half of some states each edge is violated."""
    return mean_violation(ties.graph, states[: (len(states) + 1) // 2]) if len(states) else None


def contracted(ties: TiedGraph) -> SignedGraph:
    """What is left of the graph at a node: one vertex for each class."""
    weights = ties.aggregate(ties.graph.weights)
    kept = np.flatnonzero(weights)
    pairs = ties.bundles[0][kept].astype(np.int32)
    return SignedGraph(int(ties.classes.max(initial=0)) + 1, pairs, weights[kept])
