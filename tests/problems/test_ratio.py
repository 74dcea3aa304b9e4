"""Fractions as users write them: exact, and never too large to compute with."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.landscape import expected_local_minima
from glasshouse.planting import Planted, Recipe, Seed
from glasshouse.planting.methods import random_loops
from glasshouse.problems.ratio import ratio


@given(st.fractions() | st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_a_number_is_what_it_prints_as(number):
    assert ratio(number, "x") == ratio(str(number), "x") == Fraction(str(number))


def test_every_kind_of_number_is_taken():
    for value in ("1/5", "0.2", "2e-1", Decimal("0.2"), np.float64(0.2), 0.2, Fraction(1, 5)):
        assert ratio(value, "x") == Fraction(1, 5)
    assert ratio(5e-324, "x") == Fraction(5, 10**324)
    assert ratio(np.int64(7), "x") == 7


HUGE = {
    "exponent": "1e999999999",
    "negative exponent": "1e-400000",
    "grouped exponent": "1e9_999_999_999",
    "padded exponent": "1E+0999999999",
    "decimal": Decimal("1e999999"),
    "text": "9" * 10**6,
    "int": 10**10_000,
    "fraction": Fraction(1, 10**10_000),
}


@pytest.mark.parametrize("kind", HUGE)
def test_huge_numbers_are_refused_at_once(kind):
    with pytest.raises(ValueError, match=r"^x has more than 450 digits; use a shorter"):
        ratio(HUGE[kind], "x")


@pytest.mark.parametrize("wrong", ["", "a lot", "1/0", "nan", "inf", float("nan"), "1/2/3"])
def test_what_is_no_fraction_is_shown(wrong):
    with pytest.raises(ValueError, match="is not a finite fraction"):
        ratio(wrong, "x")


@pytest.mark.parametrize("wrong", [None, True, [1], 1j])
def test_what_is_no_number_is_shown(wrong):
    with pytest.raises(ValueError, match="is not a number"):
        ratio(wrong, "x")


def test_no_way_in_takes_a_huge_exponent():
    with pytest.raises(ValueError, match="frustration has more than"):
        expected_local_minima(4, frustration="1e-999999999")
    with pytest.raises(ValueError, match="frustration has more than"):
        random_loops(4, 4, frustration="1e-999999999", loops=1)
    plant = random_loops(4, 4, frustration="1/5", loops=1, rng=1)
    recipe = Recipe("random_loops", {"frustration": "1e999999999"}, Seed(0))
    lie = Planted(plant.problem, plant.state, plant.energy, 4, plant.loops, recipe)
    with pytest.raises(ValueError, match="has more than"):
        lie.summary()
