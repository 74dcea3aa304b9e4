"""One layer given the other layer: fields, means, samples.

Units are 0 or 1, or -1 or 1: `low` is the lower value. A unit with the field x is up with the
probability logistic((1 - low)·x). A product with a unit that is 0 is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.boltzmann.kernels.floats import logistic
from glasshouse.boltzmann.kernels.rows import (
    BITS,
    BLOCK,
    add_block,
    add_rest,
    add_rows,
    bits_of_units,
)
from glasshouse.compiled import inner
from glasshouse.kernels.xoshiro import advance

_U11 = np.uint64(11)
_UNIT = 2.0**-53


# Loops, not slices: Numba checks the shapes of those with code that takes seconds to compile.
@inner
def copy_row(source: Any, target: Any) -> None:
    """Copy all items of a one-dimensional array."""
    for k in range(source.size):
        target[k] = source[k]


@inner
def copy_table(source: Any, target: Any) -> None:
    """Copy all items of a two-dimensional array."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@inner
def fields_of(values: Any, weights: Any, biases: Any, fields: Any) -> None:
    """Compute the fields of a layer: biases + values · weights, in vector code."""
    for j in range(biases.size):
        fields[j] = biases[j]
    for start in range(0, values.size, BITS):
        mask = bits_of_units(values, start, min(BITS, values.size - start))
        add_rows(mask, start, values, 0, weights, fields, 0)


@inner
def add_fields(values: Any, count: int, weights: Any, low: int, fields: Any) -> None:
    """Add values · weights to the fields of each of `count` layers, which are concatenated.

    A block of columns, which fits the fastest memory, is used for all rows before the next one. If
    `low` is 0, the values are 0 and 1: whatever is not 0 is added as it is.
    """
    n, width = weights.shape
    whole = width - width % BLOCK
    for first in range(0, whole, BLOCK):
        for k in range(count):
            for start in range(0, n, BITS):
                mask = bits_of_units(values, k * n + start, min(BITS, n - start))
                if low == 0:
                    add_block(mask, start, None, 0, weights, fields, k * width, first)
                else:
                    add_block(mask, start, values, k * n, weights, fields, k * width, first)
    if whole < width:
        for k in range(count):
            for start in range(0, n, BITS):
                mask = bits_of_units(values, k * n + start, min(BITS, n - start))
                add_rest(mask, start, values, k * n, weights, fields, k * width, whole)


@inner
def chances_of(fields: Any, low: int, chances: Any) -> None:
    """Compute the probability that each unit is up."""
    chances_of_some(fields, fields.size, low, chances)


@inner
def chances_of_some(fields: Any, size: int, low: int, chances: Any) -> None:
    """Compute, for each of the first units, the probability that it is up."""
    scale = np.float64(1 - low)
    for k in range(size):
        chances[k] = logistic(scale * fields[k])


@inner
def means_of(chances: Any, low: int, means: Any) -> None:
    """Compute the expected values of the units."""
    scale = np.float64(1 - low)
    for j in range(chances.size):
        means[j] = low + scale * chances[j]


@inner
def draw(stream: Any, chances: Any, low: int, values: Any) -> None:
    """Sample each unit, by 53 random bits."""
    a, b, c, d = stream[0], stream[1], stream[2], stream[3]  # in registers, not in memory
    for j in range(chances.size):
        word, a, b, c, d = advance(a, b, c, d)
        number = np.float64(word >> _U11) * _UNIT
        values[j] = 1 if number < chances[j] else low
    stream[0], stream[1], stream[2], stream[3] = a, b, c, d


@inner
def gibbs_step(stream: Any, weights: Any, back: Any, visible_bias: Any, hidden_bias: Any,
               low: int, visible: Any, hidden: Any, room: Any) -> None:  # fmt: skip
    """Sample hidden units from the visible ones, then visible units from these.

    `back` is the transpose of the weights; `room` has space for the larger layer, twice.
    """
    n, m = visible.size, hidden.size
    fields, chances = room[0, :m], room[1, :m]
    fields_of(visible, weights, hidden_bias, fields)
    chances_of(fields, low, chances)
    draw(stream, chances, low, hidden)
    fields, chances = room[0, :n], room[1, :n]
    fields_of(hidden, back, visible_bias, fields)
    chances_of(fields, low, chances)
    draw(stream, chances, low, visible)
