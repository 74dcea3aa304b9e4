"""Groups of chains that step together, and groups of data rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasshouse.boltzmann.kernels.draws import LANES, draw_and_keep, draw_changes, fill_numbers
from glasshouse.boltzmann.kernels.gradient import CHAINS, add_outer, add_pairs
from glasshouse.boltzmann.kernels.layers import add_fields, chances_of_some, copy_row
from glasshouse.boltzmann.kernels.machine import ROWS, STEPS
from glasshouse.boltzmann.kernels.rows import BITS
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
        masks: a bit for each unit of one layer.
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
    masks: Any


def new_group(n: int, m: int, kind: Any) -> Any:
    """Return buffers for a group of chains of n × m units, with fields of dtype `kind`."""
    visible, hidden = CHAINS * n, CHAINS * m
    return Group(np.empty(visible, np.int8), np.empty(visible, np.int8),
                 np.empty(visible, np.int8), np.empty(hidden, np.int8),
                 np.empty(visible, kind), np.empty(hidden, kind), np.empty(hidden, kind),
                 np.empty(hidden, kind), np.empty(max(visible, hidden) + LANES),
                 np.empty(CHAINS * (max(n, m) // BITS + 1), np.uint64))  # fmt: skip


@inner
def add_group(machine: Any, plan: Any, sums: Any, group: Any, data: Any, chosen: Any,
              uses_mode: bool, place: Any, most: int) -> int:  # fmt: skip
    """Add the next chosen data rows to the sums; subtract the final states of their chains.

    If `uses_mode` is true, the chains start at the hidden units of the mode instead. The weights
    are read from memory once for all chains. The function pauses between two steps after `most`
    steps of single chains, and returns how many of these steps remain.
    """
    m, low = machine.hidden_bias.size, plan.low
    first = place[ROWS]
    count = min(CHAINS, chosen.size - first)
    if place[STEPS] == 0:
        begin_group(machine, plan, group, data, chosen, first, count)
        if uses_mode:
            chances_of_some(group.hidden_fields, count * m, low, group.data_chances)
            for k in range(count):
                for j in range(m):
                    group.hidden[k * m + j] = machine.mode_hidden[j]
        else:
            fill_numbers(machine.lanes, group.numbers, count * m)
            draw_and_keep(group.hidden_fields, group.numbers, count * m, low, group.data_chances,
                          group.hidden)  # fmt: skip
    most = run_chains(machine, plan, group, count, place, most)
    if place[STEPS]:
        return most
    chances_of_some(group.hidden_fields, count * m, low, group.hidden_chances)
    add_pairs(sums, low, count, group.data, group.data_chances, group.visible,
              group.hidden_chances)  # fmt: skip
    place[ROWS] += count
    return most


@inner
def add_rows_of_data(machine: Any, plan: Any, sums: Any, group: Any, data: Any, chosen: Any,
                     place: Any) -> int:  # fmt: skip
    """Add the next chosen data rows without chains, and return their number."""
    first = place[ROWS]
    count: int = min(CHAINS, chosen.size - first)
    begin_group(machine, plan, group, data, chosen, first, count)
    add_states(plan, sums, group, count, 1.0)
    place[ROWS] += count
    return count


@inner
def subtract_group(machine: Any, plan: Any, sums: Any, group: Any, uses_mode: bool, first: int,
                   weight: float, place: Any, most: int) -> int:  # fmt: skip
    """Run Gibbs steps of the persistent chains from `first` on, and subtract their averages.

    If `uses_mode` is true, the chains start at the mode. Pauses and results are those of
    `add_group`.
    """
    n, m = machine.weights.shape
    low, chains = plan.low, machine.chains
    count = min(CHAINS, len(chains) - first)
    if place[STEPS] == 0:
        for k in range(count if uses_mode else 0):
            copy_row(machine.mode_visible, chains[first + k])
        begin_group(machine, plan, group, chains, None, first, count)
        fill_numbers(machine.lanes, group.numbers, count * m)
        draw_and_keep(group.hidden_fields, group.numbers, count * m, low, group.hidden_chances,
                      group.hidden)  # fmt: skip
    most = run_chains(machine, plan, group, count, place, most)
    if place[STEPS]:
        return most
    add_states(plan, sums, group, count, -weight / len(chains))
    for k in range(count):
        for i in range(n):
            chains[first + k, i] = group.visible[k * n + i]
    place[ROWS] += count
    return most


@inner
def begin_group(machine: Any, plan: Any, group: Any, table: Any, chosen: Any, first: int,
                count: int) -> None:  # fmt: skip
    """Copy `count` rows of a table to the group, and compute the fields of the hidden units.

    Args:
        machine: the machine.
        plan: the plan of the training.
        group: the group.
        table: one visible state per row.
        chosen: the indices of the rows; None for all rows in order.
        first: the first row, or the first item of `chosen`.
        count: the number of rows.
    """
    n, m = machine.weights.shape
    for k in range(count):
        row = first + k if chosen is None else chosen[first + k]
        for i in range(n):
            group.data[k * n + i] = table[row, i]
            group.visible[k * n + i] = table[row, i]
        for j in range(m):
            group.hidden_fields[k * m + j] = machine.hidden_bias[j]
    add_fields(group.data, count, machine.weights, plan.low, group.masks, group.hidden_fields)


@inner
def run_chains(machine: Any, plan: Any, group: Any, count: int, place: Any, most: int) -> int:
    """Run the Gibbs steps of a group from given hidden units; return how many steps remain.

    Fields of the hidden units are updated with only the visible units that a step has changed.
    After a pause, `place[STEPS]` is the number of finished steps; at the end it is 0.
    """
    n, m = machine.weights.shape
    low = plan.low
    for step in range(place[STEPS], plan.steps):
        if step:
            fill_numbers(machine.lanes, group.numbers, count * m)
            draw_and_keep(group.hidden_fields, group.numbers, count * m, low,
                          group.hidden_chances, group.hidden)  # fmt: skip
        for k in range(count):
            for i in range(n):
                group.visible_fields[k * n + i] = machine.visible_bias[i]
        add_fields(group.hidden, count, machine.back, low, group.masks, group.visible_fields)
        fill_numbers(machine.lanes, group.numbers, count * n)
        draw_changes(group.visible_fields, group.numbers, count * n, low, group.visible,
                     group.changes)  # fmt: skip
        add_fields(group.changes, count, machine.weights, -1, group.masks, group.hidden_fields)
        most -= count
        if most <= 0 and step + 1 < plan.steps:
            place[STEPS] = step + 1
            return most
    place[STEPS] = 0
    return most


@inner
def add_states(plan: Any, sums: Any, group: Any, count: int, sign: float) -> None:
    """Add `sign` times the units, hidden means and products of a group to the sums."""
    n, m = sums.weights.shape
    scale, floor = np.float64(1 - plan.low), np.float64(plan.low)
    chances_of_some(group.hidden_fields, count * m, plan.low, group.hidden_chances)
    for k in range(count):
        for j in range(m):
            sums.means[j] = floor + scale * group.hidden_chances[k * m + j]
        add_outer(sums, plan.low, group.visible[k * n : (k + 1) * n], sums.means, sign)
