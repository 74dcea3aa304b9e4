"""Violated inequalities: at the root, cycles; at a node, cycles with flipped arcs, and odd cliques.

An edge is as long as its violation, so a violated cycle inequality is a short odd cycle. The pairs
of a clique are joined by the shortest walks. Few cuts of a round share an edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.kernels.adjacency import adjacency
from glasshouse.proofs.budget import Budget, TimeIsUpError
from glasshouse.proofs.kernels import arcs as arc_kernels
from glasshouse.proofs.kernels import cliques as clique_kernels
from glasshouse.proofs.kernels import clusters as cluster_kernels
from glasshouse.proofs.kernels import cycles as cycle_kernels
from glasshouse.proofs.lp.cuts import Cut, Walk, plain_cuts
from glasshouse.proofs.signed_graph import SignedGraph

Lengths = npt.NDArray[np.float64]

# Makes the shorter of two equally violated cycles the better one, and no cut too long to find.
HOP = 1e-8
# Sources are searched in groups, between which the clock is read.
_GROUP = 64
# Where this share of the vertices has an odd edge inside a cluster, these edges are cuts enough.
_MANY = 0.02


class _Found:
    """Cycles that several searches found, one after the other in flat arrays."""

    def __init__(self) -> None:
        self.edges: list[npt.NDArray[np.int32]] = []
        self.begins: list[npt.NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
        self.totals: list[Lengths] = []
        self.used = self.count = 0

    def add(
        self, edges: npt.NDArray[np.int32], begins: npt.NDArray[np.int64], totals: Lengths
    ) -> None:
        self.edges.append(edges)
        self.begins.append(begins[1:] + self.used)
        self.totals.append(totals)
        self.used += len(edges)
        self.count += len(totals)

    def arrays(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], Lengths]:
        edges = np.concatenate([np.zeros(0, dtype=np.int32), *self.edges])
        return edges, np.concatenate(self.begins), np.concatenate([np.zeros(0), *self.totals])


def _gathered(
    edges: npt.NDArray[np.int32], begins: npt.NDArray[np.int64], chosen: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Some of the cycles in flat arrays."""
    lengths = np.diff(begins)[chosen]
    ends = np.append(0, np.cumsum(lengths))
    places = np.arange(ends[-1]) + np.repeat(begins[chosen] - ends[:-1], lengths)
    return edges[places], ends


class Separation:
    """Finds odd cycles in one graph.

    Args:
        graph: whose cycles.
        expired: tells whether to stop searching and return what was found.
    """

    def __init__(self, graph: SignedGraph, expired: Callable[[], bool]) -> None:
        self.graph = graph
        self.expired = expired
        self.rng = np.random.default_rng(0)
        self.signatures = self.rng.integers(0, 2**64, graph.num_edges, dtype=np.uint64)

    def short(
        self,
        lengths: Lengths,
        limit: float,
        hop: float,
        cover: int,
        enough: float = np.inf,
        shuffled: bool = False,
    ) -> list[Cut]:
        """Odd cycles below a length, the shortest first, no edge in more than `cover` of them.

        Args:
            lengths: one per edge.
            limit: cycles must be shorter.
            hop: what every edge costs beside its length; a large one keeps searches local.
            cover: how many cycles may share an edge.
            enough: stop looking once so many were found, before choosing among them.
            shuffled: begin at vertices in random order, so that stopping early is fair.
        """
        graph = self.graph_of(lengths)
        found = self._search(graph, limit, hop, enough, shuffled)
        return self._chosen(*found.arrays(), cover)

    def exact(self, lengths: Lengths, limit: float, cover: int, enough: float) -> list[Cut]:
        """The same by way of clusters: fast where most lengths are 0. None means there is none."""
        graph = self.graph_of(lengths)
        label, parity = cluster_kernels.clusters(graph)
        first, second = self.graph.edges[:, 0], self.graph.edges[:, 1]
        sign = self.graph.negative ^ parity[first] ^ parity[second]
        inside = label[first] == label[second]
        short = lengths < limit
        found = _Found()
        odd = np.flatnonzero(inside & (sign == 1) & short).astype(np.int32)
        found.add(odd, np.arange(len(odd) + 1), lengths[odd])
        between = np.flatnonzero(~inside & short).astype(np.int32)
        if len(odd) < _MANY * self.graph.num_vertices and len(between):
            names, ends = np.unique(label[self.graph.edges[between]], return_inverse=True)
            rows = adjacency(len(names), ends.reshape(-1, 2))
            small = cycle_kernels.LengthGraph(*rows, sign[between], lengths[between])
            edges, begins, totals = self._search(small, limit, HOP, enough, True).arrays()
            found.add(between[edges], begins, totals)
        rings, begins, totals = self._distinct(*found.arrays())
        edges, begins = cluster_kernels.expand(
            graph, self.graph.edges, label, parity, rings, begins
        )
        return self._chosen(edges, begins, totals, cover)

    def graph_of(self, lengths: Lengths) -> cycle_kernels.LengthGraph:
        """The graph with lengths, as the kernels search in it."""
        return cycle_kernels.LengthGraph(*self.graph.rows, self.graph.negative, lengths)

    def _search(
        self,
        graph: cycle_kernels.LengthGraph,
        limit: float,
        hop: float,
        enough: float,
        shuffled: bool,
    ) -> _Found:
        size = len(graph.starts) - 1
        order = np.arange(size, dtype=np.int32)
        if shuffled:
            self.rng.shuffle(order)
        clean = np.zeros(size, dtype=np.bool_)
        found = _Found()
        for first in range(0, size, _GROUP):
            sources = order[first : first + _GROUP]
            found.add(*cycle_kernels.odd_cycles(graph, hop, limit, sources, clean))
            if found.count > enough or self.expired():
                break
        return found

    def _distinct(
        self, edges: npt.NDArray[np.int32], begins: npt.NDArray[np.int64], totals: Lengths
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], Lengths]:
        """Each cycle once."""
        if not len(totals):
            return edges, begins, totals
        marks = np.add.reduceat(self.signatures[edges], begins[:-1])
        kept = np.unique(marks, return_index=True)[1]
        return *_gathered(edges, begins, kept), totals[kept]

    def _chosen(
        self,
        edges: npt.NDArray[np.int32],
        begins: npt.NDArray[np.int64],
        totals: Lengths,
        cover: int,
    ) -> list[Cut]:
        """The shortest cycles, those of fewest edges first, spread over the graph."""
        order = np.lexsort((np.diff(begins), np.round(totals, 6)))
        chosen = cycle_kernels.spread(
            order, edges, begins, self.signatures, self.graph.num_edges, cover
        )
        return plain_cuts(*_gathered(edges, begins, chosen))


# What an arc costs beside its length: of two equally violated cycles the one of fewer edges comes.
_ARC_HOP = 1e-7
# How many cuts of one round may share an arc, and how many there are at most.
_ARC_COVER, _MOST_CUTS = 4, 2000
# Sources times vertices between two looks at the clock.
_NODES_AT_ONCE = 1 << 18


class CycleSeparator:
    """Looks for cycle inequalities of one graph.

    Args:
        graph: the problem.
    """

    def __init__(self, graph: SignedGraph) -> None:
        self.graph = graph
        self.budget = Budget()
        self.vertices = np.arange(graph.num_vertices, dtype=np.int32)
        self.sources_at_once = max(16, _NODES_AT_ONCE // max(graph.num_vertices, 1))
        self.signatures = np.random.default_rng(0).integers(
            0, 2**64, 2 * graph.num_edges, dtype=np.uint64
        )

    def cuts(self, violation: npt.NDArray[np.float64], tolerance: float) -> list[Cut]:
        """Inequalities violated by more than `tolerance`, the most violated first.

        None at all means that there is none, unless the budget asks to stop.
        """
        lengths = arc_lengths(violation)
        graph = arc_kernels.ArcGraph(*self.graph.rows, self.graph.negative, lengths)
        arcs, _, begins, totals = self._violated(graph, 1.0 - tolerance)
        order = np.lexsort((np.diff(begins), np.round(totals, 6)))
        chosen = cycle_kernels.spread(
            order, arcs, begins, self.signatures, len(lengths), _ARC_COVER
        )
        places = [slice(begins[k], begins[k + 1]) for k in chosen[:_MOST_CUTS].tolist()]
        return [Cut.of_cycle(arcs[place]) for place in places]

    def _violated(self, graph: arc_kernels.ArcGraph, limit: float) -> tuple[Any, ...]:
        """Cycles below a length, as the kernel gives them, the time being read now and then."""
        found = []
        with suppress(TimeIsUpError):
            for first, last in self.budget.pieces(len(self.vertices), self.sources_at_once):
                sources = self.vertices[first:last]
                found.append(arc_kernels.violated_cycles(graph, _ARC_HOP, limit, sources))
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


# What an arc costs beside its length: of equally long walks the one of the fewest edges comes.
_CLIQUE_HOP = 1e-6
# Walks between the spins of a violated clique are shorter than this, or hardly ever longer.
_LONGEST = 0.8
# Numbers of spins. Larger cliques are seldom violated where these are not.
_SIZES = (5, 7)
# Searches around each vertex, and in all; the larger of the two counts.
_RESTARTS, _SEARCHES = 4, 2048
# How many cuts of one round may share an arc.
_CLIQUE_COVER = 8
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
        self.budget = Budget()

    @property
    def is_able(self) -> bool:
        """Whether the graph is small enough."""
        return self.graph.num_vertices <= _MOST_VERTICES

    def cuts(self, lengths: npt.NDArray[np.float64], tolerance: float) -> list[Cut]:
        """Inequalities violated by more than `tolerance`, at most some over each arc.

        There are none where the budget asks to stop.

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
                    graph, _CLIQUE_HOP, _LONGEST, first, last, self.distance, self.over
                )
            clique_kernels.fill_pairs(self.distance, 0.5 * tolerance, self.pairs)
            return [cut for size in _SIZES for cut in self._of_size(size, tolerance)]
        except TimeIsUpError:
            return []

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """Ranges of vertices; the time is read between two of them."""
        return self.budget.pieces(len(self.over), _PAIRS_AT_ONCE // max(len(self.over), 1))

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
            order[is_simple[order]],
            arcs,
            borders,
            self.signatures,
            len(self.signatures),
            _CLIQUE_COVER,
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
            cuts.append(Cut.of_clique(clique >> 1, turns, walks))
        return cuts
