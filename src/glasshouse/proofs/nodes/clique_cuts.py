"""More cuts for a node's LP: violated odd cliques, their pairs joined by the shortest walks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.kernels import arcs as arc_kernels
from glasshouse.proofs.kernels import cliques as clique_kernels
from glasshouse.proofs.kernels import cycles as cycle_kernels
from glasshouse.proofs.limits import Clock, TimeIsUpError
from glasshouse.proofs.nodes.cuts import Clique, Cut, Walk
from glasshouse.proofs.signed_graph import SignedGraph

# What an arc costs beside its length: of equally long walks the one of the fewest edges comes.
_HOP = 1e-6
# Walks between the spins of a violated clique are shorter than this, or hardly ever longer.
_LONGEST = 0.8
# Numbers of spins. Larger cliques are seldom violated where these are not.
_SIZES = (5, 7)
# Searches around each vertex, and in all; the larger of the two counts.
_RESTARTS, _SEARCHES = 4, 2048
# How many cuts of one round may share an arc.
_COVER = 8
# All distances are kept, 32 bytes for each pair of vertices: 50 MB for so many.
_MOST_VERTICES = 1200
# Vertices times vertices between two looks at the clock.
_PAIRS_AT_ONCE = 1 << 16


class CliqueSeparator:
    """Looks for odd cliques of one graph.

    Args:
        graph: the problem.
        signatures: one random number for each arc.
    """

    def __init__(self, graph: SignedGraph, signatures: npt.NDArray[np.uint64]) -> None:
        self.graph, self.signatures = graph, signatures
        size = graph.num_vertices if self.is_able else 0
        self.distance = np.empty((size, 2 * size), np.float32)
        self.over = np.empty((size, 2 * size), np.int32)
        self.pairs = np.empty((2 * size, 2 * size), np.float32)
        self.clock = Clock()

    @property
    def is_able(self) -> bool:
        """Whether the graph is small enough."""
        return self.graph.num_vertices <= _MOST_VERTICES

    def cuts(self, lengths: npt.NDArray[np.float64], tolerance: float) -> list[Cut]:
        """Inequalities violated by more than `tolerance`, at most some over each arc.

        There are none after the deadline of the clock.

        Args:
            lengths: of all arcs.
            tolerance: the least violation.
        """
        if not self.is_able:
            return []
        graph = arc_kernels.ArcGraph(*self.graph.rows, self.graph.negative, lengths)
        try:
            for first, last in self._pieces():
                clique_kernels.nearest_nodes(
                    graph, _HOP, _LONGEST, first, last, self.distance, self.over
                )
            clique_kernels.fill_pairs(self.distance, 0.5 * tolerance, self.pairs)
            return [cut for size in _SIZES for cut in self._of_size(size, tolerance)]
        except TimeIsUpError:
            return []

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """Ranges of vertices; the time is read between two of them."""
        return self.clock.pieces(len(self.over), _PAIRS_AT_ONCE // max(len(self.over), 1))

    def _of_size(self, size: int, tolerance: float) -> list[Cut]:
        """The cliques of some spins, those first that cut off most."""
        restarts = max(_RESTARTS, _SEARCHES // self.graph.num_vertices)
        found = [
            clique_kernels.odd_cliques(self.pairs, size, restarts, tolerance, first, last)
            for first, last in self._pieces()
        ]
        cliques, sums = (np.concatenate(part) for part in zip(*found, strict=True))
        arcs, vertices, begins, is_simple = clique_kernels.walks_of(
            self.over, self.graph.edges, self.graph.negative, cliques
        )
        pairs = size * (size - 1) // 2
        borders = begins[::pairs]
        depth = ((size - 1) ** 2 // 4 - sums) / np.sqrt(np.maximum(np.diff(borders), 1))
        order = np.argsort(-depth, kind="stable")
        chosen = cycle_kernels.spread(
            order[is_simple[order]], arcs, borders, self.signatures, len(self.signatures), _COVER
        )
        cuts = []
        for k in chosen.tolist():
            clique, first = cliques[k], k * pairs
            sources = np.repeat(clique >> 1, np.arange(size))
            walks = [
                Walk(arcs[begin:end], np.append(vertices[begin:end], source))
                for begin, end, source in zip(begins[first : first + pairs],
                                              begins[first + 1 : first + pairs + 1],
                                              sources, strict=True)
            ]  # fmt: skip
            turns = (1 - 2 * (clique & 1)).astype(np.int8)
            cuts.append(Cut.of_clique(Clique(clique >> 1, turns), walks))
        return cuts
