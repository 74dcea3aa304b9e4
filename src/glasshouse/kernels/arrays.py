"""New arrays. Numba compiles `np.zeros` anew wherever it stands; these are compiled once."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import inner


@inner
def zeros32(size: Any) -> Any:
    """Int32 zeros."""
    return np.zeros(np.int64(size), np.int32)


@inner
def zeros64(size: Any) -> Any:
    """Int64 zeros."""
    return np.zeros(np.int64(size), np.int64)


@inner
def table32(rows: Any, columns: Any) -> Any:
    """Int32 zeros in rows and columns."""
    return np.zeros((np.int64(rows), np.int64(columns)), np.int32)


@inner
def enlarged(array: Any, size: Any) -> Any:
    """A longer copy (by hand: assigning slices triples the time to compile)."""
    longer = np.empty(size, array.dtype)
    for k in range(array.size):
        longer[k] = array[k]
    return longer
