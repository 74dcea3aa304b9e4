"""Spins tied together by the pairs on a path in the tree, and the problem that remains."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Pair, ties_of
from glasshouse.proofs.signed_graph import SignedGraph, Spins, exact_array


@dataclass(frozen=True, eq=False)
class TiedGraph:
    """The states of a graph that satisfy given pairs: s_v = signs[v] · (spin of classes[v]).

    Attributes:
        graph: the problem.
        classes: the number of each vertex's class.
        signs: the sign of each vertex within its class.
    """

    graph: SignedGraph
    classes: npt.NDArray[np.int64]
    signs: Spins

    @classmethod
    def of(cls, graph: SignedGraph, pairs: Iterable[Pair]) -> TiedGraph:
        """Tie a graph's spins by pairs; raise a ValueError if the pairs contradict each other."""
        ties = ties_of(graph.num_vertices, pairs)
        if ties is None:
            raise ValueError(f"the pairs contradict each other, so no state satisfies {pairs}")
        return cls(graph, np.unique(ties.roots, return_inverse=True)[1], ties.signs)

    @cached_property
    def inside(self) -> npt.NDArray[np.bool_]:
        """The mask of edges whose ends are tied."""
        first, second = self.classes[self.graph.edges].T
        mask: npt.NDArray[np.bool_] = first == second
        return mask

    @cached_property
    def products(self) -> Spins:
        """For each edge, the product of the signs of both ends."""
        return self.signs[self.graph.edges[:, 0]] * self.signs[self.graph.edges[:, 1]]

    @cached_property
    def bundles(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The pairs of classes that edges join, and for each untied edge the index of its pair."""
        joined = np.sort(self.classes[self.graph.edges[~self.inside]], axis=1)
        size = len(self.classes)
        keys, bundle = np.unique(joined[:, 0] * size + joined[:, 1], return_inverse=True)
        return np.stack(np.divmod(keys, size), axis=1), bundle

    @cached_property
    def violated(self) -> npt.NDArray[np.bool_]:
        """The mask of the edges that the state `signs` violates."""
        return self.graph.violated(self.signs)

    def aggregate(self, weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return, for every two joined classes, the signed sum of `weights` over their edges."""
        pairs, bundle = self.bundles
        sums = np.zeros(len(pairs), dtype=weights.dtype)
        np.add.at(sums, bundle, (weights * self.products)[~self.inside])
        return sums

    @cached_property
    def step(self) -> int:
        """A divisor of all differences between values of states; 0 if all values are equal.

        A flip of a spin changes the value by 2 Σ_b ±W_ab, which is 2 Σ_b W_ab modulo 4 gcd(W).
        """
        pairs, _ = self.bundles
        weights = self.aggregate(self.graph.weights)
        fields = exact_array([0] * (int(self.classes.max(initial=0)) + 1))
        np.add.at(fields, pairs[:, 0], weights)
        np.add.at(fields, pairs[:, 1], weights)
        return 2 * math.gcd(2 * math.gcd(*weights.tolist()), *fields.tolist())

    @cached_property
    def some_value(self) -> int:
        """The value of the state `signs`, which satisfies the pairs."""
        return int(self.graph.value(self.graph.cost(self.signs)))

    def next_below(self, value: int) -> int | None:
        """Return the greatest value below `value` that a state can have, or None if there is none.

        There is none if all states have the same value, and this value is not below `value`.
        """
        if self.step:
            return value - 1 - (value - 1 - self.some_value) % self.step
        return self.some_value if self.some_value < value else None
