"""exp(-y) in 32 bits, by scalars and by lanes."""

from __future__ import annotations

import numpy as np

from glasshouse.compiled import compiled
from glasshouse.kernels.vectors import load, store
from glasshouse.solvers.kernels.acceptance import threshold, thresholds


@compiled
def in_lanes(y, result):
    for k in range(0, y.size, 8):
        store(result, k, thresholds(load(y, k, 8)))


def test_thresholds_are_the_exponential_to_the_last_bit_or_so():
    y = np.concatenate([np.linspace(0, 23, 9992), [0, 1e-300, 1e-12, 22.18, 22.19, 24, 1e9, 1e300]])
    exact = np.minimum(np.floor(np.exp(-y) * 2.0**32), 2**32 - 1)
    result = np.empty(len(y), np.uint32)
    in_lanes(y, result)
    assert np.abs(result - exact).max() <= 1
    assert np.abs([int(threshold(x)) for x in y] - exact).max() <= 1
