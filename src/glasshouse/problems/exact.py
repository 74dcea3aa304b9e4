"""Exact arithmetic of reductions: sums that cannot wrap, fractions cleared by the least factor."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems.checks import Number, WeightArray


def room(*arrays: WeightArray, factor: int) -> list[Any]:
    """The arrays as they are, or of Python integers where `factor` times their sum would wrap."""
    if any(array.dtype == np.float64 for array in arrays):
        return list(arrays)
    magnitude = sum(float(np.abs(array).sum(dtype=np.float64)) for array in arrays)
    if magnitude * factor < 2.0**62:
        return list(arrays)
    return [array.astype(object) for array in arrays]


def total(values: Any) -> Number:
    """Sum as a Python number."""
    result = values.sum()
    return float(result) if isinstance(result, (float, np.floating)) else int(result)


def sums_at_ends(size: int, edges: npt.NDArray[np.int32], weights: Any) -> Any:
    """For every vertex, the sum of the weights of its edges."""
    sums = np.zeros(size, dtype=weights.dtype)
    np.add.at(sums, edges[:, 0], weights)
    np.add.at(sums, edges[:, 1], weights)
    return sums


def gcd(*values: Any) -> int:
    """Greatest common divisor of integers and integer arrays."""
    return math.gcd(*(int(np.gcd.reduce(v)) if np.size(v) else 0 for v in map(np.ravel, values)))


def cleared(denominator: int, *numerators: Any) -> tuple[list[Any], Fraction]:
    """Numerators over a common denominator, brought to integers by the smallest factor.

    Floats are divided instead.
    """
    if any(np.asarray(n).dtype == np.float64 for n in numerators):
        return [n / denominator for n in numerators], Fraction(1)
    divisor = math.gcd(denominator, gcd(*numerators))
    return [n // divisor for n in numerators], Fraction(denominator // divisor)


def as_fraction(value: Number) -> Fraction | float:
    """An integer as a Fraction, so that halving it is exact; a float as it is."""
    return Fraction(value) if isinstance(value, int) else value


def unit(weights: Any, linear: Any) -> Number:
    """The grain of the coefficients: their gcd, or the least magnitude of floats; 1 for none."""
    if weights.dtype == np.float64:
        magnitudes = np.abs(np.concatenate([weights, linear]))
        return float(magnitudes[magnitudes > 0].min(initial=math.inf)) if magnitudes.any() else 1.0
    return gcd(weights, linear) or 1
