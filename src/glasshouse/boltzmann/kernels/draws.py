"""Random draws: uniform numbers, samples of units, and normal deviates.

All draws come from the library's own generator and are the same on every computer.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glasshouse.boltzmann.kernels.floats import exponential, logarithm, logistic
from glasshouse.compiled import compiled, inner
from glasshouse.kernels.vectors import fill, fill_like, load, store, view
from glasshouse.kernels.xoshiro import advance, next_word

LANES = 8  # streams side by side; a different number would change results
_U12, _ONE_POINT = np.uint64(12), np.uint64(0x3FF0000000000000)
_U11 = np.uint64(11)
_UNIT = 2.0**-52


@inner
def fill_numbers(lanes: Any, numbers: Any, size: int) -> None:
    """Fill an array with uniform 52-bit numbers in [0, 1), from eight streams in turn.

    All streams advance together, so the array needs space for the next multiple of eight numbers.
    """
    a, b, c, d = load(lanes, 0, 8), load(lanes, 8, 8), load(lanes, 16, 8), load(lanes, 24, 8)
    for k in range(0, size, LANES):
        word, a, b, c, d = advance(a, b, c, d)
        number = view((word >> _U12) | fill_like(word, _ONE_POINT), np.float64)  # in [1, 2)
        store(numbers, k, number - fill(1.0, 8))
    store(lanes, 0, a)
    store(lanes, 8, b)
    store(lanes, 16, c)
    store(lanes, 24, d)


@inner
def draw_and_keep(fields: Any, numbers: Any, size: int, low: int, chances: Any,
                  values: Any) -> None:  # fmt: skip
    """Sample the first `size` units, and store each unit's probability of being up."""
    scale = np.float64(1 - low)
    for k in range(size):
        chance = logistic(scale * fields[k])
        chances[k] = chance
        values[k] = 1 if numbers[k] < chance else low


@inner
def draw_changes(fields: Any, numbers: Any, size: int, low: int, values: Any,
                 changes: Any) -> None:  # fmt: skip
    """Sample the first `size` units again, and store the changes in their values.

    Numbers are compared with 1 / (1 + exp(-x)) without a division.
    """
    scale = np.float64(1 - low)
    for k in range(size):
        is_up = numbers[k] * (1.0 + exponential(-scale * fields[k])) < 1.0
        value = np.int8(1 if is_up else low)
        changes[k] = value - values[k]
        values[k] = value


@inner
def symmetric(stream: Any) -> float:
    """Return a uniform random number in [-1, 1)."""
    return np.float64(next_word(stream) >> _U11) * _UNIT - 1.0


@compiled
def fill_normal(stream: Any, sigma: float, values: Any) -> None:
    """Fill an array with normal deviates of standard deviation `sigma` (polar method)."""
    for k in range(values.size):
        square, x = 0.0, 0.0
        while not 0.0 < square < 1.0:
            x, y = symmetric(stream), symmetric(stream)
            square = x * x + y * y
        values[k] = sigma * x * math.sqrt(-2.0 * logarithm(square) / square)
