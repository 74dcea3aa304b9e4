"""Cuts for a node's LP: violated cycle inequalities, few of them over any one edge."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.kernels import arcs as arc_kernels
from glasshouse.proofs.kernels import cycles as cycle_kernels
from glasshouse.proofs.limits import Clock, TimeIsUpError
from glasshouse.proofs.nodes.cuts import Cut
from glasshouse.proofs.signed_graph import SignedGraph

# What an arc costs beside its length: of two equally violated cycles the one of fewer edges comes.
_HOP = 1e-7
# How many cuts of one round may share an arc, and how many there are at most.
_COVER, _MOST_CUTS = 4, 2000
# Sources times vertices between two looks at the clock.
_NODES_AT_ONCE = 1 << 18


class CycleSeparator:
    """Looks for cycle inequalities of one graph.

    Args:
        graph: the problem.
    """

    def __init__(self, graph: SignedGraph) -> None:
        self.graph = graph
        self.clock = Clock()
        self.vertices = np.arange(graph.num_vertices, dtype=np.int32)
        self.sources_at_once = max(16, _NODES_AT_ONCE // max(graph.num_vertices, 1))
        self.signatures = np.random.default_rng(0).integers(
            0, 2**64, 2 * graph.num_edges, dtype=np.uint64
        )

    def cuts(self, violation: npt.NDArray[np.float64], tolerance: float) -> list[Cut]:
        """Inequalities violated by more than `tolerance`, the most violated first.

        None at all means that there is none, unless the deadline of the clock is over.
        """
        lengths = arc_lengths(violation)
        graph = arc_kernels.ArcGraph(*self.graph.rows, self.graph.negative, lengths)
        arcs, vertices, begins, totals = self._violated(graph, 1.0 - tolerance)
        order = np.lexsort((np.diff(begins), np.round(totals, 6)))
        chosen = cycle_kernels.spread(order, arcs, begins, self.signatures, len(lengths), _COVER)
        places = [slice(begins[k], begins[k + 1]) for k in chosen[:_MOST_CUTS].tolist()]
        return [Cut.of_cycle(arcs[place].copy(), vertices[place].copy()) for place in places]

    def _violated(self, graph: arc_kernels.ArcGraph, limit: float) -> tuple[Any, ...]:
        """Cycles below a length, as the kernel gives them, the time being read now and then."""
        found = []
        with suppress(TimeIsUpError):
            for first, last in self.clock.pieces(len(self.vertices), self.sources_at_once):
                sources = self.vertices[first:last]
                found.append(arc_kernels.violated_cycles(graph, _HOP, limit, sources))
        if len(found) == 1:
            return found[0]  # type: ignore[no-any-return]  # compiled code has no types
        ends = np.cumsum([0, *(len(arcs) for arcs, *_ in found)])
        begins = [begins[1:] + end for (_, _, begins, _), end in zip(found, ends, strict=False)]
        return (
            np.concatenate([np.zeros(0, np.int32), *(arcs for arcs, *_ in found)]),
            np.concatenate([np.zeros(0, np.int32), *(vertices for _, vertices, *_ in found)]),
            np.concatenate([np.zeros(1, np.int64), *begins]),
            np.concatenate([np.zeros(0), *(totals for *_, totals in found)]),
        )


def arc_lengths(violation: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of plain and flipped arcs, in turn."""
    lengths = np.empty(2 * len(violation))
    # Without the rounding, noise of the LP would outweigh the preference for few edges.
    lengths[0::2] = np.round(violation, 9)
    lengths[1::2] = 1.0 - lengths[0::2]
    return lengths
