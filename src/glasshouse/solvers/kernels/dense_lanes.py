"""Annealing of dense problems whose spins all see each other: sixteen runs, site by site.

Runs keep their fields one after the other, so that a flip of one run is a row of couplings added.
Flips of one site, however, are decided for all sixteen runs at once. So the fields of sixteen sites
are turned round, a row for each site; flips among these sites are followed there, and the rows of
couplings are added to the runs some sites later.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.vector_scalars import bits_of, lowest_bit, put
from glasshouse.kernels.vectors import anywhere, cast, fill, fill_like, item, load, store, view
from glasshouse.solvers.kernels.dense_fields import (
    AHEAD,
    LANE_BITS,
    Rounding,
    energy_in_units,
    few,
    goal_in_units,
    half_life,
    keep,
    measure,
    note_hit,
    scatter,
    swap_records,
)
from glasshouse.solvers.kernels.exponential_draws import half_lives, whole_units
from glasshouse.solvers.kernels.squares import turn_square

__all__ = [
    "DenseTables",
    "begin",
    "keep",
    "measure",
    "step",
    "swap_records",
    "watched_step",
    "workspace",
]


class DenseTables(NamedTuple):
    """Twice the couplings of each site to all others."""

    rows: npt.NDArray[Any]  # a row for each slot
    up: npt.NDArray[Any]  # local fields where all spins are up; left over slots are held by theirs
    own: npt.NDArray[Any]  # fields of the sites themselves; those of left over slots are undone
    slots: npt.NDArray[np.int32]  # of the sites
    ceiling: float  # above all local fields
    rounding: Rounding


class Work(NamedTuple):
    """Scratch: fields and spins of sixteen sites, runs in lanes; energies and goals of runs."""

    fields: npt.NDArray[Any]
    spins: npt.NDArray[Any]
    energies: npt.NDArray[np.int64]
    goals: npt.NDArray[np.int64]


@inner
def workspace(tables: Any, block: Any) -> Any:
    """Scratch arrays for one thread."""
    return Work(
        np.empty(256, tables.rows.dtype), np.empty(256, tables.rows.dtype),
        np.empty(16, np.int64), np.empty(16, np.int64),
    )  # fmt: skip


@inlined
def sweep(tables: Any, beta: Any, work: Any, number: Any, watching: Any, block: Any) -> Any:
    """Propose every spin of every run once."""
    generator, records, size = block.generator, block.spins, tables.own.size
    life = half_life(beta, tables.rounding.unit)
    scale, most = fill(np.float32(life), 16), fill(np.float32(tables.ceiling), 16)
    ahead = fill_like(load(tables.own, 0, 16), np.int64(min(AHEAD * life, tables.ceiling)))
    lanes = load(LANE_BITS, 0, 16)
    a, b = load(generator, 0, 8), load(generator, 8, 8)
    c, d = load(generator, 16, 8), load(generator, 24, 8)
    e, f, g, h = item(generator, 32), item(generator, 33), item(generator, 34), item(generator, 35)
    if watching:
        for run in range(16):
            work.energies[run] = energy_in_units(tables, run, block)
            work.goals[run] = goal_in_units(tables, run, block)
    for slot in range(0, tables.slots.size, 16):
        turn_square(records, slot, 2 * size, work.fields)
        turn_square(records, size + slot, 2 * size, work.spins)
        flips = np.int64(0)
        # Slots that are left over are proposed, too, as far as four go: they never flip.
        for k in range(min(16, (tables.slots.size - slot + 3) & -4)):
            field, spin = load(work.fields, 16 * k, 16), load(work.spins, 16 * k, 16)
            margin = (field ^ spin) - spin
            flip = margin <= ahead
            bits = np.int64(0)
            chosen = np.int64(1)
            is_near = anywhere(flip)
            if not is_near:
                chosen, e, f, g, h = few(e, f, g, h)
            if chosen != 0:
                lives, a, b, c, d = half_lives(a, b, c, d)
                if is_near:
                    reach = whole_units(lives, scale, most)
                else:
                    reach = whole_units(lives + fill_like(lives, AHEAD), scale, most)
                    reach = reach | ~view(lanes == (fill_like(lanes, chosen) & lanes), np.int32)
                flip = margin <= cast(reach, records.dtype)
                bits = bits_of(flip)
            if bits != 0:
                change = ~(spin + spin) & view(flip, records.dtype)
                for j in range(k + 1, 16):
                    twice = fill_like(change, item(tables.rows, (slot + k) * size + slot + j))
                    store(work.fields, 16 * j, load(work.fields, 16 * j, 16) + change * twice)
            flips |= bits << 16 * (k & 3)
            if watching or k & 3 == 3:
                first = slot + (k & -4)
                while flips != 0:  # of four sites together: that is foreseen more often
                    place = lowest_bit(flips)
                    flips &= flips - 1
                    record, site = 2 * size * (place & 15), first + (place >> 4)
                    turned = ~np.int64(item(records, record + size + site))
                    put(records, record + size + site, turned)
                    add_row(tables.rows, site * size, turned, records, record, size)
            if watching and bits != 0:
                energy = load(work.energies, 0, 16)
                gain = cast(margin & view(flip, records.dtype), np.int64)
                energy = energy + gain + gain
                store(work.energies, 0, energy)
                if anywhere(energy <= load(work.goals, 0, 16)):
                    look(tables, work, number, block)
    store(generator, 0, a)
    store(generator, 8, b)
    store(generator, 16, c)
    store(generator, 24, d)
    generator[32], generator[33], generator[34], generator[35] = e, f, g, h


@inner
def look(tables: Any, work: Any, number: Any, block: Any) -> Any:
    """Note the runs that have reached their goals."""
    for run in range(16):
        if work.energies[run] <= work.goals[run]:
            note_hit(tables, number, run, work.energies[run], block)
            work.goals[run] = goal_in_units(tables, run, block)


@inlined
def add_row(rows: Any, row: Any, turned: Any, records: Any, record: Any, size: Any) -> Any:
    """Add a row to the fields of a run, or take it off."""
    sign = fill_like(load(rows, row, 32), turned + turned + 1)
    for k in range(0, size, 32):
        change = load(rows, row + k, 32) * sign
        store(records, record + k, load(records, record + k, 32) + change)


@inner
def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """One sweep at β."""
    sweep(tables, beta, work, 0, False, block)


@inner
def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """One sweep at β, looking for the goals after every flip."""
    sweep(tables, beta, work, number, True, block)
    measure(tables, block)


@inner
def begin(tables: Any, block: Any) -> Any:
    """Random spins, and the fields that follow from them."""
    size = tables.own.size
    for run in range(block.energies.size):
        record = 2 * size * run
        scatter(tables, run, block)
        for slot in range(size):
            block.spins[record + slot] = tables.up[slot]
        for slot in range(size):
            if block.spins[record + size + slot] != 0:
                add_row(tables.rows, slot * size, np.int64(-1), block.spins, record, size)
