"""Sixteen rows of sixteen items turned into columns, all in registers."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from glasshouse.kernels.vectors import Vector, word

_SIDE = 16


@word
def turn_square(typing: Any, source: Any, start: Any, stride: Any, target: Any) -> Any:
    """Item j of the row at `start` + i · stride becomes item i of row j of a flat 16 × 16 array."""
    kind = Vector(source.dtype, _SIDE)
    pointer = kind.llvm.as_pointer()

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        here = context.make_array(source)(context, builder, values[0]).data
        there = context.make_array(target)(context, builder, values[3]).data
        rows, place = [], values[1]
        for _ in range(_SIDE):
            row = builder.load(builder.bitcast(builder.gep(here, [place]), pointer))
            row.align = kind.bits // 8
            rows.append(row)
            place = builder.add(place, values[2])
        for row, column in zip(_columns(builder, rows), range(0, _SIDE**2, _SIDE), strict=True):
            address = builder.gep(there, [ir.Constant(ir.IntType(64), column)])
            builder.store(row, builder.bitcast(address, pointer)).align = kind.bits // 8
        return context.get_dummy_value()

    return types.void(source, types.int64, types.int64, target), generate


def _columns(builder: Any, rows: list[Any]) -> list[Any]:
    """Rows k and k + 8 interleaved, four times over."""
    half = _SIDE // 2
    order = [[k // 2 + _SIDE * (k % 2) + first for k in range(_SIDE)] for first in (0, half)]
    index = ir.VectorType(ir.IntType(32), _SIDE)
    masks = [ir.Constant(index, places) for places in order]
    for _ in range(4):
        rows = [
            builder.shuffle_vector(rows[k], rows[k + half], mask)
            for k in range(half)
            for mask in masks
        ]
    return rows
