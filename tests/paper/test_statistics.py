"""Intervals of correlations, ratios and shares."""

from __future__ import annotations

import numpy as np
import pytest

from paper.statistics import bootstrap, rank_correlation, share


def test_intervals():
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    found = rank_correlation(x, np.exp(x) + 0 * x)
    assert found.low > 0.99
    noise = rank_correlation(x, rng.normal(size=200))
    assert noise.low < 0 < noise.high
    assert rank_correlation([1, 1, 1, 1], [1, 2, 3, 4]).value == 0.0
    ratio = bootstrap(lambda a, b: float(np.median(a) / np.median(b)), x + 9, x + 3)
    assert ratio.low < 3 < ratio.high
    assert share(np.zeros(100, bool)).high == pytest.approx(1 - 0.025 ** (1 / 100))
