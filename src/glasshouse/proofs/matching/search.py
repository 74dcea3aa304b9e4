"""Bounds and states of a graph on a surface, by matching odd faces.

A face with an odd number of negative edges is *odd*. In every state an odd face has an odd number
of violated edges, and any other face an even number. So paths that cross only violated edges
connect odd faces, and the least total length of paths that pair all odd faces is a lower bound
(Bieche, Maynard, Rammal and Uhry). Edmonds' duals of this matching are moats around faces and sets
of faces: odd cycles, whose widths are a packing of exactly that value. In the plane, some state
violates exactly the crossed edges, so bound and state are optimal.

On a torus, the matching ignores cycles that wind. Two kinds of smaller matchings include them:

*Bounds*: without the edges that a closed path over faces crosses, a torus is a cylinder, which is
planar; its two ends are faces. The cycles of the packing that use removed edges keep their
multipliers, and all others are replaced by the moats of a matching on the cylinder, whose lengths
are the remaining capacities. They include cycles that wind around the cylinder, and the bound is at
least as good as before if all cycles are kept. But a cycle that the best state violates more than
once cannot belong to a packing of the value of that state, so it is dropped.

*States*: cut open along two seams, whose edges do not change, the torus is a disc, on which a
matching yields the best of all states.

Both are repeated at random positions, in both directions in turn.
"""

from __future__ import annotations

import numpy as np

from glasshouse.proofs.budget import Budget
from glasshouse.proofs.kernels import graphs
from glasshouse.proofs.matching.packing import Packing, match, moats
from glasshouse.proofs.matching.surface import MOST_DENOMINATOR, Marks, Surface
from glasshouse.proofs.signed_graph import Spins


class SurfaceSearch:
    """The search for a packing of cycles and a state of a graph on a surface.

    Args:
        surface: the graph and its faces.
        budget: `TimeIsUpError` is raised when it asks to stop.

    Attributes:
        packing: the best packing so far.
    """

    packing: Packing

    def __init__(self, surface: Surface, budget: Budget) -> None:
        self.surface, self.budget = surface, budget
        self.rng = np.random.default_rng(0)
        self.turn = 0

    def begin(self) -> Spins:
        """Match all odd faces, and return a state that violates the crossed edges if one exists."""
        surface, nothing = self.surface, np.zeros(self.surface.graph.num_edges, np.bool_)
        sides = surface.faces.sides
        odd = surface.is_odd(sides, nothing, surface.num_faces)
        regions, self.crossed = match(surface, sides, odd, 2 * surface.lengths, self.budget)
        self.packing = self.latest = moats(surface, regions, 2, self.budget)
        return self.state_near(self.crossed)

    def on_cylinder(self, state: Spins) -> Spins:
        """Replace the packing by one from a matching on a cylinder; return a state to improve.

        Args:
            state: the best state so far.
        """
        surface = self.surface
        loops = surface.face_loops(int(self.rng.integers(surface.num_faces)))
        loop: Marks = loops[self.turn % len(loops)]
        self.turn += 1
        sides, num_faces = surface.cut_along(loop), surface.num_faces + 2
        old = self.latest.refined(MOST_DENOMINATOR)
        is_tight = old.counts(surface.graph.violated(state)) == 1
        kept = old.chosen((old.counts(loop) > 0) & is_tight)
        # Even lengths, so that all radii are integers; this loses less than the least weight.
        free = (MOST_DENOMINATOR * surface.lengths - kept.load(len(loop))) & ~1
        odd = surface.is_odd(sides, np.zeros(len(loop), np.bool_), num_faces)
        regions, crossed = match(surface, sides, odd, free, self.budget)
        self.latest = kept.joined(moats(surface, regions, MOST_DENOMINATOR, self.budget))
        if self.latest.total > self.packing.total:
            self.packing = self.latest
        return self.state_near(crossed, loop)

    def on_disc(self, state: Spins) -> Spins:
        """Return the best of all states that violate the same edges of two random seams."""
        surface = self.surface
        root = int(self.rng.integers(surface.graph.num_vertices))
        on_seam = np.logical_or.reduce(surface.seams(root))
        kept = surface.graph.violated(state) & on_seam
        sides = surface.faces.sides
        odd = surface.is_odd(sides, kept, surface.num_faces)
        closed = sides.copy()
        closed[on_seam] = 0  # no path crosses a seam
        crossed = match(surface, closed, odd, 2 * surface.lengths, self.budget)[1]
        return self.state_near(kept | (crossed & ~on_seam))

    def state_near(self, crossed: Marks, unsure: Marks | None = None) -> Spins:
        """Return a state that violates only the given edges, or more edges if none exists.

        Args:
            crossed: a mask of the edges to violate.
            unsure: a mask of edges that may be violated or not.
        """
        graph = self.surface.graph
        violation = crossed.astype(np.float64)
        if unsure is not None:
            violation[unsure] = 0.5
        spins: Spins = graphs.round_to_spins(*graph.rows, graph.negative, violation)
        return spins
