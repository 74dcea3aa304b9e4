"""The positive phase (data) and the negative phase (model) of an update."""

from __future__ import annotations

from typing import Any

from glasshouse.boltzmann.kernels.enumeration import find_averages
from glasshouse.boltzmann.kernels.gradient import add_outer
from glasshouse.boltzmann.kernels.layers import (
    chances_of,
    copy_row,
    draw,
    fields_of,
    gibbs_step,
    means_of,
)
from glasshouse.boltzmann.kernels.machine import CD
from glasshouse.compiled import inner


@inner
def add_data(machine: Any, plan: Any, sums: Any, row: Any, uses_mode: bool,
             is_mode_step: bool) -> None:  # fmt: skip
    """Add a data row to the sums; in contrastive divergence, subtract its chain's final state."""
    fields, chances = sums.hidden_fields, sums.hidden_chances
    fields_of(row, machine.weights, machine.hidden_bias, fields)
    chances_of(fields, plan.low, chances)
    means_of(chances, plan.low, sums.means)
    add_outer(sums, plan.low, row, sums.means, 1.0)
    if plan.gradient != CD or is_mode_step:
        return
    if uses_mode:
        copy_row(machine.mode_hidden, sums.hidden_state)
    else:
        draw(machine.stream, chances, plan.low, sums.hidden_state)
    run_chain(machine, plan, sums, sums.state, sums.hidden_state, plan.steps)
    add_outer(sums, plan.low, sums.state, sums.means, -1.0)


@inner
def run_chain(machine: Any, plan: Any, sums: Any, visible: Any, hidden: Any, steps: int) -> None:
    """Run a Gibbs chain from given hidden units, and write the final hidden means to `sums`."""
    fields, chances = sums.visible_fields, sums.visible_chances
    fields_of(hidden, machine.back, machine.visible_bias, fields)
    chances_of(fields, plan.low, chances)
    draw(machine.stream, chances, plan.low, visible)
    for _ in range(steps - 1):
        gibbs_step(machine.stream, machine.weights, machine.back, machine.visible_bias,
                   machine.hidden_bias, plan.low, visible, hidden, sums.room)  # fmt: skip
    fields, chances = sums.hidden_fields, sums.hidden_chances
    fields_of(visible, machine.weights, machine.hidden_bias, fields)
    chances_of(fields, plan.low, chances)
    means_of(chances, plan.low, sums.means)


@inner
def subtract_mode(machine: Any, low: int, sums: Any, weight: float) -> None:
    """Subtract the units and products of the mode, in place of the model's averages."""
    for j in range(machine.mode_hidden.size):
        sums.means[j] = machine.mode_hidden[j]
    add_outer(sums, low, machine.mode_visible, sums.means, -weight)


@inner
def subtract_chain(machine: Any, plan: Any, sums: Any, visible: Any, uses_mode: bool,
                   weight: float) -> None:  # fmt: skip
    """Run Gibbs steps of a persistent chain; subtract its contribution to the model's averages."""
    fields, chances = sums.hidden_fields, sums.hidden_chances
    if uses_mode:
        copy_row(machine.mode_visible, visible)
    fields_of(visible, machine.weights, machine.hidden_bias, fields)
    chances_of(fields, plan.low, chances)
    draw(machine.stream, chances, plan.low, sums.hidden_state)
    run_chain(machine, plan, sums, visible, sums.hidden_state, plan.steps)
    add_outer(sums, plan.low, visible, sums.means, -weight / len(machine.chains))


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
