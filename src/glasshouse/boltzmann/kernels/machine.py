"""Data structures of a training run: its RBM, progress, averages and plan."""

from __future__ import annotations

from typing import Any, NamedTuple

from glasshouse.boltzmann.kernels.layers import copy_row, copy_table
from glasshouse.boltzmann.kernels.transposition import STRIP, transpose_strip
from glasshouse.compiled import inner

# How the negative phase is estimated.
CD, PCD, EXACT = 0, 1, 2
# Indices of `Machine.progress`.
EPOCH, BATCH, MODE, MODES, UPDATES = 0, 1, 2, 3, 4
PROGRESS = 5
# Indices of `Cut.place`. BEGUN: 0 if no update has begun, 2 if it uses a mode, otherwise 1. ROWS:
# finished data rows and chains. STEPS: finished steps of a group. PROVEN: proven modes of this
# update. SHUFFLED: whether the data were shuffled for this update.
BEGUN, ROWS, STEPS, PROVEN, SHUFFLED = 0, 1, 2, 3, 4
PLACES = 5
# Values of `progress[MODE]`. NONE: nothing is decided. WANTED: Python must find a mode. READY:
# Python has found it. AVERAGED: the next update uses averages from Python instead of a mode.
NONE, WANTED, READY, AVERAGED = 0, 1, 2, 3
# A run with a larger weight has diverged: conditional probabilities are 0 or 1 long before that.
MOST_WEIGHT = 1000.0


class Machine(NamedTuple):
    """The arrays of an RBM in training, all of which are changed in place.

    Attributes:
        weights: W, one row per visible unit.
        back: the transpose of `weights`.
        visible_bias: a.
        hidden_bias: b.
        weight_speed: the momentum of the weights.
        visible_speed: the momentum of the visible biases.
        hidden_speed: the momentum of the hidden biases.
        chains: visible states of the persistent chains, one per row.
        mode_visible: the mode last found.
        mode_hidden: the hidden units of that mode.
        mode_energy: the mode's energy in ±1 units without a constant, and the sum of all |weights|.
        order: the order in which the data rows are used.
        good_weights: the weights after the last whole epoch.
        good_visible: the visible biases after the last whole epoch.
        good_hidden: the hidden biases after the last whole epoch.
        stream: the stream of random numbers.
        lanes: the streams of chains that step together, one stream per column.
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
    lanes: Any
    progress: Any


class Cut(NamedTuple):
    """The progress within one update, and copies of arrays from which the update can be undone.

    Attributes:
        place: see `BEGUN`, …
        stream: the machine's stream before the update.
        lanes: the machine's lanes before the update.
        chains: the machine's chains before the update.
        order: the order of the data before the last shuffle.
    """

    place: Any
    stream: Any
    lanes: Any
    chains: Any
    order: Any


class Averages(NamedTuple):
    """Exact averages of an RBM, in arrays that are empty unless the gradient is exact.

    Attributes:
        products: means of products of units; the rows are the units of the smaller layer.
        smaller: means of the units of the smaller layer, the visible one if both are equal.
        larger: means of the units of the other layer.
        known: whether the averages are those of the current weights, as an array of one item.
    """

    products: Any
    smaller: Any
    larger: Any
    known: Any


class Plan(NamedTuple):
    """The settings of a training run, in the form that compiled code reads.

    Attributes:
        low: the lower value of a unit, 0 or -1.
        gradient: `CD`, `PCD` or `EXACT`.
        steps: Gibbs steps of each chain per update.
        batch_size: data rows per update.
        is_mean: whether the gradient is a mean over a batch, not a sum.
        momentum: the fraction of the last step that is added to the next step.
        weight_decay: pull of the weights towards zero.
        has_biases: whether biases are trained.
        restarts_chains: whether a mode starts the chains, instead of being the negative phase.
        scales_mode_step: whether the mode's energy scales the steps that use a mode.
        enumerates: whether modes are found by enumeration in compiled code.
        averages_apart: whether Python finds exact averages, in slices.
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
    averages_apart: bool


@inner
def go_back(machine: Any) -> None:
    """Restore the parameters that the machine had after the last complete epoch."""
    copy_table(machine.good_weights, machine.weights)
    for first in range(0, len(machine.weights), STRIP):
        transpose_strip(machine.weights, first, machine.back)
    copy_row(machine.good_visible, machine.visible_bias)
    copy_row(machine.good_hidden, machine.hidden_bias)


@inner
def is_sound(machine: Any) -> bool:
    """Return whether no parameter is NaN or larger than `MOST_WEIGHT` in magnitude."""
    sound = True
    for i in range(machine.weights.shape[0]):
        for j in range(machine.weights.shape[1]):
            sound &= abs(machine.weights[i, j]) <= MOST_WEIGHT
    for bias in machine.visible_bias:
        sound &= abs(bias) <= MOST_WEIGHT
    for bias in machine.hidden_bias:
        sound &= abs(bias) <= MOST_WEIGHT
    return sound
