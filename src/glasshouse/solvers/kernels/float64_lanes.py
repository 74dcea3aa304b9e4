"""Annealing of sparse problems in float64 lanes, with 16 runs side by side.

The spins of a site in all runs are a row of ±1.0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.arrays import empty
from glasshouse.kernels.vectors import (
    anywhere,
    choose,
    fill_like,
    fma,
    item,
    load,
    load_row,
    store,
)
from glasshouse.kernels.xoshiro import advance
from glasshouse.solvers.kernels.acceptance import LOG2_E, accept
from glasshouse.solvers.kernels.block import mark_hits


class Float64Tables(NamedTuple):
    """The neighbours of each site in sweep order; the last site is the ghost for the fields."""

    starts: npt.NDArray[np.int64]
    neighbours: npt.NDArray[np.int32]  # sites
    weights: npt.NDArray[np.float64]


@inlined
def sweep(tables: Any, beta: Any, number: Any, goals: Any, block: Any) -> Any:
    """Propose one flip for each spin of a block, and record each run that reaches its goal."""
    spins, generator = block.spins, block.generator
    lanes = block.energies.size
    energy, goal = load_row(block.energies, 0), load_row(goals, 0)
    zero = fill_like(energy, 0)
    scale = fill_like(energy, -2.0 * LOG2_E * beta)
    a, b = load(generator, 0, 16), load(generator, 16, 16)
    c, d = load(generator, 32, 16), load(generator, 48, 16)
    for site in range(tables.starts.size - 1):
        field = zero
        for k in range(item(tables.starts, site), item(tables.starts, site + 1)):
            weight = fill_like(zero, item(tables.weights, k))
            field = fma(weight, load_row(spins, item(tables.neighbours, k) * lanes), field)
        word, a, b, c, d = advance(a, b, c, d)
        spin = load_row(spins, site * lanes)
        x = spin * field
        flip = accept(x, scale, word)
        store(spins, site * lanes, choose(flip, zero - spin, spin))
        energy = energy + choose(flip, x + x, zero)
        if anywhere(energy <= goal):
            store(block.energies, 0, energy)
            mark_hits(number, block)
            keep(tables, block)
            goal = load_row(goals, 0)
    store(block.energies, 0, energy)
    store(generator, 0, a)
    store(generator, 16, b)
    store(generator, 32, c)
    store(generator, 48, d)


@inner
def workspace(tables: Any, block: Any) -> Any:
    """Return goals that no run reaches, for sweeps that do not test for goals."""
    goals = empty(block.goals.size, block.goals.dtype)
    goals[:] = block.never
    return goals


@inner
def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """Do one sweep of all runs of a block at β."""
    sweep(tables, beta, 0, work, block)


@inner
def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """Do one sweep of all runs of a block at β, testing for the goals after every flip."""
    sweep(tables, beta, number, block.goals, block)


@inner
def begin(tables: Any, block: Any) -> Any:
    """Draw random spins for all sites except the ghost, and compute the energies of all runs."""
    spins, energies = block.spins, block.energies
    scatter(block.generator, spins, energies.size)
    energies[:] = 0
    for site in range(tables.starts.size - 1):
        for k in range(tables.starts[site], tables.starts[site + 1]):
            other = tables.neighbours[k]
            if other > site:
                for lane in range(energies.size):
                    bond = spins[site * energies.size + lane] * spins[other * energies.size + lane]
                    energies[lane] -= tables.weights[k] * bond


@inner
def scatter(generator: Any, spins: Any, lanes: Any) -> Any:
    """Draw random spins for all sites except the last, which is up."""
    words = empty(16, np.uint64)
    for start in range(0, spins.size, lanes):
        word, a, b, c, d = advance(
            load(generator, 0, 16), load(generator, 16, 16),
            load(generator, 32, 16), load(generator, 48, 16),
        )  # fmt: skip
        store(words, 0, word)
        store(generator, 0, a)
        store(generator, 16, b)
        store(generator, 32, c)
        store(generator, 48, d)
        for lane in range(lanes):
            down = words[lane % 16] >> np.uint64(63 - lane // 16) & np.uint64(1)
            spins[start + lane] = -1 if down and start + lanes < spins.size else 1


@inner
def measure(tables: Any, block: Any) -> None:
    """Do nothing, because sweeps of this kernel update the energies."""


@inner
def keep(tables: Any, block: Any) -> Any:
    """For each run that the mask marks, copy its spins to `block.states`, one byte per spin."""
    lanes = block.mask.size
    for start in range(0, block.states.size, lanes):
        for lane in range(lanes):
            down = 255 if block.spins[start + lane] < 0 else 0
            old = block.states[start + lane]
            block.states[start + lane] = old ^ ((old ^ down) & block.mask[lane])
