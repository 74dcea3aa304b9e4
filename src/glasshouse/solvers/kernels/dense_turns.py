"""Who flips among sixteen sites of four runs, each after those before it in its run.

Where many would, flips one by one would each wait for the one before. Instead, a guess who flips
tells the fields of all sixteen, and these tell better who flips. Each time at least one more site
is right, and mostly all of them are the second or third time. A guess that repeats itself is the
answer: whoever is first to be wrong would be told so.
"""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import inlined
from glasshouse.kernels.vectors import bits_of, load, put, store, view


@inlined
def take_turns(tables: Any, work: Any, place: Any, slot: Any, records: Any) -> Any:
    """Flip spins of sixteen slots of the four runs whose first has its field there at `place`."""
    reach, size = work.reach, tables.own.size
    place1 = place + 2 * size
    place2, place3 = place1 + 2 * size, place1 + 4 * size
    spin0, spin1 = load(records, place + size, 16), load(records, place1 + size, 16)
    spin2, spin3 = load(records, place2 + size, 16), load(records, place3 + size, 16)
    field0, field1 = load(records, place, 16), load(records, place1, 16)
    field2, field3 = load(records, place2, 16), load(records, place3, 16)
    turns0, turns1 = turns(field0, spin0, reach, 0), turns(field1, spin1, reach, 16)
    turns2, turns3 = turns(field2, spin2, reach, 32), turns(field3, spin3, reach, 48)
    old0, old1, old2, old3 = bits_of(spin0), bits_of(spin1), bits_of(spin2), bits_of(spin3)
    rest0, rest1 = field0 - among(tables, slot, old0), field1 - among(tables, slot, old1)
    rest2, rest3 = field2 - among(tables, slot, old2), field3 - among(tables, slot, old3)
    new0, new1 = bits_of(turns0) ^ old0, bits_of(turns1) ^ old1
    new2, new3 = bits_of(turns2) ^ old2, bits_of(turns3) ^ old3
    rounds = 0
    changes = True
    while changes:
        turns0 = turns(rest0 + among(tables, slot, new0), spin0, reach, 0)
        turns1 = turns(rest1 + among(tables, slot, new1), spin1, reach, 16)
        turns2 = turns(rest2 + among(tables, slot, new2), spin2, reach, 32)
        turns3 = turns(rest3 + among(tables, slot, new3), spin3, reach, 48)
        next0, next1 = bits_of(turns0) ^ old0, bits_of(turns1) ^ old1
        next2, next3 = bits_of(turns2) ^ old2, bits_of(turns3) ^ old3
        rounds += 1
        # Three rounds are made in any case: a processor does not foresee how many are needed.
        changes = rounds < 3 or (new0 ^ next0 | new1 ^ next1 | new2 ^ next2 | new3 ^ next3) != 0
        new0, new1, new2, new3 = next0, next1, next2, next3
    store(records, place + size, spin0 ^ view(turns0, records.dtype))
    store(records, place1 + size, spin1 ^ view(turns1, records.dtype))
    store(records, place2 + size, spin2 ^ view(turns2, records.dtype))
    store(records, place3 + size, spin3 ^ view(turns3, records.dtype))
    put(work.flips, 0, new0 ^ old0)
    put(work.flips, 1, new1 ^ old1)
    put(work.flips, 2, new2 ^ old2)
    put(work.flips, 3, new3 ^ old3)


@inlined
def turns(field: Any, spin: Any, reach: Any, place: Any) -> Any:
    """Which of sixteen spins turn in their fields."""
    return (field ^ spin) - spin <= load(reach, place, 16)


@inlined
def among(tables: Any, slot: Any, state: Any) -> Any:
    """What sixteen sites feel of those before them among the sixteen, given their state in bits."""
    return sum_of_sixteen(tables.among, slot << 6, state)


@inlined
def sum_of_sixteen(sums: Any, here: Any, state: Any) -> Any:
    """What sixteen sites feel of sixteen spins: sums of four, for each of their states."""
    field = load(sums, here + ((state & 15) << 4), 16)
    field = field + load(sums, here + 256 + (state & 240), 16)
    field = field + load(sums, here + 512 + (state >> 4 & 240), 16)
    return field + load(sums, here + 768 + (state >> 8 & 240), 16)
