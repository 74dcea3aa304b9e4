"""The decorator for functions that only other compiled functions call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasshouse.compiled import compiled


def inner(function: Callable[..., Any]) -> Any:
    """Compile without an entry for Python, which takes a good part of a small function's time."""
    return compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)
