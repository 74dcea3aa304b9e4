"""Fields of dense problems in sweeps in which many spins flip: not kept, but added up anew.

Where every second spin flips, bringing all fields up to date takes most of the time. Adding up
those of sixteen sites, when it is their turn, takes less: spins come in groups of four, or two,
and what a group contributes is tabulated for each of its states.

A list of each run has the place of each group's sum, in the table of any sixteen slots.
"""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.vector_scalars import bits_of, put
from glasshouse.kernels.vectors import item, load, store
from glasshouse.solvers.kernels.dense_dice import TOGETHER


@inlined
def groups_of(tables: Any) -> Any:
    """How many groups of spins there are, up to the last sixteen slots that are in use."""
    return ((tables.slots.size + 15) & -16) >> tables.log_group


@inlined
def list_sixteen(tables: Any, lists: Any, run: Any, slot: Any, records: Any) -> Any:
    """Note the states of the groups of sixteen spins of a run."""
    size, group = tables.own.size, 1 << tables.log_group
    state = bits_of(load(records, 2 * size * run + size + slot, 16))
    number = slot >> tables.log_group
    place = run * groups_of(tables) + number
    for shift in range(0, 16, group):
        of_group = (state >> shift) & ((1 << group) - 1)
        put(lists, place, (number << group | of_group) << 4)
        place += 1
        number += 1


@inlined
def list_all(tables: Any, lists: Any, block: Any) -> Any:
    """Note the states of all groups of all runs."""
    for run in range(block.energies.size):
        for slot in range(0, tables.slots.size, 16):
            list_sixteen(tables, lists, run, slot, block.spins)


@inlined
def add_up(tables: Any, lists: Any, first: Any, slot: Any, records: Any) -> Any:
    """Add up the fields of sixteen slots of four runs."""
    sums, length, groups = tables.sums, 2 * tables.own.size, groups_of(tables)
    here = slot * groups << (1 << tables.log_group)
    field0 = field1 = field2 = field3 = load(tables.bias, slot, 16)
    for k in range(first * groups, (first + 1) * groups):
        field0 = field0 + load(sums, here + item(lists, k), 16)
        field1 = field1 + load(sums, here + item(lists, k + groups), 16)
        field2 = field2 + load(sums, here + item(lists, k + 2 * groups), 16)
        field3 = field3 + load(sums, here + item(lists, k + 3 * groups), 16)
    place = length * first + slot
    store(records, place, field0)
    store(records, place + length, field1)
    store(records, place + 2 * length, field2)
    store(records, place + 3 * length, field3)


@inner
def catch_up(tables: Any, lists: Any, block: Any) -> Any:
    """Bring the fields up to date, all of them."""
    list_all(tables, lists, block)
    for slot in range(0, tables.slots.size, 16):
        for first in range(0, block.energies.size, TOGETHER):
            add_up(tables, lists, first, slot, block.spins)
