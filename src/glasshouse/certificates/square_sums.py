"""Sums of the couplings of all squares, one for each pair of nodes.

A square over k nodes has k(k-1)/2 pairs. The pairs are added up row by row, so that memory stays
linear in the input.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import kernels
from glasshouse.certificates.exact_sums import EdgeArray
from glasshouse.certificates.squares import Squares
from glasshouse.problems import IntArray

_EXACT_IN_FLOATS = 2.0**51  # a sum is at most twice the squares' magnitude
_EXACT_IN_SHORT_FLOATS = 2.0**24
_FEW_PAIRS = 4  # per node; a buffer of this size is cheaper than counting first
_PAIRS_AT_ONCE = 1 << 25  # a tenth of a second
_LARGEST_PRODUCT = 1 << 26  # cells of a matrix; half a gigabyte
# A slice of edges, and a weight for each edge in it.
Slice: TypeAlias = tuple[slice, npt.NDArray[Any]]


@dataclass(frozen=True)
class SquareSums:
    """The sum of the couplings 2c·a_i·a_j of all squares, for each pair of nodes below `size`.

    Sums are int64, or Python integers if int64 could overflow (`Squares.is_wide`).

    >>> sums = SquareSums(Squares.of([[(0, 1), (1, -1), (2, 3)], [(0, 1), (1, 1)]]), 3)
    >>> sums.on(np.array([[0, 1], [0, 2]]))
    (array([0, 6]), 12)
    >>> sums.pairs()
    (array([[0, 2], [1, 2]], dtype=int32), array([ 6, -6]))
    """

    squares: Squares
    size: int

    def __post_init__(self) -> None:
        highest = int(self.squares.nodes.max(initial=0))
        if highest >= self.size and self.squares.num_squares:  # kernels do not check indices
            raise ValueError(f"a square has node {highest}, but the last node is {self.size - 1}")

    def on(self, edges: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], int]:
        """Return the sums on the given edges (i < j, ascending), and Σ |sum| over all pairs."""
        starts = np.searchsorted(edges[:, 0], np.arange(self.size + 1)).astype(np.int64)
        columns = np.ascontiguousarray(edges[:, 1], dtype=np.int32)
        if not self.squares.is_wide:
            sums = np.zeros(len(edges), dtype=np.int64)
            return sums, int(self._add((starts, columns, sums))[0])
        sums, total = np.zeros(len(edges), dtype=object), 0
        for i, row in self._rows():
            part = slice(starts[i], starts[i + 1])
            sums[part] = [row.get(j, 0) for j in columns[part].tolist()]
            total += sum(map(abs, row.values()))
        return sums, total

    def pairs(self) -> tuple[EdgeArray, npt.NDArray[Any]]:
        """Return the pairs i < j with nonzero sums, in ascending order, and the sums."""
        if self.squares.is_wide:
            found = [(i, j, row[j]) for i, row in self._rows() for j in sorted(row) if row[j]]
            sums = np.empty(len(found), dtype=object)
            sums[:] = [amount for *_, amount in found]
            return np.array([p for *p, _ in found], dtype=np.int32).reshape(-1, 2), sums
        if self._is_dense:
            return self._product()
        starts = np.zeros(self.size + 1, dtype=np.int64)
        none = starts, np.empty(0, np.int32), np.empty(0, np.int64)
        most = self.squares.num_terms
        if most > _FEW_PAIRS * len(self.squares.nodes):  # their number is not known in advance
            most = int(self._add(none)[1])
        kept = np.empty(self.size + 1, np.int64), np.empty(most, np.int32), np.empty(most, int)
        number = int(self._add(none, kept)[1])
        rows = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(kept[0]))
        return np.column_stack([rows, kept[1][:number]]), kept[2][:number].copy()

    @property
    def _is_dense(self) -> bool:
        """Whether the squares fill a matrix whose products are exact in floats."""
        cells = self.squares.num_squares * self.size
        return (
            4 * len(self.squares.nodes) > cells
            and max(cells, self.size**2) <= _LARGEST_PRODUCT
            and self.squares.magnitude < _EXACT_IN_FLOATS
        )

    def _product(self) -> tuple[EdgeArray, npt.NDArray[Any]]:
        """Compute `pairs()` by one matrix product, which is much faster for dense squares.

        Every partial sum, in any order of addition, is an integer that floats represent exactly.
        """
        names, table = self._table()
        multipliers = self.squares.multipliers
        shared = int(multipliers[0]) if (multipliers == multipliers[0]).all() else None
        if shared is None:
            matrix = table.astype(np.float64)
            product, factor = (matrix * multipliers[:, np.newaxis]).T @ matrix, 2
        else:  # a matrix times its own transpose takes half the work
            largest = float(np.abs(self.squares.coefficients).max())
            is_short = largest**2 * len(table) < _EXACT_IN_SHORT_FLOATS
            matrix = table.astype(np.float32 if is_short else np.float64)
            product, factor = matrix.T @ matrix, 2 * shared
        edges, sums = kernels.upper_pairs(product, names, factor)
        return edges, sums

    def _table(self) -> tuple[IntArray, IntArray]:
        """Return nodes in ascending order, and a matrix of the squares' coefficients on them."""
        squares, width = self.squares, self.squares.lengths[0]
        if len(squares.nodes) == squares.num_squares * width:
            rows = squares.nodes.reshape(-1, width)
            if (rows == rows[0]).all():
                return rows[0].astype(np.int64), squares.coefficients.reshape(rows.shape)
        table = np.zeros((squares.num_squares, self.size), dtype=np.int64)
        table[np.repeat(np.arange(len(table)), squares.lengths), squares.nodes] = (
            squares.coefficients
        )
        return np.arange(self.size), table

    def _add(self, wanted: tuple[Any, Any, Any], kept: Any = None) -> tuple[int, int]:
        squares = self.squares
        square_of = np.repeat(np.arange(squares.num_squares, dtype=np.int32), squares.lengths)
        if kept is None:
            kept = np.empty(self.size + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64)
        tables = (squares.nodes, squares.coefficients, square_of, squares.starts,
                  2 * squares.multipliers, *self._places(), *wanted, *kept)  # fmt: skip
        total, number = 0, 0
        for first, last in itertools.pairwise(self._pieces(square_of)):
            more, number = kernels.add_squares(first, last, number, *tables)
            total += int(more)
        return total, number

    def _pieces(self, square_of: npt.NDArray[np.int32]) -> list[int]:
        """Return the bounds of blocks of rows, each small enough to delay signals only briefly.

        A node has as many pairs in a square as there are nodes after it.
        """
        squares = self.squares
        following = squares.starts[square_of + 1] - np.arange(len(square_of))
        pairs = np.cumsum(np.bincount(squares.nodes, following, minlength=self.size))
        marks = np.arange(_PAIRS_AT_ONCE, pairs[-1], _PAIRS_AT_ONCE)
        return [0, *np.unique(np.searchsorted(pairs[:-1], marks) + 1).tolist(), self.size]

    def _rows(self) -> Iterator[tuple[int, dict[int, int]]]:
        """Yield each node i with its row of sums {j: sum}, in Python integers."""
        squares, starts = self.squares, self.squares.starts.tolist()
        nodes, coefficients = squares.nodes.tolist(), squares.coefficients.tolist()
        factors = [2 * int(c) for c in squares.multipliers.tolist()]
        square_of = np.repeat(np.arange(squares.num_squares), squares.lengths).tolist()
        node_starts, places = (array.tolist() for array in self._places())
        for i in range(self.size):
            sums: dict[int, int] = defaultdict(int)
            for place in places[node_starts[i] : node_starts[i + 1]]:
                square = square_of[place]
                factor = factors[square] * coefficients[place]
                for other in range(place + 1, starts[square + 1]):
                    sums[nodes[other]] += factor * coefficients[other]
            yield i, sums

    def _places(self) -> tuple[IntArray, IntArray]:
        """Return an index by node: where each node begins, and its positions in `nodes`."""
        counts = np.bincount(self.squares.nodes, minlength=self.size)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return starts, np.argsort(self.squares.nodes, kind="stable")


def rest_of_squares(
    edges: npt.NDArray[Any], slices: Iterable[Slice], squares: Squares, size: int, factor: int
) -> int:
    """Return the sum of |weight + factor · s| over all pairs; s is the pair's sum in `SquareSums`.

    Pairs that are not in `edges` have the weight 0. Weights are passed slice by slice. They are
    int64 only if the caller has shown that no sum can overflow.
    """
    sums, total = SquareSums(squares, size).on(edges)
    rest = factor * (total - int(np.abs(sums).sum()))
    for part, amounts in slices:
        rest += int(np.abs(amounts + factor * sums[part].astype(amounts.dtype)).sum())
    return rest
