"""Logarithms of random numbers, for many lanes at once: the same bits on every machine.

A flip of probability 2^y is accepted where log2(u) ≤ y, u a random number in (0, 1). The logarithm
does not depend on the spins, so that a processor works on it ahead of time; an exponential would
have to wait for the local field.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import inner
from glasshouse.kernels.vectors import cast, fill_like, fma, view

UNIT = 2.0**23  # of the logarithms: one step of a float32's exponent
LOWEST = -31.0 * UNIT  # no logarithm is below this
# log2(m) - (m - 1) for 1 ≤ m ≤ 2 in these units, by interpolation at Chebyshev's nodes, but 35
# units, 4e-6, less: then no logarithm is above 0, and a flip that costs nothing is always made.
_SERIES = (
    -206095.80711238724, 2223184.9005795754, -10312040.37031634, 26950922.191451862,
    -44138191.97859971, 42503998.39348414, -17021791.832437545,
)  # fmt: skip


@inner
def log_dice(dice: Any) -> Any:
    """UNIT · log2(u) of random u: uint32 to float32. The lowest two bits of the dice are not used.

    u is one of the odd multiples of 2^-31: no probability above 2^-30 is rounded away, and none
    below 2^-31 is ever met. The bits of a float, read as an integer, are its logarithm but for
    a bend between powers of two, which the series puts right. A probability comes out right to
    1e-5 of itself.
    """
    number = view(cast(view(dice >> 1 | fill_like(dice, 1), np.int32), np.float32), np.uint32)
    bent = cast(view(number - fill_like(number, 0x4F000000), np.int32), np.float32)
    digits = number & fill_like(number, 0x007FFFFF)
    m = view(digits | fill_like(number, 0x3F800000), np.float32)
    bend = fill_like(m, _SERIES[0])
    bend = fma(bend, m, fill_like(m, _SERIES[1]))
    bend = fma(bend, m, fill_like(m, _SERIES[2]))
    bend = fma(bend, m, fill_like(m, _SERIES[3]))
    bend = fma(bend, m, fill_like(m, _SERIES[4]))
    bend = fma(bend, m, fill_like(m, _SERIES[5]))
    bend = fma(bend, m, fill_like(m, _SERIES[6]))
    return bent + bend
