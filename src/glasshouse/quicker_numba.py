"""What Numba does again and again while it compiles, done once: a fifth of the time.

Nothing here changes the code that comes out.
"""

from __future__ import annotations

import gc
from importlib.util import find_spec
from typing import Any

import numba.np.linalg
from numba.core import event, types
from numba.core.codegen import CPUCodeLibrary
from numba.core.types.functions import BaseFunction


def hasten() -> None:
    """Let Numba compile faster from now on, in all of this process."""
    event.register("numba:compile", _Peace())
    replaced: Any = numba.np.linalg, BaseFunction, CPUCodeLibrary
    linear_algebra, function_type, library = replaced
    linear_algebra.ensure_blas = _ensure_blas
    function_type.get_call_type = _remembering(function_type.get_call_type)
    library._optimize_functions = _leaving_out_declarations(library._optimize_functions)


def _ensure_blas() -> None:
    """Whether SciPy is there.

    Numba imports all of scipy.linalg to see that, a seventh of a second before the first kernel.
    Machine code that needs it imports it on its own.
    """
    if find_spec("scipy") is None:
        raise ImportError("scipy is needed for linear algebra in compiled code")


class _Peace(event.Listener):
    """No garbage collection while Numba compiles.

    It makes millions of objects, nearly all of which stay to the end; looking through them again
    and again takes a tenth of the time.
    """

    def __init__(self) -> None:
        self._compilations, self._collects = 0, False

    def on_start(self, event: Any) -> None:
        """Pause at the outermost function."""
        if self._compilations == 0:
            self._collects = gc.isenabled()
            gc.disable()
        self._compilations += 1

    def on_end(self, event: Any) -> None:
        """And go on as before."""
        self._compilations -= 1
        if self._compilations == 0 and self._collects:
            gc.enable()


# A call whose arguments are all of these kinds, or tuples of them (which index tables), means the
# same wherever it stands.
_PLAIN = (
    types.Number, types.Boolean, types.Array, types.RangeType, types.RangeIteratorType, types.Pair,
)  # fmt: skip
_TUPLES = (types.UniTuple, types.Tuple)


def _is_plain(kind: Any) -> bool:
    return isinstance(kind, _PLAIN) or (
        isinstance(kind, _TUPLES) and all(map(_is_plain, kind.types))
    )


def _remembering(find: Any) -> Any:
    """Which of its ways to add, compare or index is meant, Numba finds out by trying them all.

    Each time: here it does so once for each kind of call.
    """
    known: dict[Any, Any] = {}

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(map(_is_plain, args)):
            return find(function, context, args, kws)
        call = context, function, args
        if call not in known:
            known[call] = find(function, context, args, kws)
        return known[call]

    return get_call_type


class _Definitions:
    """A module of LLVM, of which only those functions are seen that have a body."""

    def __init__(self, module: Any) -> None:
        vars(self)["_module"] = module

    @property
    def functions(self) -> list[Any]:
        """Those that have a body."""
        return [function for function in self._module.functions if not function.is_declaration]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)


def _leaving_out_declarations(optimize: Any) -> Any:
    """There is nothing to optimise in a declaration, and a millisecond goes by to see that."""

    def optimize_functions(library: Any, module: Any) -> None:
        optimize(library, _Definitions(module))

    return optimize_functions
