"""Annealing of polynomials of any degree in float64 lanes, with 16 runs side by side.

The spins of a site in all runs are a row of ±1.0. The local field of a spin is the sum of its
monomials' weights, each times the product of the monomial's other spins. Products are computed when
they are needed: for monomials of a few spins, this is faster than to keep products up to date.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.vectors import anywhere, choose, fill_like, item, load, load_row, store
from glasshouse.kernels.xoshiro import advance
from glasshouse.solvers.kernels.acceptance import LOG2_E, accept
from glasshouse.solvers.kernels.block import mark_hits
from glasshouse.solvers.kernels.float64_lanes import keep, measure, scatter, workspace

__all__ = ["begin", "keep", "measure", "step", "watched_step", "workspace"]


class ProductTables(NamedTuple):
    """The monomials of each site, and the other sites of each monomial in ascending order."""

    starts: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    firsts: npt.NDArray[np.int64]
    others: npt.NDArray[np.int32]


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
            product = fill_like(zero, item(tables.weights, k))
            for place in range(item(tables.firsts, k), item(tables.firsts, k + 1)):
                product = product * load_row(spins, item(tables.others, place) * lanes)
            field = field + product
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
def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """Do one sweep of all runs of a block at β."""
    sweep(tables, beta, 0, work, block)


@inner
def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """Do one sweep of all runs of a block at β, testing for the goals after every flip."""
    sweep(tables, beta, number, block.goals, block)


@inner
def begin(tables: Any, block: Any) -> Any:
    """Draw random spins for all sites of a block, and compute the energies of all runs."""
    spins, energies = block.spins, block.energies
    lanes = energies.size
    scatter(block.generator, spins, lanes)
    energies[:] = 0
    for site in range(tables.starts.size - 1):
        for k in range(tables.starts[site], tables.starts[site + 1]):
            first, last = tables.firsts[k], tables.firsts[k + 1]
            if first < last and tables.others[first] < site:  # it counts at its first site
                continue
            for lane in range(lanes):
                product = spins[site * lanes + lane]
                for place in range(first, last):
                    product *= spins[tables.others[place] * lanes + lane]
                energies[lane] -= tables.weights[k] * product
