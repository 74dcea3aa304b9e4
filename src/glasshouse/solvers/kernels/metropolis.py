"""The Metropolis rule for rows of floating-point lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from glasshouse.compiled import chosen_by_type, inner
from glasshouse.kernels.vectors import cast, choose, fill_like, fma, spread, view

LOG2_E = 1.4426950408889634
# 2^r for |r| ≤ 1/2 by its Taylor series: the relative error is below 2e-7.
SERIES = (0.6931471806, 0.2402265070, 0.0555041087, 0.0096181291, 0.0013333558, 0.0001540353)


@inner
def clamp(v: Any, low: Any, high: Any) -> Any:
    """Each lane brought into [low, high]."""
    least, most = fill_like(v, low), fill_like(v, high)
    v = choose(v < least, least, v)
    return choose(most < v, most, v)


@inner
def chance(y: Any, dice: Any) -> Any:
    """Mask of the lanes where a random number is below 2^y. `y` is float32, `dice` uint32.

    The dice become 31-bit floats, which keep their precision near zero, where rare flips are
    decided: no probability above 2^-32 is rounded away, and none below it is ever met.
    """
    magic = fill_like(y, 12582912.0)  # adding 1.5 · 2^23 to a float32 rounds it to a whole number
    power = y + magic
    rest = y - (power - magic)
    p = fill_like(y, SERIES[5])
    p = fma(p, rest, fill_like(y, SERIES[4]))
    p = fma(p, rest, fill_like(y, SERIES[3]))
    p = fma(p, rest, fill_like(y, SERIES[2]))
    p = fma(p, rest, fill_like(y, SERIES[1]))
    p = fma(p, rest, fill_like(y, SERIES[0]))
    p = fma(p, rest, fill_like(y, 1.0))
    p = view(view(p, np.uint32) + (view(power, np.uint32) << 23), np.float32)
    number = cast(view(dice >> 1, np.int32), np.float32)
    return fma(number, fill_like(y, 2.0**-31), fill_like(y, 2.0**-32)) < p


def accept(x: Any, scale: Any, word: Any) -> Any:
    """Mask of the lanes that flip: with probability min(1, 2^(scale·x)), scale = -2β / ln 2."""


@chosen_by_type(accept)
def _accept(x: Any, scale: Any, word: Any) -> Any:
    # Up to 2^1, so that a flip that is not opposed is accepted whatever the dice.
    def single(x: Any, scale: Any, word: Any) -> Any:
        return chance(clamp(x * scale, -120.0, 1.0), view(word, np.uint32))

    def double(x: Any, scale: Any, word: Any) -> Any:
        y = cast(clamp(x * scale, -120.0, 1.0), np.float32)
        return spread(chance(y, cast(word >> 32, np.uint32)), np.uint64)

    return single if x.dtype == types.float32 else double
