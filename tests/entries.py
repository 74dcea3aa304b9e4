"""Kernels through which tests call inner functions, which only compiled code can call."""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import compiled


def entry(function: Any) -> Any:
    """Return a kernel that only calls an inner function."""

    @compiled
    def call(*args: Any) -> Any:
        return function(*args)

    return call
