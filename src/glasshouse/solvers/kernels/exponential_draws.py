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
# -log2(1 + x) / x for 0 ≤ x ≤ 1, highest power first: together the error is below 2e-5. At 1 it is
# just above -1, so that no half-life is below 0.
_SERIES = (-0.045132861, 0.193541422, -0.415581584, 0.709089696, -1.441916466)
# Exponent of a float32 that is 2^31, and a little more for whatever is rounded.
_MOST = 158.0001


@inlined
def uniform(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Sixteen of the whole numbers below 2^31, float32; and the generator's next state."""
    word, a, b, c, d = advance_plus(a, b, c, d)
    return cast(view(view(word, np.uint32) >> 1, np.int32), np.float32), a, b, c, d


@inlined
def half_lives(number: Any) -> Any:
    """-log2((k + 1/2) / 2^31) of whole numbers k, never below 0.

    The halves keep their precision near zero, where rare flips are decided.
    """
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
    return fma(series, rest, fill_like(number, 158.0) - power)


@inlined
def no_less(number: Any, scale: Any) -> Any:
    """So many units per half-life: no fewer units than the half-lives of whole numbers are.

    At most a tenth of a half-life more, for a fourth of the work: the bits of a float, read as an
    integer, are its logarithm but for a bend between powers of two.
    """
    bits = cast(view(number, np.int32), np.float32)
    return fma(bits, scale * fill_like(scale, -(2.0**-23)), scale * fill_like(scale, _MOST))


@inlined
def whole(units: Any, most: Any) -> Any:
    """Units rounded down, but no more than the most; int32."""
    return cast(choose(units < most, units, most), np.int32)
