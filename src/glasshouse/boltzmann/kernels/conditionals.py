"""Each visible unit given all others: what the pseudo-likelihood is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.boltzmann.kernels.enumeration import bias_energy, flip, log_weight
from glasshouse.boltzmann.kernels.floats import exponential, logarithm
from glasshouse.boltzmann.kernels.layers import copy_row, fields_of
from glasshouse.compiled import compiled


@compiled
def pseudo_log_likelihoods(states: Any, weights: Any, biases: Any, other_biases: Any, low: int,
                           logs: Any) -> None:  # fmt: skip
    """Σ_i ln p(v_i | all other visible units), one sum per state."""
    n, m = weights.shape
    visible, fields, changed, factors = np.empty(n, np.int8), np.empty(m), np.empty(m), np.empty(m)
    for s in range(len(states)):
        copy_row(states[s], visible)
        fields_of(visible, weights, other_biases, fields)
        here = log_weight(bias_energy(visible, biases), fields, low, factors)
        total = 0.0
        for i in range(n):
            copy_row(fields, changed)
            flip(i, low, weights, visible, changed)
            there = log_weight(bias_energy(visible, biases), changed, low, factors)
            visible[i] = states[s, i]
            rise = there - here  # ln p(v_i | others) = -ln(1 + exp(rise))
            total -= max(rise, 0.0) + logarithm(1.0 + exponential(-abs(rise)))
        logs[s] = total
