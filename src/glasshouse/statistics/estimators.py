"""Statistics of hardness samples: log-normal fits, quantiles, survival curves, times to solution.

A sample is a list of positive numbers, the sweeps that instances took, and a mask of those that
were solved. An instance that was not solved is *censored*: it needs more sweeps than its number. No
function here drops censored values or treats them as solved.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import share
from glasshouse.statistics.intervals import (
    binomial_interval,
    median_of,
    student_reach,
    times_needed,
)
from glasshouse.statistics.lognormal import LogNormal, fit_lognormal
from glasshouse.statistics.samples import Estimate, Sample
from glasshouse.summaries import Summarised

__all__ = [
    "Estimate", "LogNormal", "LogNormality", "Sample", "Survival", "fit_lognormal",
    "geometric_mean", "lognormality", "median", "quantile", "survival", "time_to_solution",
]  # fmt: skip

# The null distribution of the K-S statistic is simulated with at most this many values, and scaled:
# √k·D reaches its limit long before.
_MOST_SIMULATED = 1000
# The standard deviation of the rounding to an integer.
_ROUNDING = 1 / math.sqrt(12)


def quantile(
    values: npt.ArrayLike,
    q: float,
    *,
    solved: npt.ArrayLike | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Return the q-quantile of a sample, with its bootstrap interval.

    The quantile is the least value that a fraction q of the instances does not exceed. Its
    bootstrap distribution is known exactly (the j-th smallest of k draws from k values has index
    ⌈kU⌉ with U from Beta(j, k-j+1); Hutson and Ernst 2000), so no resampling is needed and the
    interval is the limit of infinitely many resamples.

    Censored values count as larger than all solved ones. A quantile among them is infinite; the
    lower end of its interval is the largest number that is certainly below the quantile.

    Args:
        values: the sweeps of each instance, positive.
        q: a number between 0 and 1, for example 0.5 for the median.
        solved: a mask of the values that are not censored; None if all are solved.
        confidence: the confidence of the interval.

    Raises:
        ValueError: some instances were censored below the values of solved ones; use `survival`
            then.

    >>> quantile([10, 20, 30, 40, 50, 60, 70], 0.5)
    Estimate(value=40.0, low=20.0, high=60.0, confidence=0.95)
    >>> quantile([10, 20, 30, 30], 0.75, solved=[True, True, False, False])
    Estimate(value=inf, low=10.0, high=inf, confidence=0.95)
    """
    sample = Sample.of(values, solved)
    q, confidence = share(q, "q"), share(confidence, "confidence")
    value, low, high = quantile_of_ordered(sample.ascending(), q, confidence)
    if math.isinf(low):
        low = float(sample.values[~sample.solved].min())
    return Estimate(value, low, high, confidence)


def quantile_of_ordered(
    ordered: npt.NDArray[np.float64], q: float, confidence: float
) -> tuple[float, float, float]:
    """Return the q-quantile of ascending, possibly infinite numbers, and its bootstrap interval."""
    from scipy.special import betaincinv  # importing scipy.stats takes a second

    size = len(ordered)
    rank = max(1, math.ceil(q * size - 1e-12))
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    ranks = np.ceil(size * betaincinv(rank, size - rank + 1, tails)).astype(int)
    low, high = ordered[np.clip(ranks, 1, size) - 1]
    return float(ordered[rank - 1]), float(low), float(high)


def median(
    values: npt.ArrayLike, *, solved: npt.ArrayLike | None = None, confidence: float = 0.95
) -> Estimate:
    """Return the median: the least value that at least half of the instances do not exceed.

    >>> median([3, 1, 2]).value
    2.0
    """
    return quantile(values, 0.5, solved=solved, confidence=confidence)


def geometric_mean(
    values: npt.ArrayLike, *, solved: npt.ArrayLike | None = None, confidence: float = 0.95
) -> Estimate:
    """Return the geometric mean: exp(mean ln value), or its ML estimate if values are censored.

    >>> round(geometric_mean([10, 100, 1000]).value, 6)
    100.0
    """
    return fit_lognormal(values, solved=solved).geometric_mean(confidence)


@dataclass(frozen=True, eq=False, repr=False)
class Survival(Summarised):
    """A Kaplan-Meier curve: the fraction of instances that need more than a given number of sweeps.

    Attributes:
        sweeps: the sweeps at which the curve steps, ascending.
        unsolved: the fraction still unsolved after each number of sweeps.
        low: the lower end of the interval of `unsolved`.
        high: the upper end of the interval.
        confidence: the confidence of the interval.
    """

    sweeps: npt.NDArray[np.float64]
    unsolved: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    confidence: float

    def quantile(self, q: float) -> float:
        """Return the least sweeps that solve a fraction q of the instances; infinite if none do."""
        reached = np.flatnonzero(self.unsolved <= 1 - share(q, "q") + 1e-12)
        return float(self.sweeps[reached[0]]) if len(reached) else math.inf


def survival(
    values: npt.ArrayLike, *, solved: npt.ArrayLike | None = None, confidence: float = 0.95
) -> Survival:
    """Return the Kaplan-Meier curve of a sample, with log-log intervals (Greenwood's variance).

    >>> curve = survival([1, 2, 3, 3], solved=[True, True, True, False])
    >>> curve.sweeps, curve.unsolved
    (array([1., 2., 3.]), array([0.75, 0.5 , 0.25]))
    >>> curve.quantile(0.5), curve.quantile(0.9)
    (2.0, inf)
    """
    from scipy.stats import CensoredData, ecdf

    sample = Sample.of(values, solved)
    curve = ecdf(CensoredData.right_censored(sample.values, ~sample.solved)).sf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # about the end of the curve, at 0
        ends = curve.confidence_interval(share(confidence, "confidence"), method="log-log")
    steps = np.isin(curve.quantiles, sample.values[sample.solved])
    unsolved = curve.probabilities[steps]
    # At 0 the interval is the curve itself.
    low, high = (np.where(unsolved > 0, end.probabilities[steps], unsolved) for end in ends)
    return Survival(curve.quantiles[steps], unsolved, low, high, confidence)


@dataclass(frozen=True, repr=False)
class LogNormality(Summarised):
    """The deviation of a sample from a log-normal distribution.

    Attributes:
        distance: the Kolmogorov-Smirnov distance to the fitted law, over the solved instances.
        p_value: how often a log-normal sample of this size is at least as far from its own fit.
        samples: the number of values.
    """

    distance: float
    p_value: float
    samples: int


def lognormality(
    values: npt.ArrayLike, *, solved: npt.ArrayLike | None = None, resamples: int = 499
) -> LogNormality:
    """Test the paper's assumption that N_tot is log-normal (appendix "Optimal Sweep Schedule").

    The parameters are fitted to the same sample, so the textbook p-value would be far too large
    (Lilliefors); here the fit is repeated on simulated log-normal samples with the same censoring.
    Sweeps are integers, so large samples of easy instances fail for that reason alone: use the
    distance.

    Args:
        values: the sweeps of each instance.
        solved: a mask of the values that are not censored; None if all are solved.
        resamples: the number of simulated samples; the resolution of the p-value is one over it.

    >>> rng = np.random.default_rng(1)
    >>> lognormality(np.exp(rng.normal(5, 1, 300))).p_value > 0.05
    True
    >>> lognormality(rng.uniform(1, 2, 300)).p_value
    0.002
    """
    sample = Sample.of(values, solved)
    if not sample.is_cut_at_the_end:
        raise ValueError("no test for values that are censored below solved ones; use survival()")
    fit = fit_lognormal(sample.values, solved=sample.solved)
    if fit.sigma == 0:
        raise ValueError("all values are equal, so their distribution cannot be tested")
    distance = _ks_distance(sample, fit)
    size = min(sample.size, _MOST_SIMULATED)
    limit = math.inf if sample.solved.all() else float(sample.values[~sample.solved].min())
    rng = np.random.default_rng(0)  # a fixed seed makes the result reproducible
    as_far = 0
    for _ in range(resamples):
        drawn = np.exp(rng.normal(fit.mu, fit.sigma, size))
        simulated = Sample(np.minimum(drawn, limit), drawn <= limit)
        if not simulated.solved.any():
            continue
        again = fit_lognormal(simulated.values, solved=simulated.solved)
        as_far += _ks_distance(simulated, again) * math.sqrt(size / sample.size) >= distance
    return LogNormality(distance, (as_far + 1) / (resamples + 1), sample.size)


def _ks_distance(sample: Sample, fit: LogNormal) -> float:
    """Return the largest gap between the empirical and the fitted distribution function."""
    from scipy.special import ndtr

    logs = np.log(np.sort(sample.values[sample.solved]))
    expected = ndtr((logs - fit.mu) / fit.sigma) if fit.sigma > 0 else np.full(len(logs), 0.5)
    ranks = np.arange(len(logs) + 1) / sample.size
    return float(max((ranks[1:] - expected).max(), (expected - ranks[:-1]).max()))


def time_to_solution(
    successes: int,
    runs: int,
    length: float,
    *,
    success: float = 0.99,
    confidence: float = 0.95,
    interval: Literal["wilson", "bayes", "exact"] = "wilson",
) -> Estimate:
    """Return the time until at least one run has succeeded with probability `success`.

    This is a run's length times ln(1-success)/ln(1-p), with the interval of p carried over. Without
    a success the value is infinite and only the lower end is known.

    Args:
        successes: the number of runs that succeeded.
        runs: the number of all runs.
        length: the length of a run, in sweeps or seconds.
        success: the required probability of at least one success: 0.99 yields TTS99.
        confidence: the confidence of the interval.
        interval: "wilson" (score interval), "bayes" (Jeffreys prior, equal tails) or "exact"
            (Clopper-Pearson, as in `AnnealResult.tts`).

    >>> print(time_to_solution(50, 100, 200.0))
    1329 (1016 to 1781)
    >>> print(time_to_solution(0, 100, 200.0))
    above 2.443e+04
    """
    if runs < 1 or successes < 0:
        raise ValueError(f"successes={successes} must be at least 0, and runs={runs} at least 1")
    if successes > runs:
        raise ValueError(f"successes={successes} exceeds runs={runs}")
    share(success, "success")
    chances = binomial_interval(successes, runs, confidence, interval)
    return Estimate(*times_needed(length, successes / runs, chances, success), confidence)


def median_tts(times: Sequence[Estimate], confidence: float = 0.95) -> Estimate:
    """Return the median of times to solution with its bootstrap interval.

    Infinite times, of instances that were never solved, count as longer than all others. If the
    median is among them, its lower end is the smallest of their lower ends.
    """
    share(confidence, "confidence")
    ordered = np.sort(np.array([one.value for one in times], dtype=np.float64))
    value, low, high = quantile_of_ordered(ordered, 0.5, confidence)
    if math.isinf(low):
        low = min(one.low for one in times if math.isinf(one.value))
    return Estimate(value, low, high, confidence)


Statistic = Literal["median", "geometric_mean", "quantile_95", "paper_95", "mean"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)


def mean(values: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """Return the mean of any numbers, with Student's confidence interval.

    >>> print(mean([-1.0, -2.0, -3.0, -2.0]))
    -2 (-3.299 to -0.7008)
    """
    numbers = np.asarray(values, dtype=np.float64)
    value, reach = float(numbers.mean()), math.inf
    if len(numbers) > 1:
        spread = float(numbers.std(ddof=1)) / math.sqrt(len(numbers))
        reach = student_reach(len(numbers) - 1, confidence) * spread
    return Estimate(value, value - reach, value + reach, confidence)


def statistic(sample: Sample, name: Statistic, confidence: float = 0.95) -> Estimate:
    """Return the statistic `name` of a sample; `STATISTICS` lists all names.

    `paper_95` is the paper's exp(μ+2σ), called the 95th percentile (it is the 97.7th of
    a log-normal); `quantile_95` is the true 95th percentile.

    >>> round(statistic(Sample.of([1, 10, 100]), "geometric_mean").value, 6)
    10.0
    """
    if name == "mean":
        found = mean(sample.values, confidence)
        if sample.signed or sample.solved.all():
            return found
        return Estimate(math.inf, found.low, math.inf, confidence)  # censored values are larger
    if sample.signed and name == "median":
        return median_of(sample.values, confidence)
    if (sample.values <= 0).any():
        raise ValueError(f"{name} requires that all numbers are positive; use mean or median")
    if name == "median":
        return median(sample.values, solved=sample.solved, confidence=confidence)
    if name == "quantile_95":
        return quantile(sample.values, 0.95, solved=sample.solved, confidence=confidence)
    if name in ("geometric_mean", "paper_95"):
        fit = fit_lognormal(sample.values, solved=sample.solved)
        named = fit.paper_95 if name == "paper_95" else fit.geometric_mean
        return named(confidence)
    raise ValueError(f"statistic={name!r} is not one of {', '.join(STATISTICS)}")


def statistic_or_bound(sample: Sample, name: Statistic, confidence: float = 0.95) -> Estimate:
    """Return the statistic called `name`, or only a lower bound if all instances are censored.

    >>> statistic_or_bound(Sample.of([100, 200], [False, False]), "median")
    Estimate(value=inf, low=100.0, high=inf, confidence=0.95)
    """
    if sample.solved.any() or sample.signed:
        return statistic(sample, name, confidence)
    return Estimate(math.inf, float(sample.values.min()), math.inf, confidence)


def standard_log_error(sample: Sample, name: Statistic, estimate: Estimate) -> float:
    """Return the standard error of a statistic's logarithm, for use in fits; infinite for a bound.

    The error is that of the statistic's interval, but at least that of the same quantile of a
    fitted log-normal, the best that a sample of this spread and size can yield (Cramér and Rao).
    The interval of a median can be far narrower, or have no width at all, if many instances happen
    to take the same number of sweeps around it: one such point would outweigh all others in a fit.

    Args:
        sample: the sample of the statistic.
        name: the name of the statistic.
        estimate: the statistic with its interval.

    >>> sample = Sample.of([30] * 21 + [5, 90, 200, 400, 1000])
    >>> lucky = median(sample.values)
    >>> lucky.low == lucky.high, round(standard_log_error(sample, "median", lucky), 2)
    (True, 0.21)
    """
    if not math.isfinite(estimate.value):
        return math.inf
    if name == "mean" or sample.signed:
        low, high = estimate.low, estimate.high
        return log_error(estimate) if 0 < low <= high < math.inf else math.inf
    fit = fit_lognormal(sample.values, solved=sample.solved)
    at_best = {
        "median": fit.geometric_mean,
        "geometric_mean": fit.geometric_mean,
        "quantile_95": lambda confidence: fit.quantile(0.95, confidence),
        "paper_95": fit.paper_95,
    }[name](estimate.confidence)
    return max(log_error(estimate), log_error(at_best))


def log_error(estimate: Estimate) -> float:
    """Return the standard error of an estimate's logarithm, from the width of its interval.

    Sweeps are integers, so the error is never below that of rounding. An interval without an upper
    end is taken to be symmetric.
    """
    from scipy.special import ndtri

    reach = float(ndtri((1 + estimate.confidence) / 2))
    low = max(estimate.low, 0.5)
    high = estimate.high if math.isfinite(estimate.high) else estimate.value**2 / low
    return max(math.log(high / low) / (2 * reach), _ROUNDING / estimate.value)
