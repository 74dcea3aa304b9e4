"""Squares of integer sums of spins, which are never negative, stored in flat arrays.

For integers a and c > 0,

    c·(a·s)² ≥ c·g²·[Σ a_i/g is odd],   g = gcd of the a_i,

because a·s/g is an integer of the parity of Σ a_i/g. With energies E = -Σ J s s, such a square
consists of the couplings J_ij = -2c·a_i·a_j and the constant c·Σ a_i². So it is subtracted from a
problem edge by edge, like a loop.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import kernels
from glasshouse.certificates.exact_sums import ROOM, exact_dot, positive_numbers, whole_numbers
from glasshouse.certificates.flat_cycles import NodeArray, flat_nodes, node_values
from glasshouse.certificates.products import NO_MONOMIALS
from glasshouse.certificates.ties import Ties
from glasshouse.problems import IntArray, SpinArray, validation
from glasshouse.problems.monomials import Monomials
from glasshouse.summaries import Summarised


@dataclass(frozen=True, eq=False, repr=False)
class Squares(Summarised):
    """A list of squares c·(a·s)², each over a set of spins that may include the ghost.

    Square k is over `nodes[starts[k]:starts[k+1]]`; the ghost, always +1, is the node after the
    last spin. Nodes are sorted within each square. Empty squares, zero coefficients and repeated
    nodes are refused.

    Attributes:
        nodes: int32, the nodes of all squares, concatenated.
        starts: int64, the index at which each square begins, and the end of the last square.
        coefficients: int64, one coefficient a for each node.
        multipliers: c > 0 of each square, in units of one over the certificate's denominator:
            int64, or Python integers if one does not fit.

    >>> squares = Squares.of([[(0, 1), (1, 1), (2, -1)]])  # (s0 + s1 - s2)² ≥ 1
    >>> squares, squares.num_terms, squares.depth
    (Squares(1 square over 3 nodes), 3, 2)
    """

    nodes: NodeArray
    starts: IntArray
    coefficients: IntArray
    multipliers: npt.NDArray[Any]

    def __post_init__(self) -> None:
        nodes, starts = flat_nodes(self.nodes, self.starts, "a square")
        coefficients = _coefficients(self.coefficients, len(nodes))
        multipliers = positive_numbers(self.multipliers, len(starts) - 1, "square")
        nodes, coefficients = _sorted(nodes, starts, coefficients)
        values: dict[str, npt.NDArray[Any]] = {
            "nodes": nodes, "starts": starts, "coefficients": coefficients,
            "multipliers": multipliers,
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, validation.read_only(value))

    @classmethod
    def of(
        cls,
        squares: Iterable[Sequence[tuple[int, int]]],
        multipliers: npt.ArrayLike | None = None,
    ) -> Squares:
        """Build squares from lists of (node, coefficient); multipliers are 1 by default."""
        rows = [list(square) for square in squares]
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
        # Converting to int64 here would truncate decimals.
        nodes, factors = ([pair[k] for row in rows for pair in row] for k in (0, 1))
        are_whole = all(type(x) is int for x in factors)  # NumPy might convert them to floats
        kind: Any = object if are_whole else None
        weights = np.ones(len(rows), np.int64) if multipliers is None else multipliers
        return cls(
            np.asarray(nodes), starts.astype(np.int64), np.array(factors, kind), np.asarray(weights)
        )

    @classmethod
    def alike(cls, nodes: npt.ArrayLike, coefficients: npt.ArrayLike, multiplier: int) -> Squares:
        """Build one square from each row of two tables; all squares have the same multiplier."""
        table = np.asarray(nodes)
        if table.ndim != 2:
            raise ValueError(f"pass one row per square, not an array of shape {table.shape}")
        count, length = table.shape
        factors = np.broadcast_to(np.asarray(coefficients), table.shape)
        starts = np.arange(count + 1, dtype=np.int64) * length
        weights = np.full(count, multiplier)
        return cls(table.reshape(-1), starts, factors.reshape(-1), weights)

    @classmethod
    def of_rows(cls, rows: npt.ArrayLike) -> Squares:
        """Build one square with multiplier 1 from each row of a matrix of coefficients.

        >>> Squares.of_rows([[1, 0, -1], [2, 1, 1]])
        Squares(2 squares over 2 to 3 nodes)
        """
        table = np.asarray(rows)
        if table.ndim != 2:
            raise ValueError(f"pass one row per square, not an array of shape {table.shape}")
        if table.all():
            return cls.alike(np.broadcast_to(np.arange(table.shape[1]), table.shape), table, 1)
        squares, nodes = np.nonzero(table)
        starts = np.searchsorted(squares, np.arange(len(table) + 1)).astype(np.int64)
        found: Any = nodes
        return cls(found, starts, table[squares, nodes], np.ones(len(table), dtype=np.int64))

    @property
    def num_squares(self) -> int:
        """The number of squares."""
        return len(self.multipliers)

    @property
    def lengths(self) -> IntArray:
        """The number of nodes of each square."""
        return self.starts[1:] - self.starts[:-1]

    @property
    def num_terms(self) -> int:
        """The number of pairs of nodes in all squares; a check takes time linear in this number."""
        lengths = self.lengths
        if len(self.nodes) >= 1 << 31:  # the square of this number could overflow
            lengths = lengths.astype(object)
        return int((lengths * (lengths - 1) // 2).sum()) if self.num_squares else 0

    @property
    def depth(self) -> int:
        """How far below 0 the couplings of all squares can get: Σ c·(Σ a² - g²·[Σ a/g is odd])."""
        if not self.num_squares:
            return 0
        begin, a = self.starts[:-1], self.coefficients
        divisors = np.gcd.reduceat(a, begin)
        is_odd = np.bitwise_xor.reduceat((a // np.repeat(divisors, self.lengths)) & 1, begin) == 1
        if float(np.abs(a).max()) ** 2 * len(a) >= ROOM:
            a, divisors = a.astype(object), divisors.astype(object)
        return exact_dot(self.multipliers, np.add.reduceat(a * a, begin) - divisors**2 * is_odd)

    @cached_property
    def magnitude(self) -> float:
        """An upper bound, up to rounding, on any sum of couplings: Σ c·(Σ |a|)²."""
        if not self.num_squares:
            return 0.0
        sums = np.add.reduceat(np.abs(self.coefficients).astype(np.float64), self.starts[:-1])
        try:
            with np.errstate(over="ignore"):
                return float(self.multipliers.astype(np.float64) @ sums**2)
        except OverflowError:
            return math.inf

    @property
    def is_wide(self) -> bool:
        """Whether sums of couplings could overflow int64."""
        return self.magnitude >= ROOM

    @property
    def most_digits(self) -> int:
        """The number of bits of the largest multiplier."""
        return int(self.multipliers.max()).bit_length() if self.num_squares else 0

    def turned(self, state: SpinArray, table: Monomials = NO_MONOMIALS) -> Squares:
        """Return the squares in the gauge of a state: coefficient a_i becomes a_i·s_i.

        The ghost is +1. Nodes after the ghost are the products of a table.
        """
        signs = node_values(state, table).astype(np.int64)
        factors = self.coefficients * signs[self.nodes]
        return Squares(self.nodes, self.starts, factors, self.multipliers)

    def chosen(self, runs: list[slice]) -> Squares:
        """Return the squares in the given slices, concatenated."""
        if all(run.start == run.stop for run in runs):
            return NO_SQUARES
        places = [slice(self.starts[k.start], self.starts[k.stop]) for k in runs]
        lengths = np.concatenate([self.lengths[k] for k in runs])
        return Squares(
            np.concatenate([self.nodes[k] for k in places]),
            np.concatenate([[0], np.cumsum(lengths)]),
            np.concatenate([self.coefficients[k] for k in places]),
            np.concatenate([self.multipliers[k] for k in runs]),
        )

    def contracted(self, ties: Ties) -> Squares:
        """Return the squares over the roots of tied spins, without squares that become 0."""
        if not self.num_squares or (ties.roots[self.nodes] == self.nodes).all():
            return self
        starts, nodes = self.starts.tolist(), self.nodes
        roots, signs = ties.roots[nodes].tolist(), ties.signs[nodes].tolist()
        coefficients, rows, kept = self.coefficients.tolist(), [], []
        for k in range(self.num_squares):
            row: dict[int, int] = {}
            for place in range(starts[k], starts[k + 1]):
                row[roots[place]] = row.get(roots[place], 0) + signs[place] * coefficients[place]
            if pairs := [(root, a) for root, a in row.items() if a]:
                rows.append(pairs)
                kept.append(k)
        return Squares.of(rows, self.multipliers[kept])

    def renamed(self, new: npt.NDArray[Any]) -> Squares:
        """Return the squares with node k renamed to `new[k]`."""
        return Squares(new[self.nodes], self.starts, self.coefficients, self.multipliers)

    def __len__(self) -> int:
        return self.num_squares

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Squares):
            return NotImplemented
        return (
            np.array_equal(self.nodes, other.nodes)
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.coefficients, other.coefficients)
            and np.array_equal(self.multipliers, other.multipliers)
        )

    def __hash__(self) -> int:
        return hash((self.nodes.tobytes(), self.coefficients.tobytes(), self.num_squares))

    def __repr__(self) -> str:
        if not self.num_squares:
            return "Squares(no squares)"
        least, most = int(self.lengths.min()), int(self.lengths.max())
        count = "1 square" if self.num_squares == 1 else f"{self.num_squares} squares"
        size = f"{least}" if least == most else f"{least} to {most}"
        return f"Squares({count} over {size} node{'s' * (most > 1)})"


def _coefficients(values: npt.ArrayLike, length: int) -> IntArray:
    """Check the coefficients, one nonzero integer per node, and return them as int64."""
    whole = whole_numbers(values, "coefficients")
    if whole.dtype == object:
        raise ValueError("a square's coefficient exceeds the limit of 2^63-1")
    if len(whole) != length:
        raise ValueError(f"{length} nodes need {length} coefficients, not {len(whole)}")
    if not whole.all():
        raise ValueError("a square has a node with the coefficient 0; remove this node")
    return whole


def _sorted(
    nodes: NodeArray, starts: IntArray, coefficients: IntArray
) -> tuple[NodeArray, IntArray]:
    """Sort the nodes within each square; raise for empty squares and repeated nodes."""
    if len(starts) == 1:  # no squares, as in most certificates: do not compile the kernel
        return nodes, coefficients
    fault, place = kernels.find_bad_square(nodes, starts)
    if fault == kernels.UNSORTED:
        square_of = np.repeat(np.arange(len(starts) - 1), starts[1:] - starts[:-1])
        order = np.lexsort((nodes, square_of))
        nodes = validation.read_only(nodes[order])
        coefficients = validation.read_only(coefficients[order])
        fault, place = kernels.find_bad_square(nodes, starts)
    if fault == kernels.TOO_SHORT:
        raise ValueError(f"square {place} is empty; remove it")
    if fault == kernels.REPEATED:
        square = int(np.searchsorted(starts, place, side="right")) - 1
        raise ValueError(f"square {square} has node {nodes[place]} twice; add the coefficients")
    return nodes, coefficients


NO_SQUARES = Squares.of([])
