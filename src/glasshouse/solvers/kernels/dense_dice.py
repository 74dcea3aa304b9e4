"""Random numbers for sixteen sites of four runs at once: how much each spin is ready to overcome.

Four runs share a stream, that of the first of them in `block.generator`. What is drawn from it
hangs on their margins alone, so that every kind of sweep makes the same flips.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.vector_scalars import put
from glasshouse.kernels.vectors import anywhere, cast, choose, fill, fill_like, item, load, store
from glasshouse.solvers.kernels.dense_fields import LANE_BITS, WORDS, half_life
from glasshouse.solvers.kernels.exponential_draws import half_lives, no_less, uniform, whole

TOGETHER = 4  # runs that share a stream
# Where all spins are held by more than so many half-lives, only the rare draws above are made: one
# in 2^AHEAD.
AHEAD = 8
# How many draws there are between two that are above AHEAD half-lives, in half-lives.
_GAPS = -1 / np.log2(1 - 2.0**-AHEAD)


class Heat(NamedTuple):
    """A temperature, in units of the fields."""

    half_life: np.float32
    ceiling: np.float32  # above all fields
    ahead: int


@inlined
def heat_of(tables: Any, beta: Any, work: Any) -> Any:
    """The heat at β; and that no draw above AHEAD half-lives is known yet."""
    life = half_life(beta, tables.rounding.unit)
    for first in range(work.left.size):
        work.used[first], work.left[first] = 15, -1  # as if one was just made
    ahead = np.int64(min(AHEAD * life, tables.ceiling))
    return Heat(np.float32(life), np.float32(tables.ceiling), ahead)


@inlined
def margins(records: Any, place: Any, size: Any) -> Any:
    """What it takes to turn each of sixteen spins against its field."""
    spin = load(records, place + size, 16)
    return (load(records, place, 16) ^ spin) - spin


@inlined
def draw(tables: Any, heat: Any, work: Any, first: Any, slot: Any, block: Any) -> Any:
    """Draw how much each spin is ready to overcome. Returns False where none will flip."""
    generator, records, size = block.generator, block.spins, tables.own.size
    kind, length = records.dtype, 2 * size
    place = length * first + slot
    margin0, margin1 = margins(records, place, size), margins(records, place + length, size)
    place2 = place + 2 * length
    margin2, margin3 = margins(records, place2, size), margins(records, place2 + length, size)
    scale, most = fill(heat.half_life, 16), fill(heat.ceiling, 16)
    ahead = fill_like(margin0, heat.ahead)
    above = np.int64(0)
    is_near = (margin0 <= ahead) | (margin1 <= ahead) | (margin2 <= ahead) | (margin3 <= ahead)
    if not anywhere(is_near):
        # No draw up to AHEAD half-lives counts: on to the next one above.
        left = item(work.left, first) - 16 * TOGETHER
        put(work.left, first, left)
        if left >= 0:
            return False
        above = find_above(work, generator, first)
        if above == 0:  # in the beginning the next one is not known
            return False
    dice0, dice1, dice2, dice3 = throw(generator, first)
    if above == 0:
        might = margin0 <= cast(whole(no_less(dice0, scale), most), kind)
        might = might | (margin1 <= cast(whole(no_less(dice1, scale), most), kind))
        might = might | (margin2 <= cast(whole(no_less(dice2, scale), most), kind))
        might = might | (margin3 <= cast(whole(no_less(dice3, scale), most), kind))
        if not anywhere(might):
            return False
    settle(work.reach, dice0, dice1, dice2, dice3, above, scale, most)
    return True


@inlined
def throw(generator: Any, first: Any) -> Any:
    """Random numbers for the four runs from the first on: sixteen for each."""
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
    """Write down how much each spin is ready to overcome, with so many units per half-life.

    Where `above` has bits, these draws are known to be above AHEAD half-lives, and others not.
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
    """Draws that are known to be above AHEAD half-lives, and others that are known not to be.

    What is left of an exponential number, once all it has of AHEAD is taken off, has the
    distribution of one that is below.
    """
    lanes = load(LANE_BITS, 0, 16)
    is_above = lanes == (fill_like(lanes, above & 0xFFFF) & lanes)
    ahead = fill_like(lives, AHEAD)
    times = cast(cast(lives * fill_like(lives, 1 / AHEAD), np.int32), np.float32)
    return choose(is_above, lives + ahead, lives - times * ahead)


@inner
def find_above(work: Any, generator: Any, first: Any) -> Any:
    """Which of 64 draws are above AHEAD half-lives, as bits; and find out where the next one is."""
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
