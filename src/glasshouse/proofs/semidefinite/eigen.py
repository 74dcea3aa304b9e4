"""The negative eigenvalues of a symmetric matrix, with their eigenvectors.

LAPACK reduces the matrix to a tridiagonal one. Near an optimum few eigenvalues are negative, so
finding these alone takes less than half as long as a complete decomposition.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.semidefinite import tridiagonal

FloatArray = npt.NDArray[np.float64]

_BLOCK = 32  # columns that LAPACK reduces at a time
_EXACT = 1e-12  # products of two eigenvectors up to this count as zero
_ORTHOGONAL = 1e-5  # the largest product of two eigenvectors that can still be corrected


def negative_part(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the negative eigenvalues of a symmetric matrix, and one eigenvector per column.

    Raises:
        ArithmeticError: LAPACK does not converge.
    """
    from scipy.linalg import lapack  # importing SciPy takes longer than most commands

    size = len(matrix)
    if size > 1:
        reflectors, diagonal, beside, scales, _ = lapack.dsytrd(
            matrix.T, lower=1, lwork=_BLOCK * size
        )
        values = tridiagonal.negative_eigenvalues(diagonal, beside**2)
        vectors = tridiagonal.eigenvectors(diagonal, beside, values)
        products = vectors.T @ vectors
        products.flat[:: len(values) + 1] -= 1.0
        worst = float(np.abs(products).max(initial=0.0))
        if worst < _ORTHOGONAL:  # False if it is not a number
            if worst > _EXACT:
                vectors -= vectors @ (0.5 * products)
            if len(values):
                vectors[1:] = lapack.dormqr(
                    "L", "N", reflectors[1:, :-1], scales, vectors[1:], _BLOCK * size
                )[0]
            return values, vectors
    values, vectors, failed = lapack.dsyevd(matrix.T)
    if failed:
        raise ArithmeticError("an eigendecomposition did not converge; please report this bug")
    count = int(np.searchsorted(values, 0.0))
    return values[:count], vectors[:, :count]
