"""Columns of the Wishart planted ensemble."""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.xoshiro import below
from glasshouse.planting.kernels.gaussian import discrete_gaussian


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


@compiled
def fill_centred(stream: Any, rows: Any, variance: int, scale: int) -> None:
    """Fill every row with normal integers minus their mean; no row is all zeros.

    `variance` and `scale` are those of `discrete_gaussian`.
    """
    for row in rows:
        while not _draw_centred(stream, row, variance, scale):
            pass


@inner
def _draw_centred(stream: Any, row: Any, variance: int, scale: int) -> Any:
    """Draw normal integers and take their mean off, rounded up on as many entries as it takes.

    The entries are chosen with equal odds. True unless all are zero.
    """
    total = 0
    for k in range(row.size):
        row[k] = discrete_gaussian(stream, variance, scale)
        total += row[k]
    mean = total // row.size
    above = total - mean * row.size
    is_filled = False
    for k in range(row.size):
        row[k] -= mean
        if above > 0 and below(stream, row.size - k) < above:
            row[k] -= 1
            above -= 1
        is_filled = is_filled or row[k] != 0
    return is_filled
