"""Compilers that use Numba's private names; each process tests them before their first use.

The test compiles a small function in both ways, and compares the results. It runs before the first
kernel is compiled, so it does not run if every kernel comes from the cache.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba

from glasshouse.numba_private import compilers

_log = logging.getLogger("glasshouse")


def _halfway(x: float, y: float) -> float:
    return (x + y) / 2


def _result(inner: dict[str, Any], outer: dict[str, Any]) -> float:
    """Return the result of a test function that is compiled with the given options."""
    halfway: Callable[..., Any] = numba.njit(**inner)(_halfway)

    @numba.njit(**outer)
    def mean(x: Any, y: Any) -> Any:
        return halfway(x, halfway(x, y)) / 3

    return float(mean(0.1, 7.0))


def _compare() -> bool:
    own = _result(
        {"pipeline_class": compilers.LinkedCompiler, "no_cpython_wrapper": True},
        {"pipeline_class": compilers.KernelCompiler},
    )
    return own == _result({}, {})


@lru_cache
def passes() -> bool:
    """Return whether glasshouse's compilers work with the installed version of Numba."""
    try:
        works = _compare()
    except Exception as error:  # a changed Numba may raise anything
        works, reason = False, f"{type(error).__name__}: {error}"
    else:
        reason = "a result differs"
    if not works:
        _log.warning(
            "Numba %s does not support glasshouse's compiler: compilation takes longer (%.200s)",
            numba.__version__,
            reason,
        )
    return works


class _Checked(compilers.PlainCompiler):
    def define_pipelines(self) -> list[Any]:
        """Return glasshouse's compilation pipeline if the self-test passes, otherwise Numba's."""
        if not passes():
            self.lowering = compilers.PlainCompiler.lowering
        return super().define_pipelines()


class KernelCompiler(_Checked, compilers.KernelCompiler):
    """The tested compiler for functions that Python calls."""


class LinkedCompiler(_Checked, compilers.LinkedCompiler):
    """The tested compiler for functions that only compiled code calls."""
