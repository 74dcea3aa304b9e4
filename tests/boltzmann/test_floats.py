"""Exponential, logarithm and logistic, against fifty decimal digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.boltzmann.kernels import floats
from glasshouse.compiled import compiled


@compiled
def values_of(x: Any) -> Any:
    return floats.exponential(x), floats.logistic(x)


@compiled
def logarithm(x: Any) -> Any:
    return floats.logarithm(x)


def ulps(value: float, truth: Decimal) -> float:
    """How far a float is from the truth, in units of its last place."""
    return float(abs(Decimal(value) - truth) / Decimal(math.ulp(float(truth))))


@given(st.floats(-708, 708) | st.floats(-1, 1) | st.floats(-1e-8, 1e-8))
def test_exponential_and_logistic_are_right_up_to_a_few_last_places(x: float) -> None:
    with localcontext(prec=50):
        power = Decimal(x).exp()
        exponential, logistic = values_of(x)
        assert ulps(exponential, power) <= 2
        assert ulps(logistic, power / (1 + power)) <= 4


@given(st.floats(2.3e-308, 1.7e308) | st.floats(0.5, 2) | st.floats(-1e-6, 1e-6).map(math.exp))
def test_logarithm_is_right_up_to_a_few_last_places(x: float) -> None:
    with localcontext(prec=50):
        truth = Decimal(x).ln()
        assert ulps(logarithm(x), truth) <= 4 if truth else logarithm(x) == 0


def test_beyond_the_range_the_ends_stand() -> None:
    for x, end in ((-1e9, -708.0), (-math.inf, -708.0), (1e9, 708.0), (math.inf, 708.0)):
        assert values_of(x)[0] == values_of(end)[0]
    assert values_of(-1e9)[1] < 1e-300
    assert values_of(1e9)[1] == 1.0


def test_all_values_of_a_grid_grow() -> None:
    """A chance that falls while its field rises would be worse than one that is inexact."""
    grid = np.linspace(-40, 40, 20_001)
    assert all(np.diff([values_of(x)[0] for x in grid]) > 0)
    assert all(np.diff([values_of(x)[1] for x in grid]) >= 0)
