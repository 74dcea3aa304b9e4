"""Scores compared with sums by hand and brute force, and results from forged stores."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from glasshouse.races.commands.comparison import difference
from glasshouse.races.commands.results import Results, Run
from glasshouse.races.commands.scores import (
    anytime_score,
    cactus,
    median_reaching,
    median_seconds,
    penalised_seconds,
    per_instance,
    performance_profile,
    reaching_seconds,
    reaching_times,
    score,
    tts99,
)
from glasshouse.races.commands.time_series import export_time_series, objective_time_series
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.statistics.intervals import bootstrap_of_mean

OPTIMAL, FOUND, WRONG = RunVerdict.OPTIMAL, RunVerdict.FOUND, RunVerdict.WRONG_OPTIMUM


def run(solver, instance, seconds, verdict=OPTIMAL, cost=9, number=0, optimum=9, incumbents=(),
        frustration="1/5"):  # fmt: skip
    is_solved = verdict is OPTIMAL
    return Run(solver, instance, number, is_solved, verdict, "", seconds, 10.0, cost, incumbents,
               optimum=optimum, best=optimum, parameters={"frustration": frustration})  # fmt: skip


RESULTS = Results(
    "by hand",
    (
        run("fast", "a", 1.0),
        run("fast", "b", 2.0),
        run("fast", "c", 10.0, RunVerdict.TIME_OUT, None),
        run("fast", "d", 0.5, WRONG, 9),
        run("slow", "a", 4.0),
        run("slow", "b", 3.0, FOUND, 9),
        run("slow", "c", 8.0),
        run("slow", "d", 9.0, FOUND, 19),
    ),
)


def test_the_time_to_the_best_is_that_of_the_first_word_which_turned_out_true():
    lines = ((1.0, 30), (2.0, 9), (3.0, 9))
    runs = [
        run("x", "a", 10.0, FOUND, 9, incumbents=lines),
        run("x", "b", 10.0, FOUND, 11, incumbents=lines),  # its own model costs more
        run("x", "c", 10.0, WRONG, 9, incumbents=lines),
        run("x", "d", 4.0),  # no o line with a time
        run("x", "e", 10.5, FOUND, 9),  # printed in the grace time
    ]
    best = dict.fromkeys("abcde", 9)
    assert [reaching_seconds(one, best) for one in runs] == [2.0, None, None, 4.0, 10.0]
    results = Results("", tuple(runs))
    assert reaching_times(results, "x")["b"] == (10.0, False)
    assert median_reaching(results, "x", "ad").value == 2.0
    assert math.isinf(median_reaching(results, "x", "bcd").value)
    with pytest.raises(ValueError, match="no runs on these instances"):
        median_reaching(results, "x", "z")


def test_of_several_runs_the_median_one_counts():
    runs = [run("x", "a", 10.0, FOUND, cost, number=k, incumbents=((at, cost),))
            for k, (at, cost) in enumerate([(1.0, 9), (5.0, 9), (2.0, 12)])]  # fmt: skip
    assert reaching_times(Results("", tuple(runs)), "x") == {"a": (5.0, True)}


def test_a_table_by_hand():
    fast, slow = (score(RESULTS, name) for name in RESULTS.solvers)
    assert (fast.runs, fast.solved, fast.reached, fast.faults) == (4, 2, 2, 1)
    assert (slow.runs, slow.solved, slow.reached, slow.faults) == (4, 2, 3, 0)
    assert fast.par2 == pytest.approx((1 + 2 + 20 + 20) / 4)
    assert slow.par2 == pytest.approx((4 + 20 + 8 + 20) / 4)
    assert fast.anytime == pytest.approx(2 / 4)  # a wrong claim is worth nothing
    assert slow.anytime == pytest.approx((1 + 1 + 1 + 0.5) / 4)
    assert fast.median.value == 2.0
    assert math.isinf(median_seconds(Results("", RESULTS.runs[2:4]), "fast").value)


def test_an_instance_counts_once_however_often_it_was_run():
    runs = [run("one", "a", s, number=k) for k, s in enumerate((1.0, 2.0, 3.0))]
    results = Results("", (*runs, run("one", "b", 8.0)))
    assert per_instance(results, "one", "par2") == {"a": 2.0, "b": 8.0}
    assert score(results, "one").par2 == 5.0
    assert cactus(results, "one").tolist() == [2.0, 8.0]


def test_the_best_known_is_the_best_that_anybody_showed():
    runs = (
        run("one", "a", 1.0, FOUND, 12, optimum=None),
        run("two", "a", 1.0, FOUND, 10, optimum=None),
        run("liar", "a", 1.0, RunVerdict.INVALID_MODEL, 3, optimum=None),
    )
    results = Results("", runs)
    assert results.best_known == {"a": 10}
    assert [score(results, name).anytime for name in results.solvers] == [11 / 13, 1.0, 0.0]
    assert not any(score(results, name).solved for name in results.solvers)


def test_anytime_scores_of_huge_costs_are_not_rounded_away():
    best = 2**70
    assert anytime_score(run("x", "a", 1.0, FOUND, best), best) == 1.0
    assert anytime_score(run("x", "a", 1.0, FOUND, 4 * best + 3), best) == 0.25
    assert anytime_score(run("x", "a", 1.0, FOUND, None), best) == 0.0


def test_a_run_that_ended_just_after_the_limit_has_the_limit():
    assert penalised_seconds(run("x", "a", 10.01)) == 10.0
    late = Results("", (run("x", "a", 10.01), run("x", "b", 10.0, RunVerdict.TIME_OUT, None)))
    assert median_seconds(late, "x").value == 10.0


def test_time_to_solution_of_repeated_runs():
    runs = [run("x", "a", 2.0, FOUND, 9 if k < 5 else 11, number=k) for k in range(10)]
    found = tts99(Results("", tuple(runs)), "x", "a")
    assert found.value == pytest.approx(2 * math.log(0.01) / math.log(0.5))
    assert found.low < found.value < found.high
    never = [run("x", "a", 2.0, FOUND, 11, number=k) for k in range(10)]
    bound = tts99(Results("", tuple(never)), "x", "a")
    assert math.isinf(bound.value)
    assert 2.0 < bound.low < math.inf
    late = tts99(Results("", (run("x", "a", 10.5), run("x", "a", 0.0, number=1))), "x", "a")
    assert late.value == pytest.approx(5.0)  # the limit is 10 s


def test_the_interval_of_a_time_to_solution_contains_the_noise_of_the_clock():
    """The same successes and the same mean time: only the spread of the seconds differs."""
    even, noisy = (
        tts99(
            Results("", tuple(run("x", "a", seconds[k % 2], FOUND, 9 if k < 38 else 11, number=k)
                              for k in range(40))), "x", "a")
        for seconds in ((2.0, 2.0), (0.1, 3.9))
    )  # fmt: skip
    assert even.value == pytest.approx(noisy.value)
    assert noisy.high - noisy.low > 1.2 * (even.high - even.low)


def test_intervals_of_times_to_solution_hold_the_truth():
    """400 races of 30 runs: 95 % intervals miss above 31 of them once in 150 streams of numbers."""
    rng, p, missed = np.random.default_rng(1), 0.3, 0
    truth = 3.0 * math.log(0.01) / math.log(1 - p)
    for _ in range(400):
        seconds = rng.uniform(1.0, 5.0, 30).tolist()
        costs = np.where(rng.random(30) < p, 9, 11).tolist()
        runs = [run("x", "a", seconds[k], FOUND, costs[k], number=k) for k in range(30)]
        found = tts99(Results("", tuple(runs)), "x", "a")
        missed += not found.low <= truth <= found.high
    assert missed <= 31


def test_differences_are_paired():
    found = difference(RESULTS, "fast", "slow")
    assert found.value == pytest.approx(((1 - 4) + (2 - 20) + (20 - 8) + (20 - 20)) / 4)
    assert found.low <= found.value <= found.high
    # The same gap everywhere: nothing is uncertain, however much instances differ.
    even = [run(name, str(k), 0.5 * k + gap) for k in range(1, 9) for name, gap in
            (("x", 1.0), ("y", 0.0))]  # fmt: skip
    assert difference(Results("", tuple(even)), "x", "y") == type(found)(1.0, 1.0, 1.0, 0.95)


def test_the_bootstrap_is_that_of_all_resamples():
    values = np.array([0.0, 1.0, 5.0, 7.0, 20.0])
    means = np.sort([np.mean(drawn) for drawn in itertools.product(values, repeat=5)])
    expected = np.quantile(means, [0.025, 0.975])
    found = bootstrap_of_mean(values, 0.95)
    # Quantiles of 9999 draws: within those of all 3125 resamples at a slightly other level.
    lower, upper = np.quantile(means, [0.019, 0.031]), np.quantile(means, [0.969, 0.981])
    assert lower[0] <= found[0] <= lower[1]
    assert upper[0] <= found[1] <= upper[1]
    assert np.allclose(found, expected, atol=0.5)
    assert bootstrap_of_mean(values, 0.95) == found


def test_profiles_against_counting():
    rng = np.random.default_rng(3)
    runs = []
    for instance in range(12):
        for solver in ("a", "b", "c"):
            is_solved = rng.random() < 0.7
            runs.append(run(solver, str(instance), float(rng.uniform(0.1, 10)),
                            OPTIMAL if is_solved else RunVerdict.TIME_OUT))  # fmt: skip
    results = Results("", tuple(runs))
    times = {(r.solver, r.instance): r.seconds if r.solved else math.inf for r in runs}
    for solver, (ratios, shares) in performance_profile(results).items():
        for tau in (1.0, 1.5, 3.0, 50.0, 1e4):
            counted = sum(
                times[solver, i] <= tau * min(times[s, i] for s in "abc")
                and math.isfinite(times[solver, i])
                for i in results.instances
            )
            within = shares[ratios <= tau * (1 + 1e-12)]
            assert (within[-1] if len(within) else 0.0) == pytest.approx(counted / 12)


def test_unknown_solvers_are_one_clear_line():
    with pytest.raises(ValueError, match="no runs of 'none'; the solvers with runs are fast, slow"):
        score(RESULTS, "none")
    with pytest.raises(ValueError, match="have no instance in common"):
        difference(Results("", (run("x", "a", 1.0), run("y", "b", 1.0))), "x", "y")
    with pytest.raises(ValueError, match="no instance in common yet"):
        performance_profile(Results("", (run("x", "a", 1.0), run("y", "b", 1.0))))


def test_time_series_of_files_that_differ_in_their_suffix_are_two_files(tmp_path):
    results = Results("", (run("x", "a.wcnf", 1.0, cost=9), run("x", "a.cnf", 1.0, cost=5)))
    for _ in range(2):
        written = export_time_series(results, tmp_path, overwrite=True)
        assert [json.loads(path.read_text())[0][-1]["Incumbent"] for path in written] == [9, 5]


def test_time_series_hold_what_the_last_model_shows():
    shown = run("x", "a", 3.0, FOUND, 9, incumbents=((0.1, 20), (0.2, 25), (0.5, 9)))
    stated_only = run("x", "a", 3.0, RunVerdict.TIME_OUT, None, incumbents=((0.1, 20),))
    worse = run("x", "a", 2.0, FOUND, 12, incumbents=((0.1, 20), (0.3, 10), (0.4, 12)))
    assert objective_time_series([shown, stated_only, worse]) == [
        [{"Time": 0.1, "Incumbent": 20}, {"Time": 0.5, "Incumbent": 9},
         {"Time": 3.0, "Incumbent": 9}],
        [{"Time": 0.1, "Incumbent": 20}, {"Time": 0.4, "Incumbent": 12},
         {"Time": 2.0, "Incumbent": 12}],
    ]  # fmt: skip
