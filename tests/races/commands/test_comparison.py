"""The virtual best solver against sums by hand, and two solvers against brute force."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.races.commands.test_scores import RESULTS, run

from glasshouse.races.commands.comparison import compare_solvers, virtual_best, virtual_cactus
from glasshouse.races.commands.results import Results
from glasshouse.races.commands.scores import cactus, mean_score
from glasshouse.races.judging.clauses import RunVerdict

LATE = RunVerdict.TIME_OUT


def raced(times: dict[str, list[float]], cpu: float = 2.0) -> Results:
    """Solvers with the seconds of each instance; 10 or more is not solved."""
    runs = [
        replace(run(name, f"i{k}", min(at, 10.0), LATE if at >= 10 else RunVerdict.OPTIMAL),
                cpu_seconds=cpu * at, memory=int(100 * at))
        for name, each in times.items() for k, at in enumerate(each)
    ]  # fmt: skip
    return Results("", tuple(runs))


def test_the_virtual_best_by_hand():
    """fast: a 1, b 2; slow: a 4, c 8; nothing else is solved, d by neither."""
    best = virtual_best(RESULTS)
    assert (best.instances, best.solved) == (4, 3)
    assert best.par2 == pytest.approx((1 + 2 + 8 + 20) / 4)
    assert best.median.value == 2.0
    assert virtual_cactus(RESULTS).tolist() == [1.0, 2.0, 8.0]
    fast, slow = (best.contributions[name] for name in RESULTS.solvers)
    assert (fast.alone, slow.alone) == (1, 1)
    assert fast.par2 == pytest.approx(((4 - 1) + (20 - 2)) / 4)
    assert slow.par2 == pytest.approx((20 - 8) / 4)


def test_an_instance_that_nobody_else_has_run_on_is_no_contribution():
    results = raced({"a": [1.0, 2.0, 3.0], "b": [5.0]})
    best = virtual_best(results)
    assert (best.instances, best.solved) == (3, 3)
    assert best.contributions["a"].alone == 0
    assert best.contributions["a"].par2 == 4.0
    alone = virtual_best(raced({"a": [1.0, 20.0]}))
    assert (alone.solved, alone.contributions["a"].par2) == (1, 0.0)


seconds = st.lists(st.floats(0.01, 12.0), min_size=4, max_size=4)


@given(st.dictionaries(st.sampled_from("abcd"), seconds, min_size=1))
def test_no_solver_is_better_than_the_virtual_best(times):
    results = raced(times)
    best = virtual_best(results)
    for name in results.solvers:
        assert best.par2 <= mean_score(results, name, "par2") + 1e-12
        assert best.par2_cpu <= mean_score(results, name, "par2_cpu") + 1e-12
        assert best.solved >= len(cactus(results, name))
        assert best.contributions[name].par2 >= 0
    table = np.array(list(times.values()))
    solved = table < 10
    assert best.solved == solved.any(axis=0).sum()
    shown = np.where(solved, table, 20.0).min(axis=0)
    assert best.par2 == pytest.approx(shown.mean())
    for k, name in enumerate(times):
        others = np.delete(solved, k, axis=0)
        expected = (solved[k] & ~others.any(axis=0)).sum() if len(others) else 0
        assert best.contributions[name].alone == expected


def test_two_solvers_by_hand():
    results = raced({"a": [1, 2, 4, 20, 8, 20], "b": [2, 4, 1, 9, 20, 20]})
    found = compare_solvers(results, "a", "b")
    assert (found.both, found.first_only, found.second_only, found.neither) == (3, 1, 1, 1)
    wall, cpu = found.by["wall"], found.by["cpu"]
    assert wall.ratio.value == pytest.approx((0.5 * 0.5 * 4) ** (1 / 3))
    assert wall.ratio.low < wall.ratio.value < wall.ratio.high
    assert (wall.first_faster, wall.second_faster) == (3, 2)
    assert wall.sign_p == 1.0
    assert cpu.ratio.value == pytest.approx(wall.ratio.value)
    assert wall.difference.value == pytest.approx((1 + 2 + 4 + 20 + 8 + 20 - 56) / 6)
    assert "both solved 3, only a 1, only b 1, neither 1" in found.summary()


def test_who_is_always_faster_is_told_from_chance_and_noise_is_not():
    rng = np.random.default_rng(1)
    hard = np.exp(rng.normal(0, 1, 40)).clip(0.01, 3)
    clear = compare_solvers(raced({"a": [*hard], "b": [*(hard * 1.5)]}), "a", "b").by["cpu"]
    assert clear.ratio.value == pytest.approx(1 / 1.5)
    assert clear.sign_p < 1e-9
    assert clear.wilcoxon_p < 1e-6
    # A fixed seed; such a p-value is below 0.01 once in a hundred times.
    noisy = hard * np.exp(rng.normal(0, 0.3, 40))
    noise = compare_solvers(raced({"a": [*hard], "b": [*noisy]}), "a", "b").by["wall"]
    assert noise.ratio.low < 1 < noise.ratio.high
    assert noise.wilcoxon_p > 0.01


def test_intervals_of_ratios_hold_the_truth_as_often_as_they_say():
    """40 instances, 200 times: 190 expected; below 178 in one of ten thousand of such tests."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(200):
        logs = rng.normal(math.log(0.8), 0.5, 40)
        found = compare_solvers(raced({"a": [*np.exp(logs)], "b": [1.0] * 40}), "a", "b")
        held += found.by["wall"].ratio.low <= 0.8 <= found.by["wall"].ratio.high
    assert held >= 178


def test_the_same_times_and_one_instance_decide_nothing():
    same = compare_solvers(raced({"a": [1.0, 2.0], "b": [1.0, 2.0]}), "a", "b").by["wall"]
    assert (same.ratio.value, same.sign_p, same.wilcoxon_p) == (1.0, 1.0, 1.0)
    one = compare_solvers(raced({"a": [1.0], "b": [3.0]}), "a", "b").by["wall"]
    assert (one.ratio.low, one.ratio.high) == (0.0, math.inf)
    none = compare_solvers(raced({"a": [20.0], "b": [3.0]}), "a", "b")
    assert none.by["wall"].ratio is None
    assert "no instance that both solved" in none.summary()


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (("a", "a"), "'a' cannot be compared with itself; choose two different solvers"),
        (("a", "z"), "no runs of 'z'; the solvers with runs are a, b"),
    ],
)
def test_nonsense_is_one_clear_line(pair, said):
    with pytest.raises(ValueError, match=said):
        compare_solvers(raced({"a": [1.0], "b": [1.0]}), *pair)


def test_a_parallel_solver_is_fast_by_the_wall_clock_only():
    one = [replace(run("many", f"i{k}", 1.0 + k), cpu_seconds=8.0 + 8 * k) for k in range(3)]
    two = [replace(run("one", f"i{k}", 2.0 + k), cpu_seconds=2.0 + k) for k in range(3)]
    results = Results("", (*one, *two))
    found = compare_solvers(results, "many", "one")
    assert found.by["wall"].ratio.value < 1 < found.by["cpu"].ratio.value
    # Beyond the time limit of 10 s, which does not limit CPU time.
    assert cactus(results, "many", "cpu").tolist() == [8.0, 16.0, 24.0]
    limited = Results("", tuple(replace(run, cpu_limit=12.0) for run in results.runs))
    assert mean_score(limited, "many", "par2_cpu") == pytest.approx((8 + 12 + 12) / 3)
