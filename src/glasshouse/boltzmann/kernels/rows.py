"""Sums of the table rows that a bit mask selects, with vector instructions.

Rows are added in their order, so results are the same on every computer. All arrays are contiguous
and are read by index, because slices would cost more than the sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from glasshouse.compiled import inlined
from glasshouse.kernels.vector_type import Vector
from glasshouse.kernels.vectors import address_of, fill_like, fma, item, load, store, word

BITS = 64  # bits of a mask
BLOCK = 64  # columns whose sums fill half of the registers of most computers
_ONE, _U56 = np.uint64(1), np.uint64(56)
_LOWEST_OF_BYTES, _GATHERING = np.uint64(0x0101010101010101), np.uint64(0x0102040810204080)


@word
def lowest_bit(context: Any, mask: Any) -> Any:
    """Return the index of the lowest set bit of a uint64 other than 0."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), lower


@word
def eight_bytes(context: Any, array: Any, index: Any) -> Any:
    """Return the eight bytes of a flat array at `index` as a little-endian uint64."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = address_of(context, builder, array, args[0], args[1])
        word = builder.load(builder.bitcast(address, ir.IntType(64).as_pointer()))
        word.align = 1
        return word

    return types.uint64(array, types.int64), lower


@word
def load_as(context: Any, total: Any, table: Any, index: Any) -> Any:
    """Load as many items of a flat table as `total` has lanes, and convert them to its dtype."""
    kind = Vector(table.dtype, total.lanes)

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = address_of(context, builder, table, args[1], args[2])
        loaded = builder.load(builder.bitcast(address, kind.llvm.as_pointer()))
        loaded.align = kind.bits // 8
        return loaded if kind == total else builder.fpext(loaded, total.llvm)

    return total(total, table, types.int64), lower


@inlined
def bits_of_units(values: Any, begin: int, count: int) -> Any:
    """Return a mask of the nonzero values among at most 64 values from -2 to 2.

    A branch per value would often be mispredicted. So the code reads eight bytes at a time: each
    nonzero byte has one of its two lowest bits set, and a product gathers these bits in one byte.
    """
    mask = np.uint64(0)
    whole = count - count % 8
    for k in range(0, whole, 8):
        eight = eight_bytes(values, begin + k)
        eight = (eight | (eight >> _ONE)) & _LOWEST_OF_BYTES
        mask |= ((eight * _GATHERING) >> _U56) << np.uint64(k)
    for k in range(whole, count):
        mask |= np.uint64(item(values, begin + k) != 0) << np.uint64(k)
    return mask


@inlined
def add_rows(mask: Any, start: int, values: Any, begin: int, table: Any, total: Any,
             goal: int) -> None:  # fmt: skip
    """Add row `start + k` of a table to a total, for each set bit k of a mask.

    Row r is multiplied by value `begin + r`, or by 1 if `values` is None. The total is as wide as
    the table and starts at index `goal`.
    """
    width = table.shape[1]
    whole = width - width % BLOCK
    for first in range(0, whole, BLOCK):
        add_block(mask, start, values, begin, table, total, goal, first)
    if whole < width:
        add_rest(mask, start, values, begin, table, total, goal, whole)


@inlined
def add_block(mask: Any, start: int, values: Any, begin: int, table: Any, total: Any, goal: int,
              first: int) -> None:  # fmt: skip
    """Add one block of columns of the selected rows, with fused multiply-adds in registers."""
    a, b = load(total, goal + first, 16), load(total, goal + first + 16, 16)
    c, d = load(total, goal + first + 32, 16), load(total, goal + first + 48, 16)
    while mask:
        row = start + lowest_bit(mask)
        mask &= mask - _ONE
        place = row * table.shape[1] + first
        if values is None:
            a = a + load_as(a, table, place)
            b = b + load_as(b, table, place + 16)
            c = c + load_as(c, table, place + 32)
            d = d + load_as(d, table, place + 48)
        else:
            factor = fill_like(a, np.float64(item(values, begin + row)))
            a = fma(factor, load_as(a, table, place), a)
            b = fma(factor, load_as(b, table, place + 16), b)
            c = fma(factor, load_as(c, table, place + 32), c)
            d = fma(factor, load_as(d, table, place + 48), d)
    store(total, goal + first, a)
    store(total, goal + first + 16, b)
    store(total, goal + first + 32, c)
    store(total, goal + first + 48, d)


@inlined
def add_rest(mask: Any, start: int, values: Any, begin: int, table: Any, total: Any, goal: int,
             first: int) -> None:  # fmt: skip
    """Add the columns after the last whole block: 32 or 16 at a time, then four, then one each."""
    width = table.shape[1]
    while first + 32 <= width:
        sums = load(total, goal + first, 32)
        store(total, goal + first, sum_rows(mask, start, values, begin, table, first, sums))
        first += 32
    if first + 16 <= width:
        half = load(total, goal + first, 16)
        store(total, goal + first, sum_rows(mask, start, values, begin, table, first, half))
        first += 16
    while first + 4 <= width:
        four = load(total, goal + first, 4)
        store(total, goal + first, sum_rows(mask, start, values, begin, table, first, four))
        first += 4
    while first < width:
        one = load(total, goal + first, 1)
        store(total, goal + first, sum_rows(mask, start, values, begin, table, first, one))
        first += 1


@inlined
def sum_rows(mask: Any, start: int, values: Any, begin: int, table: Any, first: int,
             sums: Any) -> Any:  # fmt: skip
    """Return `sums` plus as many columns of the selected rows, starting at column `first`."""
    while mask:
        row = start + lowest_bit(mask)
        mask &= mask - _ONE
        factor = 1.0 if values is None else np.float64(item(values, begin + row))
        place = row * table.shape[1] + first
        sums = fma(fill_like(sums, factor), load_as(sums, table, place), sums)
    return sums
