"""Kernels that the matrix engine runs between matrix products: means, samples and steps.

Tables contain float32 or float64, with one row per chain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.boltzmann.kernels.draws import LANES, fill_numbers
from glasshouse.boltzmann.kernels.floats import exponential, logistic
from glasshouse.compiled import compiled
from glasshouse.kernels.xoshiro import below


@compiled
def shuffle_rows(stream: Any, order: Any) -> None:
    """Shuffle the order of the data rows (Fisher and Yates)."""
    for k in range(order.size - 1, 0, -1):
        other = below(stream, k + 1)
        order[k], order[other] = order[other], order[k]


@compiled
def draw_units(lanes: Any, fields: Any, biases: Any, betas: Any, low: int, values: Any) -> None:
    """Sample each unit from its field plus its bias, at the inverse temperature of its row."""
    width = biases.size
    numbers, scale = np.empty(width + LANES), np.float64(1 - low)
    for r in range(len(fields)):
        fill_numbers(lanes, numbers, width)
        row, drawn, factor = fields[r], values[r], -scale * betas[r]
        for j in range(width):
            x = factor * (np.float64(row[j]) + np.float64(biases[j]))
            drawn[j] = 1.0 if numbers[j] * (1.0 + exponential(x)) < 1.0 else low


@compiled
def find_means(fields: Any, biases: Any, low: int, factor: float, means: Any) -> None:
    """Compute `factor` times the mean of each unit, from the unit's field plus its bias."""
    scale, floor = np.float64(1 - low), np.float64(low)
    for r in range(len(fields)):
        row, found = fields[r], means[r]
        for j in range(biases.size):
            x = scale * (np.float64(row[j]) + np.float64(biases[j]))
            found[j] = factor * (floor + scale * logistic(x))


@compiled
def move_by(values: Any, slopes: Any, speeds: Any, step: float, momentum: float,
            decay: float) -> None:  # fmt: skip
    """Move flat parameters one step along their gradient, with momentum and weight decay."""
    if momentum == 0.0:
        for k in range(values.size):
            values[k] += step * (slopes[k] - decay * values[k])
    else:
        for k in range(values.size):
            speeds[k] = momentum * speeds[k] + step * (slopes[k] - decay * values[k])
            values[k] += speeds[k]


@compiled
def move_by_adam(values: Any, slopes: Any, speeds: Any, squares: Any, rate: float, scale: float,
                 decay: float, number: int) -> None:  # fmt: skip
    """Move flat parameters by step `number` of Adam, counted from 1 (Kingma and Ba, 2015)."""
    first, second = 1.0 - 0.9**number, 1.0 - 0.999**number
    for k in range(values.size):
        slope = scale * slopes[k] - decay * values[k]
        speeds[k] = 0.9 * speeds[k] + 0.1 * slope
        squares[k] = 0.999 * squares[k] + 0.001 * slope * slope
        values[k] += rate * (speeds[k] / first) / (np.sqrt(squares[k] / second) + 1e-8)
