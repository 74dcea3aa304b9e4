"""A signed graph with exact weights: the form in which every problem is proven.

All weights are Python integers of any size, so that a problem whose weights add up to 2^63-1, its
hard clauses and the multiples that certificates need are all exact. Fields are edges to one more
vertex, the *ghost*, a spin that is always +1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import ExactForm
from glasshouse.kernels.adjacency import Adjacency, adjacency
from glasshouse.problems import Problem

EdgeArray = npt.NDArray[np.int32]
Spins = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class SignedGraph:
    """A signed graph with the objective `(constant - Σ w_e s_a s_b) / scale`, to be minimised.

    Attributes:
        num_vertices: the number of spins, including the ghost, if there is one, as the last.
        edges: (k, 2) array of pairs a < b, each at most once.
        weights: object array of k Python integers, none of them zero.
        constant: a Python integer.
        scale: the scale of `ExactForm`.
        loop_scale: the loop scale of `ExactForm`.
    """

    num_vertices: int
    edges: EdgeArray
    weights: npt.NDArray[np.object_]
    constant: int = 0
    scale: int = 1
    loop_scale: int = 1

    @classmethod
    def of(cls, problem: Problem) -> SignedGraph:
        """Return the graph of any problem; spin i is vertex i and true is +1."""
        return cls.of_form(ExactForm.of(problem))

    @classmethod
    def of_form(cls, form: ExactForm) -> SignedGraph:
        """Return the graph of an exact form; its last vertex is always the ghost."""
        weights = exact_array(form.weights.tolist())
        return cls(
            form.num_variables + 1, form.edges, weights, form.constant, form.scale, form.loop_scale
        )

    @property
    def num_edges(self) -> int:
        """The number of edges, which are pairs with a non-zero weight."""
        return len(self.edges)

    @property
    def ghost(self) -> int:
        """The ghost, which is the last vertex."""
        return self.num_vertices - 1

    @cached_property
    def rows(self) -> Adjacency:
        """The graph in compressed rows, for the kernels."""
        return adjacency(self.num_vertices, self.edges)

    @cached_property
    def couplings(self) -> npt.NDArray[np.float64]:
        """The weights in units of the largest weight, as floats for approximate computations."""
        largest = self.largest
        # Divided as integers, because weights may be far above the largest float.
        return np.array([w / largest for w in self.weights], dtype=np.float64)

    @cached_property
    def largest(self) -> int:
        """The largest |w|, or 1 if there are no edges."""
        return max(map(abs, self.weights), default=1)

    @cached_property
    def total(self) -> int:
        """The total weight Σ|w|."""
        return sum(map(abs, self.weights))

    @cached_property
    def unit(self) -> int:
        """A divisor of the difference between the costs of any two states.

        Flipping vertex a changes the cost by Σ_b w_ab s_a s_b, which is Σ_b w_ab modulo twice the
        gcd of all weights, whatever the spins are.
        """
        sums = [0] * self.num_vertices
        # Column by column, because lists of pairs slow down Python's garbage collector.
        for a, b, weight in zip(*self.edges.T.tolist(), self.weights, strict=True):
            sums[a] += weight
            sums[b] += weight
        return math.gcd(2 * math.gcd(*self.weights), *sums) or 1

    @cached_property
    def negative(self) -> npt.NDArray[np.uint8]:
        """The mask of negative edges: 1 if an edge favours opposite spins, otherwise 0.

        Computed from weights, because `couplings` lose the sign of a weight too small for a float.
        """
        return (self.weights < 0).astype(np.uint8)

    @cached_property
    def signs(self) -> Spins:
        """The sign of each weight, +1 or -1."""
        return np.where(self.negative, -1, 1).astype(np.int8)

    def violated(self, spins: Spins) -> npt.NDArray[np.bool_]:
        """Return a mask of the edges that a state violates."""
        differs = spins[self.edges[:, 0]] != spins[self.edges[:, 1]]
        mask: npt.NDArray[np.bool_] = differs != self.negative
        return mask

    def cost(self, spins: Spins) -> int:
        """Return Σ|w| over the violated edges."""
        return sum(map(abs, self.weights[self.violated(spins)]))

    def value(self, cost: Any) -> Any:
        """Return the value `constant - Σ w s s` of a state whose violated edges weigh `cost`."""
        return self.constant - self.total + 2 * cost


def exact_array(values: Iterable[int]) -> npt.NDArray[np.object_]:
    """Return an object array of Python integers, even if it is empty or would fit int64."""
    numbers = list(values)
    array = np.empty(len(numbers), dtype=object)
    array[:] = numbers
    return array
