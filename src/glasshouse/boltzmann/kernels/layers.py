"""Fields, means and samples of one layer, given the other layer.

Units are 0 or 1, or -1 or 1, and `low` is the lower value. A unit with field x is up with
probability logistic((1 - low)·x). Products with a unit that is 0 are skipped.
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


# These are loops, because Numba's shape checks for slices take seconds to compile.
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
    """Compute the fields of a layer, biases + values · weights, with vector instructions."""
    for j in range(biases.size):
        fields[j] = biases[j]
    for start in range(0, values.size, BITS):
        mask = bits_of_units(values, start, min(BITS, values.size - start))
        add_rows(mask, start, values, 0, weights, fields, 0)


@inner
def add_fields(values: Any, count: int, weights: Any, low: int, masks: Any, fields: Any) -> None:
    """Add values · weights to the fields of `count` layers, which are concatenated.

    A tile of rows and columns fits into the fastest cache, and is used for all layers before the
    next tile. If `low` is 0, the values are 0 and 1, so rows are added without a factor. `masks` is
    a buffer for a bit per value.
    """
    n, width = weights.shape
    whole, tiles = width - width % BLOCK, (n + BITS - 1) // BITS
    for k in range(count):
        for t in range(tiles):
            begin = k * n + t * BITS
            masks[t * count + k] = bits_of_units(values, begin, min(BITS, n - t * BITS))
    for first in range(0, whole, BLOCK):
        for t in range(tiles):
            for k in range(count):
                mask = masks[t * count + k]
                if mask and low == 0:
                    add_block(mask, t * BITS, None, 0, weights, fields, k * width, first)
                elif mask:
                    add_block(mask, t * BITS, values, k * n, weights, fields, k * width, first)
    if whole < width:
        for t in range(tiles):
            for k in range(count):
                mask = masks[t * count + k]
                add_rest(mask, t * BITS, values, k * n, weights, fields, k * width, whole)


@inner
def chances_of(fields: Any, low: int, chances: Any) -> None:
    """Compute each unit's probability of being up."""
    chances_of_some(fields, fields.size, low, chances)


@inner
def chances_of_some(fields: Any, size: int, low: int, chances: Any) -> None:
    """Compute, for each of the first `size` units, the probability that it is up."""
    scale = np.float64(1 - low)
    for k in range(size):
        chances[k] = logistic(scale * fields[k])


@inner
def means_of(chances: Any, low: int, means: Any) -> None:
    """Compute the expected values of units from their probabilities of being up."""
    scale = np.float64(1 - low)
    for j in range(chances.size):
        means[j] = low + scale * chances[j]


@inner
def draw(stream: Any, chances: Any, low: int, values: Any) -> None:
    """Sample each unit from its probability of being up, with 53 random bits per unit."""
    a, b, c, d = stream[0], stream[1], stream[2], stream[3]  # in registers, not in memory
    for j in range(chances.size):
        word, a, b, c, d = advance(a, b, c, d)
        number = np.float64(word >> _U11) * _UNIT
        values[j] = 1 if number < chances[j] else low
    stream[0], stream[1], stream[2], stream[3] = a, b, c, d


@inner
def gibbs_step(stream: Any, weights: Any, back: Any, visible_bias: Any, hidden_bias: Any,
               low: int, visible: Any, hidden: Any, room: Any) -> None:  # fmt: skip
    """Sample the hidden units given the visible units, then the visible units given the hidden.

    `back` is the transpose of the weights; `room` is a buffer of two rows for the larger layer.
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
