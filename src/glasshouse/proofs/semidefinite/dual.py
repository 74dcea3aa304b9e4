"""The regularised dual of the semidefinite relaxation.

With E(s) = <A, ss'>, the relaxation is the minimum of <A, X> + α/2 ‖X‖² over positive semidefinite
X with unit diagonal that satisfy the cuts. Its dual in y (free) and g ≥ 0 is smooth:

    f(y, g) = Σ y - g·depths - ‖[M]₋‖² / 2α,   M = A - diag(y) - Σ g_t T_t,

where [M]₋ is the negative part of M. The gradient is the residual of X = -[M]₋ / α.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glasshouse.proofs.semidefinite import kernels
from glasshouse.proofs.semidefinite.cuts import Cuts, FloatArray
from glasshouse.proofs.semidefinite.eigen import negative_part


class Point(NamedTuple):
    """A point x = (y, g), with the results of the eigendecomposition at this point."""

    x: FloatArray
    value: float
    linear: float  # Σ y - g·depths: the bound if M were positive semidefinite
    gradient: FloatArray
    slack: FloatArray  # M
    factor: FloatArray  # F with FF' = X
    gram: FloatArray  # X


class RegularisedDual:
    """The regularised dual f for a matrix A, a set of cuts and a regularisation α."""

    def __init__(self, matrix: FloatArray, cuts: Cuts, alpha: float) -> None:
        self.matrix = matrix
        self.cuts = cuts
        self.alpha = alpha
        self.size = len(matrix)
        self.depths = cuts.depths
        self._pairs = kernels.pairs_of(cuts.vertices, cuts.coefficients, self.size)
        # The curvature along g_t is about that along y times half the pairs of the cut.
        num_pairs = np.diff(self._pairs[0])
        self.scales = np.concatenate([np.ones(self.size), 2.0 / np.maximum(num_pairs, 1)])

    def slack_matrix(self, x: FloatArray) -> FloatArray:
        """Return the matrix M = A - diag(y) - Σ g_t T_t for x = (y, g)."""
        slack = self.matrix.copy()
        kernels.add_cliques(slack, *self._pairs, -0.5 * x[self.size :])
        slack.flat[:: self.size + 1] -= x[: self.size]
        return slack

    def at(self, x: FloatArray) -> Point:
        """Return the point at x, with its value, gradient and matrix X."""
        slack = self.slack_matrix(x)
        lowest, eigenvectors = negative_part(slack)
        factor = eigenvectors * np.sqrt(-lowest / self.alpha)
        gram = factor @ factor.T
        linear = float(x[: self.size].sum() - x[self.size :] @ self.depths)
        value = linear - float(lowest @ lowest) / (2.0 * self.alpha)
        return Point(x, value, linear, self._residual(gram), slack, factor, gram)

    def _residual(self, gram: FloatArray) -> FloatArray:
        residual = np.empty(self.size + len(self.cuts))
        residual[: self.size] = 1.0 - gram.diagonal()
        kernels.sums_of_cliques(gram, *self._pairs, residual[self.size :])
        residual[self.size :] += self.depths
        residual[self.size :] *= -1.0
        return residual
