"""The decorators for compiled code: Numba, with a cache on disk if the disk can be written.

This module and `kernels` are the lowest layer of the package: compiled code imports only them and
other compiled code.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import cached_property, lru_cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from glasshouse.stopping import TimeIsOverError, deferred

# Ctrl-C in the middle of this block would leave Numba's tables of types incomplete for good. The
# first function that Numba compiles fills the tables.
with deferred():
    import llvmlite
    import numba
    from numba.extending import overload

    from glasshouse.numba_private import Kernel, KernelCompiler, LinkedCompiler, open_cache

    numba.njit(lambda: None)

_log = logging.getLogger("glasshouse")

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Kernels that this process has compiled or loaded.
_counts: Counter[str] = Counter()
# Kernels that the running call may compile; cleared once the user has been warned.
_unannounced: ContextVar[list[str] | None] = ContextVar("unannounced", default=None)


def _compiled_by(compiler: Any) -> dict[str, Any]:
    """Return the option that selects one of our compilers; empty for Numba's default compiler."""
    return {"pipeline_class": compiler} if compiler is not None else {}


# The options of all compiled functions. None of the functions is called from C.
_SETTINGS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_KERNEL_SETTINGS = _SETTINGS | _compiled_by(KernelCompiler)
_INNER_SETTINGS = _SETTINGS | {"no_cpython_wrapper": True} | _compiled_by(LinkedCompiler)


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function in nopython mode, without the GIL, and keep the machine code on disk.

    If neither the package's folder nor the user's cache can be written (a read-only installation, a
    cluster node without a home), Numba cannot cache; the function is then compiled again in each
    process.

    >>> @compiled
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when numba is imported
        raise ValueError(
            "NUMBA_DISABLE_JIT is set, but glasshouse's kernels run as machine code only; unset it"
        )
    if function is None:
        return lambda later: compiled(later, **options)
    dispatcher = numba.njit(**_KERNEL_SETTINGS, **options)(function)
    dispatcher._cache = _LateCache(function)
    if Kernel is not None:
        dispatcher.__class__ = Kernel
    return dispatcher


def inner(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that only compiled code calls; Python cannot call it."""
    if function is None:
        return lambda later: inner(later, **options)
    return numba.njit(**_INNER_SETTINGS, **options)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile like `inner`, but always inline: for frequent calls with large tuples of arrays.

    A call passes every field of every array one by one, which takes as long as ten updates.
    """
    return inner(function, forceinline=True)


def polished(function: Callable[..., Any]) -> Any:
    """Compile like `inlined`, but optimise it first; with AVX2 some loops get a fifth faster."""
    settings = _KERNEL_SETTINGS | {"no_cpython_wrapper": True, "forceinline": True}
    return numba.njit(**settings)(function)


def chosen_by_type(name: Callable[..., Any], **options: Any) -> Any:
    """Decorate a function that picks the inner function behind `name` by its argument types."""
    settings: Any = _INNER_SETTINGS | options
    return overload(name, jit_options=settings)


def is_ctrl_c(stop: BaseException | None) -> bool:
    """Return whether an exception is, or was caused by, a KeyboardInterrupt (Ctrl-C).

    If Ctrl-C comes while compiled code returns its result, Numba raises a SystemError, or a chain
    of them. `TimeIsOverError` does not count: after it, nothing may be completed.
    """
    while isinstance(stop, SystemError):
        stop = stop.__cause__
    return isinstance(stop, KeyboardInterrupt) and not isinstance(stop, TimeIsOverError)


def announces(kernels: str) -> Callable[[_Function], _Function]:
    """Let each call of a function warn once if it has to compile, which takes seconds.

    Args:
        kernels: the purpose of the kernels, in one word.

    >>> @announces("doubling")
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """

    def decorate(function: _Function) -> _Function:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if _unannounced.get() is not None:  # this is part of a call that will warn itself
                return function(*args, **kwargs)
            token = _unannounced.set([kernels])
            try:
                return function(*args, **kwargs)
            finally:
                _unannounced.reset(token)

        return cast(_Function, call)

    return decorate


def kernel_counts() -> tuple[int, int]:
    """Return two counts of kernels in this process: compiled, and loaded from the cache."""
    return _counts["compiled"], _counts["cached"]


def cache_folder() -> str:
    """Return the folder of the machine code of this package's kernels.

    Raises:
        OSError: nothing can be cached.
    """
    folder = _LateCache(_probe).cache_path
    if folder is None:
        raise OSError(
            "kernels cannot be cached: neither the package's folder nor the user's cache can be "
            "written; set NUMBA_CACHE_DIR to a folder that can"
        )
    return str(Path(folder).parent)


def _probe() -> None:
    """Do nothing: Numba picks the cache folder of this package for this function."""


def _announce() -> None:
    """Log that kernels are being compiled, unless this call has logged it before."""
    waiting = _unannounced.get()
    if waiting:
        _log.warning(
            "compiling the %s kernels for this kind of problem; "
            "this is done once and takes a few seconds",
            waiting.pop(),
        )


class _NoCache:
    """An empty cache, for functions whose machine code cannot be stored."""

    cache_path = None

    def load_overload(self, signature: Any, target: Any) -> None:
        """Return None, so that Numba compiles the function."""

    def save_overload(self, signature: Any, code: Any) -> None:
        """Discard the machine code."""

    def flush(self) -> None:
        """Do nothing: there is nothing to remove."""


class _LateCache:
    """The cache of a function, opened at its first use.

    Most functions of a process are never called, and opening a cache touches the disk.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _opened(self) -> Any:
        path = Path(self._function.__code__.co_filename)
        version = f"{numba.__version__}, {llvmlite.__version__}, {_digest_of_kernels(path.parent)}"
        try:
            # Without Numba's private names, `open_cache` is None, and calling it fails. Machine
            # code of an unknown version must never run, so any such failure means no cache.
            return open_cache(self._function, version)
        except (RuntimeError, AttributeError, TypeError):
            return _NoCache()

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return machine code from the disk, or None so that Numba compiles the function."""
        code = self._opened.load_overload(signature, target)
        _counts["compiled" if code is None else "cached"] += 1
        if code is None:
            _announce()
        return code

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep machine code on disk, unless it was compiled for a class of another package.

        A reader of the cache may not have that class, and could not load the code.
        """
        kinds = getattr(signature, "args", signature)  # Numba passes a signature or its types
        if not any(_is_foreign(kind, self._function.__module__) for kind in kinds):
            with suppress(OSError):  # the folder may be gone, or the disk full
                self._opened.save_overload(signature, code)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opened, name)


def _is_foreign(kind: Any, module: str) -> bool:
    """Return whether a Numba type is, or holds, a class from a package other than the module's."""
    home = getattr(getattr(kind, "instance_class", None), "__module__", module)
    if home.split(".")[0] != module.split(".")[0]:
        return True
    return any(_is_foreign(part, module) for part in getattr(kind, "types", ()))


@lru_cache
def _digest_of_kernels(folder: Path) -> str:
    """Return a hash of this file and of all kernels that code in a folder may call.

    Numba compiles a kernel into those that call it, but compares only the caller's file to decide
    whether cached code is still valid: after an upgrade it would run the old callee.
    """
    digest = hashlib.sha256()
    here = Path(__file__)
    pattern = "*.py" if folder.name == "kernels" else "*kernels.py"
    beside, ground = folder.glob(pattern), here.with_name("kernels").glob("*.py")
    compilers = here.with_name("numba_private").glob("*.py")
    for path in [*sorted(beside), *sorted(ground), *sorted(compilers), here]:
        digest.update(path.read_bytes())
    return digest.hexdigest()
