"""Kernels on tables of many rows or on all states, in slices between which signals are handled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.kernels import enumeration, tables
from glasshouse.boltzmann.kernels.draws import LANES
from glasshouse.boltzmann.kernels.machine import Averages
from glasshouse.problems import FloatArray, SpinArray, validation
from glasshouse.randomness import Seed
from glasshouse.stopping import in_slices


def rows_of(kernel: Callable[..., Any], states: npt.NDArray[Any], *rest: Any) -> FloatArray:
    """Return one row of numbers per state, by a kernel that returns the rows of some states.

    Args:
        kernel: takes a table of states and `rest`.
        states: one per row.
        rest: further arguments of the kernel.
    """
    table = validation.rows(states)
    found = [kernel(table[:0], *rest)]
    in_slices(lambda first, last: found.append(kernel(table[first:last], *rest)), len(table))
    return np.concatenate(found)


def number_of_each(kernel: Callable[..., Any], states: npt.NDArray[Any], *rest: Any) -> FloatArray:
    """Return one number per state; the kernel writes those of some states to its last argument.

    Args:
        kernel: takes a table of states, `rest`, and an array with a place for each state.
        states: one per row.
        rest: further arguments of the kernel.
    """
    table = validation.rows(states)
    numbers = np.empty(len(table))
    in_slices(lambda first, last: kernel(table[first:last], *rest, numbers[first:last]), len(table))
    return numbers


def complete(
    states: SpinArray, places: npt.NDArray[np.int64], parts: Sequence[FloatArray], low: int,
    steps: int, seed: Seed,
) -> SpinArray:  # fmt: skip
    """Return visible states after Gibbs steps during which the clamped units keep their values.

    Args:
        states: one row per chain.
        places: the units that keep their values.
        parts: weights, visible and hidden biases.
        low: the lower value of a unit.
        steps: steps of each chain; all chains step together, by matrix products.
        seed: the seed of the random numbers.
    """
    weights, visible_bias, hidden_bias = parts
    lanes = np.ascontiguousarray(seed.streams(LANES).T)
    visible, kept = states.astype(np.float64), states[:, places].astype(np.float64)
    hidden, betas = np.empty((len(states), len(hidden_bias))), np.ones(len(states))

    def run(first: int, last: int) -> None:
        for _ in range(first, last):
            tables.draw_units(lanes, visible @ weights, hidden_bias, betas, low, hidden)
            tables.draw_units(lanes, hidden @ weights.T, visible_bias, betas, low, visible)
            visible[:, places] = kept

    in_slices(run, steps)
    return visible.astype(np.int8)


def log_partition(layers: Sequence[FloatArray], low: int, blocks: int | None = None) -> float:
    """Return the logarithm of the partition function, over all states of one layer.

    Args:
        layers: weights whose rows are the units of that layer, its biases, and those of the other.
        low: the lower value of a unit.
        blocks: blocks of states; by default all.
    """
    sums = np.array([-np.inf, 0.0, 0.0])

    def add(first: int, last: int) -> None:
        enumeration.add_blocks(*layers, low, first, last, sums)

    add(0, 0)  # compiles
    in_slices(add, enumeration.num_blocks(len(layers[0])) if blocks is None else blocks)
    return float(sums[2])


def new_averages(num_visible: int, num_hidden: int) -> Averages:
    """Return empty buffers for exact averages."""
    rows, columns = sorted((num_visible, num_hidden))
    known = np.zeros(1, dtype=np.bool_)
    return Averages(np.zeros((rows, columns)), np.zeros(rows), np.zeros(columns), known)


def find_averages(
    layers: Sequence[FloatArray], low: int, averages: Averages, blocks: int | None = None
) -> None:
    """Compute exact averages over all states of the smaller layer.

    Args:
        layers: weights whose rows are the units of that layer, its biases, and those of the other.
        low: the lower value of a unit.
        averages: the arrays to fill.
        blocks: blocks of states; by default all, without which the averages are not known.
    """
    log_z = log_partition(layers, low, blocks)
    for sums in averages:
        sums[...] = 0

    def add(first: int, last: int) -> None:
        enumeration.add_moments(*layers, low, log_z, first, last, averages)

    add(0, 0)  # compiles
    in_slices(add, enumeration.num_blocks(len(layers[0])) if blocks is None else blocks)
    averages.known[0] = blocks is None
