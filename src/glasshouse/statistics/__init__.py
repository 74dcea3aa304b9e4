"""Estimates with confidence intervals: success probabilities, hardness samples, scaling laws.

* `samples`: `Estimate`, a number with its interval, and `Sample`, numbers that may be censored.
* `intervals`: intervals of success probabilities, means and medians.
* `estimators`: medians, quantiles, survival and times to solution.
* `lognormal`: log-normal fits of censored samples.
* `scaling`: laws of growth, fitted and compared.
* `time_model`: the time of calls by their reads, and the two times to solution.
* `peaks`: the peak of hardness, and its decay with the size.
"""

from glasshouse.statistics.estimators import (
    STATISTICS,
    Statistic,
    geometric_mean,
    lognormality,
    median,
    quantile,
    statistic,
    survival,
    time_to_solution,
)
from glasshouse.statistics.lognormal import LogNormal, fit_lognormal
from glasshouse.statistics.peaks import fit_decay, hardness_peak
from glasshouse.statistics.samples import Estimate, Sample
from glasshouse.statistics.scaling import compare_laws, fit_law
from glasshouse.statistics.time_model import TimeModel

__all__ = [
    "STATISTICS", "Estimate", "LogNormal", "Sample", "Statistic", "TimeModel", "compare_laws",
    "fit_decay", "fit_law", "fit_lognormal", "geometric_mean", "hardness_peak", "lognormality",
    "median", "quantile", "statistic", "survival", "time_to_solution",
]  # fmt: skip
