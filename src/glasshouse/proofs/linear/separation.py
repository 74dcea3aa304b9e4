"""Violated cycle inequalities: short odd cycles, an edge being as long as its violation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from glasshouse.kernels.adjacency import adjacency
from glasshouse.proofs.kernels import clusters as cluster_kernels
from glasshouse.proofs.kernels import cycles as cycle_kernels
from glasshouse.proofs.parts import Cycles
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
    ) -> Cycles:
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

    def exact(self, lengths: Lengths, limit: float, cover: int, enough: float) -> Cycles:
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
        parts = [edges[begins[k] : begins[k + 1]] for k in kept.tolist()]
        ends = np.cumsum([len(part) for part in parts])
        return np.concatenate(parts), np.append(0, ends).astype(np.int64), totals[kept]

    def _chosen(
        self,
        edges: npt.NDArray[np.int32],
        begins: npt.NDArray[np.int64],
        totals: Lengths,
        cover: int,
    ) -> Cycles:
        """The shortest cycles, those of fewest edges first, spread over the graph."""
        order = np.lexsort((np.diff(begins), np.round(totals, 6)))
        chosen = cycle_kernels.spread(
            order, edges, begins, self.signatures, self.graph.num_edges, cover
        )
        return [edges[begins[k] : begins[k + 1]] for k in chosen.tolist()]
