"""The weights and biases of two layers, and their conversion from third-party arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.files.formats.matrices import HIDDEN, VISIBLE, WEIGHTS
from glasshouse.problems import FloatArray, validation
from glasshouse.summaries import Summarised


@dataclass(frozen=True, eq=False, repr=False)
class TwoLayers(Summarised):
    """The base class of machines: weights between two layers, and the biases of both layers.

    Attributes:
        weights: W, one row per visible and one column per hidden unit.
        visible_bias: a; zeros by default.
        hidden_bias: b; zeros by default.
    """

    weights: FloatArray
    visible_bias: FloatArray = None  # type: ignore[assignment]  # an array after __post_init__
    hidden_bias: FloatArray = None  # type: ignore[assignment]  # an array after __post_init__

    def __post_init__(self) -> None:
        weights = floats(self.weights, "weights")
        if weights.ndim != 2 or 0 in weights.shape:
            raise ValueError(
                f"weights have shape {weights.shape}; expected one row per visible and one column "
                "per hidden unit, at least one of each"
            )
        fields = {
            "weights": weights,
            "visible_bias": bias(self.visible_bias, len(weights), "visible"),
            "hidden_bias": bias(self.hidden_bias, weights.shape[1], "hidden"),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, validation.read_only(value))

    @property
    def num_visible(self) -> int:
        """The number of visible units."""
        return int(self.weights.shape[0])

    @property
    def num_hidden(self) -> int:
        """The number of hidden units."""
        return int(self.weights.shape[1])


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
