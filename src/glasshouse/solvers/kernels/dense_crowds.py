"""Recomputation of the local fields of dense problems, in sweeps with many flips.

If every second spin flips, updates of all fields take most of the time. It takes less time to
recompute the fields of a few sites just before these are proposed: spins are in groups of four or
two, and the contribution of a group is tabulated for each of its states. Each run has a list with
one byte per group: sixteen times the group's state.

If weights are small, sums are bytes, and 32 sites are summed at once. The last sixteen of these
sites exclude the first sixteen spins until these have been proposed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from glasshouse.compiled import chosen_by_type, inlined, inner
from glasshouse.kernels.vectors import bits_of, fill, fill_like, item, load, store, view
from glasshouse.solvers.kernels.dense_turns import TOGETHER, sum_of_sixteen


@inlined
def list_length(tables: Any) -> Any:
    """Return the number of groups of spins in a run, with its slots padded to a multiple of 16."""
    return ((tables.slots.size + 15) & -16) >> tables.log_group


@inlined
def list_sixteen(tables: Any, lists: Any, run: Any, slot: Any, records: Any) -> Any:
    """Record the states of the groups among 16 spins of one run, four groups at a time."""
    size, group = tables.own.size, 1 << tables.log_group
    spins = bits_of(load(records, 2 * size * run + size + slot, 16))
    place = run * list_length(tables) + (slot >> tables.log_group)
    # No branch, because Numba would count references to all arrays on both sides.
    two, one = ((1 << 2 * group) - 1) * 0x00010001, ((1 << group) - 1) * 0x01010101
    for first in range(0, 16, 4 * group):
        states = spins >> first & ((1 << 4 * group) - 1)
        states = (states | states << (16 - 2 * group)) & two
        states = (states | states << (8 - group)) & one
        store(lists, place, view(fill(np.uint32(states << 4), 1), np.uint8))
        place += 4


@inlined
def list_all(tables: Any, lists: Any, block: Any) -> Any:
    """Record the states of all groups of all runs."""
    for run in range(block.energies.size):
        for slot in range(0, tables.slots.size, 16):
            list_sixteen(tables, lists, run, slot, block.spins)


def has_bytes(tables: Any) -> bool:
    """Return whether tables of this Numba type store their sums in bytes."""
    return bool(tables.types[tables.fields.index("sums")].dtype == types.uint8)


def add_up(tables: Any, lists: Any, first: Any, slot: Any, records: Any) -> Any:
    """Recompute the fields of sixteen slots of four runs, or of 32 slots if sums are bytes."""


@chosen_by_type(add_up, forceinline=True)
def _add_up(tables: Any, lists: Any, first: Any, slot: Any, records: Any) -> Any:
    return _add_up_bytes if has_bytes(tables) else _add_up_wide


def _add_up_wide(tables: Any, lists: Any, first: Any, slot: Any, records: Any) -> Any:
    """Recompute the fields of 16 slots of four runs, from sums stored in the fields' type."""
    sums, length, groups = tables.sums, 2 * tables.own.size, list_length(tables)
    step = 16 << (1 << tables.log_group)
    here = (slot >> 4) * groups * step
    field0 = field1 = field2 = field3 = load(tables.base, slot, 16)
    for k in range(first * groups, (first + 1) * groups):
        field0 = field0 + load(sums, here + item(lists, k), 16)
        field1 = field1 + load(sums, here + item(lists, k + groups), 16)
        field2 = field2 + load(sums, here + item(lists, k + 2 * groups), 16)
        field3 = field3 + load(sums, here + item(lists, k + 3 * groups), 16)
        here += step
    place = length * first + slot
    store(records, place, field0)
    store(records, place + length, field1)
    store(records, place + 2 * length, field2)
    store(records, place + 3 * length, field3)


def _add_up_bytes(tables: Any, lists: Any, first: Any, slot: Any, records: Any) -> Any:
    """Recompute fields of 32 slots of four runs from byte sums; `add_lacking` completes them."""
    length, groups = 2 * tables.own.size, list_length(tables)
    step = 32 << (1 << tables.log_group)
    here = (slot >> 5) * groups * step
    low0 = low1 = low2 = low3 = fill_like(load(tables.base, slot, 16), 0)
    high0 = high1 = high2 = high3 = low0
    ones = fill_like(low0, 255)
    for k in range(first * groups, (first + 1) * groups, 2):
        pair0 = two_sums(tables.sums, here, step, lists, k)
        pair1 = two_sums(tables.sums, here, step, lists, k + groups)
        pair2 = two_sums(tables.sums, here, step, lists, k + 2 * groups)
        pair3 = two_sums(tables.sums, here, step, lists, k + 3 * groups)
        low0, high0 = low0 + (pair0 & ones), high0 + (pair0 >> 8)
        low1, high1 = low1 + (pair1 & ones), high1 + (pair1 >> 8)
        low2, high2 = low2 + (pair2 & ones), high2 + (pair2 >> 8)
        low3, high3 = low3 + (pair3 & ones), high3 + (pair3 >> 8)
        here += 2 * step
    base, after = load(tables.base, slot, 16), load(tables.base, slot + 16, 16)
    place = length * first + slot
    store(records, place, base + low0 + low0)
    store(records, place + 16, after + high0 + high0)
    store(records, place + length, base + low1 + low1)
    store(records, place + length + 16, after + high1 + high1)
    store(records, place + 2 * length, base + low2 + low2)
    store(records, place + 2 * length + 16, after + high2 + high2)
    store(records, place + 3 * length, base + low3 + low3)
    store(records, place + 3 * length + 16, after + high3 + high3)


@inlined
def were_added_up(tables: Any, slot: Any) -> Any:
    """Return whether the fields at `slot` were recomputed together with the previous 16 slots."""
    return tables.sums.itemsize == 1 and slot & 16 != 0


@inlined
def add_lacking(tables: Any, first: Any, slot: Any, records: Any) -> Any:
    """For four runs, add the effect of the first 16 of 32 spins to the last 16 slots' fields."""
    size = tables.own.size
    for run in range(first, first + TOGETHER):
        place = 2 * size * run + slot
        state = bits_of(load(records, place + size - 16, 16))
        lacking = sum_of_sixteen(tables.lacking, (slot - 16) << 5, state)
        store(records, place, load(records, place, 16) + lacking)


@inlined
def two_sums(sums: Any, here: Any, step: Any, lists: Any, k: Any) -> Any:
    """Return the sums of two groups for 32 slots, with the first 16 slots in the low bytes."""
    one = load(sums, here + 2 * np.int64(item(lists, k)), 32)
    two = load(sums, here + step + 2 * np.int64(item(lists, k + 1)), 32)
    return view(one + two, np.int16)


@inner
def catch_up(tables: Any, lists: Any, block: Any) -> Any:
    """Recompute the fields of all slots of all runs."""
    list_all(tables, lists, block)
    for slot in range(0, tables.slots.size, 16):
        for first in range(0, block.energies.size, TOGETHER):
            if were_added_up(tables, slot):
                add_lacking(tables, first, slot, block.spins)
            else:
                add_up(tables, lists, first, slot, block.spins)
