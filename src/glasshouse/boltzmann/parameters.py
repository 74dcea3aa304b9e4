"""Conversion of third-party weights and biases to checked arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.files.formats.matrices import HIDDEN, VISIBLE, WEIGHTS
from glasshouse.problems import FloatArray


def by_name(arrays: Mapping[str, Any]) -> list[Any]:
    """Return weights and both biases from named arrays, with None for missing biases."""
    found = [[n for n in names if n in arrays] for names in (WEIGHTS, VISIBLE, HIDDEN)]
    counts = [*map(len, found)]
    if counts not in ([1, 0, 0], [1, 1, 1]) or len(arrays) != sum(counts):
        raise ValueError(
            f"the arrays are named {', '.join(map(str, arrays))[:100]}; expected a name from each "
            f"of {'/'.join(WEIGHTS)}, {'/'.join(VISIBLE)} and {'/'.join(HIDDEN)}"
        )
    return [arrays[names[0]] if names else None for names in found]


def detached(values: Any) -> Any:
    """Return an array-like, or a PyTorch parameter on any device, as a NumPy array."""
    for step in ("detach", "cpu", "numpy"):
        if callable(getattr(values, step, None)):
            values = getattr(values, step)()
    return None if values is None else np.asarray(values)


def floats(values: npt.ArrayLike, name: str) -> FloatArray:
    """Check that values are finite real numbers, and return them as a float array."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} have type {array.dtype}; expected real numbers")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contain NaN or infinity; expected finite numbers")
    return array


def bias(values: npt.ArrayLike | None, size: int, layer: str) -> FloatArray:
    """Check and return the biases of a layer; for None, return zeros."""
    if values is None:
        return np.zeros(size)
    array = floats(values, f"{layer}_bias")
    if array.shape != (size,):
        raise ValueError(f"{layer}_bias has shape {array.shape}; expected a list of {size} numbers")
    return array
