"""Uniform random orders."""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import compiled
from glasshouse.kernels.xoshiro import below


@compiled
def permute(stream: Any, order: Any) -> None:
    """Shuffle an array in place, every order equally likely (Fisher and Yates)."""
    for last in range(order.size - 1, 0, -1):
        k = below(stream, last + 1)
        order[last], order[k] = order[k], order[last]
