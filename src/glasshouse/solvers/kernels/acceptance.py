"""The Metropolis rule in four number formats, bit-identical on every computer.

The mathematical libraries of different computers differ in the last bit, so an annealer that
compares with thresholds would occasionally take a different path. Exponentials and logarithms are
therefore composed of additions and multiplications only.

* `threshold`, `thresholds`: exp(-y) as a 32-bit integer, for comparison with random integers.
* `half_lives`, `no_less`: random numbers of the exponential distribution. A flip that costs 2x is
  accepted with probability exp(-2βx): exactly if x ≤ -ln(u) / (2β), with u uniform. The right side
  can be drawn before x is known, for many spins at once.
* `log_dice`: logarithms of random numbers. A flip of probability 2^y is accepted if log2(u) ≤ y.
  The logarithm does not depend on the spins, so that a processor can compute it ahead of time.
* `chance`: powers 2^y as probabilities, which have to wait for the local field.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from glasshouse.compiled import chosen_by_type, compiled, inlined, inner
from glasshouse.kernels.extremes import lower
from glasshouse.kernels.vectors import cast, choose, fill_like, fma, spread, view
from glasshouse.kernels.xoshiro import advance_plus

LOG2_E = 1.4426950408889634
_LOG2_HIGH = 6.93147180369123816490e-01  # ln 2 in two parts, the first exact in 33 bits
_LOG2_LOW = 1.90821492927058770002e-10
_INVERSE_FACTORIALS = tuple(1.0 / math.factorial(k) for k in range(12, -1, -1))


@compiled
def threshold(y: Any) -> Any:
    """Return 2^32 · exp(-y) for y ≥ 0, rounded down to an integer of at most 2^32 - 1.

    >>> [int(threshold(y)) for y in (0.0, 0.6931471805599453, 10.0, 23.0, float("inf"))]
    [4294967295, 2147483648, 194991, 0, 0]
    """
    if not y < 22.2:
        return np.uint32(0)
    power = np.floor(y * LOG2_E + 0.5)
    rest = power * _LOG2_HIGH - y + power * _LOG2_LOW  # ±0.35: the Taylor series converges fast
    value = 0.0
    for coefficient in _INVERSE_FACTORIALS:
        value = value * rest + coefficient
    scaled = value * (4294967296.0 / np.float64(np.int64(1) << np.int64(power)))
    return np.uint32(lower(np.int64(scaled), np.int64(4294967295)))


@inner
def thresholds(y: Any) -> Any:
    """Return the thresholds of a vector of eight float64 values, as uint32."""
    most = fill_like(y, 23.0)  # above which the result is 0
    y = choose(most < y, most, y)
    magic = fill_like(y, 1.5 * 2.0**52)  # adding it to a float64 rounds it to an integer
    shifted = y * fill_like(y, LOG2_E) + magic
    power = shifted - magic
    rest = power * fill_like(y, _LOG2_HIGH) - y + power * fill_like(y, _LOG2_LOW)
    value = fill_like(y, 0.0)
    for coefficient in _INVERSE_FACTORIALS:
        value = value * rest + fill_like(y, coefficient)
    exponents = view(value, np.int64) - (view(shifted, np.int64) << 52)
    scaled = cast(view(exponents, np.float64) * fill_like(y, 2.0**32), np.int64)
    largest = fill_like(scaled, 2**32 - 1)
    return cast(choose(largest < scaled, largest, scaled), np.uint32)


LN_2 = 0.6931471805599453
# -log2(1 + x) / x for 0 ≤ x ≤ 1, highest power first; the total error is below 2e-5. At 1 it is
# just above -1, so that no half-life is below 0.
_HALF_LIFE_SERIES = (-0.045132861, 0.193541422, -0.415581584, 0.709089696, -1.441916466)
# The exponent of the float32 2^31, plus a margin for rounding.
_MOST = 158.0001


@inlined
def uniform(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return sixteen random integers below 2^31 as float32, and the next generator state."""
    word, a, b, c, d = advance_plus(a, b, c, d)
    return cast(view(view(word, np.uint32) >> 1, np.int32), np.float32), a, b, c, d


@inlined
def half_lives(number: Any) -> Any:
    """Return -log2((k + 1/2) / 2^31), which is at least 0, for random integers k.

    The halves keep their precision near zero, where rare flips are decided.
    """
    number = number + fill_like(number, 0.5)
    bits = view(number, np.int32)
    power = cast(bits >> 23, np.float32)  # the exponent plus 127
    one = fill_like(bits, 0x3F800000)
    rest = view((bits & fill_like(bits, 0x7FFFFF)) | one, np.float32) - fill_like(number, 1.0)
    series = fill_like(number, _HALF_LIFE_SERIES[0])
    series = fma(series, rest, fill_like(number, _HALF_LIFE_SERIES[1]))
    series = fma(series, rest, fill_like(number, _HALF_LIFE_SERIES[2]))
    series = fma(series, rest, fill_like(number, _HALF_LIFE_SERIES[3]))
    series = fma(series, rest, fill_like(number, _HALF_LIFE_SERIES[4]))
    return fma(series, rest, fill_like(number, 158.0) - power)


@inlined
def no_less(number: Any, scale: Any) -> Any:
    """Return an upper bound on `scale` times the half-lives of random integers.

    The bound exceeds the half-lives by at most a tenth, and takes a quarter of the work: the bits
    of a float, read as an integer, are its logarithm except for a bend between powers of two.
    """
    bits = cast(view(number, np.int32), np.float32)
    return fma(bits, scale * fill_like(scale, -(2.0**-23)), scale * fill_like(scale, _MOST))


@inlined
def whole(units: Any, most: Any) -> Any:
    """Limit floats to `most`, and round them down to int32."""
    return cast(choose(units < most, units, most), np.int32)


UNIT = 2.0**23  # the unit of the logarithms: one step of a float32's exponent
LOWEST = -31.0 * UNIT  # no logarithm is below this
# log2(m) - (m - 1) for 1 ≤ m ≤ 2 in these units, by interpolation at Chebyshev's nodes, minus 35
# units, 4e-6: then no logarithm is above 0, and a flip that costs nothing is always accepted.
_LOG2_SERIES = (
    -206095.80711238724, 2223184.9005795754, -10312040.37031634, 26950922.191451862,
    -44138191.97859971, 42503998.39348414, -17021791.832437545,
)  # fmt: skip


@inner
def log_dice(dice: Any) -> Any:
    """Return UNIT · log2(u) as float32, for uniform u made from random uint32 numbers.

    u is an odd multiple of 2^-31: no probability above 2^-30 is rounded to 0, and no event of a
    probability below 2^-31 ever occurs. The bits of a float, read as an integer, are its logarithm
    except for a bend between powers of two, which the series corrects. The relative error of a
    probability is 1e-5.
    """
    number = view(cast(view(dice >> 1 | fill_like(dice, 1), np.int32), np.float32), np.uint32)
    bent = cast(view(number - fill_like(number, 0x4F000000), np.int32), np.float32)
    digits = number & fill_like(number, 0x007FFFFF)
    m = view(digits | fill_like(number, 0x3F800000), np.float32)
    bend = fill_like(m, _LOG2_SERIES[0])
    bend = fma(bend, m, fill_like(m, _LOG2_SERIES[1]))
    bend = fma(bend, m, fill_like(m, _LOG2_SERIES[2]))
    bend = fma(bend, m, fill_like(m, _LOG2_SERIES[3]))
    bend = fma(bend, m, fill_like(m, _LOG2_SERIES[4]))
    bend = fma(bend, m, fill_like(m, _LOG2_SERIES[5]))
    bend = fma(bend, m, fill_like(m, _LOG2_SERIES[6]))
    return bent + bend


# 2^r for |r| ≤ 1/2 by its Taylor series: the relative error is below 2e-7.
_POWER_SERIES = (0.6931471806, 0.2402265070, 0.0555041087, 0.0096181291, 0.0013333558, 0.0001540353)


@inner
def clamp(v: Any, low: Any, high: Any) -> Any:
    """Limit each lane of a vector to the interval [low, high]."""
    least, most = fill_like(v, low), fill_like(v, high)
    v = choose(v < least, least, v)
    return choose(most < v, most, v)


@inner
def chance(y: Any, dice: Any) -> Any:
    """Return a mask of the lanes in which a random number is below 2^y.

    The dice become 31-bit floats, which keep their precision near zero, where rare flips are
    decided: a probability above 2^-32 is not rounded to 0, and no event below 2^-32 occurs.
    """
    magic = fill_like(y, 12582912.0)  # adding 1.5 · 2^23 to a float32 rounds it to an integer
    power = y + magic
    rest = y - (power - magic)
    p = fill_like(y, _POWER_SERIES[5])
    p = fma(p, rest, fill_like(y, _POWER_SERIES[4]))
    p = fma(p, rest, fill_like(y, _POWER_SERIES[3]))
    p = fma(p, rest, fill_like(y, _POWER_SERIES[2]))
    p = fma(p, rest, fill_like(y, _POWER_SERIES[1]))
    p = fma(p, rest, fill_like(y, _POWER_SERIES[0]))
    p = fma(p, rest, fill_like(y, 1.0))
    p = view(view(p, np.uint32) + (view(power, np.uint32) << 23), np.float32)
    number = cast(view(dice >> 1, np.int32), np.float32)
    return fma(number, fill_like(y, 2.0**-31), fill_like(y, 2.0**-32)) < p


def accept(x: Any, scale: Any, word: Any) -> Any:
    """Return a mask of flips, drawn with probability min(1, 2^(scale·x)); scale = -2β / ln 2."""


@chosen_by_type(accept)
def _accept(x: Any, scale: Any, word: Any) -> Any:
    # The limit is 2^1, so that an unopposed flip is accepted for all dice.
    def single(x: Any, scale: Any, word: Any) -> Any:
        return chance(clamp(x * scale, -120.0, 1.0), view(word, np.uint32))

    def double(x: Any, scale: Any, word: Any) -> Any:
        y = cast(clamp(x * scale, -120.0, 1.0), np.float32)
        return spread(chance(y, cast(word >> 32, np.uint32)), np.uint64)

    return single if x.dtype == types.float32 else double
