"""Numbers with a planted partition."""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import compiled
from glasshouse.kernels.xoshiro import below_wide


@compiled
def fill_partitioned(stream: Any, numbers: Any, most: int, difference: int, tries: int) -> Any:
    """Fill an int64 array with numbers from -most to most, none zero, that add up to `difference`.

    All such arrays are equally likely: all numbers but the last are drawn until the last one fits.
    False where it never did.
    """
    last = numbers.size - 1
    for _ in range(tries):
        rest = difference
        for k in range(last):
            drawn = below_wide(stream, 2 * most)
            numbers[k] = drawn + 1 if drawn < most else most - drawn - 1
            rest -= numbers[k]
        if 1 <= abs(rest) <= most:
            numbers[last] = rest
            return True
    return False
