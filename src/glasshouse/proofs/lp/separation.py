"""The search for violated inequalities: short odd cycles, and odd cliques.

The length of a plain arc is the violation u of its edge, and 1 - u for a flipped arc, so a violated
cycle inequality is a short odd cycle. The pairs of a clique are joined by the shortest walks. Few
cuts of a round share an arc.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from glasshouse.kernels.adjacency import adjacency
from glasshouse.proofs.budget import Budget, TimeIsUpError
from glasshouse.proofs.kernels import cliques as clique_kernels
from glasshouse.proofs.kernels import clusters as cluster_kernels
from glasshouse.proofs.kernels import cycles as cycle_kernels
from glasshouse.proofs.lp.cuts import Cut, Walk, cycle_cuts
from glasshouse.proofs.signed_graph import SignedGraph

Lengths = npt.NDArray[np.float64]
# Cycles in flat arrays: all their arcs, where each begins, and the end of the last.
Arcs = npt.NDArray[np.int32]
Begins = npt.NDArray[np.int64]

# Prefers the shorter of two equally violated cycles, without making any cut too long to find.
HOP = 1e-8
# Sources are searched in groups, between which the clock is read.
_GROUP = 64
# If this fraction of the vertices has an odd edge inside a cluster, these cuts are enough.
_MANY = 0.02


class Separation:
    """A search for violated cycle inequalities of one graph.

    Args:
        graph: the graph.
        flipped: whether arcs may be flipped.

    Attributes:
        budget: decides when to stop searching and return the cuts found.
    """

    def __init__(self, graph: SignedGraph, *, flipped: bool = False) -> None:
        self.graph, self.budget = graph, Budget()
        self.sides = (0, 1) if flipped else (0,)
        self.rng = np.random.default_rng(0)
        arcs = len(self.sides) * graph.num_edges
        self.signatures = self.rng.integers(0, 2**64, arcs, dtype=np.uint64)

    def short(
        self,
        lengths: Lengths,
        limit: float,
        hop: float,
        cover: int,
        enough: float = np.inf,
        shuffled: bool = False,
    ) -> list[Cut]:
        """Return cuts of odd cycles shorter than `limit`, the shortest first.

        Args:
            lengths: one length per arc.
            limit: the length that cycles must be below.
            hop: the cost of every arc in addition to its length; a large one keeps searches local.
            cover: the most cycles that may share an arc.
            enough: stop the search after this many cycles, before choosing among them.
            shuffled: begin at vertices in random order, so that stopping early is fair.
        """
        found = self._search(self.arc_graph(lengths), limit, hop, enough, shuffled)
        return self._chosen(*found, cover)

    def exact(self, lengths: Lengths, limit: float, cover: int, enough: float) -> list[Cut]:
        """Return cuts of short odd cycles, found by a search that is fast if most lengths are 0.

        All arcs are plain. The list is empty only if no odd cycle is below `limit`, or time is up.
        """
        graph = self.arc_graph(lengths)
        label, parity = cluster_kernels.clusters(graph)
        first, second = self.graph.edges[:, 0], self.graph.edges[:, 1]
        sign = self.graph.negative ^ parity[first] ^ parity[second]
        inside = label[first] == label[second]
        short = lengths < limit
        odd = np.flatnonzero(inside & (sign == 1) & short).astype(np.int32)
        found = [(odd, np.arange(len(odd) + 1), lengths[odd])]
        between = np.flatnonzero(~inside & short).astype(np.int32)
        if len(odd) < _MANY * self.graph.num_vertices and len(between):
            names, ends = np.unique(label[self.graph.edges[between]], return_inverse=True)
            rows = adjacency(len(names), ends.reshape(-1, 2))
            small = cycle_kernels.ArcGraph(*rows, sign[between], lengths[between], self.sides)
            edges, begins, totals = self._search(small, limit, HOP, enough, True)
            found.append((between[edges], begins, totals))
        rings, begins, totals = _joined(found)
        if len(totals):  # each ring once
            marks = np.add.reduceat(self.signatures[rings], begins[:-1])
            kept = np.unique(marks, return_index=True)[1]
            rings, begins, totals = *_gathered(rings, begins, kept), totals[kept]
        found = []
        with suppress(TimeIsUpError):  # a search for a path can visit all neighbours of the ghost
            for begin, end in self.budget.pieces(len(totals), _GROUP):
                part, starts = rings[begins[begin] : begins[end]], begins[begin : end + 1]
                expanded = cluster_kernels.expand(
                    graph, self.graph.edges, label, parity, part, starts - starts[0]
                )
                found.append((*expanded, totals[begin:end]))
        return self._chosen(*_joined(found), cover)

    def arc_graph(self, lengths: Lengths) -> cycle_kernels.ArcGraph:
        """Return the graph and the given arc lengths as an `ArcGraph` for the kernels."""
        return cycle_kernels.ArcGraph(*self.graph.rows, self.graph.negative, lengths, self.sides)

    def _search(
        self,
        graph: cycle_kernels.ArcGraph,
        limit: float,
        hop: float,
        enough: float,
        shuffled: bool,
    ) -> tuple[Arcs, Begins, Lengths]:
        size = len(graph.starts) - 1
        order = np.arange(size, dtype=np.int32)
        if shuffled:
            self.rng.shuffle(order)
        clean = np.zeros(size, dtype=np.bool_)
        found, count = [], 0
        with suppress(TimeIsUpError):
            for first, last in self.budget.pieces(size, _GROUP):
                found.append(cycle_kernels.odd_cycles(graph, hop, limit, order[first:last], clean))
                count += len(found[-1][2])
                if count > enough:
                    break
        return _joined(found)

    def _chosen(self, arcs: Arcs, begins: Begins, totals: Lengths, cover: int) -> list[Cut]:
        """Choose short cycles with few edges, spread over the graph, and return their cuts."""
        order = np.lexsort((np.diff(begins), np.round(totals, 6)))
        chosen = self.spread(order, arcs, begins, cover)
        return cycle_cuts(*_gathered(arcs, begins, chosen), len(self.sides))

    def spread(
        self, order: npt.NDArray[np.int64], arcs: Arcs, begins: Begins, cover: int
    ) -> npt.NDArray[np.int64]:
        """Choose cycles in the given order such that each arc is used at most `cover` times."""
        chosen: npt.NDArray[np.int64] = cycle_kernels.spread(
            order, arcs, begins, self.signatures, len(self.signatures), cover
        )
        return chosen


def _joined(found: list[tuple[Arcs, Begins, Lengths]]) -> tuple[Arcs, Begins, Lengths]:
    """Concatenate the cycles found by several searches."""
    lengths = [np.zeros(1, np.int64), *(np.diff(begins) for _, begins, _ in found)]
    return (
        np.concatenate([np.zeros(0, np.int32), *(arcs for arcs, _, _ in found)]),
        np.cumsum(np.concatenate(lengths)),
        np.concatenate([np.zeros(0), *(totals for _, _, totals in found)]),
    )


def _gathered(arcs: Arcs, begins: Begins, chosen: npt.NDArray[np.int64]) -> tuple[Arcs, Begins]:
    """Return the cycles with the given indices."""
    lengths = np.diff(begins)[chosen]
    ends = np.append(0, np.cumsum(lengths))
    places = np.arange(ends[-1]) + np.repeat(begins[chosen] - ends[:-1], lengths)
    return arcs[places], ends


def arc_lengths(violation: Lengths) -> Lengths:
    """Return the arc lengths: for each edge, the length of its plain arc and of its flipped arc."""
    lengths = np.empty(2 * len(violation))
    # Without the rounding, noise of the LP would outweigh the preference for few edges.
    lengths[0::2] = np.round(violation, 9)
    lengths[1::2] = 1.0 - lengths[0::2]
    return lengths


# The cost of an arc in addition to its length: prefers walks of fewer edges.
_CLIQUE_HOP = 1e-6
# Walks between the spins of a violated clique are almost never longer than this.
_LONGEST = 0.8
# Numbers of spins. Larger cliques are seldom violated if these are not.
_SIZES = (5, 7)
# Searches around each vertex, and in total; the larger number counts.
_RESTARTS, _SEARCHES = 4, 2048
# The most cuts of one round that may share an arc.
_CLIQUE_COVER = 8
# All distances are kept, 32 bytes for each pair of vertices: 50 MB for this many.
_MOST_VERTICES = 1200
# Pairs of vertices between two checks of the clock.
_PAIRS_AT_ONCE = 1 << 16


class CliqueSeparator:
    """A search for violated odd cliques of one graph, based on a `Separation` with flipped arcs."""

    def __init__(self, separation: Separation) -> None:
        self.separation, self.graph = separation, separation.graph
        size = self.graph.num_vertices if self.graph.num_vertices <= _MOST_VERTICES else 0
        self.distance = np.empty((size, 2 * size), np.float32)
        self.over = np.empty((size, 2 * size), np.int32)
        self.pairs = np.empty((2 * size, 2 * size), np.float32)

    def cuts(self, lengths: Lengths, tolerance: float) -> list[Cut]:
        """Return clique cuts violated by more than `tolerance`, such that few cuts share an arc.

        The result is empty if the budget asks to stop.

        Args:
            lengths: the lengths of all arcs.
            tolerance: the least violation.
        """
        if not len(self.over):  # the graph is too large
            return []
        graph = self.separation.arc_graph(lengths)
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
        """Yield ranges of vertices; check the time before each range."""
        count = len(self.over)
        return self.separation.budget.pieces(count, _PAIRS_AT_ONCE // max(count, 1))

    def _of_size(self, size: int, tolerance: float) -> list[Cut]:
        """Return the cuts of violated cliques of `size` spins, the most violated first."""
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
        chosen = self.separation.spread(order[is_simple[order]], arcs, borders, _CLIQUE_COVER)
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
