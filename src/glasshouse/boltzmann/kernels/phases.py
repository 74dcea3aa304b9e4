"""The negative phase (model) of an update without chains: by the mode, or by exact averages."""

from __future__ import annotations

from typing import Any

from glasshouse.boltzmann.kernels.enumeration import find_averages
from glasshouse.boltzmann.kernels.gradient import add_outer
from glasshouse.compiled import inner


@inner
def subtract_mode(machine: Any, low: int, sums: Any, weight: float) -> None:
    """Subtract the units and products of the mode, in place of the model's averages."""
    for j in range(machine.mode_hidden.size):
        sums.means[j] = machine.mode_hidden[j]
    add_outer(sums, low, machine.mode_visible, sums.means, -weight)


@inner
def subtract_exact(machine: Any, plan: Any, sums: Any, averages: Any, weight: float) -> None:
    """Subtract the model's exact averages, enumerated by this kernel or passed from Python."""
    n, m = machine.weights.shape
    is_wide = n <= m
    if not plan.averages_apart:
        find_averages(machine.weights if is_wide else machine.back,
                      machine.visible_bias if is_wide else machine.hidden_bias,
                      machine.hidden_bias if is_wide else machine.visible_bias,
                      plan.low, averages)  # fmt: skip
    averages.known[0] = False
    products = averages.products
    visible = averages.smaller if is_wide else averages.larger
    hidden = averages.larger if is_wide else averages.smaller
    for i in range(n):
        for j in range(m):
            sums.weights[i, j] -= weight * (products[i, j] if is_wide else products[j, i])
    for i in range(n):
        sums.visible[i] -= weight * visible[i]
    for j in range(m):
        sums.hidden[j] -= weight * hidden[j]
