"""Contrastive divergence of many rows of the data at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasshouse.boltzmann.kernels.gradient import add_products
from glasshouse.boltzmann.kernels.layers import (
    chances_of_each,
    draw_each,
    fields_of_each,
    fill_numbers,
)
from glasshouse.compiled import inner


class Group(NamedTuple):
    """Chains of contrastive divergence that take every step together, one per row.

    Attributes:
        visible: visible units.
        hidden: hidden units.
        visible_fields: of these units.
        visible_chances: likewise.
        hidden_fields: likewise.
        hidden_chances: likewise.
        data_chances: of the hidden units, given the data.
        numbers: random ones for all steps, chain by chain.
        numbers_of_chains: 0, 1, 2, …
    """

    visible: Any
    hidden: Any
    visible_fields: Any
    visible_chances: Any
    hidden_fields: Any
    hidden_chances: Any
    data_chances: Any
    numbers: Any
    numbers_of_chains: Any


@inner
def add_group(machine: Any, plan: Any, sums: Any, group: Any, data: Any, chosen: Any,
              first: int) -> None:  # fmt: skip
    """Rows of the data and the chains that start there: `add_data` for some of them at once.

    Results are the same; the weights come through the memory once for all of them.
    """
    n, m = machine.weights.shape
    count = min(len(group.visible), chosen.size - first)
    stride = plan.steps * (n + m)
    for k in range(count):
        for i in range(n):
            group.visible[k, i] = data[chosen[first + k], i]
    fill_numbers(machine.stream, group.numbers, count * stride)
    fields_of_each(group.visible, count, machine.weights, machine.hidden_bias, group.hidden_fields)
    chances_of_each(group.hidden_fields, count, plan.low, group.data_chances)
    draw_each(group.data_chances, count, group.numbers, 0, stride, plan.low, group.hidden)
    for step in range(plan.steps):
        place = step * (n + m) + m
        fields_of_each(group.hidden, count, machine.back, machine.visible_bias,
                       group.visible_fields)  # fmt: skip
        chances_of_each(group.visible_fields, count, plan.low, group.visible_chances)
        draw_each(group.visible_chances, count, group.numbers, place, stride, plan.low,
                  group.visible)  # fmt: skip
        fields_of_each(group.visible, count, machine.weights, machine.hidden_bias,
                       group.hidden_fields)  # fmt: skip
        chances_of_each(group.hidden_fields, count, plan.low, group.hidden_chances)
        if step + 1 < plan.steps:
            draw_each(group.hidden_chances, count, group.numbers, place + n, stride, plan.low,
                      group.hidden)  # fmt: skip
    add_phase(sums.rows, sums.factors, 0, count, group.data_chances, data, chosen[first:],
              plan.low, 1.0, sums.visible, sums.hidden)  # fmt: skip
    add_phase(sums.rows, sums.factors, count, count, group.hidden_chances, group.visible,
              group.numbers_of_chains, plan.low, -1.0, sums.visible, sums.hidden)  # fmt: skip
    add_products(sums.factors, sums.rows, 2 * count, sums.weights)


@inner
def add_phase(rows: Any, factors: Any, first: int, count: int, chances: Any, states: Any,
              places: Any, low: int, sign: float, visible: Any, hidden: Any) -> None:  # fmt: skip
    """Many states at once: their units to the sums, their products to those that wait.

    State k is the one at `places[k]`; its hidden means come from row k of the chances.
    """
    n, m = visible.size, hidden.size
    scale = np.float64(1 - low)
    for k in range(count):
        for j in range(m):
            value = sign * (low + scale * chances[k, j])
            rows[first + k, j] = value
            hidden[j] += value
        for i in range(n):
            value = states[places[k], i]
            factors[i, first + k] = value
            visible[i] += sign * value
