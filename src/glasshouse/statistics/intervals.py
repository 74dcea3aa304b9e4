"""Intervals for success probabilities, means and medians, and the runs needed for a success."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.problems import FloatArray, validation
from glasshouse.statistics.samples import Estimate

_RESAMPLES = 9999

IntervalKind: TypeAlias = Literal["exact", "wilson", "bayes"]


def runs_needed(probability: float, success: float) -> float:
    """Return how many runs yield a success with probability `success`; at least 1, or infinite."""
    if probability >= success:
        return 1.0
    return math.log1p(-success) / math.log1p(-probability) if probability > 0 else math.inf


def times_needed(
    length: float, probability: float, interval: tuple[float, float], success: float
) -> tuple[float, float, float]:
    """Return the time to solution, length · runs_needed(probability, success), and its interval."""
    low, high = interval
    value, least, most = (
        length * runs_needed(chance, success) for chance in (probability, high, low)
    )
    return value, least, most


def binomial_interval(
    successes: int, number: int, confidence: float = 0.95, kind: IntervalKind = "exact"
) -> tuple[float, float]:
    """Return a confidence interval for a success probability from the counts of a sample.

    Args:
        successes: the number of successes, k.
        number: the number of runs n, at least 1.
        confidence: how often the interval contains the truth.
        kind: "exact" (Clopper-Pearson, never too narrow), "wilson" (score interval) or "bayes"
            (Jeffreys prior, equal tails).

    >>> low, high = binomial_interval(0, 100)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0000 0.0362
    """
    tail, failures = (1 - validation.share(confidence, "confidence")) / 2, number - successes
    if kind == "exact" and not (successes and failures):
        rate = math.log(tail) / number
        return (0.0, -math.expm1(rate)) if failures else (math.exp(rate), 1.0)
    from scipy.special import betaincinv, ndtri  # takes a fifth of the time of a short `solve`

    if kind == "wilson":
        z2 = float(ndtri(tail)) ** 2
        centre = (successes + z2 / 2) / (number + z2)
        reach = math.sqrt(z2 * (successes * failures / number + z2 / 4)) / (number + z2)
        low, high = max(centre - reach, 0.0), min(centre + reach, 1.0)
    elif kind in ("exact", "bayes"):
        more = 1.0 if kind == "exact" else 0.5
        low = float(betaincinv(successes + 1 - more, failures + more, tail)) if successes else 0.0
        high = float(betaincinv(successes + more, failures + 1 - more, 1 - tail)) if failures else 1
    else:
        raise ValueError(f"interval={kind!r} must be 'exact', 'wilson' or 'bayes'")
    return low if successes else 0.0, high if failures else 1.0


def median_of(values: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """Return a median with its distribution-free interval, from order statistics.

    Fewer than six numbers have no interval of 95 %.

    >>> median_of(range(-4, 5))
    Estimate(value=0.0, low=-3.0, high=3.0, confidence=0.95)
    """
    from scipy.special import bdtr  # importing scipy.stats takes a second

    numbers = np.sort(np.asarray(values, dtype=np.float64))
    if not len(numbers):
        return Estimate(math.nan, math.nan, math.nan, confidence)
    tail = (1 - validation.share(confidence, "confidence")) / 2
    # The number of values below the median is binomial: below `rank` with a chance of at most tail.
    rank = int(np.searchsorted(bdtr(np.arange(len(numbers)), len(numbers), 0.5), tail))
    low, high = (numbers[rank - 1], numbers[-rank]) if rank else (-math.inf, math.inf)
    return Estimate(float(np.median(numbers)), float(low), float(high), confidence)


def student_reach(degrees: int, confidence: float) -> float:
    """Return the half-width of Student's two-sided interval, in standard errors."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + validation.share(confidence, "confidence")) / 2))


def bootstrap_of_mean(values: FloatArray, confidence: float) -> tuple[float, float]:
    """Return the percentile interval of a mean; the same data give the same interval."""
    if np.ptp(values) == 0:
        return float(values[0]), float(values[0])
    from scipy.stats import bootstrap

    found = bootstrap(
        (values,), np.mean, n_resamples=_RESAMPLES, confidence_level=confidence,
        method="percentile", batch=1000, random_state=np.random.default_rng(0),
    )  # fmt: skip
    return float(found.confidence_interval.low), float(found.confidence_interval.high)
