"""exp(-y) from additions and multiplications only, so that a seed means the same on every machine.

The mathematical libraries of different machines differ in the last bit; an annealer that compares
with thresholds would follow another path once in a while.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.extremes import lower
from glasshouse.kernels.vectors import cast, choose, fill_like, view

_PER_LOG2 = 1.4426950408889634  # 1 / ln 2
_LOG2_HIGH = 6.93147180369123816490e-01  # ln 2 in two parts, the first exact in 33 bits
_LOG2_LOW = 1.90821492927058770002e-10
_INVERSE_FACTORIALS = tuple(1.0 / math.factorial(k) for k in range(12, -1, -1))


@compiled
def threshold(y: Any) -> Any:
    """The whole number below 2^32 · exp(-y), for y ≥ 0; at most 2^32 - 1.

    >>> [int(threshold(y)) for y in (0.0, 0.6931471805599453, 10.0, 23.0, float("inf"))]
    [4294967295, 2147483648, 194991, 0, 0]
    """
    if not y < 22.2:
        return np.uint32(0)
    power = np.floor(y * _PER_LOG2 + 0.5)
    rest = power * _LOG2_HIGH - y + power * _LOG2_LOW  # in ±0.35: its Taylor series converges fast
    value = 0.0
    for coefficient in _INVERSE_FACTORIALS:
        value = value * rest + coefficient
    scaled = value * (4294967296.0 / np.float64(np.int64(1) << np.int64(power)))
    return np.uint32(lower(np.int64(scaled), np.int64(4294967295)))


@inner
def thresholds(y: Any) -> Any:
    """The same for eight values at once, float64 to uint32."""
    most = fill_like(y, 23.0)  # beyond which the result is 0
    y = choose(most < y, most, y)
    magic = fill_like(y, 1.5 * 2.0**52)  # adding it to a float64 rounds it to a whole number
    shifted = y * fill_like(y, _PER_LOG2) + magic
    power = shifted - magic
    rest = power * fill_like(y, _LOG2_HIGH) - y + power * fill_like(y, _LOG2_LOW)
    value = fill_like(y, 0.0)
    for coefficient in _INVERSE_FACTORIALS:
        value = value * rest + fill_like(y, coefficient)
    exponents = view(value, np.int64) - (view(shifted, np.int64) << 52)
    scaled = cast(view(exponents, np.float64) * fill_like(y, 2.0**32), np.int64)
    largest = fill_like(scaled, 2**32 - 1)
    return cast(choose(largest < scaled, largest, scaled), np.uint32)
