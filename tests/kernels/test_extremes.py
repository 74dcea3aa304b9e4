"""The lower and the higher of two numbers: as Python's own, for every pair of types."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.errors import TypingError

from glasshouse.compiled import compiled
from glasshouse.kernels.extremes import higher, lower

NUMBERS = [
    np.int64(-3), np.int64(2**62), np.int32(7), np.int32(-(2**31)), np.uint8(255), np.float64(-0.5),
    np.float64(np.inf), np.float32(7), 0, -1,
]  # fmt: skip


@compiled
def both(first, second):
    return lower(first, second), higher(first, second)


@pytest.mark.parametrize("first", NUMBERS)
def test_they_are_those_of_python(first):
    for second in NUMBERS:
        assert both(first, second) == (min(first, second), max(first, second))


def test_of_a_number_and_none_the_first_is_taken_as_python_does():
    """Python takes the second only if it compares as lower or higher."""
    nan = float("nan")
    assert both(1.0, nan) == (1.0, 1.0)
    assert all(np.isnan(both(nan, 1.0)))


def test_large_words_compare_without_a_sign():
    words = np.uint64(2**64 - 1), np.uint64(3)
    assert both(*words) == (3, 2**64 - 1)


def test_what_is_no_number_is_refused():
    with pytest.raises(TypingError, match="must both be integers, or both be floats"):
        both(1, "one")
