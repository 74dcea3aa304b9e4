"""Negative eigenvalues and their eigenvectors, compared with NumPy's complete decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glasshouse.proofs.semidefinite import eigen
from glasshouse.proofs.semidefinite.eigen import negative_part


def symmetric(seed: int) -> np.ndarray:
    """A matrix of 1 to 60 rows with a random spectrum, often clustered, degenerate or scaled."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 61))
    basis, _ = np.linalg.qr(rng.normal(size=(size, size)))
    spectrum = rng.normal(size=size) + rng.normal()
    kind = seed % 6
    if kind == 1:  # near the optimum of an ascent: many eigenvalues just below 0
        spectrum = np.where(rng.random(size) < 0.4, -1e-4 * rng.random(size), 5 * rng.random(size))
    elif kind == 2:  # multiple eigenvalues
        spectrum = np.round(spectrum)
    elif kind == 3:  # pairs that are almost equal
        spectrum[size // 2 :] = spectrum[: size - size // 2] * (1 + 1e-11)
    elif kind == 4:  # sparse and with integers, so that the tridiagonal form splits
        matrix = np.triu(rng.integers(-1, 2, (size, size)) * (rng.random((size, size)) < 0.1))
        return (matrix + matrix.T).astype(float)
    elif kind == 5:
        spectrum *= 10.0 ** rng.integers(-12, 13)
    matrix = (basis * spectrum) @ basis.T
    return (matrix + matrix.T) / 2


def assert_is_negative_part(matrix: np.ndarray) -> None:
    values, vectors = negative_part(matrix)
    every, basis = np.linalg.eigh(matrix)
    scale = np.abs(every).max(initial=0.0)
    count = int((every < -1e-13 * scale).sum())
    assert len(values) >= count
    assert np.all(values <= 0.0)
    assert np.all(values[count:] >= -1e-12 * scale)
    assert np.allclose(values[:count], every[:count], rtol=0.0, atol=1e-13 * scale)
    assert np.allclose(vectors.T @ vectors, np.eye(len(values)), rtol=0.0, atol=1e-7)
    lower = np.minimum(every, 0.0)
    expected, found = (basis * lower) @ basis.T, (vectors * values) @ vectors.T
    # As precise as eigenvalues just below 0 need: their own size, not only the largest one, counts.
    assert np.allclose(found, expected, rtol=0.0, atol=1e-13 * scale + 1e-9 * np.abs(lower).max())


@pytest.mark.parametrize("seed", range(300))
def test_it_agrees_with_a_complete_decomposition(seed: int) -> None:
    assert_is_negative_part(symmetric(seed))


@pytest.mark.parametrize(
    "matrix",
    [
        np.zeros((1, 1)),
        np.full((1, 1), -2.0),
        np.zeros((7, 7)),
        -np.eye(9),
        np.eye(9),
        np.ones((6, 6)),
        -np.ones((6, 6)),
        np.diag([-1.0, 0.0, 1.0, -1.0]),
        np.array([[0.0, 1.0], [1.0, 0.0]]),
        -1e-300 * np.ones((4, 4)),
    ],
)
def test_special_matrices(matrix: np.ndarray) -> None:
    assert_is_negative_part(matrix)


def test_a_multiple_eigenvalue_is_left_to_the_complete_decomposition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from scipy.linalg import lapack

    complete = list[int]()
    own = lapack.dsyevd

    def counted(matrix: Any, **options: Any) -> Any:
        complete.append(len(matrix))
        return own(matrix, **options)

    monkeypatch.setattr(lapack, "dsyevd", counted)
    negative_part(np.diag([-1.0, 2.0, -1.0, -3.0]))
    assert complete == [4]
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(50, 50))
    negative_part(matrix + matrix.T)
    assert complete == [4]


def test_almost_equal_eigenvalues_get_orthogonal_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the correction, these vectors would be orthogonal to six digits only."""
    rng = np.random.default_rng(3)
    basis, _ = np.linalg.qr(rng.normal(size=(40, 40)))
    spectrum = np.linspace(1.0, 2.0, 40)
    spectrum[:4] = [-1.0, -1.0 + 1e-9, -1e-5, -1e-5 + 1e-9]
    matrix = (basis * spectrum) @ basis.T
    matrix = (matrix + matrix.T) / 2
    _, vectors = negative_part(matrix)
    best = np.abs(vectors.T @ vectors - np.eye(4)).max()
    monkeypatch.setattr(eigen, "_EXACT", 1.0)
    _, plain = negative_part(matrix)
    assert best < 1e-10 < 1e-8 < np.abs(plain.T @ plain - np.eye(4)).max() < 1e-4
