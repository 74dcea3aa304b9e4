"""Rounds of cuts that begin with a greedy packing: for plants and for dense graphs."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.linear.cycle_model import TOLERANCE, CycleModel, Method
from glasshouse.proofs.linear.separation import HOP, Separation
from glasshouse.proofs.parts import Cycles

# How many cuts of one round may share an edge.
_COVER = 6
# Cycles for each edge to look for at the start, in how many turns at most, how many of a turn
# may share an edge, and what an edge costs even if it is empty.
_GREEDY_CUTS = 1.4
_GREEDY_TURNS = 40
_GREEDY_COVER = 2
_GREEDY_HOP = 1e-3
_MOST_CUTS = 4000
# Above this many cuts the interior point method is much faster than re-solving from a basis: the
# LPs are highly degenerate. Below it, the simplex method's vertices round to small denominators.
_SIMPLEX_CUTS = 500
# Solves for which a cut may be slack.
_PATIENCE = 6


class GreedyRounds:
    """What to add in each round, and how to solve."""

    def __init__(self, separation: Separation) -> None:
        self.separation = separation
        self.graph = separation.graph

    def model(self) -> CycleModel:
        """The LP, without cuts as yet."""
        return CycleModel(np.abs(self.graph.couplings), _PATIENCE)

    def start(self) -> Cycles:
        """Cycles to start from, found by filling up the weights with short cycles.

        Each turn looks for the shortest cycles, an edge being as long as it is full, and adds half
        of what fits. These cycles are close to an optimal packing: often one LP solve is enough.
        """
        # Weights too small for a float have some room, too.
        capacity = np.maximum(np.abs(self.graph.couplings), sys.float_info.min)
        load = np.zeros_like(capacity)
        found: dict[int, npt.NDArray[np.int32]] = {}
        enough = _GREEDY_CUTS * self.graph.num_edges
        for _ in range(_GREEDY_TURNS):
            before = len(found)
            for cycle in self.separation.short(
                load / capacity, np.inf, _GREEDY_HOP, _GREEDY_COVER, 16 * _MOST_CUTS
            ):
                load[cycle] += capacity[cycle].min() / 2
                found.setdefault(int(self.separation.signatures[cycle].sum()), cycle)
            few = 50 * (len(found) - before) < self.graph.num_edges
            if few or len(found) > enough or self.separation.expired():
                break
        return list(found.values())

    def cuts(self, violation: npt.NDArray[np.float64]) -> Cycles:
        """Violated cycles, the shortest first, spread over the edges."""
        # Without the rounding, noise of the LP would outweigh the preference for few edges.
        lengths = np.round(violation, 9)
        limit, enough = 1.0 - TOLERANCE, 16 * _MOST_CUTS
        return self.separation.short(lengths, limit, HOP, _COVER, enough)[:_MOST_CUTS]

    def method(self, model: CycleModel) -> Method:
        """How to solve."""
        return "ipm" if len(model.cycles) >= _SIMPLEX_CUTS else "simplex"

    def clean(self, model: CycleModel) -> None:
        """Remove cuts that sleep."""
        model.drop_slack(0.25, TOLERANCE)
