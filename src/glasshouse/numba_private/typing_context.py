"""Numba's table of types, asked once per compilation which way to add, compare or index is meant.

Numba tries most of its ways each time. Here only our compilers remember, and only answers that are
the same wherever they are asked for: no overload, whose code depends on the caller's options.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.types.functions import BaseFunction
from numba.core.typing import Context

# A call whose arguments are all of these kinds, or tuples of them, means the same everywhere.
_PLAIN = (
    types.Number, types.Boolean, types.Array, types.RangeType, types.RangeIteratorType, types.Pair,
)  # fmt: skip
_TUPLES = (types.UniTuple, types.Tuple)


def _is_plain(kind: Any) -> bool:
    return isinstance(kind, _PLAIN) or (
        isinstance(kind, _TUPLES) and all(map(_is_plain, kind.types))
    )


class RememberingContext(Context):
    """A view of Numba's table of types; it shares everything with the table but its answers."""

    def __init__(self, shared: Context) -> None:
        vars(self).update(vars(shared))
        self._shared = shared
        self._known: dict[Any, Any] = {}

    def is_of(self, shared: Context) -> bool:
        """Return whether this is a view of the given table."""
        return self._shared is shared

    def __eq__(self, other: object) -> bool:
        """Numba keeps compiled overloads by the table that they were asked of: it is the same."""
        return other is self or other is self._shared

    def __hash__(self) -> int:
        return hash(self._shared)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call with arguments of these types."""
        if kws or not isinstance(func, BaseFunction) or not all(map(_is_plain, args)):
            return super().resolve_function_type(func, args, kws)  # type: ignore[no-untyped-call]
        found = self._known.get((func, args))
        if found is None:
            found = super().resolve_function_type(func, args, kws)  # type: ignore[no-untyped-call]
            if found is not None and func.get_impl_key(found) == func.typing_key:
                self._known[func, args] = found
        return found


_latest: RememberingContext | None = None


def remembering(shared: Context) -> RememberingContext:
    """Return the view for the function that is about to be compiled.

    Functions that are compiled because another one calls them share its view. Numba's lock is held
    while one thread compiles.
    """
    global _latest
    if _latest is None or not _latest.is_of(shared) or len(shared.callstack) == 0:
        _latest = RememberingContext(shared)
    return _latest
