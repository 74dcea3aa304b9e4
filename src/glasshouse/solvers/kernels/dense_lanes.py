"""Annealing in floating-point lanes for dense problems: the fields of two spins at a time.

Reading the spins of all other sites is the cost of a dense problem; two sites that are updated one
after the other share it. Where they are coupled, the second one's field is put right after the
first one's flip.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inlined, inner
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
from glasshouse.solvers.kernels.block import mark_hits
from glasshouse.solvers.kernels.float_lanes import keep, measure, scatter, workspace
from glasshouse.solvers.kernels.metropolis import LOG2_E, accept

__all__ = ["DenseTables", "begin", "keep", "measure", "step", "watched_step", "workspace"]


class DenseTables(NamedTuple):
    """Pairs of sites 2p and 2p + 1 and their weights to a range of sites.

    The number of sites is even; an added one has no weights and flips freely.
    """

    ranges: npt.NDArray[np.int64]  # (P, 2): first site with a weight, site after the last
    starts: npt.NDArray[np.int64]  # of each pair in weights
    weights: npt.NDArray[Any]  # for each site of the range, the weights of the first, the second
    fields: npt.NDArray[Any]
    couplings: npt.NDArray[Any]  # weight between the two


@compiled
def build(starts: Any, neighbours: Any, values: Any, like: Any) -> Any:
    """Tables of an adjacency in sweep order, of the dtype of `like`."""
    num_sites = starts.size - 1
    num_pairs = (num_sites + 1) // 2
    ranges = np.empty((num_pairs, 2), np.int64)
    places = np.zeros(num_pairs + 1, np.int64)
    for p in range(num_pairs):
        low, high = num_sites, 0
        for k in range(starts[2 * p], starts[min(2 * p + 2, num_sites)]):
            if neighbours[k] < num_sites:
                low, high = min(low, neighbours[k]), max(high, neighbours[k] + 1)
        ranges[p, 0], ranges[p, 1] = min(low, high), high
        places[p + 1] = places[p] + 2 * (high - ranges[p, 0])
    weights = np.zeros(places[num_pairs], like.dtype)
    fields = np.zeros(2 * num_pairs, like.dtype)
    couplings = np.zeros(num_pairs, like.dtype)
    for site in range(num_sites):
        pair, side = site // 2, site % 2
        for k in range(starts[site], starts[site + 1]):
            other = neighbours[k]
            if other == num_sites:
                fields[site] = values[k]
            else:
                weights[places[pair] + 2 * (other - ranges[pair, 0]) + side] = values[k]
                if side == 0 and other == site + 1:
                    couplings[pair] = values[k]
    return DenseTables(ranges, places, weights, fields, couplings)


@inner
def pair_fields(tables: Any, spins: Any, pair: Any, like: Any, lanes: Any) -> Any:
    """Local fields of both sites of a pair."""
    first = fill_like(like, item(tables.fields, 2 * pair))
    second = fill_like(like, item(tables.fields, 2 * pair + 1))
    place = item(tables.starts, pair)
    for site in range(tables.ranges[pair, 0], tables.ranges[pair, 1]):
        spin = load_row(spins, site * lanes)
        first = fma(fill_like(like, item(tables.weights, place)), spin, first)
        second = fma(fill_like(like, item(tables.weights, place + 1)), spin, second)
        place += 2
    return first, second


@inlined
def sweep(tables: Any, beta: Any, number: Any, goals: Any, block: Any) -> Any:
    """Propose every spin once; stop to note any run that reaches its goal on the way."""
    spins, generator = block.spins, block.generator
    lanes = block.energies.size
    energy, goal = load_row(block.energies, 0), load_row(goals, 0)
    zero = fill_like(energy, 0)
    scale = fill_like(energy, -2.0 * LOG2_E * beta)
    a, b = load(generator, 0, 16), load(generator, 16, 16)
    c, d = load(generator, 32, 16), load(generator, 48, 16)
    for pair in range(tables.couplings.size):
        field, next_field = pair_fields(tables, spins, pair, zero, lanes)
        coupling = item(tables.couplings, pair)
        for site in range(2 * pair, 2 * pair + 2):
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
            field = next_field
            if coupling != 0:  # else the two sites do not wait for each other
                turned = choose(flip, spin + spin, zero)
                field = field - turned * fill_like(zero, coupling)
    store(block.energies, 0, energy)
    store(generator, 0, a)
    store(generator, 16, b)
    store(generator, 32, c)
    store(generator, 48, d)


@inner
def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """One sweep at β."""
    sweep(tables, beta, 0, work, block)


@inner
def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """One sweep at β, looking for the goals after every flip."""
    sweep(tables, beta, number, block.goals, block)


@inner
def begin(tables: Any, block: Any) -> Any:
    """Random spins and their energies: -½ Σ spin · (local field + own field)."""
    lanes = block.energies.size
    scatter(block.generator, block.spins, lanes)
    total = fill_like(load_row(block.energies, 0), 0)
    for pair in range(tables.couplings.size):
        fields = pair_fields(tables, block.spins, pair, total, lanes)
        for side in range(2):
            own = fill_like(total, item(tables.fields, 2 * pair + side))
            total = total - load_row(block.spins, (2 * pair + side) * lanes) * (fields[side] + own)
    store(block.energies, 0, total * fill_like(total, 0.5))
