"""Logarithms, exponentials and geometric ranges with the same bits on every computer.

NumPy and the C library choose among several versions of exp, log and pow by the CPU, and their last
bits differ. Here ln and exp come from Python's `decimal`, which computes in integers: 30 correct
digits, rounded to a float. All else is multiplication, which IEEE 754 rounds in one way only.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import FloatArray

# The context is our own, because users may change Python's. Nothing is trapped: numbers that no
# float holds become inf or 0.
_DIGITS = Context(
    prec=30, rounding=ROUND_HALF_EVEN, Emin=-(10**6), Emax=10**6, capitals=1, clamp=0,
    flags=[], traps=[],
)  # fmt: skip


def logarithm(x: float) -> float:
    """Return the natural logarithm of x > 0.

    >>> logarithm(1), logarithm(200)
    (0.0, 5.298317366548036)
    """
    return float(_DIGITS.ln(Decimal(x)))


def exponential(x: float) -> float:
    """Return the exponential of x; inf if it exceeds the largest float.

    >>> exponential(0), exponential(-1), exponential(1000)
    (1.0, 0.36787944117144233, inf)
    """
    return float(_DIGITS.exp(Decimal(x)))


def logarithms(values: npt.NDArray[np.float64]) -> FloatArray:
    """Return the natural logarithm of each value; it takes a few microseconds per value."""
    return np.array([logarithm(x) for x in values.tolist()], np.float64)


def exponentials(values: npt.NDArray[np.float64]) -> FloatArray:
    """Return the exponential of each value; it takes a few microseconds per value."""
    return np.array([exponential(x) for x in values.tolist()], np.float64)


def geometric(first: float, last: float, number: int) -> FloatArray:
    """Return `number` values from `first` to `last` (both above 0) in geometric progression.

    Both ends are exact; the others are right up to two units in the last place. Each value is the
    product of an entry of a coarse table and one of a fine table, so that a range of a million
    values takes two thousand steps of `decimal`.

    >>> geometric(1, 8, 4)
    array([1., 2., 4., 8.])
    """
    if number < 3:
        return np.array([first, last][2 - number :], np.float64)
    start = Decimal(first)
    growth = _DIGITS.subtract(_DIGITS.ln(Decimal(last)), _DIGITS.ln(start))
    ratio = _DIGITS.exp(_DIGITS.divide(growth, Decimal(number - 1)))
    width = math.isqrt(number - 1) + 1  # width of the fine table; the coarse one is similar
    fine = _powers(Decimal(1), ratio, width)
    coarse = _powers(start, _DIGITS.power(ratio, width), -(-number // width))
    with np.errstate(over="ignore"):  # values after the last one, which are discarded, may overflow
        values: FloatArray = np.multiply.outer(coarse, fine).ravel()[:number]
    values[0], values[-1] = first, last
    return values.clip(min(first, last), max(first, last))


def _powers(start: Decimal, ratio: Decimal, number: int) -> FloatArray:
    """Return `start` times the first `number` powers of `ratio`, beginning with 1."""
    values = np.empty(number)
    for k in range(number):
        values[k] = start
        start = _DIGITS.multiply(start, ratio)
    return values
