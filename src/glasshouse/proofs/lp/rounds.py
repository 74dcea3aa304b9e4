"""Cutting-plane rounds at the root, in two variants: greedy and centred.

`GreedyRounds` begin with a greedy packing: for plants and for dense graphs. `CentredRounds` are for
large sparse graphs: short cycles first, centred cuts, warm starts.
"""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.lp.centre import Aim, Point
from glasshouse.proofs.lp.cut_lp import TOLERANCE, CutLp
from glasshouse.proofs.lp.cuts import Cut
from glasshouse.proofs.lp.separation import HOP, Separation

Method = Literal["simplex", "ipm"]

# The most cuts of one round that may share an edge.
_COVER = 6
# Cycles per edge to search for at the start, the most turns, the most cycles of a turn that may
# share an edge, and the cost of an empty edge.
_GREEDY_CUTS = 1.4
_GREEDY_TURNS = 40
_GREEDY_COVER = 2
_GREEDY_HOP = 1e-3
_MOST_CUTS = 4000
# Above this many cuts the interior point method is much faster than re-solving from a basis: the
# LPs are highly degenerate. Below it, the simplex method's vertices round to small denominators.
_SIMPLEX_CUTS = 500
# Solves for which a cut may be slack.
_GREEDY_PATIENCE = 6
# The costs of an edge in addition to its length, in turn: short cycles and local searches first.
_HOPS = (0.12, 0.05, 0.02)
# The most cycles that may share an edge, and the most if searches are exact.
_SHORT_COVER, _EXACT_COVER = 2, 6
# As fractions of the vertices: enough cycles to choose from; too few for a round.
_ENOUGH, _FEW = 0.05, 0.01
# The first fraction of the way from the centre to the LP's solution, and the last before the end.
_FIRST_SHARE, _LAST_SHARE = 0.5, 0.98
# Above this fraction, cuts near the centre have become rare.
_LATE_SHARE = 0.9
# Lengths below this are the LP's noise.
_NOISE = 1e-7
# Solves for which a cut may be slack; in an interior solution, a slack cut is useless.
_CENTRED_PATIENCE, _INTERIOR_PATIENCE = 3, 0
# For an interior solution: lengths and slacks below this count as zero, and cycles violated by less
# are left to the simplex method. Many cuts may share an edge.
_BLUR, _INTERIOR_TOLERANCE = 1e-4, 1e-3
_INTERIOR_COVER = 10
# If weights have fewer values than this fraction of the edges, the LP has very many optimal
# corners, among which the simplex method wanders.
_ALIKE = 0.25


class GreedyRounds:
    """Cutting-plane rounds for plants and dense graphs: the choice of the cuts and LP methods."""

    def __init__(self, separation: Separation) -> None:
        self.separation = separation
        self.graph = separation.graph

    def start(self) -> list[Cut]:
        """Return the initial cycle cuts, from short cycles that use up most of the weights.

        Each turn searches for the shortest cycles, where an edge is longer the fuller it is, and
        adds half of what fits. The result is close to an optimal packing; one LP often suffices.
        """
        # Even weights too small for a float get a capacity above 0.
        capacity = np.maximum(np.abs(self.graph.couplings), sys.float_info.min)
        load = np.zeros_like(capacity)
        found: dict[int, Cut] = {}
        enough = _GREEDY_CUTS * self.graph.num_edges
        for _ in range(_GREEDY_TURNS):
            before = len(found)
            for cut in self.separation.short(
                load / capacity, np.inf, _GREEDY_HOP, _GREEDY_COVER, 16 * _MOST_CUTS
            ):
                load[cut.edges] += capacity[cut.edges].min() / 2
                found.setdefault(int(self.separation.signatures[cut.edges].sum()), cut)
            few = 50 * (len(found) - before) < self.graph.num_edges
            if few or len(found) > enough or self.separation.budget.asks_to_stop():
                break
        return list(found.values())

    def cuts(self, violation: npt.NDArray[np.float64]) -> list[Cut]:
        """Return violated cycle cuts, shortest first, spread evenly over the edges."""
        # Without the rounding, noise of the LP would outweigh the preference for few edges.
        lengths = np.round(violation, 9)
        limit, enough = 1.0 - TOLERANCE, 16 * _MOST_CUTS
        return self.separation.short(lengths, limit, HOP, _COVER, enough)[:_MOST_CUTS]

    def method(self, lp: CutLp) -> Method:
        """Return the method for the next LP: the simplex or the interior point method."""
        return "ipm" if len(lp.cuts) >= _SIMPLEX_CUTS else "simplex"

    def clean(self, lp: CutLp) -> None:
        """Remove the cuts that have been slack for too many rounds."""
        lp.drop_sleepers(_GREEDY_PATIENCE, 0.25)


class CentredRounds:
    """Cutting-plane rounds for large sparse graphs: the choice of the cuts and LP methods.

    The first rounds use centred cuts and the dual simplex method, which needs few steps per round.
    Late in an LP with many optimal corners it needs many steps. Then the interior point method
    takes over, whose solutions are centred themselves, until no more cuts are found.
    """

    def __init__(self, separation: Separation, centre: Point) -> None:
        self.separation = separation
        self.aim, self.level = Aim(centre, _FIRST_SHARE, _LAST_SHARE), 0
        self.few = _FEW * separation.graph.num_vertices
        weights = [abs(weight) for weight in separation.graph.weights]
        self.many_corners = len(set(weights)) < _ALIKE * len(weights)
        self.interior = False
        self.interior_patience = _INTERIOR_PATIENCE
        self.known: list[Cut] = []

    def begin_inside(self, cycles: list[Cut], violation: Point, centre: Point) -> None:
        """Start from known cycles, their optimal `violation`, and a centre."""
        # The bound stays constant for some rounds here, and removed cuts would be found again.
        self.interior, self.interior_patience = True, _CENTRED_PATIENCE
        self.aim.centre, self.level = centre, len(_HOPS)
        self.known = [*cycles, *self._interior_cuts(violation)]

    def start(self) -> list[Cut]:
        """Return the initial cycle cuts, from known cycles or, if there are none, short cycles."""
        nothing = np.zeros(self.separation.graph.num_edges)
        return self.known or self._short_cycles(nothing, 1.0) or self.cuts(nothing)

    def cuts(self, violation: Point) -> list[Cut]:
        """Return violated cycle cuts; empty if there are none or the time is up."""
        if self.interior:
            new = self._interior_cuts(violation)
            if new:
                return new
            self.interior = self.many_corners = False
        new = self.aim.cuts(violation, self._cuts_at, self.few, self.separation.budget)
        is_late = self.level == len(_HOPS) and self.aim.share > _LATE_SHARE
        self.interior = self.many_corners and is_late
        return new

    def _cuts_at(self, point: Point) -> list[Cut]:
        # Without the rounding, noise of the LP would outweigh the preference for few edges.
        lengths = np.where(point < _NOISE, 0.0, np.round(point, 9))
        limit, enough = 1.0 - TOLERANCE, _ENOUGH * self.separation.graph.num_vertices
        return self._short_cycles(lengths, limit, enough, shuffled=True) or self.separation.exact(
            lengths, limit, _EXACT_COVER, enough
        )

    def _short_cycles(self, lengths: Point, limit: float, *how: Any, **more: Any) -> list[Cut]:
        """Return many short cycles, from searches as local as possible, or an empty list."""
        while self.level < len(_HOPS):
            new = self.separation.short(
                lengths, limit, _HOPS[self.level], _SHORT_COVER, *how, **more
            )
            if len(new) > self.few:
                return new
            self.level += 1
        return []

    def _interior_cuts(self, violation: Point) -> list[Cut]:
        lengths = np.where(violation < _BLUR, 0.0, violation)
        limit, enough = 1.0 - _INTERIOR_TOLERANCE, self.separation.graph.num_vertices
        return self.separation.exact(lengths, limit, _INTERIOR_COVER, enough)

    def method(self, lp: CutLp) -> Method:
        """Return the method for the next LP: the simplex or the interior point method."""
        return "ipm" if self.interior else "simplex"

    def clean(self, lp: CutLp) -> None:
        """Remove the cuts that have been slack for too many rounds."""
        if self.interior:
            lp.drop_sleepers(self.interior_patience, 0.125, _BLUR)
        else:
            lp.drop_sleepers(_CENTRED_PATIENCE, 0.125)
