"""What to add to a diagonal so that a matrix becomes positive semidefinite, at little cost."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dsyevd

FloatArray = npt.NDArray[np.float64]

_TINY = 1e-12


def covering_diagonal(matrix: FloatArray, factor: FloatArray, sweeps: int = 12) -> FloatArray:
    """A diagonal d of small sum such that diag(d) - matrix is positive semidefinite.

    The least Σ d is the greatest <matrix, Y> over Gram matrices Y of unit vectors. These are found
    by the mixing method: every vector turns to where the matrix pulls it. The lengths of the pulls
    are the dual solution, once they are scaled to be feasible.

    Args:
        matrix: positive semidefinite.
        factor: some matrix of as many rows, to start from; its rows become the vectors.
        sweeps: how often to turn the vectors.
    """
    vectors = factor
    lengths = np.ones(len(matrix))
    for _ in range(sweeps):
        pulls = matrix @ vectors
        lengths = np.sqrt(np.einsum("ij,ij->i", pulls, pulls)) + _TINY
        vectors = pulls / lengths[:, None]
    roots = np.sqrt(lengths)
    scaled = matrix / np.outer(roots, roots)
    return lengths * (float(dsyevd(scaled, compute_v=0)[0][-1]) * (1.0 + 1e-9))
