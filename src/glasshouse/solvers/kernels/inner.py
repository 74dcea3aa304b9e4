"""The decorators for functions that only other compiled functions call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasshouse.compiled import compiled


def inner(function: Callable[..., Any]) -> Any:
    """Compile without an entry for Python, which takes a good part of a small function's time."""
    return compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inlined(function: Callable[..., Any]) -> Any:
    """The same, always inlined: for what is called every sweep with large tuples of arrays.

    A call hands over every field of every array one by one, which takes as long as ten updates.
    """
    return compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)
