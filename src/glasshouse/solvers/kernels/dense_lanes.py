"""Annealing of dense problems in which all spins interact, 16 sites of four runs at a time.

A spin may flip only after the spins before it have been decided. But the cost that each spin
accepts is drawn in advance, for sixteen sites of four runs at once, and one comparison shows which
of them would flip: at low temperature, usually none. Otherwise the first of these spins flips, the
margins of the sites after it are updated, and so on until no site is left.

If few spins flip, each flip immediately adds a row of couplings to the fields of its run. If more
spins flip, sixteen sites are decided together, and rows are added four at a time. If very many
flip, fields are recomputed in each sweep. All three ways lead to the same states.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import chosen_by_type, inlined, inner
from glasshouse.kernels.arrays import empty, zeros
from glasshouse.kernels.extremes import lower
from glasshouse.kernels.vectors import (
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
from glasshouse.solvers.kernels.acceptance import no_less, whole
from glasshouse.solvers.kernels.dense_crowds import (
    add_lacking,
    add_up,
    catch_up,
    has_bytes,
    list_all,
    list_length,
    list_sixteen,
    were_added_up,
)
from glasshouse.solvers.kernels.dense_fields import (
    AHEAD,
    WORDS,
    Rounding,
    energy_in_units,
    goal_in_units,
    half_life,
    keep,
    measure_fields,
    note_hit,
    scatter,
    swap_records,
)
from glasshouse.solvers.kernels.dense_turns import (
    TOGETHER,
    find_above,
    settle,
    take_turns,
    throw,
)

__all__ = [
    "DenseTables", "begin", "keep", "measure", "step", "swap_records", "watched_step", "workspace",
]  # fmt: skip

MANY = 6  # flips, in sixteen sites of four runs, from which the sites are decided together
# Two words of `block.generator`, from a stream that the second run does not use: the number of
# spins that flipped in the last sweep, and whether the fields are out of date.
FLIPPED, BEHIND = WORDS, WORDS + 1
_LANES = np.arange(16, dtype=np.int32)


class DenseTables(NamedTuple):
    """This kernel's tables of a dense problem: couplings, fields and sums of couplings."""

    rows: npt.NDArray[Any]  # twice the couplings, a row for each slot
    up: npt.NDArray[Any]  # local fields if all spins are up; unused slots are held fixed
    own: npt.NDArray[Any]  # the sites' own fields; at unused slots they cancel the fixing field
    among: npt.NDArray[Any]  # for each 16 slots: sums of four earlier ones, for each state
    sums: npt.NDArray[Any]  # for each 16 or 32 slots: sums of each group of spins; or empty
    base: npt.NDArray[Any]  # fields of the slots before sums are added, or twice sums in bytes
    lacking: npt.NDArray[Any]  # for each 32 slots: sums of the first 16 spins for the other 16
    log_group: int  # log2 of the number of spins in a group
    crowd: int  # sums are used if more than one of `crowd` spins flip; 0 without sums
    slots: npt.NDArray[np.int32]  # slots of the sites
    ceiling: float  # a value above all local fields
    rounding: Rounding


class Work(NamedTuple):
    """The scratch arrays of one thread: some for 16 sites of four runs, others for all runs."""

    reach: npt.NDArray[Any]  # the largest cost that a spin accepts
    flips: npt.NDArray[np.int64]
    energies: npt.NDArray[np.int64]
    goals: npt.NDArray[np.int64]
    gaps: npt.NDArray[np.int32]  # sixteen for each four runs, used in order
    used: npt.NDArray[np.int64]  # the number of gaps used
    left: npt.NDArray[np.int64]  # draws before the next one above AHEAD half-lives
    lists: npt.NDArray[np.uint8]  # for each run, a byte per group of spins
    listed: npt.NDArray[np.int64]  # whether the lists have been filled


@inner
def workspace(tables: Any, block: Any) -> Any:
    """Allocate the scratch arrays of one thread."""
    runs = block.energies.size
    numbers = zeros(4 * runs + TOGETHER + 1, np.int64)
    return Work(
        empty(16 * TOGETHER, tables.rows.dtype),
        numbers[4 * runs : 4 * runs + TOGETHER], numbers[:runs], numbers[runs : 2 * runs],
        zeros(4 * runs, np.int32), numbers[2 * runs : 3 * runs], numbers[3 * runs : 4 * runs],
        zeros(runs * list_length(tables), np.uint8),
        numbers[4 * runs + TOGETHER :],
    )  # fmt: skip


@inlined
def is_crowded(tables: Any, block: Any) -> Any:
    """Return whether spins flip so often that recomputing fields is faster than updating them."""
    updates = block.energies.size * tables.slots.size
    return np.int64(block.generator[FLIPPED]) * tables.crowd > updates


def many(tables: Any) -> Any:
    """Return the smallest number of flips for which 16 sites of four runs are decided together.

    It is None if sums are bytes, because fields are then not kept if many spins flip.
    """


@chosen_by_type(many)
def _many(tables: Any) -> Any:
    def never(tables: Any) -> Any:
        return None

    def from_some_on(tables: Any) -> Any:
        return MANY

    return never if has_bytes(tables) else from_some_on


@inlined
def sweep(tables: Any, beta: Any, work: Any, lists: Any, many: Any, number: Any, block: Any) -> Any:
    """Propose one flip for each spin of every run, and test for goals if `number` is given.

    With `lists` of groups, the fields of a site are recomputed just before its proposal, and are
    out of date at the end. Otherwise fields are kept up to date: flip by flip, or, from `many`
    flips on, sixteen sites at a time. The random numbers drawn depend only on the margins. Returns
    the number of spins that flipped or would have flipped.
    """
    generator, records, size = block.generator, block.spins, tables.own.size
    kind, length = records.dtype, 2 * size
    life = half_life(beta, tables.rounding.unit)
    scale, most = fill(np.float32(life), 16), fill(np.float32(tables.ceiling), 16)
    ahead = fill_like(load(tables.own, 0, 16), np.int64(lower(AHEAD * life, tables.ceiling)))
    flipped = np.int64(0)
    for run in range(block.energies.size):
        work.used[run], work.left[run] = 15, -1  # as if a draw above AHEAD had just been made
        if number is not None:
            work.energies[run] = energy_in_units(tables, run, block)
            work.goals[run] = goal_in_units(tables, run, block)
    for slot in range(0, tables.slots.size, 16):
        for first in range(0, block.energies.size, TOGETHER):  # all runs use the same rows
            if lists is not None:
                if were_added_up(tables, slot):
                    add_lacking(tables, first, slot, records)
                else:
                    add_up(tables, lists, first, slot, records)
            place = length * first + slot
            margin0 = margins(records, place, size)
            margin1 = margins(records, place + length, size)
            margin2 = margins(records, place + 2 * length, size)
            margin3 = margins(records, place + 3 * length, size)
            above = np.int64(0)
            is_near = (margin0 <= ahead) | (margin1 <= ahead) | (margin2 <= ahead)
            if not anywhere(is_near | (margin3 <= ahead)):
                # No draw below AHEAD half-lives matters here: skip to the next draw above.
                left = item(work.left, first) - 16 * TOGETHER
                put(work.left, first, left)
                if left >= 0:
                    continue
                above = find_above(work, generator, first)
                if above == 0:  # initially the next draw is not known
                    continue
            dice0, dice1, dice2, dice3 = throw(generator, first)
            if lists is None and above == 0:  # otherwise a flip is probable
                might = margin0 <= cast(whole(no_less(dice0, scale), most), kind)
                might = might | (margin1 <= cast(whole(no_less(dice1, scale), most), kind))
                might = might | (margin2 <= cast(whole(no_less(dice2, scale), most), kind))
                might = might | (margin3 <= cast(whole(no_less(dice3, scale), most), kind))
                if not anywhere(might):
                    continue
            settle(work.reach, dice0, dice1, dice2, dice3, above, scale, most)
            if lists is not None:
                take_turns(tables, work, place, slot, records)
                for k in range(TOGETHER):
                    flipped += count_bits(item(work.flips, k))
                    list_sixteen(tables, lists, first + k, slot, records)
                continue
            would = bits_of(margin0 <= load(work.reach, 0, 16))
            would |= bits_of(margin1 <= load(work.reach, 16, 16)) << 16
            would |= bits_of(margin2 <= load(work.reach, 32, 16)) << 32
            would |= bits_of(margin3 <= load(work.reach, 48, 16)) << 48
            flipped += count_bits(would)
            if many is not None and count_bits(would) >= many:
                take_turns(tables, work, place, slot, records)
                for k in range(TOGETHER):
                    add_rows(tables, length * (first + k), slot, item(work.flips, k), records)
            else:
                one_by_one(tables, work, number, first, slot, would, block)
    return flipped


@inlined
def margins(records: Any, place: Any, size: Any) -> Any:
    """Return the margins (spin · local field) of sixteen spins of a run, in integer units."""
    spin = load(records, place + size, 16)
    return (load(records, place, 16) ^ spin) - spin


@inlined
def one_by_one(
    tables: Any, work: Any, number: Any, first: Any, slot: Any, would: Any, block: Any
) -> Any:
    """Flip the spins in `would` one by one, and update which of the later spins would flip."""
    rows, records, size = tables.rows, block.spins, tables.own.size
    lanes = cast(load(_LANES, 0, 16), records.dtype)
    while would != 0:
        lane = lowest_bit(would)
        here, of_run = lane & 15, lane & -16
        run = first + (lane >> 4)
        record, row = 2 * size * run, (slot + here) * size
        spins = record + size + slot
        spin, before = load(records, spins, 16), np.int64(item(records, spins + here))
        if number is not None:
            work.energies[run] += 2 * ((item(records, record + slot + here) ^ before) - before)
        sign = fill_like(spin, ~before)
        field = load(records, record + slot, 16) + (load(rows, row + slot, 16) ^ sign) - sign
        margin = (field ^ spin) - spin
        store(records, spins, spin ^ view(lanes == fill_like(lanes, here), records.dtype))
        add_row(rows, row, ~before, records, record, size)
        if number is not None and work.energies[run] <= work.goals[run]:
            note_hit(tables, number, run, work.energies[run], block)
            work.goals[run] = goal_in_units(tables, run, block)
        after = bits_of(margin <= load(work.reach, of_run, 16)) & (-2 << here)
        would = (would & ~(0xFFFF << of_run)) | after << of_run


@inlined
def add_rows(tables: Any, record: Any, slot: Any, flips: Any, records: Any) -> Any:
    """Update a run's fields after flips among 16 spins, adding up to four rows at a time."""
    rows, size = tables.rows, tables.own.size
    while flips & (flips - 1) != 0:
        one, first, flips = next_row(size, record, slot, flips, records)
        two, second, flips = next_row(size, record, slot, flips, records)
        if flips & (flips - 1) != 0:
            three, third, flips = next_row(size, record, slot, flips, records)
            four, fourth, flips = next_row(size, record, slot, flips, records)
            add_four(
                rows, one, two, three, four, first, second, third, fourth, records, record, size
            )
        else:
            add_two(rows, one, two, first, second, records, record, size)
    if flips != 0:
        one, first, flips = next_row(size, record, slot, flips, records)
        add_row(rows, one, first, records, record, size)


@inlined
def next_row(size: Any, record: Any, slot: Any, flips: Any, records: Any) -> Any:
    """Return the row and the sign (0 or -1) of the first flipped spin, and the remaining flips."""
    site = slot + lowest_bit(flips)
    return site * size, np.int64(item(records, record + size + site)), flips & (flips - 1)


@inlined
def add_two(
    rows: Any, one: Any, two: Any, first: Any, second: Any, records: Any, record: Any, size: Any
) -> Any:
    """Add two rows of couplings, each with its sign, to the fields of a run."""
    sign1 = fill_like(load(rows, one, 32), first)
    sign2 = fill_like(sign1, second)
    minus = sign1 + sign2  # a complement is one less than the negative
    for k in range(0, size, 32):
        change = (load(rows, one + k, 32) ^ sign1) + (load(rows, two + k, 32) ^ sign2)
        store(records, record + k, load(records, record + k, 32) + change - minus)


@inlined
def add_four(
    rows: Any, one: Any, two: Any, three: Any, four: Any, first: Any, second: Any, third: Any,
    fourth: Any, records: Any, record: Any, size: Any,
) -> Any:  # fmt: skip
    """Add four rows of couplings, each with its sign, to the fields of a run."""
    sign1, sign2 = fill_like(load(rows, one, 32), first), fill_like(load(rows, one, 32), second)
    sign3, sign4 = fill_like(sign1, third), fill_like(sign1, fourth)
    minus = sign1 + sign2 + sign3 + sign4
    for k in range(0, size, 32):
        change = (load(rows, one + k, 32) ^ sign1) + (load(rows, two + k, 32) ^ sign2)
        change = change + (load(rows, three + k, 32) ^ sign3) + (load(rows, four + k, 32) ^ sign4)
        store(records, record + k, load(records, record + k, 32) + change - minus)


@inlined
def add_row(rows: Any, row: Any, turned: Any, records: Any, record: Any, size: Any) -> Any:
    """Add a row of couplings to the fields of a run, or subtract it if `turned` is -1."""
    sign = fill_like(load(rows, row, 32), turned)
    for k in range(0, size, 32):
        change = (load(rows, row + k, 32) ^ sign) - sign
        store(records, record + k, load(records, record + k, 32) + change)


@inner
def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """Do one sweep of all runs of a block at β."""
    if is_crowded(tables, block):
        if block.generator[BEHIND] == 0 or work.listed[0] == 0:
            list_all(tables, work.lists, block)
        block.generator[BEHIND], work.listed[0] = 1, 1
        block.generator[FLIPPED] = sweep(tables, beta, work, work.lists, None, None, block)
    else:
        refresh(tables, work.lists, block)
        block.generator[FLIPPED] = sweep(tables, beta, work, None, many(tables), None, block)


@inner
def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """Do one sweep of all runs of a block at β, testing for the goals after every flip."""
    refresh(tables, work.lists, block)
    block.generator[FLIPPED] = sweep(tables, beta, work, None, None, number, block)
    measure_fields(tables, block)


@inlined
def refresh(tables: Any, lists: Any, block: Any) -> Any:
    """Recompute the fields of all runs if they are out of date."""
    if block.generator[BEHIND] != 0:
        block.generator[BEHIND] = 0
        catch_up(tables, lists, block)


@inner
def measure(tables: Any, block: Any) -> None:
    """Update the fields if needed, and compute the energies of all runs."""
    if block.generator[BEHIND] != 0:
        refresh(tables, zeros(block.energies.size * list_length(tables), np.uint8), block)
    measure_fields(tables, block)


@inner
def begin(tables: Any, block: Any) -> Any:
    """Draw random spins for all runs, and compute their local fields."""
    size = tables.own.size
    block.generator[FLIPPED], block.generator[BEHIND] = block.spins.size, 0  # probably hot
    for run in range(block.energies.size):
        record = 2 * size * run
        scatter(tables, run, block)
        for slot in range(size):
            block.spins[record + slot] = tables.up[slot]
        for slot in range(size):
            if block.spins[record + size + slot] != 0:
                add_row(tables.rows, slot * size, np.int64(-1), block.spins, record, size)
