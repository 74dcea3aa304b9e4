"""The plain semidefinite bound on an Ising energy, in floats and without a certificate."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from glasshouse.problems import Ising

_SWEEPS, _LOOK_EVERY = 20_000, 20


def semidefinite_bound(problem: Ising, seconds: float, enough: float = np.inf) -> float:
    """Return the best lower bound within the time, or a bound above `enough`, up to rounding.

    E = sᵀQs over spins and a ghost is relaxed to unit vectors and minimised one vector at a time
    (the mixing method of Wang and Kolter). The numbers y = -|Σ Q v| of the vectors are then nearly
    optimal, and any y bounds all energies by Σ y + n·min(0, λ_min(Q - diag y)).
    """
    matrix, size = _matrix(problem), problem.num_variables + 1
    rng = np.random.default_rng(1)
    rank = int(np.ceil(np.sqrt(2 * size))) + 1
    vectors = rng.normal(size=(size, rank))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    deadline, best = time.perf_counter() + seconds, -np.inf
    for sweep in range(1, _SWEEPS + 1):
        for k in range(size):
            pull = matrix[k] @ vectors
            length = np.linalg.norm(pull)
            if length:
                vectors[k] = -pull / length
        if sweep % _LOOK_EVERY and time.perf_counter() < deadline:
            continue
        bound = _bound(matrix, vectors)
        is_stuck = bound - best < 1e-9 * max(1.0, abs(bound))
        best = max(best, bound)
        is_enough = best + problem.offset > enough
        if is_enough or is_stuck or time.perf_counter() >= deadline:
            break
    return float(best) + float(problem.offset)


def _bound(matrix: npt.NDArray[np.float64], vectors: npt.NDArray[np.float64]) -> float:
    numbers = -np.linalg.norm(matrix @ vectors, axis=1)
    least = float(np.linalg.eigvalsh(matrix - np.diag(numbers))[0])
    return float(numbers.sum()) + len(matrix) * min(0.0, least)


def _matrix(problem: Ising) -> npt.NDArray[np.float64]:
    """Return Q with E = sᵀQs: half of each coupling on both sides, and fields to the ghost."""
    size = problem.num_variables
    matrix = np.zeros((size + 1, size + 1))
    matrix[problem.edges[:, 0], problem.edges[:, 1]] = -problem.weights / 2
    matrix[:size, size] = -problem.fields / 2
    return matrix + matrix.T
