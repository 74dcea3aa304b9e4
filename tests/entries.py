"""Entries for Python to functions that only compiled code calls."""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import compiled


def entry(function: Any) -> Any:
    """Return a kernel that does nothing but call an inner function."""

    @compiled
    def call(*args: Any) -> Any:
        return function(*args)

    return call
