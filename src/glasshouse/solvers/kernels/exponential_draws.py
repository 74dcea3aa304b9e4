"""Random numbers of the exponential distribution, sixteen at a time: the other way to Metropolis.

A flip that costs 2x is accepted with probability exp(-2βx): exactly if x ≤ -ln(u) / (2β), with u
uniform. The right side can be drawn before x is known, for many spins at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import inlined
from glasshouse.kernels.vectors import cast, choose, fill_like, fma, view
from glasshouse.kernels.xoshiro import advance_plus

LN_2 = 0.6931471805599453
# -log2(1 + x) / x for 0 ≤ x ≤ 1, highest power first: together the error is below 4e-7.
_SERIES = (
    -0.014996265, 0.077850511, -0.192175959, 0.324621499, -0.473166769, 0.720532602, -1.442665469,
)  # fmt: skip


@inlined
def half_lives(a: Any, b: Any, c: Any, d: Any) -> Any:
    """-log2(u) of sixteen uniform numbers, float32, never below 0; and the generator's next state.

    The uniform numbers are (k + 1/2) / 2^31, which keep their precision near zero, where rare flips
    are decided.
    """
    word, a, b, c, d = advance_plus(a, b, c, d)
    number = cast(view(view(word, np.uint32) >> 1, np.int32), np.float32)
    number = number + fill_like(number, 0.5)
    bits = view(number, np.int32)
    power = cast(bits >> 23, np.float32)  # the exponent, and 127
    one = fill_like(bits, 0x3F800000)
    rest = view((bits & fill_like(bits, 0x7FFFFF)) | one, np.float32) - fill_like(number, 1.0)
    series = fill_like(number, _SERIES[0])
    series = fma(series, rest, fill_like(number, _SERIES[1]))
    series = fma(series, rest, fill_like(number, _SERIES[2]))
    series = fma(series, rest, fill_like(number, _SERIES[3]))
    series = fma(series, rest, fill_like(number, _SERIES[4]))
    series = fma(series, rest, fill_like(number, _SERIES[5]))
    series = fma(series, rest, fill_like(number, _SERIES[6]))
    return fma(series, rest, fill_like(number, 158.0) - power), a, b, c, d


@inlined
def whole_units(lives: Any, scale: Any, most: Any) -> Any:
    """Half-lives as whole numbers, rounded down, of which there are `scale` to each; int32."""
    reach = lives * scale
    reach = choose(reach < most, reach, most)  # so that what is not a number becomes the most
    return cast(reach, np.int32)
