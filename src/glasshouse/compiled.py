"""Decorators that compile functions with Numba and cache the machine code on disk.

This module and `kernels` are the lowest layer of the package: compiled code imports only these two
and other compiled code.
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

# Ctrl-C in the middle of this block would leave Numba's tables of types permanently incomplete.
# The first function that Numba compiles fills the tables.
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
    """Return the Numba option that selects `compiler`; empty if `compiler` is None."""
    return {"pipeline_class": compiler} if compiler is not None else {}


# The options of all compiled functions. None of the functions is called from C.
_SETTINGS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_KERNEL_SETTINGS = _SETTINGS | _compiled_by(KernelCompiler)
_INNER_SETTINGS = _SETTINGS | {"no_cpython_wrapper": True} | _compiled_by(LinkedCompiler)


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function in nopython mode, release the GIL, and cache the machine code on disk.

    If neither the package's folder nor the user's cache can be written (a read-only installation, a
    cluster node without a home folder), nothing is cached, and each process compiles the function
    again.

    >>> @compiled
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when numba is imported
        raise ValueError(
            "NUMBA_DISABLE_JIT is set, but glasshouse must compile its kernels; unset the variable"
        )
    if function is None:
        return lambda later: compiled(later, **options)
    dispatcher = numba.njit(**_KERNEL_SETTINGS, **options)(function)
    dispatcher._cache = _LateCache(function)
    if Kernel is not None:
        dispatcher.__class__ = Kernel
    return dispatcher


def inner(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that compiled code can call, but Python cannot."""
    if function is None:
        return lambda later: inner(later, **options)
    return numba.njit(**_INNER_SETTINGS, **options)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function as `inner` does, and inline it wherever it is called.

    A call with large tuples of arrays passes every field of every array one by one, which takes as
    long as ten updates.
    """
    return inner(function, forceinline=True)


def polished(function: Callable[..., Any]) -> Any:
    """Compile a function as `inlined` does, but optimise it before inlining, for faster loops."""
    settings = _KERNEL_SETTINGS | {"no_cpython_wrapper": True, "forceinline": True}
    return numba.njit(**settings)(function)


def chosen_by_type(name: Callable[..., Any], **options: Any) -> Any:
    """Decorate a function that chooses an implementation of `name` from the argument types."""
    settings: Any = _INNER_SETTINGS | options
    return overload(name, jit_options=settings)


def is_ctrl_c(stop: BaseException | None) -> bool:
    """Return whether an exception is a KeyboardInterrupt (Ctrl-C), or was caused by one.

    If Ctrl-C is pressed while compiled code returns its result, Numba raises a SystemError, or a
    chain of several. `TimeIsOverError` does not count: after it, nothing may be completed.
    """
    while isinstance(stop, SystemError):
        stop = stop.__cause__
    return isinstance(stop, KeyboardInterrupt) and not isinstance(stop, TimeIsOverError)


def announces(kernels: str) -> Callable[[_Function], _Function]:
    """Return a decorator that makes a function log one notice per call that compiles kernels.

    Args:
        kernels: the purpose of the kernels in one word, for the notice.

    >>> @announces("doubling")
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """

    def decorate(function: _Function) -> _Function:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if _unannounced.get() is not None:  # an outer call will log the notice
                return function(*args, **kwargs)
            token = _unannounced.set([kernels])
            try:
                return function(*args, **kwargs)
            finally:
                _unannounced.reset(token)

        return cast(_Function, call)

    return decorate


def kernel_counts() -> tuple[int, int]:
    """Return how many kernels this process has compiled, and how many it loaded from the cache."""
    return _counts["compiled"], _counts["cached"]


def cache_folder() -> str:
    """Return the folder in which the machine code of glasshouse's kernels is cached.

    Raises:
        OSError: no cache folder can be written.
    """
    folder = _LateCache(_probe).cache_path
    if folder is None:
        raise OSError(
            "kernels cannot be cached: neither the package's folder nor the user's cache can be "
            "written; set NUMBA_CACHE_DIR to a writable folder"
        )
    return str(Path(folder).parent)


def _probe() -> None:
    """Do nothing. Numba derives the cache folder from the source file of this function."""


def _announce() -> None:
    """Log that kernels are being compiled, at most once per decorated call."""
    waiting = _unannounced.get()
    if waiting:
        _log.warning(
            "compiling the %s kernels for this kind of problem; "
            "this is done once and takes a few seconds",
            waiting.pop(),
        )


class _NoCache:
    """A cache that always stays empty, used if no cache folder is writable."""

    cache_path = None

    def load_overload(self, signature: Any, target: Any) -> None:
        """Return None, so that Numba compiles the function."""

    def save_overload(self, signature: Any, code: Any) -> None:
        """Do nothing, because this cache does not store machine code."""

    def flush(self) -> None:
        """Do nothing, because this cache contains no files."""


class _LateCache:
    """The disk cache of one function; the cache is opened when it is first used.

    Most functions of a process are never called, and opening a cache takes disk operations.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _opened(self) -> Any:
        path = Path(self._function.__code__.co_filename)
        version = f"{numba.__version__}, {llvmlite.__version__}, {_digest_of_kernels(path.parent)}"
        try:
            # Without Numba's private names, `open_cache` is None, and calling it fails. After any
            # such failure nothing is cached: machine code of an unknown version must never run.
            return open_cache(self._function, version)
        except (RuntimeError, AttributeError, TypeError):
            return _NoCache()

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return machine code from the disk, or None if Numba must compile the function."""
        code = self._opened.load_overload(signature, target)
        _counts["compiled" if code is None else "cached"] += 1
        if code is None:
            _announce()
        return code

    def save_overload(self, signature: Any, code: Any) -> None:
        """Save machine code on disk, unless it was compiled for a class of another package.

        A process that reads the cache may not have that class, and could not load the code.
        """
        kinds = getattr(signature, "args", signature)  # Numba passes a signature or its types
        if not any(_is_foreign(kind, self._function.__module__) for kind in kinds):
            with suppress(OSError):  # the folder may be gone, or the disk full
                self._opened.save_overload(signature, code)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opened, name)


def _is_foreign(kind: Any, module: str) -> bool:
    """Return whether a Numba type is, or contains, a class from outside `module`'s package."""
    home = getattr(getattr(kind, "instance_class", None), "__module__", module)
    if home.split(".")[0] != module.split(".")[0]:
        return True
    return any(_is_foreign(part, module) for part in getattr(kind, "types", ()))


@lru_cache
def _digest_of_kernels(folder: Path) -> str:
    """Return a hash of all source files on which the kernels in `folder` may depend.

    Numba compiles a kernel into its callers, but compares only the caller's file to decide whether
    cached code is still valid: after an upgrade it would run the old callee.
    """
    digest = hashlib.sha256()
    here = Path(__file__)
    pattern = "*.py" if folder.name == "kernels" else "*kernels.py"
    beside, ground = folder.glob(pattern), here.with_name("kernels").glob("*.py")
    compilers = here.with_name("numba_private").glob("*.py")
    for path in [*sorted(beside), *sorted(ground), *sorted(compilers), here]:
        digest.update(path.read_bytes())
    return digest.hexdigest()
