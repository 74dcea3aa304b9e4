"""New arrays in compiled code, and arrays seen as something else.

Numba's own `np.zeros` and the like are functions that it compiles anew for every type and every
place, a tenth of a second each. These are a few instructions where they stand.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import _empty_nd_impl, populate_array

from glasshouse.compiled import inner

# Untyped on purpose: kernels call these functions without their first argument.
word: Any = intrinsic


def _new_array(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """The instructions for an array of some sizes; the last argument is its type, no value."""
    sizes = [
        context.cast(builder, value, kind, types.intp)
        for value, kind in zip(values[:-1], signature.args[:-1], strict=True)
    ]
    return _empty_nd_impl(context, builder, signature.return_type, sizes)


def _empty(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return _new_array(context, builder, signature, values)._getvalue()


def _zeros(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    array = _new_array(context, builder, signature, values)
    cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)
    return array._getvalue()


@word
def empty(typing: Any, size: Any, dtype: Any) -> Any:
    """An array of some length, filled with whatever was there. No length is below zero."""
    return types.Array(dtype.dtype, 1, "C")(size, dtype), _empty


@word
def zeros(typing: Any, size: Any, dtype: Any) -> Any:
    """An array of zeros."""
    return types.Array(dtype.dtype, 1, "C")(size, dtype), _zeros


@word
def zero_table(typing: Any, rows: Any, columns: Any, dtype: Any) -> Any:
    """Zeros in rows and columns."""
    return types.Array(dtype.dtype, 2, "C")(rows, columns, dtype), _zeros


@word
def seen_as(typing: Any, array: Any, dtype: Any) -> Any:
    """The same bytes of a flat array as numbers of another type, whose size divides theirs."""
    if array.ndim != 1 or array.layout != "C":
        raise TypingError(f"{array} is not flat")
    parts = array.dtype.bitwidth // dtype.dtype.bitwidth
    if parts * dtype.dtype.bitwidth != array.dtype.bitwidth:
        raise TypingError(f"{array.dtype} is not made of {dtype.dtype}")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = signature.return_type
        old = context.make_array(signature.args[0])(context, builder, values[0])
        new = context.make_array(kind)(context, builder)
        item = context.get_data_type(kind.dtype)
        width = context.get_constant(types.intp, kind.dtype.bitwidth // 8)
        size = builder.mul(old.nitems, context.get_constant(types.intp, parts))
        populate_array(
            new, builder.bitcast(old.data, item.as_pointer()), [size], [width], width,
            old.meminfo, old.parent,
        )  # fmt: skip
        context.nrt.incref(builder, kind, new._getvalue())
        return new._getvalue()

    return types.Array(dtype.dtype, 1, "C", readonly=not array.mutable)(array, dtype), generate


@inner
def enlarged(array: Any, size: Any) -> Any:
    """A longer copy (by hand: assigning slices triples the time to compile)."""
    longer = empty(size, array.dtype)
    for k in range(array.size):
        longer[k] = array[k]
    return longer
