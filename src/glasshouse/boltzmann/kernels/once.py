"""Compiled code that is called at one place only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasshouse.compiled import compiled


def once(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of its only caller.

    Whatever is compiled by itself is optimised again within each of its callers, up to the last.
    Without that, all of a training is compiled seconds sooner, and no tuples are handed over.
    """
    return compiled(function, inline="always")
