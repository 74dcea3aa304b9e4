"""Rounds of cuts for large sparse graphs: short cycles first, centred cuts, warm starts."""

from __future__ import annotations

import numpy as np

from glasshouse.proofs.linear.centring import Centring, Point
from glasshouse.proofs.linear.cycle_model import TOLERANCE, CycleModel, Method
from glasshouse.proofs.linear.separation import Separation
from glasshouse.proofs.parts import Cycles

# Solves for which a cut may be slack; of an interior solution, a slack cut is of no use.
_PATIENCE, _INTERIOR_PATIENCE = 3, 0
# An interior solution: lengths and slacks below this are nothing, and cycles violated by less are
# left to the simplex method. Many cuts may share an edge.
_BLUR, _INTERIOR_TOLERANCE = 1e-4, 1e-3
_INTERIOR_COVER = 10
# Where weights have fewer values than this share of the edges, the LP has a multitude of optimal
# corners; the simplex method wanders among them.
_ALIKE = 0.25


class CentredRounds:
    """What to add in each round, and how to solve.

    Centred cuts and the dual simplex method, which needs few steps from one round to the next. Late
    in an LP with many optimal corners these steps become many. There the interior point method
    takes over, whose solutions are centred themselves; and when it finds no more cuts, back again.
    """

    def __init__(self, separation: Separation, centre: Point) -> None:
        self.separation = separation
        self.centring = Centring(separation, centre)
        weights = [abs(weight) for weight in separation.graph.weights]
        self.many_corners = len(set(weights)) < _ALIKE * len(weights)
        self.interior = False
        self.interior_patience = _INTERIOR_PATIENCE
        self.known: Cycles = []

    def begin_inside(self, cycles: Cycles, violation: Point, centre: Point) -> None:
        """Begin late: with known cycles, which this solution is optimal for, and with a centre."""
        # Here the bound stays where it is for some rounds, and cuts that go would come again.
        self.interior, self.interior_patience = True, _PATIENCE
        self.centring.centre = centre
        self.centring.skip_short()
        self.known = [*cycles, *self._interior_cuts(violation)]

    def model(self) -> CycleModel:
        """The LP, without cuts as yet."""
        return CycleModel(np.abs(self.separation.graph.couplings), _PATIENCE)

    def start(self) -> Cycles:
        """Short cycles, or those that are known."""
        return self.known or self.centring.start()

    def cuts(self, violation: Point) -> Cycles:
        """Violated cycles; none only if there is none."""
        if self.interior:
            new = self._interior_cuts(violation)
            if new:
                return new
            self.interior = self.many_corners = False
        new = self.centring.cuts(violation)
        self.interior = self.many_corners and self.centring.is_late
        return new

    def _interior_cuts(self, violation: Point) -> Cycles:
        lengths = np.where(violation < _BLUR, 0.0, violation)
        limit, enough = 1.0 - _INTERIOR_TOLERANCE, self.separation.graph.num_vertices
        return self.separation.exact(lengths, limit, _INTERIOR_COVER, enough)

    def method(self, model: CycleModel) -> Method:
        """How to solve."""
        model.patience = self.interior_patience if self.interior else _PATIENCE
        return "ipm" if self.interior else "simplex"

    def clean(self, model: CycleModel) -> None:
        """Remove cuts that sleep."""
        model.drop_slack(0.125, _BLUR if self.interior else TOLERANCE)
