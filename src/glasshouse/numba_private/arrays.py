"""LLVM instructions that allocate an array, or create an array in existing memory."""

from __future__ import annotations

import inspect
from typing import Any

from numba.np.arrayobj import _empty_nd_impl, populate_array

# The parameters of these private functions are undocumented: raise at once if they differ.
inspect.signature(_empty_nd_impl).bind("context", "builder", "kind", "sizes")
inspect.signature(populate_array).bind(
    "array", data=0, shape=0, strides=0, itemsize=0, meminfo=0, parent=0
)


def new_array(context: Any, builder: Any, kind: Any, sizes: Any) -> Any:
    """Return the LLVM instructions that allocate an array without initialising its memory."""
    return _empty_nd_impl(context, builder, kind, sizes)


def set_fields(array: Any, *, data: Any, size: Any, width: Any, owner: Any, parent: Any) -> None:
    """Make a flat array out of existing memory: `size` items of `width` bytes each."""
    populate_array(
        array,
        data=data,
        shape=[size],
        strides=[width],
        itemsize=width,
        meminfo=owner,
        parent=parent,
    )
