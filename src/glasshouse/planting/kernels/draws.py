"""Random draws in exact integers: orders, normal deviates, tiles, and rows of tables.

The discrete Gaussian gives the integer x a probability proportional to exp(-x²/2σ²), without any
rounding (Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", 2020,
algorithms 1 to 3). Logarithms and cosines would differ in the last bit between computers.
"""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import compiled, inlined, inner
from glasshouse.kernels.xoshiro import below, below_wide, next_word

# σ² up to 2^24 keeps every product below within int64, up to deviations of 180 σ.
MOST_VARIANCE = 1 << 24


@compiled
def permute(stream: Any, order: Any) -> None:
    """Shuffle an array in place (Fisher and Yates); every order is equally likely."""
    for last in range(order.size - 1, 0, -1):
        k = below(stream, last + 1)
        order[last], order[k] = order[k], order[last]


@inlined
def _with_odds_exp(stream: Any, numerator: int, denominator: int) -> Any:
    """Return True with probability exp(-numerator/denominator)."""
    while numerator > 0:
        part = min(numerator, denominator)
        k = 1
        while below_wide(stream, denominator * k) < part:
            k += 1
        if k % 2 == 0:
            return False
        numerator -= part
    return True


@inner
def _laplace(stream: Any, scale: int) -> Any:
    """Draw an integer x with probability proportional to exp(-|x|/scale)."""
    while True:
        rest = below_wide(stream, scale)
        if not _with_odds_exp(stream, rest, scale):
            continue
        whole = 0
        while _with_odds_exp(stream, 1, 1):
            whole += 1
        size = rest + scale * whole
        is_negative = next_word(stream) >> 63 != 0
        if not (is_negative and size == 0):
            return -size if is_negative else size


@inner
def discrete_gaussian(stream: Any, variance: int, scale: int) -> Any:
    """Draw an integer x with probability proportional to exp(-x²/2σ²), with σ² = `variance` > 0.

    `scale` must be ⌊σ⌋ + 1.
    """
    while True:
        x = _laplace(stream, scale)
        excess = abs(x) * scale - variance
        if _with_odds_exp(stream, excess * excess, 2 * variance * scale * scale):
            return x


@compiled
def fill_partitioned(stream: Any, numbers: Any, most: int, difference: int, tries: int) -> Any:
    """Fill an int64 array with random integers, ±1 to ±`most`, that add up to `difference`.

    All such arrays are equally likely: all numbers except the last are drawn until the last one
        fits. Returns False if it never does.
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


@compiled
def draw_tiles(stream: Any, ends: Any, firsts: Any, chosen: Any) -> None:
    """Fill `chosen` with random tiles: draw a class by its probability, then a tile of the class.

    Args:
        stream: the generator's words.
        ends: int64, cumulative probabilities of the classes, in units of their common denominator.
        firsts: int64, the first tile of each class, and the end of the last.
        chosen: int64, one tile for each position.
    """
    for place in range(chosen.size):
        number = below_wide(stream, ends[-1])
        kind = 0
        while number >= ends[kind]:
            kind += 1
        chosen[place] = firsts[kind] + below(stream, firsts[kind + 1] - firsts[kind])


@compiled
def fill_balanced(stream: Any, rows: Any) -> None:
    """Fill every row of an int64 table with equally many +1 and -1, in random order."""
    length = rows.shape[1]
    for row in rows:
        for k in range(length):
            row[k] = 1 if 2 * k < length else -1
        for last in range(length - 1, 0, -1):
            k = below(stream, last + 1)
            row[last], row[k] = row[k], row[last]


@compiled
def fill_centred(stream: Any, rows: Any, variance: int, scale: int) -> None:
    """Fill every row with normal integers minus their mean, so that no row is all zeros.

    `variance` and `scale` are those of `discrete_gaussian`.
    """
    for row in rows:
        while not _draw_centred(stream, row, variance, scale):
            pass


@inner
def _draw_centred(stream: Any, row: Any, variance: int, scale: int) -> Any:
    """Draw normal integers and subtract their mean, rounded so that the row adds up to zero.

    The entries are chosen with equal probability. Returns False if all are zero.
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
