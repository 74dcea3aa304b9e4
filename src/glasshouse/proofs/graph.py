"""A signed graph with exact weights: the form in which every problem is proven.

All weights are Python integers of any size, so that a problem whose weights add up to 2^63-1, its
hard clauses and the multiples that certificates need are all exact. Fields are edges to one more
vertex, the *ghost*, a spin that is always +1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import Ising, Max2Sat, Problem, Qubo
from glasshouse.problems.convert import to_ising

EdgeArray = npt.NDArray[np.int32]
Spins = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Rows:
    """Compressed rows of a graph: what the kernels search in."""

    starts: npt.NDArray[np.int64]
    neighbours: npt.NDArray[np.int32]
    edge_ids: npt.NDArray[np.int32]

    @classmethod
    def of(cls, num_vertices: int, edges: EdgeArray) -> Rows:
        """The rows of a graph given by its edges."""
        ends = np.concatenate([edges[:, 0], edges[:, 1]])
        others = np.concatenate([edges[:, 1], edges[:, 0]])
        ids = np.tile(np.arange(len(edges), dtype=np.int32), 2)
        order = np.lexsort((others, ends))
        starts = np.zeros(num_vertices + 1, dtype=np.int64)
        np.cumsum(np.bincount(ends, minlength=num_vertices), out=starts[1:])
        return cls(starts, others[order].astype(np.int32), ids[order])

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """In the order in which every kernel takes them."""
        return self.starts, self.neighbours, self.edge_ids


@dataclass(frozen=True, eq=False)
class SignedGraph:
    """Minimise `(constant - Σ w_e s_a s_b) / scale` over spins ±1.

    Attributes:
        num_vertices: spins, and the ghost, always the last one, where there is one.
        edges: (k, 2) array of pairs a < b, each at most once.
        weights: object array of k Python integers, none of them zero.
        constant: a Python integer.
        scale: what the problem's own numbers were multiplied with to make them whole.
        loop_scale: likewise for the multipliers of its certificates. The certificate of a MAX-2-SAT
            problem is that of the Ising problem whose energy is twice the cost, because there an
            edge weighs what violating it costs; so its loops scale half as much.
        grain: all values of the sum are equal up to multiples of it, if it is not 0.

    >>> graph = SignedGraph.of(Max2Sat.from_clauses(2, [[1, 2], [-1], [-2]], [3, 1, 2]))
    >>> graph.edges.tolist(), graph.weights.tolist(), graph.constant, graph.scale
    ([[0, 2], [1, 2], [0, 1]], [1, -1, -3], 9, 4)
    """

    num_vertices: int
    edges: EdgeArray
    weights: npt.NDArray[np.object_]
    constant: int = 0
    scale: int = 1
    loop_scale: int = 1
    grain: int = 0

    @classmethod
    def of(cls, problem: Problem) -> SignedGraph:
        """Any problem; spin i is vertex i and true is +1."""
        if isinstance(problem, Max2Sat):
            return cls.of_max2sat(problem, problem.hard_weight)
        if isinstance(problem, Qubo):
            return cls.of_qubo(problem)
        return cls.of_ising(to_ising(problem)[0])

    @classmethod
    def of_ising(cls, problem: Ising) -> SignedGraph:
        """An Ising problem; its ghost is vertex `num_spins`, also where no field needs it."""
        pairs = _summed(problem.edges, problem.weights)
        _add_fields(pairs, problem.fields.tolist(), problem.num_spins)
        numbers, scale = cleared([*pairs.values(), problem.offset])
        return cls._from(problem.num_spins, pairs, numbers, scale, scale)

    @classmethod
    def of_qubo(cls, problem: Qubo) -> SignedGraph:
        """A QUBO by x = (1 + s)/2: four times its energy has no fractions left."""
        size = problem.num_variables
        weights = [-Fraction(q) / 4 for q in problem.weights.tolist()]
        fields = [-Fraction(b) / 2 for b in problem.linear.tolist()]
        constant = Fraction(problem.offset) - sum(fields) - sum(weights)
        for (i, j), weight in zip(problem.edges.tolist(), weights, strict=True):
            fields[i] += weight
            fields[j] += weight
        pairs = _summed(problem.edges, weights)
        _add_fields(pairs, fields, size)
        numbers, scale = cleared([*pairs.values(), constant])
        return cls._from(size, pairs, numbers, scale, scale)

    @classmethod
    def of_max2sat(cls, problem: Max2Sat, hard_weight: int | float | Fraction) -> SignedGraph:
        """Four times the cost, a broken hard clause counting `hard_weight`.

        The clause l ∨ m of weight w costs w(1-l)(1-m)/4 in spins, the unit clause l w(1-l)/2.
        """
        ghost = problem.num_variables
        *soft, hard, one = cleared([*problem.weights.tolist(), hard_weight, 1])[0]
        pairs: defaultdict[tuple[int, int], Any] = defaultdict(int)
        constant = 0
        clauses = [*problem.clauses.tolist(), *problem.hard.tolist()]
        for (first, second), w in zip(clauses, [*soft, *[hard] * problem.num_hard], strict=True):
            if first == 0:
                constant += 4 * w
            elif second in (0, first):
                constant += 2 * w
                pairs[abs(first) - 1, ghost] += 2 * w if first > 0 else -2 * w
            elif second != -first:
                one_sign, two_sign = (1 if first > 0 else -1), (1 if second > 0 else -1)
                a, b = abs(first) - 1, abs(second) - 1
                constant += w
                pairs[a, ghost] += w * one_sign
                pairs[b, ghost] += w * two_sign
                pairs[min(a, b), max(a, b)] -= w * one_sign * two_sign
        numbers = [*pairs.values(), constant]
        grain = 4 * math.gcd(*soft)
        return cls._from(ghost, pairs, numbers, 4 * one, 2 * one, grain)

    @classmethod
    def _from(
        cls,
        ghost: int,
        pairs: dict[tuple[int, int], Any],
        numbers: list[int],
        scale: int,
        loop_scale: int,
        grain: int = 0,
    ) -> SignedGraph:
        """Drop zero weights; `numbers` are the pairs' weights and the constant, as integers."""
        *weights, constant = numbers
        kept = [k for k, weight in enumerate(weights) if weight]
        edges = np.array(list(pairs), dtype=np.int32).reshape(-1, 2)[kept]
        exact = exact_array(weights[k] for k in kept)
        return cls(ghost + 1, edges, exact, constant, scale, loop_scale, grain)

    @property
    def num_edges(self) -> int:
        """How many pairs have a weight."""
        return len(self.edges)

    @property
    def ghost(self) -> int:
        """The last vertex."""
        return self.num_vertices - 1

    @cached_property
    def rows(self) -> Rows:
        """Compressed rows."""
        return Rows.of(self.num_vertices, self.edges)

    @cached_property
    def couplings(self) -> npt.NDArray[np.float64]:
        """Weights in units of the largest, for what need not be exact."""
        largest = self.largest
        # Divided as integers: weights may be far above what a float can hold.
        return np.array([w / largest for w in self.weights], dtype=np.float64)

    @cached_property
    def largest(self) -> int:
        """The greatest |w|, 1 if there is none."""
        return max(map(abs, self.weights), default=1)

    @cached_property
    def total(self) -> int:
        """Σ|w|."""
        return sum(map(abs, self.weights))

    @cached_property
    def unit(self) -> int:
        """Costs of two states differ by a multiple of the weights' gcd."""
        return math.gcd(*self.weights) or 1

    @cached_property
    def step(self) -> int:
        """Values of two states differ by a multiple of this."""
        return math.lcm(2 * self.unit, self.grain or 1)

    def cost(self, spins: Spins) -> int:
        """Σ|w| over the violated edges."""
        products = spins[self.edges[:, 0]] * spins[self.edges[:, 1]]
        violated = (products < 0) != (self.weights < 0).astype(bool)
        return sum(map(abs, self.weights[violated]))

    def value(self, cost: Any) -> Any:
        """`constant - Σ w s s`, at a given weight of violated edges."""
        return self.constant - self.total + 2 * cost


def exact_array(values: Iterable[int]) -> npt.NDArray[np.object_]:
    """An object array of Python integers, also when there are none or they would fit int64."""
    numbers = list(values)
    array = np.empty(len(numbers), dtype=object)
    array[:] = numbers
    return array


def cleared(values: Iterable[Any]) -> tuple[list[int], int]:
    """Numbers times the least factor that makes them whole, and that factor.

    Floats are whole numbers over powers of two, so nothing is rounded.

    >>> cleared([0.75, 2, Fraction(1, 3)])
    ([9, 24, 4], 12)
    """
    exact = [x if isinstance(x, int) else Fraction(x) for x in values]
    scale = math.lcm(1, *(x.denominator for x in exact))
    return [int(x * scale) for x in exact], scale


def _summed(edges: EdgeArray, weights: Iterable[Any]) -> dict[tuple[int, int], Any]:
    numbers = weights.tolist() if isinstance(weights, np.ndarray) else weights
    return dict(zip(map(tuple, edges.tolist()), numbers, strict=True))


def _add_fields(pairs: dict[tuple[int, int], Any], fields: Iterable[Any], ghost: int) -> None:
    pairs.update(((spin, ghost), field) for spin, field in enumerate(fields) if field)
