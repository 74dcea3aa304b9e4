"""Cuts for a node's LP: violated cycle inequalities, few of them over any one edge."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.kernels import arcs as arc_kernels
from glasshouse.proofs.kernels import cycles as cycle_kernels
from glasshouse.proofs.nodes.cuts import Cut
from glasshouse.proofs.signed_graph import SignedGraph

# What an arc costs beside its length: of two equally violated cycles the one of fewer edges comes.
_HOP = 1e-7
# How many cuts of one round may share an arc, and how many there are at most.
_COVER, _MOST_CUTS = 4, 2000


class CycleSeparator:
    """Looks for cycle inequalities of one graph.

    Args:
        graph: the problem.
    """

    def __init__(self, graph: SignedGraph) -> None:
        self.graph = graph
        self.vertices = np.arange(graph.num_vertices, dtype=np.int32)
        self.signatures = np.random.default_rng(0).integers(
            0, 2**64, 2 * graph.num_edges, dtype=np.uint64
        )

    def cuts(self, violation: npt.NDArray[np.float64], tolerance: float) -> list[Cut]:
        """Inequalities violated by more than `tolerance`, the most violated first.

        None at all means that there is none.
        """
        lengths = arc_lengths(violation)
        graph = arc_kernels.ArcGraph(*self.graph.rows, self.graph.negative, lengths)
        arcs, vertices, begins, totals = arc_kernels.violated_cycles(
            graph, _HOP, 1.0 - tolerance, self.vertices
        )
        order = np.lexsort((np.diff(begins), np.round(totals, 6)))
        chosen = cycle_kernels.spread(order, arcs, begins, self.signatures, len(lengths), _COVER)
        places = [slice(begins[k], begins[k + 1]) for k in chosen[:_MOST_CUTS].tolist()]
        return [Cut.of_cycle(arcs[place].copy(), vertices[place].copy()) for place in places]


def arc_lengths(violation: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of plain and flipped arcs, in turn."""
    lengths = np.empty(2 * len(violation))
    # Without the rounding, noise of the LP would outweigh the preference for few edges.
    lengths[0::2] = np.round(violation, 9)
    lengths[1::2] = 1.0 - lengths[0::2]
    return lengths
