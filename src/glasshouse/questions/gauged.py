"""Gauged matrices, which have the all-up state as a ground state (paper, "Gauged RBM")."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import Rbm, validation
from glasshouse.proofs.proof import prove

# Up to this many spins on the smaller side, all their states are enumerated.
_ENUMERABLE = 20
# Sums of fields and of their magnitudes fit in int64 up to this total.
_MOST_WEIGHT = 2**62


def ground_state(weights: npt.NDArray[np.int64]) -> tuple[int, npt.NDArray[np.int8]]:
    """Enumerate the smaller side; return the least energy -v·W·h, and spins v that attain it.

    The other side follows: h_j takes the sign of its field, so the energy is -Σ_j |Σ_i v_i W_ij|.

    >>> ground_state(np.array([[1, 1], [1, -1]]))[0]
    -2
    """
    matrix = weights if weights.shape[0] <= weights.shape[1] else weights.T
    side = len(matrix)
    if side > _ENUMERABLE:
        raise ValueError(f"the smaller side has {side} spins; it must have at most {_ENUMERABLE}")
    total = validation.total_magnitude([matrix.reshape(-1)], 0, "the weights")
    if total > _MOST_WEIGHT:
        raise ValueError(
            f"the weights add up to {total}, above {_MOST_WEIGHT}, the limit of int64 sums; "
            "divide all weights by a common factor"
        )
    # All fields of one half of the rows are added to those of the other half. The global flip fixes
    # the first spin.
    half = (side + 1) // 2
    first, second = _all_spins(half)[: 1 << (half - 1)], _all_spins(side - half)
    second_fields = second @ matrix[half:]
    best, best_spins = 1, np.ones(side, dtype=np.int8)
    for spins in first:
        energies = -np.abs(spins @ matrix[:half] + second_fields).sum(axis=1)
        place = int(energies.argmin())
        if energies[place] < best:
            best, best_spins = int(energies[place]), np.concatenate([spins, second[place]])
    return best, best_spins.astype(np.int8)


def _all_spins(size: int) -> npt.NDArray[np.int64]:
    """Return all states of `size` spins, beginning with those in which the first spin is up."""
    bits = (np.arange(1 << size)[:, None] >> np.arange(size)[::-1]) & 1
    spins: npt.NDArray[np.int64] = 1 - 2 * bits
    return spins


def is_gauged(weights: npt.ArrayLike, *, time_limit: float | None = 60) -> bool | None:
    """Return whether no state has a lower energy than all spins up (the positive-sum condition).

    Sums over all switching sets must be non-negative, not positive: degenerate ground states are
    allowed (ERRATA 2). Small matrices are decided by enumeration, larger ones by `prove`.

    Args:
        weights: W, an integer matrix.
        time_limit: the time limit of `prove`, in seconds.

    Returns:
        None if `prove` could not decide: it found no lower state, but did not close the gap.

    >>> is_gauged([[2, 1], [1, -1]]), is_gauged([[1, 1], [1, -2]])
    (True, False)
    """
    matrix, time_limit = integer_matrix(weights), validation.time_limit(time_limit)
    problem = Rbm(matrix)  # raises if the sum of the weights exceeds int64
    up = -int(matrix.sum())
    if min(matrix.shape) <= _ENUMERABLE and problem.total_weight <= _MOST_WEIGHT:
        return ground_state(matrix)[0] == up
    ones = np.ones(sum(matrix.shape), dtype=np.int8)
    proof = prove(problem, target=up, state=ones, time_limit=time_limit)
    if proof.statistics.stopped == "Ctrl-C":  # the question stays open
        raise KeyboardInterrupt
    if proof.energy < up:
        return False
    return True if proof.lower_bound >= up else None


def integer_matrix(weights: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return weights as an int64 matrix; raise unless they are a non-empty integer matrix."""
    matrix: npt.NDArray[Any] = np.asarray(weights)
    if matrix.ndim != 2 or not matrix.size or matrix.dtype.kind not in "iu":
        raise ValueError(
            f"weights must be a matrix of integers, not {matrix.dtype} of shape {matrix.shape}"
        )
    exact = validation.weights(matrix.reshape(-1), "weights")  # raises above int64
    return exact.reshape(matrix.shape).astype(np.int64)
