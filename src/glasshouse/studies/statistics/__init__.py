"""What samples of hardness say, and how surely: estimators, fits, scaling laws, peaks."""

from glasshouse.studies.statistics.estimators import (
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
from glasshouse.studies.statistics.lognormal import LogNormal, fit_lognormal
from glasshouse.studies.statistics.peaks import fit_decay, hardness_peak
from glasshouse.studies.statistics.samples import Estimate, Sample
from glasshouse.studies.statistics.scaling import compare_laws, fit_law

__all__ = [
    "STATISTICS",
    "Estimate",
    "LogNormal",
    "Sample",
    "Statistic",
    "compare_laws",
    "fit_decay",
    "fit_law",
    "fit_lognormal",
    "geometric_mean",
    "hardness_peak",
    "lognormality",
    "median",
    "quantile",
    "statistic",
    "survival",
    "time_to_solution",
]
