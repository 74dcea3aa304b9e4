"""One layer given the other: fields, means, samples.

Units are 0 or 1, or -1 or 1: `low` is the lower value. A unit with the field x is up with the
probability logistic((1 - low)·x). A product with a unit that is 0 is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from glasshouse.boltzmann.kernels.floats import logistic
from glasshouse.compiled import inlined, inner
from glasshouse.kernels.vectors import fill, fill_like, fma, item, load, store
from glasshouse.kernels.xoshiro import advance

_U11, _ONE = np.uint64(11), np.uint64(1)
_UNIT = 2.0**-53
_BITS = 64
_U56 = np.uint64(56)
_LOWEST_OF_BYTES, _GATHERING = np.uint64(0x0101010101010101), np.uint64(0x0102040810204080)
_BLOCK = 32  # columns whose sums fill half of the registers of most machines

# Untyped on purpose: kernels call these functions without their first argument.
_bitwise: Any = intrinsic


@_bitwise
def lowest_bit(context: Any, mask: Any) -> Any:
    """The place of the lowest bit that is set in a uint64 other than 0."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), lower


@_bitwise
def eight_bytes(context: Any, array: Any, index: Any) -> Any:
    """Eight items of a flat array of bytes from `index` on, as a uint64, the first one lowest."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(array)(context, builder, args[0]).data
        address = builder.gep(data, [args[1]])
        word = builder.load(builder.bitcast(address, ir.IntType(64).as_pointer()))
        word.align = 1
        return word

    return types.uint64(array, types.int64), lower


# Loops, not slices: Numba checks the shapes of those with code that takes seconds to compile.
@inner
def copy_row(source: Any, target: Any) -> None:
    """All items of an array of one dimension."""
    for k in range(source.size):
        target[k] = source[k]


@inner
def copy_table(source: Any, target: Any) -> None:
    """All items of an array of two dimensions."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@inner
def fields_of(values: Any, weights: Any, biases: Any, fields: Any) -> None:
    """Fields of a layer: biases + values · weights, in vector code."""
    for j in range(biases.size):
        fields[j] = biases[j]
    add_rows(values, 0, values.size, weights, fields, 0)


@inner
def fields_of_each(values: Any, count: int, weights: Any, biases: Any, fields: Any) -> None:
    """Fields of a layer for each of the first rows of values; the same as one by one.

    A block of columns, which fits the fastest memory, is used for all rows before the next one.
    """
    n, width = weights.shape
    whole = width - width % _BLOCK
    for k in range(count):
        for j in range(width):
            fields[k, j] = biases[j]
    for first in range(0, whole, _BLOCK):
        for k in range(count):
            for start in range(0, n, _BITS):
                mask = odd_bits(values, k * n + start, min(_BITS, n - start))
                add_block(mask, start, values, k * n, weights, fields, k * width, first)
    if whole < width:
        for k in range(count):
            for start in range(0, n, _BITS):
                mask = odd_bits(values, k * n + start, min(_BITS, n - start))
                add_rest(mask, start, values, k * n, weights, fields, k * width, whole)


@inlined
def add_rows(values: Any, begin: int, count: int, table: Any, total: Any, goal: int) -> None:
    """Add values · table to a total.

    All arrays lie in memory without gaps. The values are `count` units from place `begin` on, the
    total is as wide as the table and starts at place `goal`: slices would cost more than the sum.
    Rows are added in their order, whatever the machine: results are the same everywhere. A block of
    the total stays in registers meanwhile. Which values are not 0 is gathered in bits first: a
    branch for each would often be guessed wrong.
    """
    width = table.shape[1]
    whole = width - width % _BLOCK
    for start in range(0, count, _BITS):
        mask = odd_bits(values, begin + start, min(_BITS, count - start))
        for first in range(0, whole, _BLOCK):
            add_block(mask, start, values, begin, table, total, goal, first)
        if whole < width:
            add_rest(mask, start, values, begin, table, total, goal, whole)


@inlined
def odd_bits(values: Any, begin: int, count: int) -> Any:
    """A bit for each of at most 64 units that is set where the unit is not 0.

    Eight bytes at a time: their lowest bits, multiplied to where they make one byte.
    """
    mask = np.uint64(0)
    whole = count - count % 8
    for k in range(0, whole, 8):
        eight = eight_bytes(values, begin + k) & _LOWEST_OF_BYTES
        mask |= ((eight * _GATHERING) >> _U56) << np.uint64(k)
    for k in range(whole, count):
        mask |= np.uint64(item(values, begin + k) & 1) << np.uint64(k)
    return mask


@inlined
def add_block(mask: Any, start: int, values: Any, begin: int, table: Any, total: Any, goal: int,
              first: int) -> None:  # fmt: skip
    """The rows of a mask, in a block of columns. Products are exact, so fusing changes nothing."""
    low, high = load(total, goal + first, 16), load(total, goal + first + 16, 16)
    while mask:
        row = start + lowest_bit(mask)
        mask &= mask - _ONE
        factor = fill_like(low, np.float64(item(values, begin + row)))
        place = row * table.shape[1] + first
        low = fma(factor, load(table, place, 16), low)
        high = fma(factor, load(table, place + 16, 16), high)
    store(total, goal + first, low)
    store(total, goal + first + 16, high)


@inlined
def add_rest(mask: Any, start: int, values: Any, begin: int, table: Any, total: Any, goal: int,
             first: int) -> None:  # fmt: skip
    """The rows of a mask, in the columns that are left: blocks of four, then single ones."""
    width = table.shape[1]
    while first + 4 <= width:
        left, sums = mask, load(total, goal + first, 4)
        while left:
            row = start + lowest_bit(left)
            left &= left - _ONE
            factor = fill_like(sums, np.float64(item(values, begin + row)))
            sums = fma(factor, load(table, row * width + first, 4), sums)
        store(total, goal + first, sums)
        first += 4
    while first < width:
        left, single = mask, item(total, goal + first)
        while left:
            row = start + lowest_bit(left)
            left &= left - _ONE
            single += np.float64(item(values, begin + row)) * item(table, row * width + first)
        store(total, goal + first, fill(single, 1))
        first += 1


@inner
def chances_of(fields: Any, low: int, chances: Any) -> None:
    """The probability of each unit to be up."""
    scale = np.float64(1 - low)
    for j in range(fields.size):
        chances[j] = logistic(scale * fields[j])


@inner
def means_of(chances: Any, low: int, means: Any) -> None:
    """Expected values of the units."""
    scale = np.float64(1 - low)
    for j in range(chances.size):
        means[j] = low + scale * chances[j]


@inner
def draw(stream: Any, chances: Any, low: int, values: Any) -> None:
    """A sample of each unit: 53 random bits decide."""
    a, b, c, d = stream[0], stream[1], stream[2], stream[3]  # in registers, not in memory
    for j in range(chances.size):
        word, a, b, c, d = advance(a, b, c, d)
        number = np.float64(word >> _U11) * _UNIT
        values[j] = 1 if number < chances[j] else low
    stream[0], stream[1], stream[2], stream[3] = a, b, c, d


@inner
def fill_numbers(stream: Any, numbers: Any, size: int) -> None:
    """Uniform numbers in [0, 1), in the order and of the bits in which `draw` takes them."""
    a, b, c, d = stream[0], stream[1], stream[2], stream[3]
    for k in range(size):
        word, a, b, c, d = advance(a, b, c, d)
        numbers[k] = np.float64(word >> _U11) * _UNIT
    stream[0], stream[1], stream[2], stream[3] = a, b, c, d


@inner
def draw_each(chances: Any, count: int, numbers: Any, first: int, stride: int, low: int,
              values: Any) -> None:  # fmt: skip
    """A sample of each unit of each row: row k takes its numbers from `first + k·stride` on."""
    width = chances.shape[1]
    for k in range(count):
        place = first + k * stride
        for j in range(width):
            values[k, j] = 1 if numbers[place + j] < chances[k, j] else low


@inner
def chances_of_each(fields: Any, count: int, low: int, chances: Any) -> None:
    """The probability of each unit to be up, for the first rows."""
    size = count * fields.shape[1]
    chances_of(fields.reshape(-1)[:size], low, chances.reshape(-1)[:size])


@inner
def gibbs_step(stream: Any, weights: Any, back: Any, visible_bias: Any, hidden_bias: Any,
               low: int, visible: Any, hidden: Any, room: Any) -> None:  # fmt: skip
    """Hidden units from the visible ones, then visible units from these.

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
