"""Correlations, fractions and bootstrapped statistics of ensembles, with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import FloatArray
from glasshouse.statistics.samples import Estimate

_RESAMPLES = 1000


def bootstrap(statistic: Callable[..., float], *samples: FloatArray) -> Estimate:
    """Return a statistic of samples with its 95 % bootstrap interval, from a fixed seed."""
    rng = np.random.default_rng(0)
    found = [statistic(*(rng.choice(sample, len(sample)) for sample in samples))
             for _ in range(_RESAMPLES)]  # fmt: skip
    low, high = np.percentile(found, [2.5, 97.5])
    return Estimate(statistic(*samples), float(low), float(high), 0.95)


def rank_correlation(x: npt.ArrayLike, y: npt.ArrayLike) -> Estimate:
    """Return Spearman's rank correlation with its 95 % interval (Bonett and Wright).

    >>> rank_correlation([1, 2, 3, 4, 5], [1, 4, 9, 16, 24]).value > 0.999
    True
    """
    from scipy.stats import spearmanr

    if np.size(x) < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Estimate(0.0, -1.0, 1.0, 0.95)
    value = float(np.clip(spearmanr(x, y).statistic, -1 + 1e-9, 1 - 1e-9))
    width = 1.96 * math.sqrt((1 + value**2 / 2) / (np.size(x) - 3))
    low, high = (math.tanh(math.atanh(value) + sign * width) for sign in (-1, 1))
    return Estimate(value, low, high, 0.95)


def share(marks: npt.NDArray[np.bool_]) -> Estimate:
    """Return the fraction of True values with its Clopper-Pearson 95 % interval.

    >>> share(np.array([True, False]))
    Estimate(value=0.5, low=0.012..., high=0.987..., confidence=0.95)
    """
    from scipy.stats import binomtest

    number = int(np.count_nonzero(marks))
    interval = binomtest(number, len(marks)).proportion_ci(0.95)
    return Estimate(number / len(marks), float(interval.low), float(interval.high), 0.95)
