"""The step of all parameters along a gradient."""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import inner


@inner
def move(machine: Any, plan: Any, sums: Any, step: float, weight: float) -> None:
    """The step itself, with momentum and weight decay."""
    n, m = machine.weights.shape
    decay = plan.weight_decay * weight if plan.is_mean else plan.weight_decay
    if plan.momentum == 0.0:
        for i in range(n):
            for j in range(m):
                slope = sums.weights[i, j] - decay * machine.weights[i, j]
                machine.weights[i, j] += step * slope
    else:
        for i in range(n):
            for j in range(m):
                slope = sums.weights[i, j] - decay * machine.weights[i, j]
                speed = plan.momentum * machine.weight_speed[i, j] + step * slope
                machine.weight_speed[i, j] = speed
                machine.weights[i, j] += speed
    transpose(machine.weights, machine.back)
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


@inner
def transpose(weights: Any, back: Any) -> None:
    """The weights once more, by columns; eight rows at a time fill whole lines of the cache."""
    n, m = weights.shape
    whole = n - n % 8
    for first in range(0, whole, 8):
        for j in range(m):
            for i in range(first, first + 8):
                back[j, i] = weights[i, j]
    for i in range(whole, n):
        for j in range(m):
            back[j, i] = weights[i, j]
