"""Rounding of floating-point multipliers to exact integer squares, and the squares' bound.

`lifting_diagonal` returns what must be subtracted from y to make M positive semidefinite.

No number here has to be accurate: the rounding error is measured in exact integers, and subtracted
from the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Parts, Squares, packed
from glasshouse.proofs.parts import NO_PARTS, flat
from glasshouse.proofs.semidefinite.cuts import Cuts, FloatArray
from glasshouse.proofs.semidefinite.dual import RegularisedDual
from glasshouse.proofs.semidefinite.subproblem import ROOM, Subproblem

IntArray = npt.NDArray[np.int64]

_SWEEPS = 12  # sweeps of the search for a diagonal
_TINY = 1e-12
_LARGEST = 2.0**53  # limit of a column's entries: an integer that always fits int64
_FEWER_FOR_CUTS = 4  # the columns absorb the rounding of a cut


@dataclass(frozen=True)
class ExactSquares:
    """Exact squares of a subproblem: its cuts, and the columns of an integer Cholesky factor.

    Attributes:
        denominator: the common denominator of all multipliers, an even number.
        cuts: the cuts, whose multipliers in floats are ignored.
        cut_multipliers: the multipliers of the cuts, positive Python integers.
        columns: one row of coefficients for each of the other squares.
        column_multiplier: the common multiplier of all columns.
    """

    denominator: int
    cuts: Cuts
    cut_multipliers: list[int]
    columns: IntArray
    column_multiplier: int

    def bound(self, problem: Subproblem) -> Fraction:
        """Return a lower bound on all values of the subproblem, in exact integers."""
        rest = problem.weights.astype(object) * self.denominator
        rest += 2 * (self._column_sums() * self.column_multiplier + self._cut_sums(problem.size))
        upper = np.triu_indices(problem.size, 1)
        lost = sum(map(abs, rest[upper].tolist()))
        squares = self.cuts.coefficients.astype(np.int64) ** 2
        lost += sum(
            multiplier * (total - 1)  # odd, so at least 1 in every state
            for multiplier, total in zip(
                self.cut_multipliers, squares.sum(axis=1).tolist(), strict=True
            )
        )
        lost += self.column_multiplier * int((self.columns.astype(object) ** 2).sum())
        return problem.constant - Fraction(lost, self.denominator)

    def _column_sums(self) -> npt.NDArray[np.object_]:
        """Return Σ a a' over the columns."""
        largest = int(np.abs(self.columns).max(initial=0))
        fits = largest * largest * max(1, len(self.columns)) < ROOM
        columns = self.columns if fits else self.columns.astype(object)
        return (columns.T @ columns).astype(object)

    def _cut_sums(self, size: int) -> npt.NDArray[np.object_]:
        """Return Σ c a a' over the cuts; only its off-diagonal entries are used."""
        largest = int(np.abs(self.cuts.coefficients.astype(np.int64)).max(initial=0))
        fits = sum(self.cut_multipliers) * largest * largest < ROOM
        kind = np.int64 if fits else object
        sums = np.zeros((size, size), dtype=kind)
        multipliers = np.array(self.cut_multipliers, dtype=kind)
        vertices, coefficients = self.cuts.vertices, self.cuts.coefficients.astype(np.int64)
        for p in range(vertices.shape[1]):
            for q in range(p):
                amounts = multipliers * (coefficients[:, p] * coefficients[:, q])
                np.add.at(sums, (vertices[:, p], vertices[:, q]), amounts)
        return (sums + sums.T).astype(object)

    def parts(self, problem: Subproblem) -> Parts:
        """Return all squares as certificate parts over the vertices of the graph."""
        cuts = self.cuts
        rows: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = [
            *(
                (problem.vertices[row], a)
                for row, a in zip(cuts.vertices, cuts.coefficients, strict=True)
            ),
            *((problem.vertices, column) for column in self.columns),
            *zip(problem.dominating.vertices, problem.dominating.coefficients, strict=True),
        ]
        nodes, starts = flat([row[a != 0] for row, a in rows], np.int32)
        factors, _ = flat([a[a != 0] for _, a in rows], np.int64)
        multipliers = self.cut_multipliers + [self.column_multiplier] * len(self.columns)
        multipliers += [weight * self.denominator // 2 for weight in problem.dominating.weights]
        squares = Squares(nodes, starts, factors, packed(multipliers))
        return NO_PARTS._replace(squares=squares, denominator=self.denominator)


def no_squares(problem: Subproblem) -> ExactSquares:
    """Return an empty set of squares, which proves the bound of the weights alone."""
    return ExactSquares(2, Cuts.none(), [], np.empty((0, problem.size), np.int64), 1)


def exact_squares(problem: Subproblem, cuts: Cuts, diagonal: FloatArray, bits: int) -> ExactSquares:
    """Round cuts and a floating-point diagonal to exact squares with nearly the same bound.

    Args:
        problem: the problem whose weights the squares cancel.
        cuts: the cuts, with multipliers in units of `problem.unit`.
        diagonal: the vector y, such that M is nearly positive semidefinite.
        bits: the number of fractional bits of the columns; the cuts' multipliers get fewer.
    """
    column_bits, cut_bits = bits, max(bits - _FEWER_FOR_CUTS, 2)
    power = (problem.unit - 1).bit_length()  # 2^power is the unit of the columns' squares
    stretch = problem.unit / 2**power
    places = max(1, cut_bits + 1 - power, 2 * column_bits - power)
    steps = np.round(cuts.multipliers * stretch * 2.0**cut_bits)
    cuts = cuts.weighted(steps).kept(steps > 0)
    multiplier = 2 ** (power + places - cut_bits - 1)
    rounded = cuts.weighted(cuts.multipliers * 2.0**-cut_bits)
    x = np.concatenate([stretch * diagonal, rounded.multipliers])
    slack = RegularisedDual(stretch * problem.matrix, rounded, 1.0).slack_matrix(x)
    columns = _integer_cholesky(slack, column_bits)
    return ExactSquares(
        2**places,
        cuts,
        [int(step) * multiplier for step in cuts.multipliers.tolist()],
        columns[(columns != 0).sum(axis=1) > 1],  # the square of a single spin is a constant
        2 ** (power + places - 2 * column_bits),
    )


def _integer_cholesky(matrix: FloatArray, bits: int) -> IntArray:
    """Make a matrix semidefinite, and return integer rows a such that Σ a a' / 4^bits is near it.

    Every row is rounded before its remainder is passed on to the next rows, so that errors do not
    add up.
    """
    size = len(matrix)
    one = 2.0**bits
    rest = matrix * (one * one)
    lowest = float(np.linalg.eigvalsh(matrix)[0]) if size else 0.0
    # Rounding a row perturbs the rest by the same amount times the root of its diagonal; little of
    # that affects directions in which the rest is nearly singular.
    shake = 0.1 * one * float(np.sqrt(np.abs(matrix.diagonal()).max(initial=0.0) * size))
    rest.flat[:: size + 1] += max(0.0, -lowest) * one * one + shake
    rows = np.zeros((size, size), dtype=np.int64)
    for k in range(size):
        row = np.zeros(size)
        row[k] = max(1.0, math.ceil(math.sqrt(max(rest[k, k], 0.0))))
        row[k + 1 :] = np.round(rest[k, k + 1 :] / row[k])
        row = np.clip(np.nan_to_num(row), -_LARGEST, _LARGEST)
        rest[k:, k:] -= np.outer(row[k:], row[k:])
        rows[k] = row.astype(np.int64)
    return rows


def lifting_diagonal(matrix: FloatArray, lacking: FloatArray, factor: FloatArray) -> FloatArray:
    """Return a diagonal d with a small sum such that matrix + diag(d) is positive semidefinite.

    The least Σ d for which diag(d) - lacking is positive semidefinite is the greatest <lacking, Y>
    over Gram matrices Y of unit vectors. These are found by the mixing method: every vector turns
    to where the matrix pulls it. The lengths of the pulls, scaled as needed, are the dual solution.

    Args:
        matrix: the matrix to lift.
        lacking: minus the part of the matrix with negative eigenvalues.
        factor: any matrix with as many rows, to start from; its rows become the vectors.
    """
    from scipy.linalg.lapack import dsyevd  # importing SciPy takes longer than most commands

    vectors = factor
    lengths = np.ones(len(matrix))
    for _ in range(_SWEEPS):
        pulls = lacking @ vectors
        lengths = np.sqrt(np.einsum("ij,ij->i", pulls, pulls)) + _TINY
        vectors = pulls / lengths[:, None]
    roots = np.sqrt(lengths)
    eigenvalues, _, _ = dsyevd(matrix / np.outer(roots, roots), compute_v=0)
    return -float(eigenvalues[0]) * lengths
