"""Transposition of a table in blocks of 4 × 4 items that stay in registers."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.vectors import load, store, word

STRIP = 8  # rows, which become columns that fill a cache line


def _mixed(first: Any, places: tuple[int, ...]) -> Any:
    """Return the signature and code of a shuffle that selects four of two vectors' eight lanes."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        mask = ir.Constant(ir.VectorType(ir.IntType(32), 4), list(places))
        return builder.shuffle_vector(args[0], args[1], mask)

    return first(first, first), lower


@word
def even_lanes(context: Any, first: Any, second: Any) -> Any:
    """Return lane 0 of both vectors, then lane 2 of both vectors."""
    return _mixed(first, (0, 4, 2, 6))


@word
def odd_lanes(context: Any, first: Any, second: Any) -> Any:
    """Return lane 1 of both vectors, then lane 3 of both vectors."""
    return _mixed(first, (1, 5, 3, 7))


@word
def lower_halves(context: Any, first: Any, second: Any) -> Any:
    """Return lanes 0 and 1 of the first vector, then of the second vector."""
    return _mixed(first, (0, 1, 4, 5))


@word
def upper_halves(context: Any, first: Any, second: Any) -> Any:
    """Return lanes 2 and 3 of the first vector, then of the second vector."""
    return _mixed(first, (2, 3, 6, 7))


@inner
def transpose_strip(table: Any, first: int, back: Any) -> None:
    """Copy a strip of rows of a table into the columns of its transpose."""
    n, m = table.shape
    whole = m - m % 4 if first + STRIP <= n else 0
    for j in range(0, whole, 4):
        transpose_square(table, first * m + j, back, j * n + first)
        transpose_square(table, (first + 4) * m + j, back, j * n + first + 4)
    for j in range(whole, m):
        for i in range(first, min(first + STRIP, n)):
            back[j, i] = table[i, j]


@inlined
def transpose_square(table: Any, begin: int, back: Any, goal: int) -> None:
    """Transpose a block of 4 × 4 items, from index `begin` of a table to index `goal` of `back`."""
    m, n = table.shape[1], back.shape[1]
    a, b = load(table, begin, 4), load(table, begin + m, 4)
    c, d = load(table, begin + 2 * m, 4), load(table, begin + 3 * m, 4)
    even, odd = even_lanes(a, b), odd_lanes(a, b)
    even_below, odd_below = even_lanes(c, d), odd_lanes(c, d)
    store(back, goal, lower_halves(even, even_below))
    store(back, goal + n, lower_halves(odd, odd_below))
    store(back, goal + 2 * n, upper_halves(even, even_below))
    store(back, goal + 3 * n, upper_halves(odd, odd_below))
