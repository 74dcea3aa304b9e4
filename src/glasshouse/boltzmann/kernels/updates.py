"""Training: epochs of updates of one RBM, without a step of Python between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasshouse.boltzmann.kernels.enumeration import ground_state, log_partition, moments
from glasshouse.boltzmann.kernels.layers import (
    add_rows,
    chances_of,
    chances_of_each,
    copy_row,
    copy_table,
    draw,
    draw_each,
    fields_of,
    fields_of_each,
    fill_numbers,
    gibbs_step,
    means_of,
)
from glasshouse.compiled import compiled, inner
from glasshouse.kernels.xoshiro import below, next_word

# How the negative phase is estimated.
CD, PCD, EXACT = 0, 1, 2
# Why `run_epochs` returns.
DONE, NEEDS_MODE, DIVERGED = 0, 1, 2
# Places in `Machine.progress`.
EPOCH, BATCH, MODE, MODES, UPDATES = 0, 1, 2, 3, 4
PROGRESS = 5
# What `progress[MODE]` says: a mode that is wanted is ready once Python has found it.
NONE, WANTED, READY = 0, 1, 2
# Conditional probabilities are 0 or 1 long before; whatever grows so far does not come back.
MOST_WEIGHT = 1000.0

_U11 = np.uint64(11)
_UNIT = 2.0**-53
_GROUP = 32  # states whose products are added together
_MOST_NUMBERS = 1 << 14  # random ones that chains keep ready


class Machine(NamedTuple):
    """An RBM in training; all arrays are changed in place.

    Attributes:
        weights: W, one row per visible unit.
        back: its transpose.
        visible_bias: a.
        hidden_bias: b.
        weight_speed: what momentum carries on, for the weights.
        visible_speed: likewise, for the visible biases.
        hidden_speed: likewise, for the hidden biases.
        chains: visible states of the persistent chains, one per row.
        mode_visible: the mode last found.
        mode_hidden: its hidden part.
        mode_energy: of that mode, of ±1 units without a constant, and the sum of all |weights|.
        order: in which the data are used.
        good_weights: those after the last whole epoch.
        good_visible: likewise, the visible biases.
        good_hidden: likewise, the hidden biases.
        stream: random numbers.
        progress: see `EPOCH`, …
    """

    weights: Any
    back: Any
    visible_bias: Any
    hidden_bias: Any
    weight_speed: Any
    visible_speed: Any
    hidden_speed: Any
    chains: Any
    mode_visible: Any
    mode_hidden: Any
    mode_energy: Any
    order: Any
    good_weights: Any
    good_visible: Any
    good_hidden: Any
    stream: Any
    progress: Any


class Plan(NamedTuple):
    """What every update does.

    Attributes:
        low: the lower value of a unit, 0 or -1.
        gradient: `CD`, `PCD` or `EXACT`.
        steps: of each chain per update.
        batch_size: data per update.
        is_mean: whether the gradient is a mean over the data of a batch, not their sum.
        momentum: share of the last change that is carried on.
        weight_decay: pull of the weights towards zero.
        has_biases: whether biases are trained.
        restarts_chains: whether a mode starts the chains, instead of being the negative phase.
        scales_mode_step: whether steps towards the mode shrink as the authors' do.
        enumerates: whether modes are found here, by enumeration.
    """

    low: int
    gradient: int
    steps: int
    batch_size: int
    is_mean: bool
    momentum: float
    weight_decay: float
    has_biases: bool
    restarts_chains: bool
    scales_mode_step: bool
    enumerates: bool


class Gradient(NamedTuple):
    """Sums of one update, and room for its layers.

    Attributes:
        weights: sums of products of visible and hidden units.
        visible: sums of visible units.
        hidden: sums of hidden units.
        factors: visible units whose products are still to be added, one column per state.
        rows: the hidden units that belong to them, one row per state.
        waiting: how many such states there are, in one place.
        state: room for visible units.
        hidden_state: room for hidden units.
        means: room for means of hidden units.
        hidden_fields: room for them.
        hidden_chances: likewise.
        visible_fields: likewise.
        visible_chances: likewise.
        room: for fields and chances of either layer.
    """

    weights: Any
    visible: Any
    hidden: Any
    factors: Any
    rows: Any
    waiting: Any
    state: Any
    hidden_state: Any
    means: Any
    hidden_fields: Any
    hidden_chances: Any
    visible_fields: Any
    visible_chances: Any
    room: Any


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


@compiled
def run_epochs(machine: Any, plan: Any, data: Any, rates: Any, mode_chances: Any,
               last: int) -> int:  # fmt: skip
    """Train until epoch `last`, or until a mode must be found elsewhere, or weights diverge.

    Called again, it goes on where it returned. After a divergence the weights are those of the
    last epoch that was good.
    """
    n, m = machine.weights.shape
    size, progress = len(data), machine.progress
    sums = Gradient(np.empty((n, m)), np.empty(n), np.empty(m), np.zeros((n, _GROUP), np.int8),
                    np.empty((_GROUP, m)), np.zeros(1, np.int64), np.empty(n, np.int8),
                    np.empty(m, np.int8), np.empty(m), np.empty(m), np.empty(m), np.empty(n),
                    np.empty(n), np.empty((2, max(n, m))))  # fmt: skip
    size_of_group = max(1, min(_GROUP // 2, _MOST_NUMBERS // (plan.steps * (n + m))))
    group = Group(np.empty((size_of_group, n), np.int8), np.empty((size_of_group, m), np.int8),
                  np.empty((size_of_group, n)), np.empty((size_of_group, n)),
                  np.empty((size_of_group, m)), np.empty((size_of_group, m)),
                  np.empty((size_of_group, m)),
                  np.empty(size_of_group * plan.steps * (n + m)),
                  np.arange(size_of_group))  # fmt: skip
    while progress[EPOCH] < last:
        epoch = progress[EPOCH]
        if progress[BATCH] == 0 and progress[MODE] == NONE and plan.batch_size < size:
            shuffle(machine.stream, machine.order)
        while progress[BATCH] * plan.batch_size < size:
            if progress[MODE] == WANTED:
                return NEEDS_MODE
            uses_mode = progress[MODE] == READY
            if not uses_mode and mode_chances[epoch] > 0.0:
                number = np.float64(next_word(machine.stream) >> _U11) * _UNIT
                uses_mode = number < mode_chances[epoch]
                if uses_mode and plan.enumerates:
                    find_mode(machine, plan.low)
                elif uses_mode:
                    if not is_sound(machine):
                        go_back(machine)
                        return DIVERGED
                    progress[MODE] = WANTED
                    return NEEDS_MODE
            progress[MODE] = NONE
            start = progress[BATCH] * plan.batch_size
            chosen = machine.order[start : min(start + plan.batch_size, size)]
            update(machine, plan, sums, group, data, chosen, rates[epoch], uses_mode)
            progress[MODES] += uses_mode
            progress[UPDATES] += 1
            progress[BATCH] += 1
        if not is_sound(machine):
            go_back(machine)
            return DIVERGED
        copy_table(machine.weights, machine.good_weights)
        copy_row(machine.visible_bias, machine.good_visible)
        copy_row(machine.hidden_bias, machine.good_hidden)
        progress[BATCH] = 0
        progress[EPOCH] += 1
    return DONE


@inner
def go_back(machine: Any) -> None:
    """To the parameters after the last whole epoch."""
    copy_table(machine.good_weights, machine.weights)
    transpose(machine.good_weights, machine.back)
    copy_row(machine.good_visible, machine.visible_bias)
    copy_row(machine.good_hidden, machine.hidden_bias)


@inner
def shuffle(stream: Any, order: Any) -> None:
    """A random order of the data (Fisher and Yates)."""
    for k in range(order.size - 1, 0, -1):
        other = below(stream, k + 1)
        order[k], order[other] = order[other], order[k]


@inner
def update(machine: Any, plan: Any, sums: Any, group: Any, data: Any, chosen: Any, rate: float,
           uses_mode: bool) -> None:  # fmt: skip
    """One step of all parameters: the data's averages up, the model's down."""
    sums.weights[:, :] = 0.0
    sums.visible[:] = 0.0
    sums.hidden[:] = 0.0
    is_mode_step = uses_mode and not plan.restarts_chains
    if plan.gradient == CD and not uses_mode:
        for first in range(0, chosen.size, len(group.visible)):
            add_group(machine, plan, sums, group, data, chosen, first)
    else:
        for k in chosen:
            add_data(machine, plan, sums, data[k], uses_mode, is_mode_step)
    weight = np.float64(chosen.size)
    step = rate / weight if plan.is_mean else rate
    if is_mode_step:
        subtract_mode(machine, sums, weight)
        if plan.scales_mode_step:
            n, m = machine.weights.shape
            step *= max(-machine.mode_energy[0], 0.0) / ((n + 1.0) * (m + 1.0))
    elif plan.gradient == PCD:
        subtract_chains(machine, plan, sums, uses_mode, weight)
    elif plan.gradient == EXACT:
        add_waiting(sums)
        subtract_exact(machine, plan.low, sums, weight)
    add_waiting(sums)
    move(machine, plan, sums, step, weight)


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


@inner
def add_data(machine: Any, plan: Any, sums: Any, row: Any, uses_mode: bool,
             is_mode_step: bool) -> None:  # fmt: skip
    """One row of the data; with contrastive divergence also the chain that starts there."""
    fields, chances = sums.hidden_fields, sums.hidden_chances
    fields_of(row, machine.weights, machine.hidden_bias, fields)
    chances_of(fields, plan.low, chances)
    means_of(chances, plan.low, sums.means)
    add_outer(sums, row, sums.means, 1.0)
    if plan.gradient != CD or is_mode_step:
        return
    if uses_mode:
        copy_row(machine.mode_hidden, sums.hidden_state)
    else:
        draw(machine.stream, chances, plan.low, sums.hidden_state)
    run_chain(machine, plan, sums, sums.state, sums.hidden_state, plan.steps)
    add_outer(sums, sums.state, sums.means, -1.0)


@inner
def run_chain(machine: Any, plan: Any, sums: Any, visible: Any, hidden: Any, steps: int) -> None:
    """Visible units from the hidden ones, and so on; ends with the hidden means in `sums`."""
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
def add_outer(sums: Any, visible: Any, hidden: Any, sign: float) -> None:
    """Products of a visible and a hidden layer, and both layers."""
    place, width = sums.waiting[0], hidden.size
    for j in range(width):
        value = sign * hidden[j]
        sums.rows[place, j] = value
        sums.hidden[j] += value
    for i in range(visible.size):
        sums.visible[i] += sign * visible[i]
    for i in range(visible.size):
        sums.factors[i, place] = visible[i]
    sums.waiting[0] += 1
    if sums.waiting[0] == _GROUP:
        add_waiting(sums)


@inner
def add_waiting(sums: Any) -> None:
    """The products of all states that wait."""
    add_products(sums.factors, sums.rows, sums.waiting[0], sums.weights)
    sums.waiting[0] = 0


@inner
def add_products(factors: Any, rows: Any, count: int, weights: Any) -> None:
    """The products of many states at once: every sum goes through the memory once."""
    n, m = weights.shape
    for i in range(n):
        add_rows(factors, i * _GROUP, count, rows, weights, i * m)


@inner
def subtract_mode(machine: Any, sums: Any, weight: float) -> None:
    """The mode instead of the model's averages."""
    for j in range(machine.mode_hidden.size):
        sums.means[j] = machine.mode_hidden[j]
    add_outer(sums, machine.mode_visible, sums.means, -weight)


@inner
def subtract_chains(machine: Any, plan: Any, sums: Any, uses_mode: bool, weight: float) -> None:
    """Averages over the persistent chains, after some steps of each."""
    count = len(machine.chains)
    fields, chances = sums.hidden_fields, sums.hidden_chances
    for c in range(count):
        visible = machine.chains[c]
        if uses_mode:
            copy_row(machine.mode_visible, visible)
        fields_of(visible, machine.weights, machine.hidden_bias, fields)
        chances_of(fields, plan.low, chances)
        draw(machine.stream, chances, plan.low, sums.hidden_state)
        run_chain(machine, plan, sums, visible, sums.hidden_state, plan.steps)
        add_outer(sums, visible, sums.means, -weight / count)


@inner
def subtract_exact(machine: Any, low: int, sums: Any, weight: float) -> None:
    """The model's own averages, by enumeration of the smaller layer."""
    n, m = machine.weights.shape
    visible, hidden = np.empty(n), np.empty(m)
    a, b = machine.visible_bias, machine.hidden_bias
    if n <= m:
        products = np.empty((n, m))
        log_z = log_partition(machine.weights, a, b, low)
        moments(machine.weights, a, b, low, log_z, products, visible, hidden)
        for i in range(n):
            for j in range(m):
                sums.weights[i, j] -= weight * products[i, j]
    else:
        products = np.empty((m, n))
        log_z = log_partition(machine.back, b, a, low)
        moments(machine.back, b, a, low, log_z, products, hidden, visible)
        for i in range(n):
            for j in range(m):
                sums.weights[i, j] -= weight * products[j, i]
    for i in range(n):
        sums.visible[i] -= weight * visible[i]
    for j in range(m):
        sums.hidden[j] -= weight * hidden[j]


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


@inner
def is_sound(machine: Any) -> bool:
    """Whether all parameters are finite and not beyond all use; a NaN is not below anything."""
    sound = True
    for i in range(machine.weights.shape[0]):
        for j in range(machine.weights.shape[1]):
            sound &= abs(machine.weights[i, j]) <= MOST_WEIGHT
    for bias in machine.visible_bias:
        sound &= abs(bias) <= MOST_WEIGHT
    for bias in machine.hidden_bias:
        sound &= abs(bias) <= MOST_WEIGHT
    return sound


@compiled
def find_mode(machine: Any, low: int) -> None:
    """The mode by enumeration of the smaller layer, and its energy as one of ±1 units."""
    n, m = machine.weights.shape
    a, b = machine.visible_bias, machine.hidden_bias
    v, h = machine.mode_visible, machine.mode_hidden
    if n <= m:
        ground_state(machine.weights, a, b, low, v, h)
    else:
        ground_state(machine.back, b, a, low, h, v)
    signed, total = spin_weights(machine.weights, a, b, low, v, h)
    machine.mode_energy[0], machine.mode_energy[1] = -signed, total


@compiled
def spin_weights(weights: Any, visible_bias: Any, hidden_bias: Any, low: int, visible: Any,
                 hidden: Any) -> Any:  # fmt: skip
    """Of the same RBM with ±1 units: satisfied minus unsatisfied weight of a state, and all of it.

    Biases count as weights to a ghost unit. The state is in the RBM's own units.
    """
    n, m = weights.shape
    quarter = 1.0 if low == -1 else 0.25
    column_sums = np.zeros(m)
    signed, total = 0.0, 0.0
    for i in range(n):
        v = 1.0 if visible[i] == 1 else -1.0
        row_sum = 0.0
        for j in range(m):
            w = weights[i, j]
            signed += quarter * w * (v if hidden[j] == 1 else -v)
            total += quarter * abs(w)
            row_sum += w
            column_sums[j] += w
        bias = visible_bias[i] if low == -1 else 0.5 * visible_bias[i] + 0.25 * row_sum
        signed += bias * v
        total += abs(bias)
    for j in range(m):
        bias = hidden_bias[j] if low == -1 else 0.5 * hidden_bias[j] + 0.25 * column_sums[j]
        signed += bias if hidden[j] == 1 else -bias
        total += abs(bias)
    return signed, total
