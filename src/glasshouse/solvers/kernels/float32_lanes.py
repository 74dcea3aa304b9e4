"""Annealing of sparse problems in float32 lanes, with 8 or 16 runs side by side.

The spins of a site in all runs are a row of ±1.0. Flips are decided in float32; local fields are
recomputed for each site, so that errors cannot accumulate. Energies are summed on demand, in
float64 from the exact weights: energies of problems with integer weights are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.arrays import seen_as
from glasshouse.kernels.extremes import lower
from glasshouse.kernels.vectors import (
    anywhere,
    cast,
    choose,
    fill_like,
    fma,
    item,
    lanes_of,
    load_lanes,
    spread,
    store,
    view,
)
from glasshouse.kernels.xoshiro import advance_small
from glasshouse.solvers.kernels.acceptance import LOG2_E, LOWEST, UNIT, log_dice
from glasshouse.solvers.kernels.block import mark_hits

STEEPEST = 2.0**100  # β above this limit changes no decision, and products with fields stay finite


@inner
def workspace(tables: Any, block: Any) -> Any:
    """Return a placeholder, because this kernel needs no scratch arrays."""
    return 0


@inner
def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """Do one sweep of all runs of a block at β."""
    spins, dice = block.spins, seen_as(block.generator, np.uint32)
    lanes = lanes_of(tables)
    scale = steepness(tables, beta, spins)
    zero, lowest = fill_like(scale, 0), fill_like(scale, LOWEST)
    a = view(load_lanes(dice, 0, tables), np.uint64)
    b = view(load_lanes(dice, lanes, tables), np.uint64)
    if is_cold(tables, beta):
        for site in range(tables.middles.size):
            spin = load_lanes(spins, site * lanes, tables)
            y = spin * local_field(tables, spins, site, zero) * scale
            if anywhere(lowest <= y):
                word, a, b = advance_small(a, b)
                flip = log_dice(view(word, np.uint32)) <= y
                store(spins, site * lanes, turn(spin, flip))
    else:
        for site in range(tables.middles.size):
            word, a, b = advance_small(a, b)
            spin = load_lanes(spins, site * lanes, tables)
            y = spin * local_field(tables, spins, site, zero) * scale
            flip = log_dice(view(word, np.uint32)) <= y
            store(spins, site * lanes, turn(spin, flip))
    store(dice, 0, view(a, np.uint32))
    store(dice, lanes, view(b, np.uint32))


@inner
def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """Do the same sweep as `step`, but test for the goals after every flip."""
    spins, dice = block.spins, seen_as(block.generator, np.uint32)
    lanes = lanes_of(tables)
    scale = steepness(tables, beta, spins)
    energy, goal = load_lanes(block.energies, 0, tables), load_lanes(block.goals, 0, tables)
    zero, exact_zero = fill_like(scale, 0), fill_like(energy, 0)
    lowest, cold = fill_like(scale, LOWEST), is_cold(tables, beta)
    a = view(load_lanes(dice, 0, tables), np.uint64)
    b = view(load_lanes(dice, lanes, tables), np.uint64)
    for site in range(tables.middles.size):
        field, exact_field = zero, exact_zero
        for k in range(item(tables.starts, site), item(tables.starts, site + 1)):
            other = load_lanes(spins, item(tables.neighbours, k), tables)
            field = fma(fill_like(zero, item(tables.weights, k)), other, field)
            weight = fill_like(energy, item(tables.exact_weights, k))
            exact_field = fma(weight, cast(other, np.float64), exact_field)
        spin = load_lanes(spins, site * lanes, tables)
        y = spin * field * scale
        if cold and not anywhere(lowest <= y):
            continue
        word, a, b = advance_small(a, b)
        flip = log_dice(view(word, np.uint32)) <= y
        store(spins, site * lanes, turn(spin, flip))
        x = cast(spin, np.float64) * exact_field
        energy = energy + choose(spread(flip, np.uint64), x + x, exact_zero)
        if anywhere(energy <= goal):
            store(block.energies, 0, energy)
            mark_hits(number, block)
            keep(tables, block)
            goal = load_lanes(block.goals, 0, tables)
    store(dice, 0, view(a, np.uint32))
    store(dice, lanes, view(b, np.uint32))
    measure(tables, block)  # prevents errors from accumulating


@inlined
def local_field(tables: Any, spins: Any, site: Any, zero: Any) -> Any:
    """Return the local field of a site in all lanes, in units of `tables.unit`."""
    field = zero
    for k in range(item(tables.starts, site), item(tables.starts, site + 1)):
        weight = fill_like(zero, item(tables.weights, k))
        field = fma(weight, load_lanes(spins, item(tables.neighbours, k), tables), field)
    return field


@inlined
def steepness(tables: Any, beta: Any, spins: Any) -> Any:
    """Return the factor that converts spin · local field to the log-probability of a flip."""
    scale = lower(2.0 * LOG2_E * UNIT * beta * tables.unit, STEEPEST)
    return fill_like(load_lanes(spins, 0, tables), -scale)


@inlined
def is_cold(tables: Any, beta: Any) -> Any:
    """Return whether most sites are frozen in all lanes, so that testing for this saves time."""
    return 2.0 * LOG2_E * beta * tables.unit * tables.typical_field > -2.0 * LOWEST / UNIT


@inlined
def turn(spin: Any, flip: Any) -> Any:
    """Return the spins of a row, negated in the lanes of the mask."""
    return view(view(spin, np.uint32) ^ (flip & fill_like(flip, 0x80000000)), np.float32)


@inner
def begin(tables: Any, block: Any) -> Any:
    """Draw random spins for all sites of a block except for the ghost, which is up."""
    spins, dice = block.spins, seen_as(block.generator, np.uint32)
    lanes = lanes_of(tables)
    a = view(load_lanes(dice, 0, tables), np.uint64)
    b = view(load_lanes(dice, lanes, tables), np.uint64)
    up = fill_like(load_lanes(spins, 0, tables), 1)
    for start in range(0, tables.middles.size * lanes, lanes):
        word, a, b = advance_small(a, b)
        sign = view(word, np.uint32) & fill_like(view(word, np.uint32), 0x80000000)
        store(spins, start, view(view(up, np.uint32) | sign, np.float32))
    store(spins, tables.middles.size * lanes, up)
    store(dice, 0, view(a, np.uint32))
    store(dice, lanes, view(b, np.uint32))


@inner
def measure(tables: Any, block: Any) -> Any:
    """Compute the energy of each run, counting each edge once, at the first of its two sites."""
    spins, lanes = block.spins, lanes_of(tables)
    energy = fill_like(load_lanes(block.energies, 0, tables), 0)
    zero = energy
    for site in range(tables.middles.size):
        field = zero
        for k in range(item(tables.middles, site), item(tables.starts, site + 1)):
            other = cast(load_lanes(spins, item(tables.neighbours, k), tables), np.float64)
            field = fma(fill_like(zero, item(tables.exact_weights, k)), other, field)
        spin = cast(load_lanes(spins, site * lanes, tables), np.float64)
        energy = energy - spin * field
    store(block.energies, 0, energy)


@inner
def keep(tables: Any, block: Any) -> Any:
    """For each run that the mask marks, copy its spins to `block.states`, one byte per spin."""
    chosen = load_lanes(block.mask, 0, tables)
    zero = chosen ^ chosen
    for start in range(0, block.states.size, lanes_of(tables)):
        spin = view(load_lanes(block.spins, start, tables), np.uint32)
        down = zero - cast(spin >> 31, np.uint8)
        old = load_lanes(block.states, start, tables)
        store(block.states, start, old ^ ((old ^ down) & chosen))
