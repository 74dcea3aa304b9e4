"""Long kernel calls that are split into slices, with signals handled between the slices."""

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
    """Return one row of numbers for each state, which a kernel computes slice by slice.

    Args:
        kernel: a function of a table of states and `rest`, which returns one row per state.
        states: one state per row.
        rest: further arguments of the kernel.
    """
    table = validation.rows(states)
    found = [kernel(table[:0], *rest)]
    in_slices(lambda first, last: found.append(kernel(table[first:last], *rest)), len(table))
    return np.concatenate(found)


def number_of_each(kernel: Callable[..., Any], states: npt.NDArray[Any], *rest: Any) -> FloatArray:
    """Return one number for each state, which a kernel computes slice by slice.

    Args:
        kernel: a function of a table of states, `rest`, and an array for one number per state.
        states: one state per row.
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
    """Return visible states after Gibbs steps in which clamped units keep their values.

    Args:
        states: the initial visible states, one row per chain.
        places: the indices of the clamped units.
        parts: weights, visible biases and hidden biases.
        low: the lower value of a unit.
        steps: the number of steps of each chain; matrix products move all chains at once.
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
    """Return the logarithm of the partition function by enumerating the states of one layer.

    Args:
        layers: weights with one row per unit of that layer, its biases, and the other layer's.
        low: the lower value of a unit.
        blocks: the number of blocks of states; by default all blocks.
    """
    sums = np.array([-np.inf, 0.0, 0.0])

    def add(first: int, last: int) -> None:
        enumeration.add_blocks(*layers, low, first, last, sums)

    add(0, 0)  # compiles the kernel before the first slice
    in_slices(add, enumeration.num_blocks(len(layers[0])) if blocks is None else blocks)
    return float(sums[2])


def new_averages(num_visible: int, num_hidden: int) -> Averages:
    """Return buffers of zeros for the exact averages of an RBM."""
    rows, columns = sorted((num_visible, num_hidden))
    known = np.zeros(1, dtype=np.bool_)
    return Averages(np.zeros((rows, columns)), np.zeros(rows), np.zeros(columns), known)


def find_averages(
    layers: Sequence[FloatArray], low: int, averages: Averages, blocks: int | None = None
) -> None:
    """Compute the exact averages of an RBM by enumerating the states of its smaller layer.

    Args:
        layers: weights with one row per unit of that layer, its biases, and the other layer's.
        low: the lower value of a unit.
        averages: the arrays to fill.
        blocks: the number of blocks of states; averages need all of them, the default.
    """
    log_z = log_partition(layers, low, blocks)
    for sums in averages:
        sums[...] = 0

    def add(first: int, last: int) -> None:
        enumeration.add_moments(*layers, low, log_z, first, last, averages)

    add(0, 0)  # compiles the kernel before the first slice
    in_slices(add, enumeration.num_blocks(len(layers[0])) if blocks is None else blocks)
    averages.known[0] = blocks is None
