"""Normal deviates from our own generator, the same on every machine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glasshouse.boltzmann.kernels.floats import logarithm
from glasshouse.compiled import compiled, inner
from glasshouse.kernels.xoshiro import next_word

_U11 = np.uint64(11)
_UNIT = 2.0**-52


@inner
def symmetric(stream: Any) -> float:
    """A uniform number in [-1, 1)."""
    return np.float64(next_word(stream) >> _U11) * _UNIT - 1.0


@compiled
def fill_normal(stream: Any, sigma: float, values: Any) -> None:
    """Normal deviates of standard deviation sigma (Marsaglia's polar method, one per pair)."""
    for k in range(values.size):
        square, x = 0.0, 0.0
        while not 0.0 < square < 1.0:
            x, y = symmetric(stream), symmetric(stream)
            square = x * x + y * y
        values[k] = sigma * x * math.sqrt(-2.0 * logarithm(square) / square)
