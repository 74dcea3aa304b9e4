"""Annealed importance sampling: chains between a machine without weights and the machine itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.boltzmann.kernels.enumeration import log_weight
from glasshouse.boltzmann.kernels.layers import chances_of, draw, fields_of
from glasshouse.compiled import compiled, inner


@compiled
def log_importance(streams: Any, weights: Any, back: Any, base_bias: Any, visible_bias: Any,
                   hidden_bias: Any, low: int, temperatures: int, is_reverse: bool, first: int,
                   last: int, states: Any, logs: Any) -> None:  # fmt: skip
    """Compute the log importance weight of each chain; each chain has its own random stream.

    The mean weight estimates Z / Z_base. At inverse temperature β, the visible biases are
    (1-β)·base + β·a, and all other parameters are multiplied by β. At β = 0 all units are
    independent, so the first state is an exact sample. In reverse, β falls from 1 to 0, the first
    states are given, and the mean weight estimates Z_base / Z. Gibbs steps are reversible, so both
    directions have the same steps.

    A call makes the steps after temperatures `first` to `last - 1`. Between calls, `states`
    contains the visible units of each chain, and `logs` the logarithms so far.
    """
    n, m = weights.shape
    hidden = np.empty(m, np.int8)
    fields, tempered, room = np.empty(m), np.empty(m), np.empty(m)
    inputs, chances, no_bias = np.empty(n), np.empty(n), np.zeros(n)
    for c in range(len(streams)):
        visible = states[c]
        if first == 0:
            if not is_reverse:
                chances_of(base_bias, low, chances)
                draw(streams[c], chances, low, visible)
            logs[c] = 0.0
        total = logs[c]
        for k in range(first + 1, last + 1):
            before, beta = np.float64(k - 1) / temperatures, np.float64(k) / temperatures
            if is_reverse:
                before = np.float64(temperatures + 1 - k) / temperatures
                beta = np.float64(temperatures - k) / temperatures
            fields_of(visible, weights, hidden_bias, fields)
            for i in range(n):
                total += (beta - before) * visible[i] * (visible_bias[i] - base_bias[i])
            total -= tempered_log_weight(before, fields, low, tempered, room)
            total += tempered_log_weight(beta, fields, low, tempered, room)
            if k == temperatures:
                break
            chances_of(tempered, low, room)
            draw(streams[c], room, low, hidden)
            fields_of(hidden, back, no_bias, inputs)
            for i in range(n):
                own = (1.0 - beta) * base_bias[i] + beta * visible_bias[i]
                inputs[i] = own + beta * inputs[i]
            chances_of(inputs, low, chances)
            draw(streams[c], chances, low, visible)
        logs[c] = total


@inner
def tempered_log_weight(beta: float, fields: Any, low: int, tempered: Any, room: Any) -> Any:
    """Return the log weight at β with hidden units summed out, and store the hidden fields."""
    for j in range(fields.size):
        tempered[j] = beta * fields[j]
    return log_weight(0.0, tempered, low, room)
