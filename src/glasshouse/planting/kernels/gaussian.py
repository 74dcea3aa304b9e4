"""Normal deviates that are exact: the discrete Gaussian, drawn with integers only.

The probability of the integer x is proportional to exp(-x²/2σ²), with no rounding anywhere
(Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", 2020, algorithms
1 to 3). Logarithms and cosines would differ in the last bit from one machine to another.
"""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import inlined, inner
from glasshouse.kernels.xoshiro import below_wide, next_word

# σ² up to 2^24 keeps every product below within int64, up to deviations of 180 σ.
MOST_VARIANCE = 1 << 24


@inlined
def _with_odds_exp(stream: Any, numerator: int, denominator: int) -> Any:
    """True with probability exp(-numerator/denominator)."""
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
    """An integer x with probability proportional to exp(-|x|/scale)."""
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
    """An integer x with probability proportional to exp(-x²/2σ²), σ² = variance > 0.

    `scale` must be ⌊σ⌋ + 1.
    """
    while True:
        x = _laplace(stream, scale)
        excess = abs(x) * scale - variance
        if _with_odds_exp(stream, excess * excess, 2 * variance * scale * scale):
            return x
