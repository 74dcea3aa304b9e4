"""Columns of the Wishart planted ensemble."""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import compiled
from glasshouse.kernels.xoshiro import below


@compiled
def fill_balanced(stream: Any, rows: Any) -> None:
    """Fill every row of an int64 table with as many +1 as -1, every order equally likely."""
    length = rows.shape[1]
    for row in rows:
        for k in range(length):
            row[k] = 1 if 2 * k < length else -1
        for last in range(length - 1, 0, -1):
            k = below(stream, last + 1)
            row[last], row[k] = row[k], row[last]
