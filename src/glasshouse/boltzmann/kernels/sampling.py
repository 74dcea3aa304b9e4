"""Gibbs chains of many states, and means of one layer given states of the other layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.boltzmann.kernels.layers import (
    chances_of,
    copy_row,
    fields_of,
    gibbs_step,
    means_of,
)
from glasshouse.compiled import compiled
from glasshouse.kernels.xoshiro import fill_spins


@compiled
def layer_means(states: Any, weights: Any, biases: Any, low: int) -> Any:
    """Return the means of one layer for each given state of the other layer."""
    size = biases.size
    fields, chances, means = np.empty(size), np.empty(size), np.empty((len(states), size))
    for s in range(len(states)):
        fields_of(states[s], weights, biases, fields)
        chances_of(fields, low, chances)
        means_of(chances, low, means[s])
    return means


@compiled
def mean_field(values: Any, weights: Any, biases: Any, low: int) -> Any:
    """Return the means of one layer for each row of real values of the other layer."""
    size = biases.size
    fields, chances, means = np.empty(size), np.empty(size), np.empty((len(values), size))
    for s in range(len(values)):
        copy_row(biases, fields)
        for i in range(len(weights)):
            for j in range(size):
                fields[j] += values[s, i] * weights[i, j]
        chances_of(fields, low, chances)
        means_of(chances, low, means[s])
    return means


@compiled
def fill_states(stream: Any, low: int, states: Any) -> None:
    """Fill an array with uniformly random states."""
    for state in states:
        fill_spins(stream, state)
        for i in range(state.size):
            state[i] = max(state[i], low)


@compiled
def run_chains(stream: Any, weights: Any, back: Any, visible_bias: Any, hidden_bias: Any,
               low: int, steps: int, states: Any) -> None:  # fmt: skip
    """Advance one chain per visible state by `steps` Gibbs steps, in place."""
    n, m = weights.shape
    hidden, room = np.empty(m, np.int8), np.empty((2, max(n, m)))
    for s in range(len(states)):
        for _ in range(steps):
            gibbs_step(stream, weights, back, visible_bias, hidden_bias, low, states[s], hidden,
                       room)  # fmt: skip
