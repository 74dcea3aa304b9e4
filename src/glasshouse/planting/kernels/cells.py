"""The weight matrix while loops are planted: a dense array, or a hash table if it is large.

A matrix is one array. With one row it is dense: a number for every cell. With two rows it is an
open-addressing hash table with linear probing, keys above values, whose length is a power of two.
Both give the same answers, so an instance does not depend on the choice. If only the signs of
weights matter, a dense matrix is int8 and stays in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inlined

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / φ: Fibonacci hashing
_U29 = np.uint64(29)
_EMPTY = -1


def new_cells(
    cells: int, touched: int, *, signs: bool, dense: bool | None = None
) -> npt.NDArray[Any]:
    """Return an all-zero matrix: a dense array unless a half-empty hash table takes less memory.

    Args:
        cells: the number of cells.
        touched: the largest number of cells that will not stay zero.
        signs: whether only signs will be stored (see `put_at`).
        dense: overrides the choice, for tests.
    """
    slots = 16
    while slots < 2 * min(touched, cells):
        slots *= 2
    kind = np.dtype(np.int8 if signs else np.int64)
    if cells * kind.itemsize <= 16 * slots if dense is None else dense:
        return np.zeros((1, cells), kind)
    matrix = np.zeros((2, slots), np.int64)
    matrix[0] = _EMPTY
    return matrix


@compiled
def clear(matrix: Any) -> None:
    """Set all cells to zero."""
    matrix[:] = 0
    if matrix.shape[0] == 2:
        matrix[0] = _EMPTY


@inlined
def _slot(matrix: Any, cell: int) -> Any:
    """Return the position of a cell in the table, or the empty position where it would go."""
    mask = matrix.shape[1] - 1
    place = np.int64((np.uint64(cell) * _GOLDEN) >> _U29) & mask
    while matrix[0, place] != cell and matrix[0, place] != _EMPTY:
        place = (place + 1) & mask
    return place


@inlined
def value_at(matrix: Any, cell: int) -> Any:
    """Return the weight of a cell, or its sign if only signs are stored."""
    if matrix.shape[0] == 1:
        return np.int64(matrix[0, cell])
    return np.int64(matrix[1, _slot(matrix, cell)])


@inlined
def put_at(matrix: Any, cell: int, weight: int, signs: bool) -> None:
    """Add a weight to a cell, or store only its sign; a weight of 0 changes nothing."""
    if weight != 0:
        row, place = 0, cell
        if matrix.shape[0] == 2:
            row, place = 1, _slot(matrix, cell)
            matrix[0, place] = cell
        if signs:
            matrix[row, place] = 1 if weight > 0 else -1
        else:
            matrix[row, place] += weight
