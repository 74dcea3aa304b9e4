import math
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.problems.elementary import (
    exponential,
    exponentials,
    geometric,
    logarithm,
    logarithms,
)

_MANY = Context(prec=80, Emin=-(10**6), Emax=10**6, traps=[])
betas = st.floats(1e-300, 1e300)


@given(betas)
def test_logarithms_are_the_nearest_floats(x):
    assert logarithm(x) == float(_MANY.ln(Decimal(x)))
    assert logarithm(x) == pytest.approx(math.log(x), rel=1e-15)


@given(st.floats(-800, 800))
def test_exponentials_are_the_nearest_floats(x):
    assert exponential(x) == float(_MANY.exp(Decimal(x)))


def test_arrays_are_taken_one_by_one():
    values = np.array([0.5, 2.0])
    assert logarithms(values).tolist() == [logarithm(0.5), logarithm(2.0)]
    assert exponentials(values).tolist() == [exponential(0.5), exponential(2.0)]
    assert logarithms(np.empty(0)).shape == (0,)


@given(betas, betas, st.integers(1, 60))
def test_geometric_ranges_are_right_to_two_units_in_the_last_place(first, last, number):
    values = geometric(first, last, number)
    assert len(values) == number
    assert values[-1] == last
    assert number == 1 or values[0] == first
    low, growth = _MANY.ln(Decimal(first)), _MANY.ln(Decimal(last)) - _MANY.ln(Decimal(first))
    for k, value in enumerate(values[:-1].tolist()):
        exact = _MANY.exp(_MANY.add(low, _MANY.divide(_MANY.multiply(growth, k), number - 1)))
        error = _MANY.subtract(Decimal(value), exact)
        assert abs(error) <= 2 * Decimal(math.ulp(value))


@pytest.mark.parametrize("number", [3, 4, 1000, 2**20])
def test_geometric_ranges_are_near_those_of_numpy(number):
    np.testing.assert_allclose(geometric(0.2, 3, number), np.geomspace(0.2, 3, number), rtol=1e-14)
    np.testing.assert_allclose(geometric(3, 0.2, number), np.geomspace(3, 0.2, number), rtol=1e-14)


def test_a_range_of_one_value_is_constant():
    assert geometric(0.1, 0.1, 999).tolist() == [0.1] * 999


def test_the_whole_range_of_floats_is_taken():
    assert np.isfinite(geometric(5e-324, 1e307, 9)).all()


def test_the_decimal_context_of_the_user_does_not_matter():
    usual = geometric(0.1, 3, 50)
    with localcontext(Context(prec=3)):
        assert (geometric(0.1, 3, 50) == usual).all()
