"""The settings of `conftest.py` apply to every test."""

import numpy as np
import pytest


@pytest.mark.parametrize(
    "overflow",
    [
        lambda: np.float64(1e308) * 10,
        lambda: np.array([1e308]) * 10,
        lambda: np.int64(2**62) + np.int64(2**62),
        lambda: np.array([1.0]) / 0,
        lambda: np.array([np.inf]) - np.inf,
        lambda: np.array([1e300]).astype(np.int64),
    ],
)
def test_overflow_is_an_error(overflow):
    with pytest.raises(FloatingPointError):
        overflow()
