"""Annealing of dense problems that have two layers, such as RBMs, one layer at a time.

Spins of one layer do not interact, so that all flips of a layer are decided at once. Then the
fields of the other layer are updated. A field is a sum over groups of two or four spins, and the
contributions of all states of a group are tabulated. If many spins have flipped, all groups are
added up again; if few spins have flipped, only the groups that changed are corrected.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import inlined, inner, polished
from glasshouse.kernels.arrays import empty
from glasshouse.kernels.extremes import lower
from glasshouse.kernels.vectors import (
    add_lanes,
    anywhere,
    bits_of,
    cast,
    count_bits,
    fill,
    fill_like,
    item,
    load,
    lowest_bit,
    put,
    store,
    view,
)
from glasshouse.solvers.kernels.acceptance import half_lives, uniform, whole
from glasshouse.solvers.kernels.dense_fields import (
    AHEAD,
    FARTHEST,
    LANE_BITS,
    SINGLE,
    WORDS,
    Rounding,
    energy_in_units,
    few,
    goal_in_units,
    half_life,
    keep,
    note_hit,
    scatter,
    swap_records,
)
from glasshouse.solvers.kernels.dense_fields import measure_fields as measure

__all__ = [
    "LayerTables", "begin", "keep", "measure", "step", "swap_records", "watched_step", "workspace",
]  # fmt: skip


class LayerTables(NamedTuple):
    """This kernel's tables of a two-layer problem: sums over groups of spins, and fields."""

    sums: npt.NDArray[Any]  # for each group and state of it, a row over the other layer's slots
    starts: npt.NDArray[np.int64]  # first index of each layer in the sums
    ends: npt.NDArray[np.int64]  # first slot of each layer, and the slot after the last
    groups: npt.NDArray[np.int64]  # groups of each layer
    log_group: int  # log2 of the number of spins in a group
    bias: npt.NDArray[Any]  # fields of the sites themselves; unused slots are held fixed
    own: npt.NDArray[Any]  # the same, except at unused slots, where the two cancel
    slots: npt.NDArray[np.int32]  # slots of the sites
    ceiling: float  # a value above all local fields
    rounding: Rounding


class Work(NamedTuple):
    """The scratch arrays of one thread: flips, spins, margins, and indices of rows to add up."""

    flips: npt.NDArray[np.int64]
    states: npt.NDArray[np.int64]
    margins: npt.NDArray[Any]
    rows: npt.NDArray[np.int64]


@inner
def workspace(tables: Any, block: Any) -> Any:
    """Allocate the scratch arrays of one thread."""
    size = tables.own.size
    return Work(
        empty(size // 16, np.int64),
        empty(size // 16, np.int64),
        empty(16, tables.own.dtype),
        empty(size, np.int64),
    )


@inlined
def sweep(tables: Any, beta: Any, work: Any, number: Any, watching: Any, block: Any) -> Any:
    """Propose one flip for each spin of every run, and test for goals if `watching` is set."""
    generator, records, size = block.generator, block.spins, tables.own.size
    life = half_life(beta, tables.rounding.unit)
    scale, most = fill(np.float32(life), 16), fill(np.float32(tables.ceiling), 16)
    zero = fill_like(load(tables.own, 0, 16), 0)
    ahead = fill_like(zero, np.int64(lower(AHEAD * life, tables.ceiling)))
    far = fill_like(zero, np.int64(lower(FARTHEST * life, tables.ceiling)))
    lanes = load(LANE_BITS, 0, 16)
    for run in range(block.energies.size):
        record, words = 2 * size * run, WORDS * run
        energy = energy_in_units(tables, run, block) if watching else np.int64(0)
        goal = goal_in_units(tables, run, block) if watching else np.int64(0)
        a, b = load(generator, words, 8), load(generator, words + 8, 8)
        c, d = load(generator, words + 16, 8), load(generator, words + 24, 8)
        at = words + SINGLE
        e, f, g, h = (
            item(generator, at),
            item(generator, at + 1),
            item(generator, at + 2),
            item(generator, at + 3),
        )
        for layer in range(2):
            flipped = np.int64(0)
            for slot in range(tables.ends[layer], tables.ends[layer + 1], 16):
                spin = load(records, record + size + slot, 16)
                margin = (load(records, record + slot, 16) ^ spin) - spin
                flip = margin <= zero
                if anywhere((margin <= ahead) & ~flip):
                    dice, a, b, c, d = uniform(a, b, c, d)
                    flip = margin <= cast(whole(half_lives(dice) * scale, most), records.dtype)
                elif anywhere((margin <= far) & ~flip):
                    chosen, e, f, g, h = few(e, f, g, h)
                    if chosen != 0:
                        dice, a, b, c, d = uniform(a, b, c, d)
                        reach = half_lives(dice) + fill_like(dice, AHEAD)
                        reach = whole(reach * scale, most)
                        reach = reach | ~view(lanes == (fill_like(lanes, chosen) & lanes), np.int32)
                        flip = flip | (margin <= cast(reach, records.dtype))
                bits = bits_of(flip)
                flipped += count_bits(bits)
                put(work.flips, slot >> 4, bits)
                if watching and bits != 0:
                    gains = cast(margin & view(flip, records.dtype), np.int64)
                    falls = gains & view(gains < fill(np.int64(0), 16), np.int64)
                    if energy + 2 * add_lanes(falls) <= goal:
                        store(work.margins, 0, margin)
                        follow(tables, work, number, run, slot, energy, goal, block)
                        goal = goal_in_units(tables, run, block)
                    energy += 2 * add_lanes(gains)
                spin = spin ^ view(flip, records.dtype)
                store(records, record + size + slot, spin)
                put(work.states, slot >> 4, bits_of(spin))
            if flipped != 0:
                tell_other_layer(tables, work, layer, record, flipped, records)
        store(generator, words, a)
        store(generator, words + 8, b)
        store(generator, words + 16, c)
        store(generator, words + 24, d)
        generator[at], generator[at + 1], generator[at + 2], generator[at + 3] = e, f, g, h


@inner
def follow(
    tables: Any, work: Any, number: Any, run: Any, slot: Any, energy: Any, goal: Any, block: Any
) -> Any:
    """Repeat the flips of 16 slots one by one until a run hits its goal, then undo these flips."""
    first = 2 * tables.own.size * run + tables.own.size + slot
    flips = bits = work.flips[slot >> 4]
    while bits != 0:
        k = lowest_bit(bits)
        bits &= bits - 1
        block.spins[first + k] = ~block.spins[first + k]
        energy += 2 * np.int64(work.margins[k])
        if energy <= goal and note_hit(tables, number, run, energy, block):
            break
    flips ^= bits
    while flips != 0:
        k = lowest_bit(flips)
        flips &= flips - 1
        block.spins[first + k] = ~block.spins[first + k]


@polished
def tell_other_layer(
    tables: Any, work: Any, layer: Any, record: Any, flipped: Any, records: Any
) -> Any:
    """Update the fields of one layer after the flips of the other layer."""
    first, there = item(tables.ends, layer), item(tables.ends, 1 - layer)
    width = item(tables.ends, 2 - layer) - there
    row, groups = item(tables.starts, layer), item(tables.groups, layer)
    log_group = tables.log_group
    group = 1 << log_group
    several = (1 << group) - 1
    stride = width << group
    if 4 * flipped > groups:
        for k in range(groups):
            shift = k << log_group
            state = (item(work.states, (first + shift) >> 4) >> (shift & 15)) & several
            put(work.rows, k, row + state * width)
            row += stride
        add_up(tables, work, groups, record, there, width, records)
    else:
        for block in range(first >> 4, item(tables.ends, layer + 1) >> 4):
            flips, now = item(work.flips, block), item(work.states, block)
            while flips != 0:
                shift = lowest_bit(flips) & -group
                here = row + (shift >> log_group) * stride
                old = here + (((now ^ flips) >> shift) & several) * width
                new = here + ((now >> shift) & several) * width
                flips &= ~(several << shift)
                put_right(tables, old, new, record + there, width, records)
            row += (16 >> log_group) * stride


@inlined
def put_right(tables: Any, old: Any, new: Any, fields: Any, width: Any, records: Any) -> Any:
    """In the fields of a layer, replace one row of sums with another."""
    for k in range(0, width, 16):
        change = load(tables.sums, new + k, 16) - load(tables.sums, old + k, 16)
        store(records, fields + k, load(records, fields + k, 16) + change)


@inlined
def add_up(
    tables: Any, work: Any, number: Any, record: Any, there: Any, width: Any, records: Any
) -> Any:
    """Compute the fields of a layer as the bias plus `number` rows of sums."""
    column = 0
    while column + 64 <= width:
        field = load(tables.bias, there + column, 64)
        for k in range(number):
            field = field + load(tables.sums, item(work.rows, k) + column, 64)
        store(records, record + there + column, field)
        column += 64
    if column + 32 <= width:
        field32 = load(tables.bias, there + column, 32)
        for k in range(number):
            field32 = field32 + load(tables.sums, item(work.rows, k) + column, 32)
        store(records, record + there + column, field32)
        column += 32
    if column < width:
        field16 = load(tables.bias, there + column, 16)
        for k in range(number):
            field16 = field16 + load(tables.sums, item(work.rows, k) + column, 16)
        store(records, record + there + column, field16)


@inner
def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """Do one sweep of all runs of a block at β."""
    sweep(tables, beta, work, 0, False, block)


@inner
def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """Do one sweep of all runs of a block at β, testing for the goals after every flip."""
    sweep(tables, beta, work, number, True, block)
    measure(tables, block)


@inner
def begin(tables: Any, block: Any) -> Any:
    """Draw random spins for all runs, and compute their local fields."""
    size = tables.own.size
    several = (1 << (1 << tables.log_group)) - 1
    for run in range(block.energies.size):
        record = 2 * size * run
        scatter(tables, run, block)
        for slot in range(size):
            block.spins[record + slot] = tables.bias[slot]
        for layer in range(2):
            there = tables.ends[1 - layer]
            width = tables.ends[2 - layer] - there
            for k in range(tables.groups[layer]):
                slot = tables.ends[layer] + (k << tables.log_group)
                spins = bits_of(load(block.spins, record + size + (slot & -16), 16)) >> (slot & 15)
                row = tables.starts[layer] + (k * (several + 1) + (spins & several)) * width
                for j in range(width):
                    block.spins[record + there + j] += tables.sums[row + j]
