"""What to take off y so that M becomes positive semidefinite, at little cost."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dsyevd

from glasshouse.proofs.semidefinite.cuts import FloatArray

_SWEEPS = 12
_TINY = 1e-12


def lifting_diagonal(matrix: FloatArray, lacking: FloatArray, factor: FloatArray) -> FloatArray:
    """A diagonal d of small sum such that matrix + diag(d) is positive semidefinite.

    The least Σ d for which diag(d) - lacking is so, is the greatest <lacking, Y> over Gram matrices
    Y of unit vectors. These are found by the mixing method: every vector turns to where the matrix
    pulls it. The lengths of the pulls are the dual solution, to be scaled to what is needed.

    Args:
        matrix: what to lift.
        lacking: minus its part of negative eigenvalues.
        factor: some matrix of as many rows, to start from; its rows become the vectors.
    """
    vectors = factor
    lengths = np.ones(len(matrix))
    for _ in range(_SWEEPS):
        pulls = lacking @ vectors
        lengths = np.sqrt(np.einsum("ij,ij->i", pulls, pulls)) + _TINY
        vectors = pulls / lengths[:, None]
    roots = np.sqrt(lengths)
    eigenvalues, _, _ = dsyevd(matrix / np.outer(roots, roots), compute_v=0)
    return -float(eigenvalues[0]) * lengths
