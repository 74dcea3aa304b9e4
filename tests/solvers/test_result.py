"""Success probabilities, times to solution and their intervals; the paper's schedule."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from glasshouse.planting.methods import random_loops
from glasshouse.solvers import (
    AnnealResult,
    anneal,
    optimal_tts,
    paper_schedule,
    peak_density,
    temper,
)
from glasshouse.statistics.intervals import binomial_interval, runs_needed


def result_with(hits: list[int], sweeps: int = 10, seconds: float = 2.0) -> AnnealResult:
    number = len(hits)
    return AnnealResult(
        np.zeros(number, np.int64), np.ones((number, 3), np.int8), np.array(hits, np.int32), sweeps,
        np.linspace(0.1, 1, sweeps), 0, "sweep", "byte lanes", seconds, np.ones(number, bool),
    )  # fmt: skip


@pytest.mark.parametrize(("k", "n"), [(0, 20), (1, 20), (7, 20), (20, 20)])
def test_the_interval_is_clopper_and_pearsons(k, n):
    exact = stats.binomtest(k, n).proportion_ci(0.95, "exact")
    assert binomial_interval(k, n) == pytest.approx((exact.low, exact.high))


def test_time_to_solution_is_runs_needed_times_the_length_of_a_run():
    result = result_with([3, 0, 5, 0])
    tts = result.tts(unit="sweeps")
    assert tts.value == pytest.approx(10 * math.log(0.01) / math.log(0.5))
    assert tts.low < tts.value < tts.high < math.inf
    assert result.tts().value == pytest.approx(tts.value / 10 * 2.0 / 4)
    assert result.tts(0.4, "sweeps").value == 10  # one run is enough
    assert (tts.success, tts.confidence) == (0.99, 0.95)


def test_the_confidence_of_an_interval_is_not_the_probability_of_success():
    result = result_with([3, 0, 5, 0])
    usual, sure = result.tts(unit="sweeps"), result.tts(unit="sweeps", confidence=0.999)
    assert sure.value == usual.value
    assert sure.low < usual.low < usual.high < sure.high
    low, high = binomial_interval(2, 4, 0.999)
    assert result.success_interval(0.999) == (low, high)
    assert sure.low == pytest.approx(10 * runs_needed(high, 0.99))
    assert str(sure).startswith("TTS99 = ")
    assert "(99.9 %: " in str(sure)
    assert str(result.tts(0.5, "sweeps")).startswith("TTS50 = 10 sweeps (95 %: ")
    for wrong in ({"success": 1.0}, {"success": True}, {"confidence": 0}, {"confidence": "high"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}=.* must be above 0 and below 1"):
            result.tts(**wrong)


def test_no_success_gives_a_lower_bound():
    tts = result_with([0] * 100).tts(unit="sweeps")
    assert tts.is_bound
    assert tts.low == tts.value == pytest.approx(10 * runs_needed(1 - 0.025**0.01, 0.99))
    assert tts.high == math.inf
    assert str(tts).startswith("TTS99 > 1.25e+03 sweeps")


def test_certain_success_takes_one_run():
    tts = result_with([1, 2, 3]).tts(unit="sweeps")
    assert (tts.value, tts.low) == (10, 10)
    assert 10 < tts.high < math.inf


def test_after_a_stop_unfinished_runs_count_as_failures():
    """Only the runs of a block that all hit are complete: no reason to report certain success."""
    from dataclasses import replace

    stopped = replace(
        result_with([2, 1, 0, 4, 0, 0]), complete=np.arange(6) < 2, stopped="time limit", share=0.5
    )
    assert stopped.success_probability == 0.5
    assert stopped.success_interval() == pytest.approx(
        (binomial_interval(3, 6)[0], binomial_interval(6, 6)[1])
    )
    tts = stopped.tts(unit="sweeps")
    assert tts.is_upper_bound
    assert not tts.is_bound
    assert tts.value == pytest.approx(10 * runs_needed(0.5, 0.99))
    assert tts.low < tts.value < tts.high
    # Two seconds for half the sweeps of six runs: a whole run would have taken 2/3 s.
    assert stopped.tts().value == pytest.approx(2 / 3 * runs_needed(0.5, 0.99))
    assert str(tts).startswith("TTS99 ≤ ")
    assert "stopped: success at least 0.5" in stopped.summary()


def test_after_a_stop_without_success_the_finished_runs_give_the_bound():
    from dataclasses import replace

    stopped = replace(
        result_with([0] * 6), complete=np.arange(6) < 4, stopped="interrupted", share=0.8
    )
    tts = stopped.tts(unit="sweeps")
    assert tts.is_bound
    assert tts.value == pytest.approx(10 * runs_needed(1 - 0.025**0.25, 0.99))


def test_success_needs_a_target():
    from dataclasses import replace

    with pytest.raises(ValueError, match="no target"):
        _ = replace(result_with([1]), target=None).success_probability


def test_summaries_say_what_was_looked_for():
    text = result_with([1, 0, 3]).summary()
    assert "2 of 3 runs, checked after every sweep" in text
    assert "byte lanes" in text


def test_the_optimal_length_is_the_one_that_needs_least():
    planted = random_loops(30, 30, frustration="0.2", loop_density=0.45, rng=3)
    best = optimal_tts(planted, planted.energy, (2, 20, 60, 2000), unit="sweeps", runs=256, rng=1)
    times = [result.tts(unit="sweeps") for result in best.results]
    assert best.tts.value == min(t.value for t in times if not t.is_bound)
    assert best.sweeps in (20, 60)
    assert "← best" in best.summary()
    with pytest.raises(ValueError, match="empty"):
        optimal_tts(planted, planted.energy, ())
    with pytest.raises(ValueError, match="repeats a run length"):
        optimal_tts(planted, planted.energy, (20, 30, 20))
    with pytest.raises(ValueError, match="pass an energy as target"):
        optimal_tts(planted, None, (2**30,))  # or it would never end


def test_the_papers_polynomials_and_their_guards():
    assert paper_schedule(60, "0.2").sweeps == math.floor(
        (1.29 * 3600 - 33.1 * 60 + 1664) * (41.4 * 0.008 - 11.7 * 0.04 + 1.06 * 0.2 - 0.018)
    )
    assert paper_schedule(60, Fraction(1, 5), fit="first").sweeps == math.floor(
        (0.504 * 3600 - 13.3 * 60 + 311) * (193 * 0.008 - 52.7 * 0.04 + 4.73 * 0.2 - 0.102)
    )
    assert paper_schedule(50, 0.1, 0.5, unit=3).beta == pytest.approx((0.01 / 3, math.log(50) / 3))
    assert paper_schedule(50, 0.1, 200).beta == pytest.approx((0.0025, math.log(50) / 4))
    for fit, below, above in (("second", 0.0218, 0.0219), ("first", 0.0311, 0.0312)):
        with pytest.warns(UserWarning, match="negative"):
            assert paper_schedule(100, below, fit=fit).sweeps == 2
        assert paper_schedule(100, above, fit=fit).sweeps >= 2


@pytest.mark.parametrize("f", ["0.3", -0.1, 1])
def test_frustrations_out_of_range_are_refused(f):
    with pytest.raises(ValueError, match="must be from 0 to 1/4"):
        paper_schedule(50, f)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"loop_density": -1}, "loop_density=-1 must be above 0; pass loops / n"),
        ({"loop_density": 0}, "loop_density=0 must be above 0"),
        ({"loop_density": float("nan")}, "is not a finite fraction"),
        ({"loop_density": float("inf")}, "is not a finite fraction"),
        ({"frustration": "1/0"}, "is not a finite fraction"),
        ({"frustration": None}, "is not a number"),
        ({"n": 1}, "n=1 is below 2"),
    ],
)
def test_schedules_of_nothing_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        paper_schedule(**({"n": 50, "frustration": 0.1} | wrong))


def test_the_peak_density_falls_to_its_plateau():
    assert peak_density(10) == pytest.approx(0.3035 + 0.2952 * math.exp(-0.196))
    assert peak_density(10**6) == pytest.approx(0.3035)


@pytest.mark.parametrize("method", [anneal, temper])
def test_seconds_and_sweeps_tell_of_the_same_event(method):
    # All runs hit at once, so that their blocks end long before the last sweep.
    planted = random_loops(20, 20, frustration="1/20", loop_density=0.4, rng=1)
    result = method(planted, sweeps=20_000, runs=64, rng=1)
    assert result.success_probability == 1
    assert result.share < 0.9
    a_sweep = result.seconds / (result.runs * result.sweeps * result.replicas * result.share)
    ratio = result.tts().value / result.tts(unit="sweeps").value
    assert ratio == pytest.approx(a_sweep, rel=1e-9)
    assert result.tts(unit="sweeps").value == result.sweeps * result.replicas
