"""Exponential and logarithm with the same bits on every computer.

Mathematical libraries differ in the last bit, which changes the rest of a Markov chain. These
functions consist of sums, products, fused products and quotients, without calls and branches, so
that loops over them become vector code.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from glasshouse.compiled import inlined
from glasshouse.kernels.vectors import fma, word

_PER_LOG2 = 1.4426950408889634  # 1 / ln 2
_LOG2_HIGH = 6.93147180369123816490e-01  # ln 2 in two parts, the first exact in 33 bits
_LOG2_LOW = 1.90821492927058770002e-10
_ROUNDING = 1.5 * 2.0**52  # adding it to a float64 rounds to an integer
_LEAST, _MOST = -708.0, 708.0  # outside this range an exponential is not a normal number
# Series are written out term by term: a loop over a tuple takes seconds more to compile.
_F13, _F12, _F11, _F10, _F9, _F8, _F7, _F6, _F5, _F4, _F3 = (
    1.0 / math.factorial(k) for k in range(13, 2, -1)
)
# ln x = 2 artanh((x-1)/(x+1)), of which the series in odd powers converges fast around 1.
_O23, _O21, _O19, _O17, _O15, _O13, _O11, _O9, _O7, _O5, _O3 = (2.0 / k for k in range(23, 1, -2))
_MANTISSA, _HALF_EXPONENT = np.int64((1 << 52) - 1), np.int64(1022 << 52)
_EXPONENT_BIAS = np.int64(1022)
_ROOT_HALF = math.sqrt(0.5)


def _reinterpreted(given: Any, wanted: Any, llvm: Any) -> Any:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], llvm)

    return wanted(given), lower


@word
def bits_of(context: Any, value: Any) -> Any:
    """Return the 64 bits of a float64 as an int64."""
    return _reinterpreted(types.float64, types.int64, ir.IntType(64))


@word
def float_of(context: Any, bits: Any) -> Any:
    """Return the float64 that has the bits of an int64."""
    return _reinterpreted(types.int64, types.float64, ir.DoubleType())


@inlined
def exponential(x: Any) -> Any:
    """Return exp(x) up to two units in the last place, with x clamped to ±708."""
    x = x if x > _LEAST else _LEAST
    x = x if x < _MOST else _MOST
    shifted = fma(x, _PER_LOG2, _ROUNDING)
    power = shifted - _ROUNDING
    rest = fma(power, -_LOG2_LOW, fma(power, -_LOG2_HIGH, x))  # in ±0.35
    value = fma(_F13, rest, _F12)
    value = fma(value, rest, _F11)
    value = fma(value, rest, _F10)
    value = fma(value, rest, _F9)
    value = fma(value, rest, _F8)
    value = fma(value, rest, _F7)
    value = fma(value, rest, _F6)
    value = fma(value, rest, _F5)
    value = fma(value, rest, _F4)
    value = fma(value, rest, _F3)
    value = fma(value, rest, 0.5)
    value = fma(value, rest, 1.0)
    value = fma(value, rest, 1.0)
    return float_of(bits_of(value) + (bits_of(shifted) << 52))


@inlined
def logarithm(x: Any) -> Any:
    """Return ln(x) of a normal number above 0, up to a few units in the last place."""
    bits = bits_of(x)
    power = np.float64((bits >> 52) - _EXPONENT_BIAS)
    part = float_of((bits & _MANTISSA) | _HALF_EXPONENT)  # in [1/2, 1)
    low = part < _ROOT_HALF
    part = part + part if low else part
    power = power - 1.0 if low else power
    ratio = (part - 1.0) / (part + 1.0)
    square = ratio * ratio
    value = fma(_O23, square, _O21)
    value = fma(value, square, _O19)
    value = fma(value, square, _O17)
    value = fma(value, square, _O15)
    value = fma(value, square, _O13)
    value = fma(value, square, _O11)
    value = fma(value, square, _O9)
    value = fma(value, square, _O7)
    value = fma(value, square, _O5)
    value = fma(value, square, _O3)
    value = fma(value, square, 2.0)
    return power * _LOG2_HIGH + (power * _LOG2_LOW + value * ratio)


@inlined
def logistic(x: Any) -> Any:
    """Return 1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + exponential(-x))
