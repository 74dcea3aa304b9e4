"""Random numbers for sixteen sites of four runs, and the choice of the sites that flip.

A random number is the largest cost that a spin accepts. Four runs share one stream: the stream of
the first of these runs in `block.generator`.

The flip of a site depends on the flips of the earlier sites of its run. If flips were decided one
by one, each would wait for the previous flip. Instead, a guess of the flips determines the fields
of all sixteen sites, and the fields determine a better guess. In each round at least one more site
is right, and usually all sites are right in the second or third round. A guess that repeats itself
is correct, because the first wrong site would have changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.vectors import (
    bits_of,
    cast,
    choose,
    fill_like,
    item,
    load,
    put,
    store,
    view,
)
from glasshouse.solvers.kernels.acceptance import half_lives, uniform, whole
from glasshouse.solvers.kernels.dense_fields import AHEAD, LANE_BITS, WORDS

TOGETHER = 4  # runs that share a stream
# The mean number of draws between two that are above AHEAD half-lives, in half-lives.
_GAPS = -1 / np.log2(1 - 2.0**-AHEAD)


@inlined
def throw(generator: Any, first: Any) -> Any:
    """Draw sixteen random numbers for each of four runs; `first` is the index of the first run."""
    words = WORDS * first
    a, b = load(generator, words, 8), load(generator, words + 8, 8)
    c, d = load(generator, words + 16, 8), load(generator, words + 24, 8)
    dice0, a, b, c, d = uniform(a, b, c, d)
    dice1, a, b, c, d = uniform(a, b, c, d)
    dice2, a, b, c, d = uniform(a, b, c, d)
    dice3, a, b, c, d = uniform(a, b, c, d)
    store(generator, words, a)
    store(generator, words + 8, b)
    store(generator, words + 16, c)
    store(generator, words + 24, d)
    return dice0, dice1, dice2, dice3


@inlined
def settle(
    reach: Any, dice0: Any, dice1: Any, dice2: Any, dice3: Any, above: Any, scale: Any, most: Any
) -> Any:
    """Write the largest cost that each of 64 spins accepts, given its random number.

    Bits of `above` mark draws above AHEAD half-lives; `scale` is the units per half-life.
    """
    lives0, lives1 = half_lives(dice0), half_lives(dice1)
    lives2, lives3 = half_lives(dice2), half_lives(dice3)
    if above != 0:
        lives0 = above_or_below(lives0, above)
        lives1 = above_or_below(lives1, above >> 16)
        lives2 = above_or_below(lives2, above >> 32)
        lives3 = above_or_below(lives3, above >> 48)
    store(reach, 0, cast(whole(lives0 * scale, most), reach.dtype))
    store(reach, 16, cast(whole(lives1 * scale, most), reach.dtype))
    store(reach, 32, cast(whole(lives2 * scale, most), reach.dtype))
    store(reach, 48, cast(whole(lives3 * scale, most), reach.dtype))


@inlined
def above_or_below(lives: Any, above: Any) -> Any:
    """Map each of sixteen draws above AHEAD half-lives if its bit of `above` is set, else below.

    The remainder of an exponential number modulo AHEAD has the distribution of such a number that
    is conditioned to be below AHEAD.
    """
    lanes = load(LANE_BITS, 0, 16)
    is_above = lanes == (fill_like(lanes, above & 0xFFFF) & lanes)
    ahead = fill_like(lives, AHEAD)
    times = cast(cast(lives * fill_like(lives, 1 / AHEAD), np.int32), np.float32)
    return choose(is_above, lives + ahead, lives - times * ahead)


@inner
def find_above(work: Any, generator: Any, first: Any) -> Any:
    """Return a mask of the draws, out of 64, above AHEAD half-lives; draw gaps between these."""
    left, used = work.left[first], work.used[first]
    draws = 16 * TOGETHER
    above = np.int64(0)
    while left < 0:
        if left >= -draws:
            above |= 1 << (left + draws)
        used += 1
        if used == 16:
            dice = throw(generator, first)[0]
            gaps = half_lives(dice) * fill_like(dice, _GAPS)
            store(work.gaps, 4 * first, cast(gaps, np.int32))
            used = 0
        left += item(work.gaps, 4 * first + used) + 1
    work.left[first], work.used[first] = left, used
    return above


@inlined
def take_turns(tables: Any, work: Any, place: Any, slot: Any, records: Any) -> Any:
    """Decide the flips in sixteen slots of four runs, flip these spins, and record the flips."""
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
        # At least three rounds, because a processor cannot predict how many are needed.
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
    """Return a mask of the spins, out of sixteen, that flip in the given fields."""
    return (field ^ spin) - spin <= load(reach, place, 16)


@inlined
def among(tables: Any, slot: Any, state: Any) -> Any:
    """Return the fields that each of sixteen sites receives from the earlier of these sites."""
    return sum_of_sixteen(tables.among, slot << 6, state)


@inlined
def sum_of_sixteen(sums: Any, here: Any, state: Any) -> Any:
    """Return the fields that sixteen spins produce at sixteen sites, from tabulated sums."""
    field = load(sums, here + ((state & 15) << 4), 16)
    field = field + load(sums, here + 256 + (state & 240), 16)
    field = field + load(sums, here + 512 + (state >> 4 & 240), 16)
    return field + load(sums, here + 768 + (state >> 8 & 240), 16)
