"""A signed graph with tied pairs of spins, reduced to exact weights between classes.

An edge jk that weighs at least as much as all other edges of j together *dominates* j: the state
with s_j = σ s_k, σ the sign of w_jk, is at least as good as its opposite, so j is also tied to k.
The exact difference is at least Σ |w_jl| ((s_j - σ s_k - τ s_l)² - 1) / 2 over the other edges jl,
with τ the sign of w_jl: one triangle for each. If a 0/1 unknown of a problem with positive terms
is 1, the ghost dominates most others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Pair, ties_of
from glasshouse.proofs.signed_graph import SignedGraph, Spins

ROOM = 2**62  # sums of absolute values below this cannot overflow int64


class Triangles(NamedTuple):
    """Squares over three spins: `weights` times ((coefficients · spins of vertices)² - 1) / 2."""

    vertices: npt.NDArray[np.int64]
    coefficients: npt.NDArray[np.int64]
    weights: list[int]


@dataclass(frozen=True, eq=False)
class Subproblem:
    """The problem of minimising `constant - Σ W_ab s_a s_b` over one spin for each class.

    Classes without any weight are omitted. The classes also include ties by dominating edges.

    Attributes:
        vertices: the vertex that represents each class; its sign is +1.
        class_of: the class of every vertex of the graph, or -1 if it was omitted.
        signs: the spin of every vertex as a multiple of the spin of its class.
        weights: W, symmetric and zero on the diagonal: int64, or Python integers if large.
        constant: a Python integer.
        matrix: A = -W / 2 in units of `unit`: the energy is <A, ss'>.
        unit: the graph's largest weight.
        dominating: the triangles that prove the ties by dominating edges.
        step: all values with the given pairs tied differ by multiples of this number.
        some_value: one of these values.
    """

    vertices: npt.NDArray[np.int64]
    class_of: npt.NDArray[np.int64]
    signs: npt.NDArray[np.int8]
    weights: npt.NDArray[np.int64] | npt.NDArray[np.object_]
    constant: int
    matrix: npt.NDArray[np.float64]
    unit: int
    dominating: Triangles
    step: int
    some_value: int

    @classmethod
    def of(cls, graph: SignedGraph, pairs: list[Pair]) -> Subproblem:
        """Return a graph's subproblem for tied pairs; raise if the pairs contradict each other."""
        ties = ties_of(graph.num_vertices, pairs)
        if ties is None:
            raise ValueError(f"the pairs contradict each other, so no state satisfies {pairs}")
        roots, signs = ties
        first, second = graph.edges[:, 0], graph.edges[:, 1]
        fits = graph.total < ROOM
        edge_signs = signs[first].astype(np.int64) * signs[second]
        amounts = graph.weights.astype(np.int64) if fits else graph.weights
        size = graph.num_vertices
        table = np.zeros((size, size), dtype=np.int64 if fits else object)
        np.add.at(table, (roots[first], roots[second]), amounts * edge_signs)
        constant = graph.constant - int(table.diagonal().sum())
        np.fill_diagonal(table, 0)
        table = table + table.T
        step, some_value = _step(table), constant - int(table.sum()) // 2
        roots, signs = roots.copy(), signs.copy()
        constant, dominating = _dominated(table, constant, roots, signs)
        kept = np.flatnonzero((table != 0).any(axis=1))
        class_of = np.full(size, -1)
        class_of[kept] = np.arange(len(kept))
        weights = table[np.ix_(kept, kept)]
        matrix = -0.5 * (weights / graph.largest).astype(np.float64)
        return cls(kept, class_of[roots], signs, weights, constant, matrix, graph.largest,
                   dominating, step, some_value)  # fmt: skip

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.vertices)

    def highest_below(self, value: int) -> int | None:
        """Return the greatest possible value below `value`, or None if no value is lower."""
        if self.step == 0:
            return self.some_value if self.some_value < value else None
        return value - 1 - (value - 1 - self.some_value) % self.step

    def value(self, spins: npt.NDArray[np.float64]) -> int:
        """Return the exact value of a state, given as one spin for each class."""
        signs = spins.astype(np.int64)
        return self.constant - int(signs @ self.weights @ signs) // 2

    def spread(self, spins: npt.NDArray[np.float64]) -> Spins:
        """Convert one spin per class to a state of the graph; omitted vertices get +1."""
        state = np.append(np.sign(spins), 1.0)[self.class_of]
        return (state * self.signs).astype(np.int8)


def _step(weights: npt.NDArray[Any]) -> int:
    """Return the step between values, which is twice gcd(2·gcd(W), all row sums Σ_b W_ab)."""
    divisor = math.gcd(*map(int, np.unique(weights)))
    return 2 * math.gcd(2 * divisor, *map(int, weights.sum(axis=1)))


def _dominated(
    table: npt.NDArray[Any],
    constant: int,
    roots: npt.NDArray[Any],
    signs: npt.NDArray[np.int8],
) -> tuple[int, Triangles]:
    """Tie vertices along dominating edges; update the weights, roots and signs in place.

    Returns:
        The constant of the remaining problem, and the triangles that prove the ties.
    """
    vertices, coefficients, weights = list[Any](), list[Any](), list[int]()
    while True:
        sizes = np.abs(table)
        sums = sizes.sum(axis=1)
        found = np.flatnonzero((sums > 0) & (2 * sizes.max(axis=1, initial=0) >= sums))
        if len(found) == 0:
            break
        one = int(found[0])
        other = int(np.argmax(sizes[one]))
        sign = 1 if table[one, other] > 0 else -1
        constant -= int(sizes[one, other])
        row = table[one].copy()
        row[other] = 0
        near = np.flatnonzero(row)
        vertices.append(np.stack([np.full(len(near), one), np.full(len(near), other), near], 1))
        towards = np.where(row[near] > 0, -1, 1)
        coefficients.append(np.stack([np.ones_like(near), np.full_like(near, -sign), towards], 1))
        weights += map(int, sizes[one, near])
        table[one], table[:, one] = 0, 0
        table[other] += sign * row
        table[:, other] += sign * row
        moved = roots == one
        roots[moved] = other
        signs[moved] *= sign
    empty = np.empty((0, 3), np.int64)
    return constant, Triangles(np.concatenate([empty, *vertices]),
                               np.concatenate([empty, *coefficients]), weights)  # fmt: skip
