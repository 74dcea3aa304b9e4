"""Training of one RBM: epochs of updates in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.boltzmann.kernels.gradient import add_waiting, begin_sums, take_row
from glasshouse.boltzmann.kernels.groups import add_group, add_rows_of_data, subtract_group
from glasshouse.boltzmann.kernels.layers import copy_row, copy_table
from glasshouse.boltzmann.kernels.machine import (
    AVERAGED,
    BATCH,
    BEGUN,
    CD,
    EPOCH,
    EXACT,
    MODE,
    MODES,
    NONE,
    PCD,
    PROVEN,
    READY,
    ROWS,
    SHUFFLED,
    UPDATES,
    WANTED,
    go_back,
    is_sound,
)
from glasshouse.boltzmann.kernels.modes import find_mode
from glasshouse.boltzmann.kernels.phases import subtract_exact, subtract_mode
from glasshouse.boltzmann.kernels.transposition import STRIP, transpose_strip
from glasshouse.compiled import compiled, inlined, inner
from glasshouse.kernels.xoshiro import below, next_word

# The reasons for which `run_epochs` returns.
DONE, NEEDS_MODE, DIVERGED, PAUSED, NEEDS_AVERAGES = 0, 1, 2, 3, 4

_U11 = np.uint64(11)
_UNIT = 2.0**-53


@compiled
def run_epochs(machine: Any, plan: Any, data: Any, rates: Any, mode_chances: Any,
               last: int, most: int, proven: Any, averages: Any, sums: Any, group: Any,
               cut: Any) -> int:  # fmt: skip
    """Train to epoch `last`; return `DONE`, or the reason for an earlier return.

    After `most` steps of single chains the function pauses, even within an update, so that signals
    can be handled. The next call resumes there. After a divergence, the weights are those of the
    last good epoch. `proven` counts the proven modes that this function has found.
    """
    size, progress, place = len(data), machine.progress, cut.place
    while progress[EPOCH] < last:
        if most <= 0:
            return PAUSED
        epoch = progress[EPOCH]
        is_new = progress[BATCH] == 0 and progress[MODE] == NONE and place[BEGUN] == 0
        if is_new:
            copy_row(machine.stream, cut.stream)
            copy_row(machine.order, cut.order)
        if is_new and plan.batch_size < size:
            shuffle(machine.stream, machine.order)
        while progress[BATCH] * plan.batch_size < size:
            # Before the first batch, the data are shuffled already.
            if most <= 0 and (progress[BATCH] > 0 or place[BEGUN]):
                return PAUSED
            if progress[MODE] == WANTED:
                return NEEDS_MODE
            if place[BEGUN] == 0:
                place[SHUFFLED] = progress[BATCH] == 0 and progress[MODE] == NONE
                if not place[SHUFFLED]:
                    copy_row(machine.stream, cut.stream)
                copy_table(machine.lanes, cut.lanes)
                copy_table(machine.chains, cut.chains)
                place[PROVEN] = 0
                uses_mode = progress[MODE] == READY
                if progress[MODE] == NONE and mode_chances[epoch] > 0.0:
                    number = np.float64(next_word(machine.stream) >> _U11) * _UNIT
                    uses_mode = number < mode_chances[epoch]
                    if uses_mode and plan.enumerates:
                        place[PROVEN] = find_mode(machine, plan.low)
                    elif uses_mode:
                        if not is_sound(machine):
                            go_back(machine)
                            return DIVERGED
                        progress[MODE] = WANTED
                        return NEEDS_MODE
                if plan.averages_apart and not uses_mode and not averages.known[0]:
                    progress[MODE] = AVERAGED  # so that the next call does not draw again
                    return NEEDS_AVERAGES
                place[BEGUN] = 2 if uses_mode else 1
                begin_sums(sums)
            uses_mode = place[BEGUN] == 2
            start = progress[BATCH] * plan.batch_size
            chosen = machine.order[start : min(start + plan.batch_size, size)]
            most = update(machine, plan, sums, group, data, chosen, rates[epoch], uses_mode,
                          averages, place, most)  # fmt: skip
            if place[BEGUN]:
                return PAUSED
            progress[MODE] = NONE
            proven[0] += place[PROVEN]
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
def shuffle(stream: Any, order: Any) -> None:
    """Shuffle the order of the data rows (Fisher and Yates)."""
    for k in range(order.size - 1, 0, -1):
        other = below(stream, k + 1)
        order[k], order[other] = order[other], order[k]


@inner
def update(machine: Any, plan: Any, sums: Any, group: Any, data: Any, chosen: Any, rate: float,
           uses_mode: bool, averages: Any, place: Any, most: int) -> int:  # fmt: skip
    """Update all parameters once: add the data's averages, subtract the model's averages.

    The function pauses after `most` steps of single chains, and returns how many steps remain.
    """
    is_mode_step = uses_mode and not plan.restarts_chains
    weight = np.float64(chosen.size)
    while place[ROWS] < chosen.size:
        if most <= 0:
            return most
        if plan.gradient == CD and not is_mode_step:
            most = add_group(machine, plan, sums, group, data, chosen, uses_mode, place, most)
        else:
            most -= add_rows_of_data(machine, plan, sums, group, data, chosen, place)
    if plan.gradient == PCD and not is_mode_step:
        while place[ROWS] - chosen.size < len(machine.chains):
            if most <= 0:
                return most
            first = place[ROWS] - chosen.size
            most = subtract_group(machine, plan, sums, group, uses_mode, first, weight, place, most)
    step = rate / weight if plan.is_mean else rate
    if is_mode_step:
        subtract_mode(machine, plan.low, sums, weight)
        if plan.scales_mode_step:
            n, m = machine.weights.shape
            step *= max(-machine.mode_energy[0], 0.0) / ((n + 1.0) * (m + 1.0))
    elif plan.gradient == EXACT:
        add_waiting(sums)
        subtract_exact(machine, plan, sums, averages, weight)
    move(machine, plan, sums, step, weight)
    place[BEGUN] = 0
    place[ROWS] = 0
    return most


@inner
def move(machine: Any, plan: Any, sums: Any, step: float, weight: float) -> None:
    """Move all parameters one step along the gradient, with momentum and weight decay."""
    n, m = machine.weights.shape
    decay = plan.weight_decay * weight if plan.is_mean else plan.weight_decay
    kind = machine.weights.dtype.type
    factor, pull, momentum = kind(step), kind(decay), kind(plan.momentum)
    for first in range(0, n, STRIP):
        for i in range(first, min(first + STRIP, n)):
            take_row(sums, i)
            move_row(machine, sums.row, i, factor, momentum, pull)
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
def move_row(machine: Any, slopes: Any, i: int, step: Any, momentum: Any, decay: Any) -> None:
    """Move the weights of visible unit `i` one step along their gradient."""
    if momentum == 0.0:
        for j in range(slopes.size):
            slope = slopes[j] - decay * machine.weights[i, j]
            machine.weights[i, j] += step * slope
    else:
        for j in range(slopes.size):
            slope = slopes[j] - decay * machine.weights[i, j]
            speed = momentum * machine.weight_speed[i, j] + step * slope
            machine.weight_speed[i, j] = speed
            machine.weights[i, j] += speed
