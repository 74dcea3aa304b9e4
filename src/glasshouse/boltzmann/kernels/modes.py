"""The mode of a small RBM, its energy in ±1 units, and descent towards a mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.boltzmann.kernels.enumeration import BLOCK, ground_state
from glasshouse.boltzmann.kernels.layers import fields_of
from glasshouse.compiled import compiled, inner

_MOST_STEPS = 1000  # a limit that only rounding errors can make necessary

# A mode is proven up to this difference of energies: no state is more likely by more than a
# millionth.
CLOSED = 1e-6
_EPSILON = float(np.finfo(np.float64).eps)


@compiled
def find_mode(machine: Any, low: int) -> bool:
    """Find the mode and its energy in ±1 units, by enumerating the smaller layer.

    Returns:
        Whether the mode is proven: rounding cannot hide a better state.
    """
    n, m = machine.weights.shape
    a, b = machine.visible_bias, machine.hidden_bias
    v, h = machine.mode_visible, machine.mode_hidden
    is_wide = n <= m
    blocks = max((1 << min(n, m)) // BLOCK, 1)
    best = np.zeros(2)
    best[0] = -np.inf
    ground_state(machine.weights if is_wide else machine.back, a if is_wide else b,
                 b if is_wide else a, low, 0, blocks, best, v if is_wide else h,
                 h if is_wide else v)  # fmt: skip
    signed, total = spin_weights(machine.weights, a, b, low, v, h)
    machine.mode_energy[0], machine.mode_energy[1] = -signed, total
    return bool(rounding(machine.weights, a, b) <= CLOSED)


@compiled
def rounding(weights: Any, visible_bias: Any, hidden_bias: Any) -> Any:
    """Return by how much, due to rounding, a state's energy may be below the enumerated mode's."""
    total = 0.0
    for i in range(weights.shape[0]):
        total += abs(visible_bias[i])
        for j in range(weights.shape[1]):
            total += abs(weights[i, j])
    for j in range(weights.shape[1]):
        total += abs(hidden_bias[j])
    additions = weights.shape[0] + weights.shape[1] + BLOCK
    return 2.0 * additions * _EPSILON * total


@compiled
def spin_weights(weights: Any, visible_bias: Any, hidden_bias: Any, low: int, visible: Any,
                 hidden: Any) -> Any:  # fmt: skip
    """Return a state's satisfied minus unsatisfied weight in ±1 units, and the total weight.

    Biases count as weights to a ghost unit. The state is in the RBM's own units.
    """
    n, m = weights.shape
    quarter = 1.0 if low == -1 else 0.25
    column_sums = np.zeros(m)
    signed, total = 0.0, 0.0
    for i in range(n):
        v = 1.0 if visible[i] == 1 else -1.0
        row_sum = 0.0
        for j in range(m):
            w = weights[i, j]
            signed += quarter * w * (v if hidden[j] == 1 else -v)
            total += quarter * abs(w)
            row_sum += w
            column_sums[j] += w
        bias = visible_bias[i] if low == -1 else 0.5 * visible_bias[i] + 0.25 * row_sum
        signed += bias * v
        total += abs(bias)
    for j in range(m):
        bias = hidden_bias[j] if low == -1 else 0.5 * hidden_bias[j] + 0.25 * column_sums[j]
        signed += bias if hidden[j] == 1 else -bias
        total += abs(bias)
    return signed, total


@compiled
def descend(weights: Any, back: Any, visible_bias: Any, hidden_bias: Any, low: int, visible: Any,
            hidden: Any) -> None:  # fmt: skip
    """Minimise the energy over each layer in turn, in place, until no unit changes."""
    inputs, outputs = np.empty(visible.size), np.empty(hidden.size)
    for _ in range(_MOST_STEPS):
        fields_of(visible, weights, hidden_bias, outputs)
        follow(outputs, low, hidden)
        fields_of(hidden, back, visible_bias, inputs)
        if not follow(inputs, low, visible):
            return


@inner
def follow(fields: Any, low: int, values: Any) -> bool:
    """Align every unit of a layer with its field; return whether any unit has changed."""
    has_changed = False
    for k in range(fields.size):
        value = 1 if fields[k] > 0.0 else low
        has_changed |= values[k] != value
        values[k] = value
    return has_changed
