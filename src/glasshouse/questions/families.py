"""Families of matrices whose frustration grows towards 1/2 (paper, section "Maximum Frustration").

Quasi-random signs leave every state with about as many violated bonds as satisfied ones. For the
largest singular value σ of W, v·W·h ≤ σ √(nm), so f ≥ ½ (1 - σ √(nm) / Σ|W|).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from glasshouse.problems import validation


def paley_matrix(order: int) -> npt.NDArray[np.int64]:
    """Return the Paley (Jacobsthal) matrix of a prime q: +1 where i-j is a square mod q, else -1.

    The diagonal is 0. All its singular values except one are √q.

    >>> paley_matrix(5)[0]
    array([ 0,  1, -1, -1,  1])
    """
    order = validation.count(order, "order")
    if order < 3 or any(order % k == 0 for k in range(2, int(order**0.5) + 1)):
        raise ValueError(f"order={order} must be an odd prime")
    squares = np.arange(1, order) ** 2 % order
    signs = np.full(order, -1, dtype=np.int64)
    signs[squares] = 1
    signs[0] = 0
    places = np.arange(order)
    matrix: npt.NDArray[np.int64] = signs[(places[:, None] - places[None, :]) % order]
    return matrix


def hadamard_matrix(order: int) -> npt.NDArray[np.int64]:
    """Return a Hadamard matrix (±1, orthogonal rows), by Sylvester's and Paley's constructions.

    All singular values are √n, so f ≥ ½ (1 - 1/√n). The order is a power of 2, or a power of 2
    times q + 1 for a prime q ≡ 3 (mod 4).

    >>> hadamard_matrix(4)
    array([[ 1,  1,  1,  1],
           [ 1, -1,  1, -1],
           [ 1,  1, -1, -1],
           [ 1, -1, -1,  1]])
    """
    order = validation.count(order, "order")
    halves = [order >> k for k in range(order.bit_length()) if order % (1 << k) == 0]
    cores = [core for core in halves if core == 1] or [core for core in halves if _is_paley(core)]
    if not cores:
        raise ValueError(f"order={order} must be 2^k or 2^k·(q + 1) with a prime q ≡ 3 (mod 4)")
    matrix = _paley_hadamard(cores[0] - 1) if cores[0] > 1 else np.ones((1, 1), dtype=np.int64)
    while len(matrix) < order:
        matrix = np.kron(np.array([[1, 1], [1, -1]]), matrix)
    return matrix


def frustration_bound(weights: npt.ArrayLike) -> float:
    """Return a floating-point lower bound on the frustration f, from the largest singular value.

    >>> round(frustration_bound(hadamard_matrix(64)), 9)
    0.4375
    """
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.ndim != 2 or not np.isfinite(matrix).all():
        raise ValueError("weights must be a matrix of finite numbers")
    greatest = np.abs(matrix).max(initial=0.0)
    if not greatest:
        return 0.0
    matrix = matrix / greatest  # prevents an overflow of sums and squares
    total = float(np.abs(matrix).sum())
    largest: float = np.linalg.norm(matrix, 2).item()
    return max(0.0, 0.5 * (1.0 - largest * math.sqrt(matrix.size) / total))


def _is_paley(order: int) -> bool:
    prime = order - 1
    return prime % 4 == 3 and all(prime % k for k in range(2, int(prime**0.5) + 1))


def _paley_hadamard(prime: int) -> npt.NDArray[np.int64]:
    """Return I + S for the bordered Paley matrix S; S is skew, as -1 is not a square modulo q."""
    matrix = np.ones((prime + 1, prime + 1), dtype=np.int64)
    matrix[1:, 0] = -1
    matrix[1:, 1:] = paley_matrix(prime) + np.eye(prime, dtype=np.int64)
    return matrix
