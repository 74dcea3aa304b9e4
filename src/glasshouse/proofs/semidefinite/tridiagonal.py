"""Compiled functions for the negative eigenvalues of a symmetric tridiagonal matrix.

The loops run over several eigenvalues at once, which keeps the vector units of the CPU busy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner

_HALVINGS = 50  # after these, an interval is as small as the rounding error of its ends
_TINY = 1e-290  # replaces pivots of zero


@inner
def counted(diagonal: Any, squares: Any, shifts: Any, pivots: Any, counts: Any) -> None:
    """Count the eigenvalues below each shift, as the negative pivots of T - shift."""
    lanes = len(shifts)
    for j in range(lanes):
        pivot = diagonal[0] - shifts[j]
        pivots[j] = pivot if abs(pivot) > _TINY else -_TINY
        counts[j] = 1.0 if pivots[j] < 0.0 else 0.0
    for i in range(1, len(diagonal)):
        own, square = diagonal[i], squares[i - 1]
        for j in range(lanes):
            pivot = own - shifts[j] - square / pivots[j]
            pivot = pivot if abs(pivot) > _TINY else -_TINY
            pivots[j] = pivot
            counts[j] += 1.0 if pivot < 0.0 else 0.0


@compiled
def negative_eigenvalues(diagonal: Any, squares: Any) -> Any:
    """Return all negative eigenvalues in ascending order, by bisection.

    Args:
        diagonal: the diagonal of the matrix.
        squares: the squares of the entries next to the diagonal.
    """
    size = len(diagonal)
    low = 0.0
    for i in range(size):
        radius = np.sqrt(squares[i - 1]) if i > 0 else 0.0
        radius += np.sqrt(squares[i]) if i < size - 1 else 0.0
        low = min(low, diagonal[i] - radius)
    one, pivots, counts = np.empty(1), np.empty(size), np.empty(size)
    one[0] = 0.0
    counted(diagonal, squares, one, pivots, counts)
    lanes = int(counts[0])
    lows, highs, middles = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    for j in range(lanes):
        lows[j], highs[j] = low, 0.0
    for _ in range(_HALVINGS):
        for j in range(lanes):
            middles[j] = 0.5 * (lows[j] + highs[j])
        counted(diagonal, squares, middles, pivots, counts)
        for j in range(lanes):
            is_above = counts[j] > j
            highs[j] = middles[j] if is_above else highs[j]
            lows[j] = lows[j] if is_above else middles[j]
    for j in range(lanes):
        middles[j] = 0.5 * (lows[j] + highs[j])
    return middles


@compiled
def eigenvectors(diagonal: Any, beside: Any, values: Any) -> Any:
    """Return unit vectors for given eigenvalues, one per column, from twisted factorisations.

    T - value is factored from the top and from the bottom. Where both factorisations meet with the
    smallest pivot, the vector is 1, and the factors yield its other entries.
    """
    size, lanes = len(diagonal), len(values)
    down, up = np.empty((size, lanes)), np.empty((size, lanes))
    for j in range(lanes):
        pivot = diagonal[0] - values[j]
        down[0, j] = pivot if abs(pivot) > _TINY else -_TINY
        pivot = diagonal[size - 1] - values[j]
        up[size - 1, j] = pivot if abs(pivot) > _TINY else -_TINY
    for i in range(1, size):
        own, square = diagonal[i], beside[i - 1] * beside[i - 1]
        for j in range(lanes):
            pivot = own - values[j] - square / down[i - 1, j]
            down[i, j] = pivot if abs(pivot) > _TINY else -_TINY
    for i in range(size - 2, -1, -1):
        own, square = diagonal[i], beside[i] * beside[i]
        for j in range(lanes):
            pivot = own - values[j] - square / up[i + 1, j]
            up[i, j] = pivot if abs(pivot) > _TINY else -_TINY
    least, twist = np.full(lanes, np.inf), np.zeros(lanes, np.int64)
    for i in range(size):
        own = diagonal[i]
        for j in range(lanes):
            gap = abs(down[i, j] + up[i, j] - own + values[j])
            is_less = gap < least[j]
            least[j] = gap if is_less else least[j]
            twist[j] = i if is_less else twist[j]
    vectors = np.empty((size, lanes))
    for i in range(size):
        for j in range(lanes):
            vectors[i, j] = 1.0 if twist[j] == i else 0.0
    for i in range(size - 2, -1, -1):
        for j in range(lanes):
            entry = -beside[i] * vectors[i + 1, j] / down[i, j]
            vectors[i, j] = entry if i < twist[j] else vectors[i, j]
    for i in range(1, size):
        for j in range(lanes):
            entry = -beside[i - 1] * vectors[i - 1, j] / up[i, j]
            vectors[i, j] = entry if i > twist[j] else vectors[i, j]
    sums = np.zeros(lanes)
    for i in range(size):
        for j in range(lanes):
            sums[j] += vectors[i, j] * vectors[i, j]
    for j in range(lanes):
        sums[j] = 1.0 / np.sqrt(sums[j])
    for i in range(size):
        for j in range(lanes):
            vectors[i, j] *= sums[j]
    return vectors
