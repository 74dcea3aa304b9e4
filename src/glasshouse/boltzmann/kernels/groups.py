"""Contrastive divergence with groups of chains that start at data rows and advance together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasshouse.boltzmann.kernels.draws import LANES, draw_and_keep, draw_changes, fill_numbers
from glasshouse.boltzmann.kernels.gradient import CHAINS, add_pairs
from glasshouse.boltzmann.kernels.layers import add_fields, chances_of_some
from glasshouse.boltzmann.kernels.machine import ROWS, STEPS
from glasshouse.compiled import inner


class Group(NamedTuple):
    """Buffers for a group of chains; each array contains the data of all chains, concatenated.

    Attributes:
        data: the visible units at which the chains start.
        visible: the current visible units.
        changes: the changes of the visible units in the last step.
        hidden: the current hidden units.
        visible_fields: the fields of the visible units.
        hidden_fields: the fields of the hidden units.
        hidden_chances: probabilities that the hidden units are up.
        data_chances: probabilities that the hidden units are up, given the data.
        numbers: random numbers for one layer.
    """

    data: Any
    visible: Any
    changes: Any
    hidden: Any
    visible_fields: Any
    hidden_fields: Any
    hidden_chances: Any
    data_chances: Any
    numbers: Any


def new_group(n: int, m: int) -> Any:
    """Return buffers for a group of chains of n visible and m hidden units."""
    visible, hidden = CHAINS * n, CHAINS * m
    return Group(np.empty(visible, np.int8), np.empty(visible, np.int8),
                 np.empty(visible, np.int8), np.empty(hidden, np.int8),
                 np.empty(visible), np.empty(hidden), np.empty(hidden),
                 np.empty(hidden), np.empty(max(visible, hidden) + LANES))  # fmt: skip


@inner
def add_group(machine: Any, plan: Any, sums: Any, group: Any, data: Any, chosen: Any,
              place: Any, most: int) -> int:  # fmt: skip
    """Add the next chosen data rows to the sums; subtract the final states of their chains.

    The weights are read from memory once for all chains. Fields of the hidden units are updated
    with only the visible units that a step has changed. The function pauses between two steps after
    `most` steps of single chains, and returns how many of these steps remain.
    """
    n, m = machine.weights.shape
    first, low = place[ROWS], plan.low
    count = min(CHAINS, chosen.size - first)
    if place[STEPS] == 0:
        for k in range(count):
            for i in range(n):
                group.data[k * n + i] = data[chosen[first + k], i]
                group.visible[k * n + i] = data[chosen[first + k], i]
            for j in range(m):
                group.hidden_fields[k * m + j] = machine.hidden_bias[j]
        add_fields(group.data, count, machine.weights, low, group.hidden_fields)
        fill_numbers(machine.lanes, group.numbers, count * m)
        draw_and_keep(group.hidden_fields, group.numbers, count * m, low, group.data_chances,
                      group.hidden)  # fmt: skip
    for step in range(place[STEPS], plan.steps):
        if step:
            fill_numbers(machine.lanes, group.numbers, count * m)
            draw_and_keep(group.hidden_fields, group.numbers, count * m, low,
                          group.hidden_chances, group.hidden)  # fmt: skip
        for k in range(count):
            for i in range(n):
                group.visible_fields[k * n + i] = machine.visible_bias[i]
        add_fields(group.hidden, count, machine.back, low, group.visible_fields)
        fill_numbers(machine.lanes, group.numbers, count * n)
        draw_changes(group.visible_fields, group.numbers, count * n, low, group.visible,
                     group.changes)  # fmt: skip
        add_fields(group.changes, count, machine.weights, -1, group.hidden_fields)
        most -= count
        if most <= 0 and step + 1 < plan.steps:
            place[STEPS] = step + 1
            return most
    chances_of_some(group.hidden_fields, count * m, low, group.hidden_chances)
    add_pairs(sums, low, count, group.data, group.data_chances, group.visible,
              group.hidden_chances)  # fmt: skip
    place[STEPS] = 0
    place[ROWS] += count
    return most
