"""Between vectors and single numbers: lanes as bits, sums of lanes, single items of arrays.

| word | meaning |
|---|---|
| `bits_of(mask)` | a bit for each of up to 64 lanes, as int64; the first lane is the lowest bit |
| `lowest_bit(n)` `count_bits(n)` | of an int64: the place of its lowest bit set, how many are set |
| `add_lanes(v)` | the sum of all lanes of whole numbers |
| `put(array, i, x)` | write one item of a flat array; no check for a negative index |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from glasshouse.kernels.vectors import address_of, word


@word
def bits_of(typing: Any, mask: Any) -> Any:
    """The lanes of a mask, up to 64, as bits of an int64; the first lane is the lowest bit."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes = builder.icmp_signed("<", values[0], ir.Constant(mask.llvm, None))
        packed = builder.bitcast(lanes, ir.IntType(mask.lanes))
        return builder.zext(packed, ir.IntType(64))

    return types.int64(mask), generate


def _of_bits(name: str) -> Callable[..., Any]:
    """What LLVM knows of the bits of an int64, by its name."""

    def typed(typing: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return getattr(builder, name)(*values, *([ir.IntType(1)(0)] if name == "cttz" else []))

        return types.int64(types.int64), generate

    return typed


lowest_bit = word(_of_bits("cttz"))  # 64 where there is none
count_bits = word(_of_bits("ctpop"))


@word
def add_lanes(typing: Any, vector: Any) -> Any:
    """The sum of the lanes of whole numbers."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        form = ir.FunctionType(values[0].type.element, [values[0].type])
        name = f"llvm.vector.reduce.add.v{vector.lanes}i{vector.bits}"
        function = cgutils.get_or_insert_function(builder.module, form, name)
        return builder.call(function, values)

    return vector.dtype(vector), generate


@word
def put(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Write one item of a flat array, without the check for a negative index."""
    given = types.unliteral(value)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = address_of(context, builder, array, values[0], values[1])
        builder.store(context.cast(builder, values[2], given, array.dtype), address)
        return context.get_dummy_value()

    return types.void(array, types.int64, given), generate
