"""Down to a state in which no layer can do better alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.boltzmann.kernels.layers import fields_of
from glasshouse.compiled import compiled, inner

_MOST_STEPS = 1000  # a descent ends by itself, but for rounding


@compiled
def descend(weights: Any, back: Any, visible_bias: Any, hidden_bias: Any, low: int, visible: Any,
            hidden: Any) -> None:  # fmt: skip
    """Each layer the best one for the other, in turn and in place, until neither changes."""
    inputs, outputs = np.empty(visible.size), np.empty(hidden.size)
    for _ in range(_MOST_STEPS):
        fields_of(visible, weights, hidden_bias, outputs)
        follow(outputs, low, hidden)
        fields_of(hidden, back, visible_bias, inputs)
        if not follow(inputs, low, visible):
            return


@inner
def follow(fields: Any, low: int, values: Any) -> bool:
    """Every unit along its field; whether any has changed."""
    has_changed = False
    for k in range(fields.size):
        value = 1 if fields[k] > 0.0 else low
        has_changed |= values[k] != value
        values[k] = value
    return has_changed
