"""Cuts from between the LP's solution and a centre.

The LP's solution is a corner, often one of very many. A cut through it may move the solution to the
next corner and gain nothing. A cut through a point on the way to a *centre*, a point that violates
no cycle, is deeper: it cuts off the corner and its neighbourhood (Ben-Ameur and Neto's in-out
separation). Where no cycle is violated on the way, that point is the next centre.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.linear.cycle_model import TOLERANCE
from glasshouse.proofs.linear.separation import Separation
from glasshouse.proofs.parts import Cycles

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

    def start(self) -> Cycles:
        """The shortest odd cycles of all."""
        nothing = np.zeros(self.separation.graph.num_edges)
        while self.level < len(_HOPS):
            new = self.separation.short(nothing, 1.0, _HOPS[self.level], _COVER)
            if len(new) > _FEW * self.size:
                return new
            self.level += 1
        return self.cuts(nothing)

    def cuts(self, violation: Point) -> Cycles:
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

    def _cuts_at(self, lengths: Point) -> Cycles:
        limit, enough = 1.0 - TOLERANCE, _ENOUGH * self.size
        if self.level < len(_HOPS):
            hop = _HOPS[self.level]
            return self.separation.short(lengths, limit, hop, _COVER, enough, shuffled=True)
        return self.separation.exact(lengths, limit, _EXACT_COVER, enough)
