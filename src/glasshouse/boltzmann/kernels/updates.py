"""Training: epochs of updates of one RBM, without Python code between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.boltzmann.kernels.gradient import (
    CHAINS,
    add_waiting,
    begin_sums,
    new_gradient,
    take_row,
)
from glasshouse.boltzmann.kernels.groups import add_group, new_group
from glasshouse.boltzmann.kernels.layers import copy_row, copy_table
from glasshouse.boltzmann.kernels.machine import (
    AVERAGED,
    BATCH,
    CD,
    EPOCH,
    EXACT,
    MODE,
    MODES,
    NONE,
    PCD,
    READY,
    UPDATES,
    WANTED,
    go_back,
    is_sound,
)
from glasshouse.boltzmann.kernels.modes import find_mode
from glasshouse.boltzmann.kernels.phases import (
    add_data,
    subtract_chains,
    subtract_exact,
    subtract_mode,
)
from glasshouse.boltzmann.kernels.transposition import STRIP, transpose_strip
from glasshouse.compiled import compiled, inlined, inner
from glasshouse.kernels.xoshiro import below, next_word

# Why `run_epochs` returns.
DONE, NEEDS_MODE, DIVERGED, PAUSED, NEEDS_AVERAGES = 0, 1, 2, 3, 4

_U11 = np.uint64(11)
_UNIT = 2.0**-53


@compiled
def run_epochs(machine: Any, plan: Any, data: Any, rates: Any, mode_chances: Any,
               last: int, most: int, proven: Any, averages: Any) -> int:  # fmt: skip
    """Train until epoch `last`, or until Python must find a mode or averages, or weights diverge.

    After `most` updates it pauses, so that signals can be handled. Called again, it continues where
    it returned. After a divergence the weights are those of the
    last epoch that was good. `proven` counts the modes that were found here and are proven.
    """
    n, m = machine.weights.shape
    size, progress = len(data), machine.progress
    sums, group = new_gradient(n, m), new_group(n, m)
    while progress[EPOCH] < last:
        if most <= 0:
            return PAUSED
        epoch = progress[EPOCH]
        if progress[BATCH] == 0 and progress[MODE] == NONE and plan.batch_size < size:
            shuffle(machine.stream, machine.order)
        while progress[BATCH] * plan.batch_size < size:
            if most <= 0 and progress[BATCH] > 0:  # at the first one, the data are shuffled already
                return PAUSED
            if progress[MODE] == WANTED:
                return NEEDS_MODE
            uses_mode = progress[MODE] == READY
            if progress[MODE] == NONE and mode_chances[epoch] > 0.0:
                number = np.float64(next_word(machine.stream) >> _U11) * _UNIT
                uses_mode = number < mode_chances[epoch]
                if uses_mode and plan.enumerates:
                    proven[0] += find_mode(machine, plan.low)
                elif uses_mode:
                    if not is_sound(machine):
                        go_back(machine)
                        return DIVERGED
                    progress[MODE] = WANTED
                    return NEEDS_MODE
            if plan.averages_apart and not uses_mode and not averages.known[0]:
                progress[MODE] = AVERAGED  # random numbers are drawn once
                return NEEDS_AVERAGES
            progress[MODE] = NONE
            start = progress[BATCH] * plan.batch_size
            chosen = machine.order[start : min(start + plan.batch_size, size)]
            update(machine, plan, sums, group, data, chosen, rates[epoch], uses_mode,
                   averages)  # fmt: skip
            progress[MODES] += uses_mode
            progress[UPDATES] += 1
            progress[BATCH] += 1
            most -= 1
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
    """Shuffle the order of the data (Fisher and Yates)."""
    for k in range(order.size - 1, 0, -1):
        other = below(stream, k + 1)
        order[k], order[other] = order[other], order[k]


@inner
def update(machine: Any, plan: Any, sums: Any, group: Any, data: Any, chosen: Any, rate: float,
           uses_mode: bool, averages: Any) -> None:  # fmt: skip
    """Make one step of all parameters: the data's averages up, the model's down."""
    begin_sums(sums)
    is_mode_step = uses_mode and not plan.restarts_chains
    if plan.gradient == CD and not uses_mode:
        for first in range(0, chosen.size, CHAINS):
            add_group(machine, plan, sums, group, data, chosen, first)
    else:
        for k in chosen:
            add_data(machine, plan, sums, data[k], uses_mode, is_mode_step)
    weight = np.float64(chosen.size)
    step = rate / weight if plan.is_mean else rate
    if is_mode_step:
        subtract_mode(machine, plan.low, sums, weight)
        if plan.scales_mode_step:
            n, m = machine.weights.shape
            step *= max(-machine.mode_energy[0], 0.0) / ((n + 1.0) * (m + 1.0))
    elif plan.gradient == PCD:
        subtract_chains(machine, plan, sums, uses_mode, weight)
    elif plan.gradient == EXACT:
        add_waiting(sums)
        subtract_exact(machine, plan, sums, averages, weight)
    move(machine, plan, sums, step, weight)


@inner
def move(machine: Any, plan: Any, sums: Any, step: float, weight: float) -> None:
    """Make the step itself, with momentum and weight decay."""
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
    """Make the step of the weights of one visible unit."""
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
