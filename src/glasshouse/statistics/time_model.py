"""A time model: the seconds that a call of R reads takes, and the resulting time to solution.

A solver is called with a batch of R reads. The call takes T(R) seconds: a latency, and a time per
read that may fall with R, because reads share work or run in parallel. T is measured at several
batch sizes, and is taken to be linear between two of them. A read succeeds with probability p, so
that N(p) = ln(1 - success)/ln(1 - p) reads have at least one success with probability `success`.
Two times follow, which answer different questions:

* *elapsed*: the time of one solver that has the whole computer, with its best batch size: the least
  of T(R)·max(1, N/R) over R. It is never below the shortest call.
  * *work*: N times the seconds that one more read adds to a large batch. It excludes latency, and
    compares algorithms.

Intervals include the noise of the clock (calls are resampled) and of the number of successes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import share
from glasshouse.statistics.samples import Estimate
from glasshouse.summaries import Summarised

Floats: TypeAlias = npt.NDArray[np.float64]
By: TypeAlias = Literal["elapsed", "work"]
BY: tuple[By, ...] = ("elapsed", "work")

_DRAWS = 2000
_APART = 3  # the ratio of the two batch sizes between which the time of one more read is measured
_LEAST_WORK = 0.01  # fraction of the largest batch's time per read; a noisy clock can measure 0
_AT_EDGE = 1.05  # time per read of the largest batch over that of one more read
_INSTANT = 1e-9  # the least seconds of a call


@dataclass(frozen=True, eq=False, repr=False)
class TimeModel(Summarised):
    """Measured calls of one solver on one problem, and the times derived from these calls.

    Attributes:
        reads: the batch size of each call.
        seconds: the time of each call, on any clock.
        successes: the number of successful reads of each call.
        confidence: the confidence of all intervals.
        stream: the number of the random stream for resampling.

    Calls of 1, 10 and 100 reads, with a latency of 1 s and 0.1 s per read:

    >>> calls = TimeModel.of([1, 10, 100] * 2, [1.1, 2, 11] * 2, [0, 3, 20] * 2)
    >>> round(calls.latency.value, 6), round(calls.seconds_per_read.value, 6)
    (1.0, 0.1)
    >>> round(calls.reads_needed(), 1), calls.best_batch()
    (19.8, 20)
    >>> round(calls.tts("elapsed").value, 2), round(calls.tts("work").value, 2)
    (2.98, 1.98)
    """

    reads: Floats
    seconds: Floats
    successes: Floats
    confidence: float = 0.95
    stream: int = 0

    @classmethod
    def of(
        cls, reads: npt.ArrayLike, seconds: npt.ArrayLike, successes: npt.ArrayLike,
        confidence: float = 0.95, stream: int = 0,
    ) -> TimeModel:  # fmt: skip
        """Check the data of all calls, and return a model of these calls."""
        arrays = [np.asarray(one, np.float64).reshape(-1) for one in (reads, seconds, successes)]
        size, length, hits = arrays
        if not len(size) or not len(size) == len(length) == len(hits):
            raise ValueError("reads, seconds and successes must each have one number per call")
        if not (np.isfinite(length).all() and (length >= 0).all()):
            raise ValueError("the seconds of every call must be finite and at least 0")
        if not ((size >= 1) & (hits >= 0) & (hits <= size)).all():
            raise ValueError("every call must have reads >= 1 and 0 <= successes <= reads")
        share(confidence, "confidence")
        return cls(size, np.maximum(length, _INSTANT), hits, confidence, stream)

    @cached_property
    def batches(self) -> Floats:
        """The measured batch sizes, in ascending order."""
        return np.unique(self.reads)

    @cached_property
    def batch_seconds(self) -> Floats:
        """The mean time of a call at each batch size."""
        return np.array([self.seconds[self.reads == size].mean() for size in self.batches])

    def seconds_of(self, reads: npt.ArrayLike) -> Floats:
        """Return the time of `reads` reads: one call, or several if they exceed a full batch."""
        wanted = np.asarray(reads, np.float64).reshape(-1)
        means = np.broadcast_to(self.batch_seconds, (len(wanted), len(self.batches)))
        return self._one_batch(wanted, means)

    @property
    def seconds_per_read(self) -> Estimate:
        """The seconds that one more read adds to a large batch.

        With a single batch size it is the time of a call divided by its reads, latency included.
        """
        return self._estimate(*(self._per_read(one) for one in self._times))

    @property
    def latency(self) -> Estimate:
        """The latency (at least 0): the time of the smallest batch minus the time of its reads."""
        return self._estimate(
            *(np.maximum(one[:, 0] - self._per_read(one) * self.batches[0], 0)
              for one in self._times)
        )  # fmt: skip

    def reads_needed(self, success: float = 0.99) -> float:
        """Return the reads needed for one success with probability `success`; at least 1."""
        return float(_needed(np.array([self._share]), success)[0])

    def best_batch(self, success: float = 0.99) -> int:
        """Return the batch size with the least elapsed time to solution."""
        chosen = self._policy(success)
        if chosen is not None:
            return int(self.batches[chosen])
        least, most = self.batches[[0, -1]]
        return int(np.ceil(np.clip(self.reads_needed(success), least, most)))

    def is_at_edge(self, success: float = 0.99) -> bool:
        """Return whether a batch larger than all measured batches may be better."""
        largest = self.batches[-1]
        if self.best_batch(success) < largest or self.reads_needed(success) <= largest:
            return False
        if len(self.batches) == 1:
            return bool(largest > 1)  # a solver without a number of reads has no batches
        return bool(self.batch_seconds[-1] / largest > _AT_EDGE * self.seconds_per_read.value)

    def tts(self, by: By = "elapsed", success: float = 0.99) -> Estimate:
        """Return the time to solution; if no read succeeded, infinity with a finite lower bound.

        Args:
            by: "elapsed" or "work"; see the module.
            success: the required probability of at least one success: 0.99 yields TTS99.
        """
        value, drawn = self.tts_draws(by, success)
        return self._estimate(np.array([value]), drawn)

    def tts_draws(self, by: By = "elapsed", success: float = 0.99) -> tuple[float, Floats]:
        """Return the time to solution, and random samples of it that reflect its uncertainty.

        Samples are finite even if no read succeeded: more reads might have succeeded.
        """
        if by not in BY:
            raise ValueError(f"by={by!r} must be 'elapsed' or 'work'")
        share(success, "success")
        needed = np.array([self.reads_needed(success)]), _needed(self._shares, success)
        if by == "work":
            value, drawn = (n * self._per_read(t) for n, t in zip(needed, self._times, strict=True))
        else:
            value, drawn = (
                self._elapsed(n, t, self._policy(success))
                for n, t in zip(needed, self._times, strict=True)
            )
        return float(value[0]), drawn

    def success_draws(self) -> tuple[float, Floats]:
        """Return the success probability of a read, and samples from its posterior distribution."""
        return self._share, self._shares

    def elapsed_at(self, batch: int, success: float = 0.99) -> Estimate:
        """Return the elapsed time to solution if all calls have the given, measured batch size."""
        place = int(np.searchsorted(self.batches, batch))
        if place == len(self.batches) or self.batches[place] != batch:
            known = ", ".join(f"{size:.0f}" for size in self.batches)
            raise ValueError(f"batch={batch} was not measured; choose one of {known}")
        point = self._elapsed(np.array([self.reads_needed(success)]), self._times[0], place)
        drawn = self._elapsed(_needed(self._shares, success), self._times[1], place)
        return self._estimate(point, drawn)

    @property
    def _share(self) -> float:
        return float(self.successes.sum() / self.reads.sum())

    @cached_property
    def _rng(self) -> np.random.Generator:
        return np.random.default_rng([self.stream, len(self.reads)])

    @cached_property
    def _shares(self) -> Floats:
        """Return draws of the success probability from its posterior under Jeffreys' prior.

        The reads of one call may depend on each other. The spread between calls then exceeds that
        of independent reads, and the counts are divided by the ratio of the two spreads.
        """
        reads, hits, p, calls = self.reads.sum(), self.successes.sum(), self._share, len(self.reads)
        ratio = 1.0
        if calls > 1 and 0 < p < 1:
            between = ((self.successes - p * self.reads) ** 2).sum() * calls / (calls - 1)
            ratio = max(1.0, between / (reads * p * (1 - p)))
        return _floats(self._rng.beta(hits / ratio + 0.5, (reads - hits) / ratio + 0.5, _DRAWS))

    @cached_property
    def _times(self) -> tuple[Floats, Floats]:
        """Return two tables of the mean time per batch size: measured (one row) and resampled."""
        drawn = np.empty((_DRAWS, len(self.batches)))
        for k, size in enumerate(self.batches):
            calls = self.seconds[self.reads == size]
            means = calls[self._rng.integers(len(calls), size=(_DRAWS, len(calls)))].mean(axis=1)
            # Resampling understates the noise of a mean of few calls; Student's factor corrects it.
            wider = calls.mean() + (means - calls.mean()) * _widening(len(calls), self.confidence)
            drawn[:, k] = np.maximum(wider, calls.min())
        return self.batch_seconds[None, :], drawn

    def _per_read(self, times: Floats) -> Floats:
        largest, per_read = self.batches[-1], times[:, -1] / self.batches[-1]
        if len(self.batches) == 1:
            return _floats(per_read)
        low = max(int(np.searchsorted(self.batches, largest / _APART, side="right")) - 1, 0)
        slope = (times[:, -1] - times[:, low]) / (largest - self.batches[low])
        return _floats(np.clip(slope, _LEAST_WORK * per_read, per_read))

    def _one_batch(self, reads: Floats, times: Floats) -> Floats:
        """Return the time of `reads` reads: one call, or several if they exceed a full batch."""
        sizes, rows = self.batches, np.arange(len(reads))
        factor = np.maximum(reads / sizes[-1], 1)
        if len(sizes) == 1:
            return _floats(times[:, 0] * factor)
        inside = np.clip(reads, sizes[0], sizes[-1])
        left = np.clip(np.searchsorted(sizes, inside, side="right") - 1, 0, len(sizes) - 2)
        part = (inside - sizes[left]) / (sizes[left + 1] - sizes[left])
        return _floats((times[rows, left] * (1 - part) + times[rows, left + 1] * part) * factor)

    def _elapsed(self, reads: Floats, times: Floats, policy: int | None) -> Floats:
        if policy is None:
            return self._one_batch(reads, times)
        return _floats(times[:, policy] * np.maximum(reads / self.batches[policy], 1))

    def _policy(self, success: float) -> int | None:
        """Return the best batch size's index; None if one call of the needed reads is best."""
        needed, means = self.reads_needed(success), self.batch_seconds
        if np.isinf(needed):
            return int(np.argmin(means / self.batches))
        each = means * np.maximum(needed / self.batches, 1)
        best = int(np.argmin(each))
        return None if self.seconds_of(needed)[0] <= each[best] else best

    def _estimate(self, value: Floats, drawn: Floats) -> Estimate:
        return interval_of(float(value[0]), drawn, self.confidence)


def interval_of(value: float, drawn: Any, confidence: float) -> Estimate:
    """Return a value with an interval from its draws; an infinite value has no upper end."""
    tail = (1 - confidence) / 2
    low, high = (float(end) for end in np.quantile(drawn, [tail, 1 - tail]))
    return Estimate(value, min(low, value), max(high, value), confidence)


def mean_over(each: list[tuple[float, Floats]], confidence: float) -> Estimate:
    """Return the mean over instances, with an interval from resampled instances and values."""
    drawn = _drawn_over([one for _, one in each]).mean(axis=0)
    return interval_of(float(np.mean([value for value, _ in each])), drawn, confidence)


def median_over(each: list[tuple[float, Floats]], confidence: float) -> Estimate:
    """Return the median over instances, with an interval from resampled instances and times.

    The time of an instance that was never solved is infinite, and so are its draws for the upper
    end. For the lower end its finite draws count, which makes it a lower bound on the median.
    """
    rank, tail = (len(each) - 1) // 2, (1 - confidence) / 2
    value = sorted(value for value, _ in each)[rank]
    highest = [one if np.isfinite(value) else np.full_like(one, np.inf) for value, one in each]
    low, high = (
        np.quantile(np.sort(_drawn_over(drawn), axis=0)[rank], end, method="inverted_cdf")
        for drawn, end in (([one for _, one in each], tail), (highest, 1 - tail))
    )
    return Estimate(value, min(float(low), value), max(float(high), value), confidence)


def _drawn_over(each: list[Floats]) -> Floats:
    """Resample the instances for each draw; return a table with one column per draw."""
    drawn = np.array(each)
    chosen = np.random.default_rng(0).integers(len(each), size=drawn.shape)
    return _floats(np.take_along_axis(drawn, chosen, axis=0))


def _needed(shares: Floats, success: float) -> Floats:
    """Return the reads (≥ 1) needed at each success probability; infinite if it is 0."""
    with np.errstate(divide="ignore"):
        reads = np.log1p(-success) / np.log1p(-np.minimum(shares, success))
    return _floats(np.maximum(reads, 1))


def _widening(calls: int, confidence: float) -> float:
    """Return how many times wider Student's interval of a mean is than a resampled interval."""
    from scipy.special import ndtri, stdtrit

    if calls < 2:
        return 1.0
    upper = (1 + confidence) / 2
    return float(stdtrit(calls - 1, upper) / ndtri(upper) * np.sqrt(calls / (calls - 1)))


def _floats(values: Any) -> Floats:
    return np.asarray(values, np.float64)
