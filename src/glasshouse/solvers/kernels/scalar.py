"""The reference kernel: Metropolis sweeps of one run, for any weights.

All kernels are tested against the same exact distributions. This kernel also handles problems that
no other kernel supports: integers whose sums exceed 2^53.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.arrays import empty
from glasshouse.kernels.xoshiro import next_word
from glasshouse.solvers.kernels.acceptance import threshold
from glasshouse.solvers.kernels.block import mark_hits


class ScalarTables(NamedTuple):
    """The neighbours of each site in sweep order; the last site is the ghost for the fields."""

    starts: npt.NDArray[np.int64]
    neighbours: npt.NDArray[np.int32]
    weights: npt.NDArray[Any]  # int64 or float64


@inlined
def sweep(tables: Any, beta: Any, number: Any, goals: Any, block: Any) -> Any:
    """Propose one flip for each spin, and accept it with probability min(1, exp(-β ΔE))."""
    spins, energies = block.spins, block.energies
    for site in range(spins.size - 1):
        x = local_field(tables, spins, site) * spins[site]
        if x <= 0 or next_word(block.generator) >> np.uint64(32) < threshold(2.0 * beta * x):
            spins[site] = -spins[site]
            energies[0] += x  # added twice, because 2x may overflow
            energies[0] += x
            if energies[0] <= goals[0]:
                mark_hits(number, block)
                keep(tables, block)


@inner
def local_field(tables: Any, spins: Any, site: Any) -> Any:
    """Return the local field of a site: the sum of weight · spin over its neighbours."""
    field = tables.weights[0] * 0
    for k in range(tables.starts[site], tables.starts[site + 1]):
        field += tables.weights[k] * spins[tables.neighbours[k]]
    return field


@inner
def workspace(tables: Any, block: Any) -> Any:
    """Return a goal that no run reaches, for sweeps that do not test for the goal."""
    goals = empty(1, block.goals.dtype)
    goals[0] = block.never
    return goals


@inner
def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """Do one sweep of the run at β."""
    sweep(tables, beta, 0, work, block)


@inner
def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """Do one sweep of the run at β, testing for the goal after every flip."""
    sweep(tables, beta, number, block.goals, block)


@inner
def begin(tables: Any, block: Any) -> Any:
    """Draw random spins for all sites except for the ghost, and compute the energy of the run."""
    spins, energies = block.spins, block.energies
    for site in range(spins.size - 1):
        spins[site] = 1 if next_word(block.generator) >> np.uint64(63) else -1
    spins[spins.size - 1] = 1
    energies[0] = 0
    for site in range(spins.size - 1):
        for k in range(tables.starts[site], tables.starts[site + 1]):
            if tables.neighbours[k] > site:
                energies[0] -= tables.weights[k] * spins[site] * spins[tables.neighbours[k]]


@inner
def measure(tables: Any, block: Any) -> None:
    """Do nothing, because sweeps of this kernel update the energies."""


@inner
def keep(tables: Any, block: Any) -> Any:
    """Copy the spins to `block.states`, if the mask marks the run."""
    if block.mask[0]:
        for site in range(block.spins.size - 1):
            block.states[site] = 255 if block.spins[site] < 0 else 0
