"""The step of all parameters along a gradient."""

from __future__ import annotations

from typing import Any

from glasshouse.boltzmann.kernels.gradient import take_row
from glasshouse.boltzmann.kernels.transposition import STRIP, transpose_strip
from glasshouse.compiled import inlined, inner


@inner
def move(machine: Any, plan: Any, sums: Any, step: float, weight: float) -> None:
    """The step itself, with momentum and weight decay."""
    n, m = machine.weights.shape
    decay = plan.weight_decay * weight if plan.is_mean else plan.weight_decay
    for first in range(0, n, STRIP):
        for i in range(first, min(first + STRIP, n)):
            take_row(sums, i)
            move_row(machine, plan, sums.row, i, step, decay)
        transpose_strip(machine.weights, first, machine.back)
    sums.waiting[0] = 0
    if plan.has_biases:
        for i in range(n):
            machine.visible_speed[i] = (
                plan.momentum * machine.visible_speed[i] + step * sums.visible[i]
            )
            machine.visible_bias[i] += machine.visible_speed[i]
        for j in range(m):
            machine.hidden_speed[j] = (
                plan.momentum * machine.hidden_speed[j] + step * sums.hidden[j]
            )
            machine.hidden_bias[j] += machine.hidden_speed[j]


@inlined
def move_row(machine: Any, plan: Any, slopes: Any, i: int, step: float, decay: float) -> None:
    """The step of the weights of one visible unit."""
    if plan.momentum == 0.0:
        for j in range(slopes.size):
            slope = slopes[j] - decay * machine.weights[i, j]
            machine.weights[i, j] += step * slope
    else:
        for j in range(slopes.size):
            slope = slopes[j] - decay * machine.weights[i, j]
            speed = plan.momentum * machine.weight_speed[i, j] + step * slope
            machine.weight_speed[i, j] = speed
            machine.weights[i, j] += speed
