"""Numbers as integers over one denominator: the same by arrays as one by one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.certificates.exact_form import whole

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SIMPLE = st.integers(-64, 64).map(lambda k: k / 8)


@given(
    st.lists(FLOATS | SIMPLE, max_size=6), st.lists(FLOATS | SIMPLE | st.fractions(), max_size=2)
)
def test_floats_are_exact_integers_over_the_least_denominator(first, second):
    groups = np.array(first, np.float64), second
    numbers, factor = whole(*groups)
    expected = [[Fraction(x) for x in group] for group in (first, second)]
    assert [[Fraction(int(n), factor) for n in group] for group in numbers] == expected
    assert factor == math.lcm(1, *(x.denominator for group in expected for x in group))


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_is_not_a_number_is_refused(number):
    with pytest.raises((ValueError, OverflowError)):
        whole(np.array([number]))
