"""Random numbers for sixteen sites of four runs at once: how much each spin is ready to overcome.

Four runs share a stream, that of the first of them in `block.generator`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.vectors import cast, choose, fill_like, item, load, store
from glasshouse.solvers.kernels.dense_fields import LANE_BITS, WORDS
from glasshouse.solvers.kernels.exponential_draws import half_lives, uniform, whole

TOGETHER = 4  # runs that share a stream
# A draw is above AHEAD half-lives with probability 2^-AHEAD.
AHEAD = 8
# How many draws there are between two that are above AHEAD half-lives, in half-lives.
_GAPS = -1 / np.log2(1 - 2.0**-AHEAD)


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
