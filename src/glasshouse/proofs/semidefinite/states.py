"""States from a matrix X: the signs of random projections of its vectors, then descent."""

from __future__ import annotations

import numpy as np

from glasshouse.proofs.semidefinite import kernels
from glasshouse.proofs.semidefinite.cuts import FloatArray


def best_projection(
    matrix: FloatArray, factor: FloatArray, rng: np.random.Generator, tries: int
) -> tuple[FloatArray, float]:
    """The spins of least energy <A, ss'> that some projections lead to, and that energy.

    Args:
        matrix: A, its diagonal zero.
        factor: a matrix F with X = FF'.
        rng: where projections come from.
        tries: how many projections.
    """
    directions = rng.standard_normal((factor.shape[1], tries))
    states = np.where(factor @ directions >= 0.0, 1.0, -1.0).T.copy()
    kernels.descend(matrix, states)
    energies = np.einsum("ti,ti->t", states @ matrix, states)
    best = int(np.argmin(energies))
    return states[best], float(energies[best])
