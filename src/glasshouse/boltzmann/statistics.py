"""The median of any numbers, with its interval."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from glasshouse.studies.statistics.samples import Estimate


def median_of(values: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """A median with its distribution-free interval, from order statistics.

    Fewer than six numbers have none of 95 %.

    >>> median_of(range(-4, 5))
    Estimate(value=0.0, low=-3.0, high=3.0, confidence=0.95)
    """
    from scipy.stats import binom

    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if not len(ordered):
        return Estimate(math.nan, math.nan, math.nan, confidence)
    outside = int(binom.ppf((1 - confidence) / 2, len(ordered), 0.5))
    ends = (ordered[outside - 1], ordered[-outside]) if outside else (-math.inf, math.inf)
    return Estimate(float(np.median(ordered)), float(ends[0]), float(ends[1]), confidence)
