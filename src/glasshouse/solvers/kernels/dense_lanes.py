"""Annealing of dense problems whose spins all see each other: sixteen sites of a run at once.

A spin may flip only after the spins before it have had their turn. But how much each is ready to
overcome is drawn beforehand, for sixteen sites of a run at once, and one comparison tells which of
them would flip. The first of those does, the other fifteen margins follow, and so on until none is
left: in the cold, mostly at once. Then the rows of couplings of all that flipped are added to the
fields of the run.

Four runs take their flips at the same time, since each flip has to wait for the one before it. They
share a stream of random numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.arrays import zeros32, zeros64
from glasshouse.kernels.vector_scalars import bits_of, lowest_bit, put
from glasshouse.kernels.vectors import (
    anywhere,
    cast,
    choose,
    fill,
    fill_like,
    item,
    load,
    store,
)
from glasshouse.solvers.kernels.dense_fields import (
    LANE_BITS,
    WORDS,
    Rounding,
    energy_in_units,
    goal_in_units,
    half_life,
    keep,
    measure,
    note_hit,
    scatter,
    swap_records,
)
from glasshouse.solvers.kernels.exponential_draws import half_lives, whole_units

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

TOGETHER = 4  # runs that share a stream
# Where all spins are held by more than so many half-lives, only the rare draws above are made.
AHEAD = 8
# How many draws there are between two that are above AHEAD half-lives, in half-lives.
_GAPS = -1 / np.log2(1 - 2.0**-AHEAD)


class DenseTables(NamedTuple):
    """Twice the couplings of each site to all others."""

    rows: npt.NDArray[Any]  # a row for each slot
    up: npt.NDArray[Any]  # local fields where all spins are up; left over slots are held by theirs
    own: npt.NDArray[Any]  # fields of the sites themselves; those of left over slots are undone
    slots: npt.NDArray[np.int32]  # of the sites
    ceiling: float  # above all local fields
    rounding: Rounding


class Work(NamedTuple):
    """Scratch. A number for each of sixteen sites of four runs, and some for each run."""

    reach: npt.NDArray[Any]  # how much a spin is ready to overcome
    margins: npt.NDArray[Any]  # what it did overcome
    flips: npt.NDArray[np.int64]
    energies: npt.NDArray[np.int64]
    goals: npt.NDArray[np.int64]
    gaps: npt.NDArray[np.int32]  # sixteen for each four runs, to be used one after the other
    used: npt.NDArray[np.int64]  # how many of them were
    left: npt.NDArray[np.int64]  # draws before the next one above AHEAD half-lives


@inner
def workspace(tables: Any, block: Any) -> Any:
    """Scratch arrays for one thread."""
    runs = block.energies.size
    numbers = zeros64(4 * runs + TOGETHER)
    return Work(
        np.empty(16 * TOGETHER, tables.rows.dtype), np.empty(16 * TOGETHER + 16, tables.rows.dtype),
        numbers[4 * runs :], numbers[:runs], numbers[runs : 2 * runs],
        zeros32(4 * runs), numbers[2 * runs : 3 * runs], numbers[3 * runs : 4 * runs],
    )  # fmt: skip


@inlined
def sweep(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """Propose every spin of every run once; goals are looked for where there is a number."""
    generator, records, rows, size = block.generator, block.spins, tables.rows, tables.own.size
    life = half_life(beta, tables.rounding.unit)
    scale, most = fill(np.float32(life), 16), fill(np.float32(tables.ceiling), 16)
    never = fill_like(load(tables.own, 0, 16), -1)
    ahead = fill_like(never, np.int64(min(AHEAD * life, tables.ceiling)))
    lanes = load(LANE_BITS, 0, 16)
    length = 2 * size
    for run in range(block.energies.size):
        work.used[run], work.left[run] = 15, -1  # as if one was just made
        if number is not None:
            work.energies[run] = energy_in_units(tables, run, block)
            work.goals[run] = goal_in_units(tables, run, block)
    for slot in range(0, tables.slots.size, 16):
        for first in range(0, block.energies.size, TOGETHER):  # all of them use the same rows
            words = WORDS * first
            is_calm = True
            for k in range(TOGETHER):
                place = length * (first + k) + slot
                spin = load(records, place + size, 16)
                margin = (load(records, place, 16) ^ spin) - spin
                is_near = anywhere(margin <= ahead)
                chosen = np.int64(0)
                if not is_near:
                    # No draw up to AHEAD half-lives counts: on to the next one above.
                    left = item(work.left, first) - 16
                    put(work.left, first, left)
                    if left >= 0:
                        store(work.reach, 16 * k, never)
                        continue
                    chosen = choose_lanes(work, generator, words, first)
                lives = draw(generator, words)
                if not is_near:
                    lives = above_or_below(lives, lanes == (fill_like(lanes, chosen) & lanes))
                reach = cast(whole_units(lives, scale, most), records.dtype)
                store(work.reach, 16 * k, reach)
                is_calm = False
            if is_calm:
                continue
            let_flip(tables, work, records, length * first + slot, slot, number)
            for k in range(TOGETHER):
                flips = item(work.flips, k)
                if flips != 0:
                    if number is not None:
                        look(tables, work, number, first + k, slot, k, block)
                    add_rows(rows, size, length * (first + k), slot, flips, records)


@inlined
def draw(generator: Any, words: Any) -> Any:
    """Sixteen exponential numbers, in half-lives, from the stream that begins at `words`."""
    a, b = load(generator, words, 8), load(generator, words + 8, 8)
    c, d = load(generator, words + 16, 8), load(generator, words + 24, 8)
    lives, a, b, c, d = half_lives(a, b, c, d)
    store(generator, words, a)
    store(generator, words + 8, b)
    store(generator, words + 16, c)
    store(generator, words + 24, d)
    return lives


@inner
def choose_lanes(work: Any, generator: Any, words: Any, first: Any) -> Any:
    """The lanes, as bits, whose draws are above AHEAD half-lives, where one is known to be."""
    left, used = work.left[first], work.used[first]
    chosen = np.int64(0)
    while left < 0:
        if left >= -16:
            chosen |= 1 << (left + 16)
        used += 1
        if used == 16:
            lives = draw(generator, words)
            store(work.gaps, 4 * first, cast(lives * fill_like(lives, _GAPS), np.int32))
            used = 0
        left += item(work.gaps, 4 * first + used) + 1
    work.left[first], work.used[first] = left, used
    return chosen


@inlined
def let_flip(tables: Any, work: Any, records: Any, place: Any, slot: Any, number: Any) -> Any:
    """Find the flips of sixteen sites of four runs, one after the other in each run."""
    rows, size = tables.rows, tables.own.size
    length = 2 * size
    square = slot * size + slot
    reach0, reach1 = load(work.reach, 0, 16), load(work.reach, 16, 16)
    reach2, reach3 = load(work.reach, 32, 16), load(work.reach, 48, 16)
    place0, place1 = place + size, place + size + length
    place2, place3 = place1 + length, place1 + 2 * length
    spin0, spin1 = load(records, place0, 16), load(records, place1, 16)
    spin2, spin3 = load(records, place2, 16), load(records, place3, 16)
    margin0 = (load(records, place0 - size, 16) ^ spin0) - spin0
    margin1 = (load(records, place1 - size, 16) ^ spin1) - spin1
    margin2 = (load(records, place2 - size, 16) ^ spin2) - spin2
    margin3 = (load(records, place3 - size, 16) ^ spin3) - spin3
    bits0, bits1 = bits_of(margin0 <= reach0), bits_of(margin1 <= reach1)
    bits2, bits3 = bits_of(margin2 <= reach2), bits_of(margin3 <= reach3)
    flips0 = flips1 = flips2 = flips3 = np.int64(0)
    while bits0 | bits1 | bits2 | bits3 != 0:
        flips0 |= bits0 & -bits0
        flips1 |= bits1 & -bits1
        flips2 |= bits2 & -bits2
        flips3 |= bits3 & -bits3
        if number is not None:
            keep_margin(work.margins, 0, margin0, bits0)
            keep_margin(work.margins, 16, margin1, bits1)
            keep_margin(work.margins, 32, margin2, bits2)
            keep_margin(work.margins, 48, margin3, bits3)
        margin0, bits0 = flip(rows, square, size, records, place0, spin0, margin0, reach0, bits0)
        margin1, bits1 = flip(rows, square, size, records, place1, spin1, margin1, reach1, bits1)
        margin2, bits2 = flip(rows, square, size, records, place2, spin2, margin2, reach2, bits2)
        margin3, bits3 = flip(rows, square, size, records, place3, spin3, margin3, reach3, bits3)
    put(work.flips, 0, flips0)
    put(work.flips, 1, flips1)
    put(work.flips, 2, flips2)
    put(work.flips, 3, flips3)


@inlined
def above_or_below(lives: Any, is_above: Any) -> Any:
    """Draws that are known to be above AHEAD half-lives, and others that are known not to be.

    What is left of an exponential number, once all it has of AHEAD is taken off, has the
    distribution of one that is below.
    """
    ahead = fill_like(lives, AHEAD)
    times = cast(cast(lives * fill_like(lives, 1 / AHEAD), np.int32), np.float32)
    return choose(is_above, lives + ahead, lives - times * ahead)


@inlined
def flip(
    rows: Any, square: Any, size: Any, records: Any, place: Any, spin: Any, margin: Any, reach: Any,
    bits: Any,
) -> Any:  # fmt: skip
    """Let the first of the spins flip that would; the margins then, and who would flip next.

    Where none would, margins are spoilt, but nobody needs them any more.
    """
    first = lowest_bit(bits | 1 << 16)
    here = first & 15
    opposite = ~(spin ^ fill_like(spin, item(records, place + here)))
    margin = margin + (load(rows, square + here * size, 16) ^ opposite) - opposite
    return margin, bits_of(margin <= reach) & (-2 << first)


@inlined
def keep_margin(margins: Any, place: Any, margin: Any, bits: Any) -> Any:
    """Note what the first of the spins that would flip has to overcome, if there is one."""
    if bits != 0:
        here = lowest_bit(bits)
        store(margins, 16 * TOGETHER, margin)
        put(margins, place + here, item(margins, 16 * TOGETHER + here))


@inlined
def add_rows(rows: Any, size: Any, record: Any, slot: Any, flips: Any, records: Any) -> Any:
    """Turn the spins of a run that flip, and bring its fields up to date, two or more at a time."""
    while flips & (flips - 1) != 0:
        one, first, flips = turn(size, record, slot, flips, records)
        two, second, flips = turn(size, record, slot, flips, records)
        if flips & (flips - 1) != 0:
            three, third, flips = turn(size, record, slot, flips, records)
            four, fourth, flips = turn(size, record, slot, flips, records)
            add_four(
                rows, one, two, three, four, first, second, third, fourth, records, record, size
            )
        else:
            add_two(rows, one, two, first, second, records, record, size)
    if flips != 0:
        one, first, flips = turn(size, record, slot, flips, records)
        add_row(rows, one, first, records, record, size)


@inlined
def turn(size: Any, record: Any, slot: Any, flips: Any, records: Any) -> Any:
    """Turn the first spin that flips: its row, 0 or -1 for its spin now, and the other flips."""
    site = slot + lowest_bit(flips)
    turned = ~np.int64(item(records, record + size + site))
    put(records, record + size + site, turned)
    return site * size, turned, flips & (flips - 1)


@inlined
def add_two(
    rows: Any, one: Any, two: Any, first: Any, second: Any, records: Any, record: Any, size: Any
) -> Any:
    """Add two rows to the fields of a run, or take them off."""
    sign1 = fill_like(load(rows, one, 32), first)
    sign2 = fill_like(sign1, second)
    minus = sign1 + sign2  # of each number taken off, one less than its complement is meant
    for k in range(0, size, 32):
        change = (load(rows, one + k, 32) ^ sign1) + (load(rows, two + k, 32) ^ sign2)
        store(records, record + k, load(records, record + k, 32) + change - minus)


@inlined
def add_four(
    rows: Any, one: Any, two: Any, three: Any, four: Any, first: Any, second: Any, third: Any,
    fourth: Any, records: Any, record: Any, size: Any,
) -> Any:  # fmt: skip
    """Add four rows to the fields of a run, or take them off."""
    sign1, sign2 = fill_like(load(rows, one, 32), first), fill_like(load(rows, one, 32), second)
    sign3, sign4 = fill_like(sign1, third), fill_like(sign1, fourth)
    minus = sign1 + sign2 + sign3 + sign4
    for k in range(0, size, 32):
        change = (load(rows, one + k, 32) ^ sign1) + (load(rows, two + k, 32) ^ sign2)
        change = change + (load(rows, three + k, 32) ^ sign3) + (load(rows, four + k, 32) ^ sign4)
        store(records, record + k, load(records, record + k, 32) + change - minus)


@inlined
def add_row(rows: Any, row: Any, turned: Any, records: Any, record: Any, size: Any) -> Any:
    """Add a row to the fields of a run, or take it off."""
    sign = fill_like(load(rows, row, 32), turned)
    for k in range(0, size, 32):
        change = (load(rows, row + k, 32) ^ sign) - sign
        store(records, record + k, load(records, record + k, 32) + change)


@inner
def look(tables: Any, work: Any, number: Any, run: Any, slot: Any, k: Any, block: Any) -> Any:
    """Follow the energy of a run through its flips of sixteen sites."""
    flips = work.flips[k]
    lowest = energy = work.energies[run]
    rest = flips
    while rest != 0:
        energy += 2 * np.int64(work.margins[16 * k + lowest_bit(rest)])
        lowest = min(lowest, energy)
        rest &= rest - 1
    if lowest <= work.goals[run]:
        before = work.energies[run]
        follow(tables, work.margins, 16 * k, flips, number, run, slot, before, block)
        work.goals[run] = goal_in_units(tables, run, block)
    work.energies[run] = energy


@inner
def follow(
    tables: Any, margins: Any, first: Any, flips: Any, number: Any, run: Any, slot: Any,
    energy: Any, block: Any,
) -> Any:  # fmt: skip
    """Flip spins of sixteen slots one by one, as far as the goal, and all of them back.

    Their margins are those from `first` on.
    """
    place = 2 * tables.own.size * run + tables.own.size + slot
    goal = goal_in_units(tables, run, block)
    rest = flips
    while rest != 0:
        k = lowest_bit(rest)
        rest &= rest - 1
        block.spins[place + k] = ~block.spins[place + k]
        energy += 2 * np.int64(margins[first + k])
        if energy <= goal and note_hit(tables, number, run, energy, block):
            break
    flips ^= rest
    while flips != 0:
        k = lowest_bit(flips)
        flips &= flips - 1
        block.spins[place + k] = ~block.spins[place + k]


@inner
def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """One sweep at β."""
    sweep(tables, beta, work, None, block)


@inner
def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """One sweep at β, looking for the goals after every flip."""
    sweep(tables, beta, work, number, block)
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
