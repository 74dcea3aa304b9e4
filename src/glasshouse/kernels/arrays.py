"""Array functions for compiled code: allocate an array, or view it as another type.

Numba compiles its own `np.zeros` and similar functions again for every type and every call, which
takes a tenth of a second each. The functions of this module are a few inline instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from glasshouse.compiled import inner
from glasshouse.numba_private import new_array, set_fields


def _word(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Decorate an intrinsic (inline instructions); compile `plain` instead if Numba has changed.

    Without the private names of Numba, `plain` is compiled instead, which does the same more
    slowly. The result is untyped on purpose: kernels call it without its first argument.
    """
    if new_array is None:
        return lambda _: inner(plain)
    return intrinsic


def _new_array(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Return the LLVM instructions that allocate an array of the given sizes and type."""
    sizes = [
        context.cast(builder, value, kind, types.intp)
        for value, kind in zip(values[:-1], signature.args[:-1], strict=True)
    ]
    return new_array(context, builder, signature.return_type, sizes)


def _empty(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return _new_array(context, builder, signature, values)._getvalue()


def _zeros(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    array = _new_array(context, builder, signature, values)
    cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)
    return array._getvalue()


@_word(lambda size, dtype: np.empty(size, dtype))
def empty(typing: Any, size: Any, dtype: Any) -> Any:
    """Return a flat, uninitialised array of `size` ≥ 0 items."""
    return types.Array(dtype.dtype, 1, "C")(size, dtype), _empty


@_word(lambda size, dtype: np.zeros(size, dtype))
def zeros(typing: Any, size: Any, dtype: Any) -> Any:
    """Return a flat array of `size` zeros."""
    return types.Array(dtype.dtype, 1, "C")(size, dtype), _zeros


@_word(lambda rows, columns, dtype: np.zeros((rows, columns), dtype))
def zero_table(typing: Any, rows: Any, columns: Any, dtype: Any) -> Any:
    """Return a two-dimensional array of zeros."""
    return types.Array(dtype.dtype, 2, "C")(rows, columns, dtype), _zeros


@_word(lambda array, dtype: array.view(dtype))
def seen_as(typing: Any, array: Any, dtype: Any) -> Any:
    """View a flat array as items of another type, whose size must divide the old item size."""
    if array.ndim != 1 or array.layout != "C":
        raise TypingError(f"{array} must be one-dimensional and contiguous")
    parts = array.dtype.bitwidth // dtype.dtype.bitwidth
    if parts * dtype.dtype.bitwidth != array.dtype.bitwidth:
        raise TypingError(f"the size of {array.dtype} must be a multiple of that of {dtype.dtype}")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = signature.return_type
        old = context.make_array(signature.args[0])(context, builder, values[0])
        new = context.make_array(kind)(context, builder)
        item = context.get_data_type(kind.dtype)
        set_fields(
            new,
            data=builder.bitcast(old.data, item.as_pointer()),
            size=builder.mul(old.nitems, context.get_constant(types.intp, parts)),
            width=context.get_constant(types.intp, kind.dtype.bitwidth // 8),
            owner=old.meminfo,
            parent=old.parent,
        )
        context.nrt.incref(builder, kind, new._getvalue())
        return new._getvalue()

    return types.Array(dtype.dtype, 1, "C", readonly=not array.mutable)(array, dtype), generate


@inner
def enlarged(array: Any, size: Any) -> Any:
    """Return a copy of a flat array, enlarged to `size` items."""
    longer = empty(size, array.dtype)
    for k in range(array.size):  # compiles three times as fast as the assignment of a slice
        longer[k] = array[k]
    return longer
