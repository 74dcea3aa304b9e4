"""Weights and biases from third-party objects, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.files.formats.matrices import HIDDEN, VISIBLE, WEIGHTS
from glasshouse.problems import FloatArray


def by_name(arrays: Mapping[str, Any]) -> list[Any]:
    """Return weights and both biases from named arrays; both biases may be missing."""
    found = [[n for n in names if n in arrays] for names in (WEIGHTS, VISIBLE, HIDDEN)]
    counts = [*map(len, found)]
    if counts not in ([1, 0, 0], [1, 1, 1]) or len(arrays) != sum(counts):
        raise ValueError(
            f"the arrays have the names {', '.join(map(str, arrays))[:100]}; expected one each of "
            f"{'/'.join(WEIGHTS)}, {'/'.join(VISIBLE)} and {'/'.join(HIDDEN)}"
        )
    return [arrays[names[0]] if names else None for names in found]


def detached(values: Any) -> Any:
    """Return any array-like as an array; PyTorch parameters are detached and moved to the CPU."""
    for step in ("detach", "cpu", "numpy"):
        if callable(getattr(values, step, None)):
            values = getattr(values, step)()
    return None if values is None else np.asarray(values)


def floats(values: npt.ArrayLike, name: str) -> FloatArray:
    """Return finite real numbers as a float array; raise for any others."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} are {array.dtype}; expected real numbers")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contain NaN or infinity; expected finite numbers")
    return array


def bias(values: npt.ArrayLike | None, size: int, layer: str) -> FloatArray:
    """Return the biases of a layer; zeros if there are none."""
    if values is None:
        return np.zeros(size)
    array = floats(values, f"{layer}_bias")
    if array.shape != (size,):
        raise ValueError(f"{layer}_bias has shape {array.shape}, but the layer has {size} units")
    return array
