"""Exact arithmetic for reductions: sums without overflow, and fractions scaled to integers.

Float arithmetic is rounded as usual. But floats never overflow, and are never divided if that would
lose bits of the smallest ones.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import Number, WeightArray, float_magnitude


def room(*arrays: WeightArray, factor: int, constant: Number = 0) -> list[Any]:
    """Return the arrays, with Python integers if `factor` times their sum could overflow int64.

    Floats for which that product, plus a constant, exceeds the largest float are refused.

    >>> room(np.array([2**60]), factor=8)
    [array([1152921504606846976], dtype=object)]
    """
    magnitude = float_magnitude(arrays)
    if any(array.dtype == np.float64 for array in arrays):
        if magnitude + abs(constant) > sys.float_info.max / factor:
            raise ValueError(
                f"the magnitudes add up to {magnitude + abs(constant):.3g}, and this conversion "
                f"multiplies them by up to {factor}, so sums may exceed the largest float; divide "
                "all weights by a common factor"
            )
        return list(arrays)
    if magnitude * factor < 2.0**62:
        return list(arrays)
    return [array.astype(object) for array in arrays]


def total(values: Any) -> Number:
    """Return the sum of an array as a Python number."""
    result = values.sum()
    return float(result) if isinstance(result, (float, np.floating)) else int(result)


def exact_sum(*arrays: WeightArray) -> Fraction:
    """Return the sum of all numbers, floats or integers, without rounding.

    >>> exact_sum(np.array([1e300, 1.0, -1e300]), np.array([2]))
    Fraction(3, 1)
    """
    sums = Fraction(0)
    for array in arrays:
        if array.dtype.kind == "i":
            is_small = np.abs(array.astype(np.float64)).sum() < 2.0**62
            sums += int((array if is_small else array.astype(object)).sum())
            continue
        numbers = array.tolist()
        while part := math.fsum(numbers):  # rounded once; the next turn adds the remainder
            sums += Fraction(part)
            numbers.append(-part)
    return sums


def sums_at_ends(size: int, edges: npt.NDArray[np.int32], weights: Any) -> Any:
    """Return, for each vertex, the sum of the weights of its edges."""
    sums = np.zeros(size, dtype=weights.dtype)
    np.add.at(sums, edges[:, 0], weights)
    np.add.at(sums, edges[:, 1], weights)
    return sums


def gcd(*values: Any) -> int:
    """Return the greatest common divisor of integers and integer arrays."""
    return math.gcd(*(int(np.gcd.reduce(v)) if np.size(v) else 0 for v in map(np.ravel, values)))


def cleared(denominator: int, *numerators: Any) -> tuple[list[Any], Fraction]:
    """Scale fractions to integers by the least factor; return the integers and the factor.

    The common denominator is a power of two. Floats are divided by it instead, unless that loses
    bits of numbers near the smallest float.

    >>> cleared(4, np.array([6.0]), 5e-324)
    ([array([6.]), 5e-324], Fraction(4, 1))
    """
    if any(np.asarray(n).dtype == np.float64 for n in numerators):
        divided = [n / denominator for n in numerators]
        if all(
            np.array_equal(d * denominator, n) for d, n in zip(divided, numerators, strict=True)
        ):
            return divided, Fraction(1)
        return list(numerators), Fraction(denominator)
    divisor = math.gcd(denominator, gcd(*numerators))
    return [n // divisor for n in numerators], Fraction(denominator // divisor)


def half(value: Number) -> Fraction | float:
    """Return half of a number as a Fraction; half of a float stays a float if that is exact."""
    if isinstance(value, int) or 2 * (value / 2) != value:
        return Fraction(value) / 2
    return value / 2


def unit(weights: Any, linear: Any, constant: Number) -> Number:
    """Return the unit of the coefficients: the gcd of integers, or the least magnitude of floats.

    If all are zero, the unit is 1, or for floats the magnitude of a non-zero constant.
    """
    if weights.dtype == np.float64:
        magnitudes = np.abs(np.concatenate([weights, linear]))
        if magnitudes.any():
            return float(magnitudes[magnitudes > 0].min())
        return abs(float(constant)) or 1.0
    return gcd(weights, linear) or 1
