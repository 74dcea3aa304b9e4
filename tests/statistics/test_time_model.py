"""The model of time: calls of known latency, time per read and success probability."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glasshouse.statistics import TimeModel
from glasshouse.statistics.time_model import mean_over, median_over

BATCHES = np.array([1, 4, 16, 64, 256])


def simulated(
    rng, latency: float, per_read: float, p: float, *, noise: float = 0.0, calls: int = 10,
    batches=BATCHES, confidence: float = 0.95,
) -> TimeModel:  # fmt: skip
    """Calls whose times scatter log-normally around latency + reads × per_read."""
    reads = np.repeat(batches, calls)
    scatter = np.exp(rng.normal(-(noise**2) / 2, noise, len(reads)))
    seconds = (latency + per_read * reads) * scatter
    return TimeModel.of(reads, seconds, rng.binomial(reads, p), confidence)


def needed(p: float, success: float = 0.99) -> float:
    return max(1.0, math.log1p(-success) / math.log1p(-p))


# 1,000 races; the number of intervals that hold the truth is binomial, so that with a true coverage
# of 95 to 96.5 % it leaves 92 to 98 % with probability below 1e-3.
def test_intervals_hold_the_truth_in_92_to_98_percent_of_1000_races():
    rng = np.random.default_rng(3)
    held = {"elapsed": 0, "work": 0}
    for _ in range(1000):
        per_read = 10 ** rng.uniform(-5, -2)
        latency, p = per_read * 10 ** rng.uniform(-1, 1.5), 10 ** rng.uniform(-1.7, -0.2)
        model = simulated(rng, latency, per_read, p, noise=rng.uniform(0.02, 0.2))
        reads = needed(p)
        assert reads <= BATCHES[-1]
        truth = {"elapsed": latency + reads * per_read, "work": reads * per_read}
        for by in held:
            found = model.tts(by)
            held[by] += found.low <= truth[by] <= found.high
    assert all(920 <= number <= 980 for number in held.values()), held


def test_intervals_hold_the_truth_if_reads_of_a_call_depend_on_each_other():
    """The success probability of a call is itself drawn; its mean is what counts."""
    rng, held, p, spread = np.random.default_rng(5), 0, 0.2, 20.0
    reads = np.repeat(BATCHES, 10)
    for _ in range(300):
        hits = rng.binomial(reads, rng.beta(p * spread, (1 - p) * spread, len(reads)))
        low, high = np.quantile(TimeModel.of(reads, reads, hits).success_draws()[1], [0.025, 0.975])
        held += low <= p <= high
    assert held >= 0.85 * 300  # a binomial interval holds it in less than half of them


@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize("latency", [0.0, 1e-3, 0.5])
@pytest.mark.parametrize("p", [0.02, 0.3, 0.999])
def test_known_numbers_are_found(latency, p, noise):
    rng = np.random.default_rng(7)
    model = simulated(rng, latency, 2e-3, p, noise=noise, calls=40)
    reads = needed(p)
    assert model.latency.value == pytest.approx(latency, rel=0.1, abs=3e-4)
    assert model.seconds_per_read.value == pytest.approx(2e-3, rel=0.1)
    assert model.tts("work").value == pytest.approx(2e-3 * reads, rel=0.15)
    assert model.tts("elapsed").value == pytest.approx(latency + 2e-3 * reads, rel=0.15)
    assert model.tts().low >= model.seconds.min()  # never below the shortest call
    assert not model.is_at_edge()


def test_the_best_batch_size_is_that_of_the_reads_needed():
    model = simulated(np.random.default_rng(1), 1.0, 0.01, 0.1, calls=1000)
    assert model.best_batch() == pytest.approx(needed(0.1), rel=0.05)
    assert model.elapsed_at(64).value == pytest.approx(1.64)
    assert all(model.elapsed_at(int(size)).value >= model.tts().value for size in BATCHES)
    with pytest.raises(ValueError, match="batch=5 was not measured; choose one of 1, 4, 16"):
        model.elapsed_at(5)


def test_reads_side_by_side_cost_nothing_up_to_a_batch():
    """Blocks of 64 parallel reads: the measured batch of 64 is as fast as one read."""
    reads = np.repeat(BATCHES, 5)
    model = TimeModel.of(reads, 0.1 + np.ceil(reads / 64), reads * 0.3)
    assert model.tts().value == pytest.approx(1.1)
    assert needed(0.3) <= model.best_batch() <= 64
    assert model.seconds_per_read.value == pytest.approx(1 / 64)


def test_a_larger_batch_may_be_better_than_all_that_were_measured():
    slow = simulated(np.random.default_rng(1), 1.0, 1e-4, 1e-3, calls=200)
    assert slow.is_at_edge()
    fast = simulated(np.random.default_rng(1), 1e-6, 1e-3, 1e-3, calls=200)
    assert not fast.is_at_edge()
    single = TimeModel.of([10] * 4, [1.0] * 4, [1] * 4)
    assert single.is_at_edge()
    assert not TimeModel.of([1] * 4, [1.0] * 4, [1, 0, 0, 0]).is_at_edge()


@pytest.mark.parametrize("by", ["elapsed", "work"])
def test_never_solved_is_a_lower_bound(by):
    reads = np.repeat([1, 10, 100], 5)
    never = TimeModel.of(reads, 1.0 + reads, 0 * reads)
    found = never.tts(by)
    assert found.value == found.high == math.inf
    # About 2.5 successes in all 555 reads would have been seen with probability 0.975 or so.
    assert 300 < found.low < 10_000
    assert str(found).startswith("above ")
    over = median_over([never.tts_draws(by)] * 3, 0.95)
    assert over.value == over.high == math.inf
    assert 300 < over.low < 10_000
    share = mean_over([never.success_draws()] * 3, 0.95)
    assert share.value == share.low == 0
    assert 1e-4 < share.high < 0.01


def test_always_solved_still_has_an_interval():
    model = simulated(np.random.default_rng(1), 0.1, 0.01, 1.0, noise=0.05)
    found = model.tts()
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(0.11, rel=0.1)


def test_the_median_of_times_holds_instances_that_were_never_solved():
    solved = TimeModel.of([10] * 5, [1.0] * 5, [5] * 5)
    never = TimeModel.of([10] * 5, [1.0] * 5, [0] * 5)
    each = [solved.tts_draws(), solved.tts_draws(), never.tts_draws()]
    found = median_over(each, 0.95)
    assert found.value == solved.tts().value
    assert found.high == math.inf  # two of three resampled instances may be the unsolved one


def test_the_same_calls_give_the_same_interval():
    rng = np.random.default_rng(2)
    model = simulated(rng, 1e-3, 1e-4, 0.1, noise=0.1)
    again = TimeModel.of(model.reads, model.seconds, model.successes)
    assert again.tts() == model.tts()


@pytest.mark.parametrize("numbers", [
    ([], [], []), ([1], [1.0], [2]), ([0], [1.0], [0]), ([1], [-1.0], [0]), ([1], [math.nan], [0]),
    ([1, 2], [1.0], [0, 1]),
])  # fmt: skip
def test_impossible_calls_are_refused(numbers):
    with pytest.raises(ValueError, match="call"):
        TimeModel.of(*numbers)
    with pytest.raises(ValueError, match="by='wall' must be 'elapsed' or 'work'"):
        TimeModel.of([1], [1.0], [1]).tts("wall")
