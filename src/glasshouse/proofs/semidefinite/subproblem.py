"""A signed graph with tied pairs of spins: exact weights between classes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Pair, ties_of
from glasshouse.proofs.signed_graph import SignedGraph, Spins

ROOM = 2**62  # sums of absolute values below this cannot overflow int64


@dataclass(frozen=True, eq=False)
class Subproblem:
    """The problem of minimising `constant - Σ W_ab s_a s_b` over one spin for each class.

    Classes without any weight are omitted.

    Attributes:
        vertices: the vertex that represents each class; its sign is +1.
        class_of: the class of every vertex of the graph, or -1 if it was omitted.
        signs: the spin of every vertex as a multiple of that of its class.
        weights: W, symmetric and zero on the diagonal: int64, or Python integers if large.
        constant: a Python integer.
        matrix: A = -W / 2 in units of `unit`: the energy is <A, ss'>.
        unit: the graph's largest weight.
    """

    vertices: npt.NDArray[np.int64]
    class_of: npt.NDArray[np.int64]
    signs: npt.NDArray[np.int8]
    weights: npt.NDArray[np.int64] | npt.NDArray[np.object_]
    constant: int
    matrix: npt.NDArray[np.float64]
    unit: int

    @classmethod
    def of(cls, graph: SignedGraph, pairs: list[Pair]) -> Subproblem:
        """Return the graph with the given pairs tied; raise if pairs contradict each other."""
        ties = ties_of(graph.num_vertices, pairs)
        if ties is None:
            raise ValueError(f"the pairs contradict each other: {pairs}")
        roots, signs = ties
        first, second = graph.edges[:, 0], graph.edges[:, 1]
        fits = graph.total < ROOM
        edge_signs = signs[first].astype(np.int64) * signs[second]
        amounts = graph.weights.astype(np.int64) if fits else graph.weights
        size = graph.num_vertices
        table = np.zeros((size, size), dtype=np.int64 if fits else object)
        np.add.at(table, (roots[first], roots[second]), amounts * edge_signs)
        inside = int(table.diagonal().sum())
        np.fill_diagonal(table, 0)
        table = table + table.T
        kept = np.flatnonzero((table != 0).any(axis=1))
        class_of = np.full(size, -1)
        class_of[kept] = np.arange(len(kept))
        weights = table[np.ix_(kept, kept)]
        matrix = -0.5 * (weights / graph.largest).astype(np.float64)
        return cls(
            kept, class_of[roots], signs, weights, graph.constant - inside, matrix, graph.largest
        )

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.vertices)

    def highest_below(self, value: int) -> int | None:
        """Return the greatest possible value below a given one; None if no value is below.

        All values are congruent modulo twice the gcd of 2g and all Σ_b W_ab, g the gcd of the W.
        """
        some_value = self.constant - int(self.weights.sum()) // 2
        divisor = math.gcd(*map(int, np.unique(self.weights))) if self.size else 0
        fields = map(int, self.weights.sum(axis=1))
        step = 2 * math.gcd(2 * divisor, *fields)
        if step == 0:
            return some_value if some_value < value else None
        return value - 1 - (value - 1 - some_value) % step

    def value(self, spins: npt.NDArray[np.float64]) -> int:
        """Return the exact value of one spin for each class."""
        signs = spins.astype(np.int64)
        return self.constant - int(signs @ self.weights @ signs) // 2

    def spread(self, spins: npt.NDArray[np.float64]) -> Spins:
        """Return a state of the graph from one of the classes; omitted vertices are +1."""
        state = np.append(np.sign(spins), 1.0)[self.class_of]
        return (state * self.signs).astype(np.int8)
