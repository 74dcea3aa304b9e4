"""From stores to points, series, fits and figures."""

from __future__ import annotations

import math
import sqlite3

import numpy as np
import pytest

from glasshouse.statistics.estimators import (
    STATISTICS,
    geometric_mean,
    median,
    standard_log_error,
    statistic,
    time_to_solution,
)
from glasshouse.statistics.samples import Estimate, Sample
from glasshouse.statistics.scaling import compare_laws
from glasshouse.store import Stop, Store, collect
from glasshouse.studies import Annealer, Task
from glasshouse.studies.analysis import fit_series, fit_study, points_of, series_of
from glasshouse.studies.study import parse_study, study_of

STUDY = """
name = "small"
title = "A small study"
figure = "FIGURE"
statistic = "geometric_mean"
seed = 3

[solver]
sweeps_per_run = 30
max_sweeps = 20_000

[stop]
instances = 40

[[family]]
method = "random_loops"
GRID
"""
SIZES = """parameters = { loop_density = 0.5 }
grid = { frustration = [0.05, 0.15], n = [6, 8, 10, 12, 14, 16] }"""
DENSITIES = """parameters = { frustration = 0.1 }
grid = { n = [10, 20], loop_density = [0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0] }"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("studies")
    for figure, grid in (("size", SIZES), ("density", DENSITIES)):
        study = parse_study(STUDY.replace("FIGURE", figure).replace("GRID", grid))
        path = place / f"{figure}.sqlite"
        collect(study.tasks, path)
        with Store(path, write=True) as store:
            store.note("study", study.text)
    return place


def test_points_are_the_statistics_of_their_rows(folder):
    with Store(folder / "size.sqlite") as store:
        points = points_of(store, "geometric_mean")
        assert len(points) == 12
        rows = store.rows(store.tasks()[0])
        assert points[0].estimate == geometric_mean(rows["sweeps"], solved=rows["solved"] != 0)
    first = points[0]
    assert (first.size, first.loops, first.density, first.samples) == (6, 3, 0.5, 40)
    assert first.schedule.sweeps_per_run == 30
    assert first.schedule.last_beta == pytest.approx(math.log(6))
    assert first.along("frustration") == 0.05


def test_series_are_labelled_by_what_differs(folder):
    with Store(folder / "size.sqlite") as store:
        points = points_of(store, "median")
    series = series_of(points, "size")
    assert [one.label for one in series] == ["f = 0.05", "f = 0.15"]
    assert [p.size for p in series[0].points] == [6, 8, 10, 12, 14, 16]
    by_f = series_of(points, "frustration")
    assert [one.label for one in by_f] == [f"n = {n}" for n in (6, 8, 10, 12, 14, 16)]
    with pytest.raises(ValueError, match="must be one of"):
        series_of(points, "colour")


def test_a_store_remembers_its_study_and_can_do_without(folder, tmp_path):
    with Store(folder / "size.sqlite") as store:
        assert study_of(store).title == "A small study"
    family = {"n": 6, "frustration": 0.1, "loop_density": 0.5}
    task = Task("random_loops", family, stop=Stop(3))
    collect([task], tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        study = study_of(store)
    assert study.tasks == (task,)
    assert study.figure == "none"


def test_fits_of_sizes_are_laws_and_of_densities_peaks(folder):
    with Store(folder / "size.sqlite") as store:
        laws = fit_study(store)
    assert set(laws.laws) == {"f = 0.05", "f = 0.15"}
    assert "A n^b" in laws.summary()
    with Store(folder / "density.sqlite") as store:
        peaks = fit_study(store)
    assert set(peaks.peaks) == {"n = 10", "n = 20"}
    assert peaks.decay is None
    assert "peak at density" in peaks.summary()


def test_points_that_nothing_solved_are_lower_bounds(tmp_path):
    family = {"n": 30, "frustration": 0.24, "loop_density": 0.5}
    solver = Annealer(sweeps_per_run=2, max_sweeps=4)
    collect([Task("random_loops", family, solver=solver, stop=Stop(10))], tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        (point,) = points_of(store, "geometric_mean")
    assert point.estimate.value == math.inf
    assert point.estimate.low == 4
    assert point.censored == 10
    (series,) = series_of([point], "size")
    assert series.measured == ()


class TestErrorsOfLogarithms:
    def test_they_are_those_of_the_interval_and_never_below_rounding(self):
        spread = Sample.of(np.exp(np.random.default_rng(1).normal(5, 1, 400)))
        wide = Estimate(100.0, 100 / 1.5, 150.0, 0.95)
        assert standard_log_error(spread, "median", wide) == pytest.approx(
            np.log(1.5) / 1.96, rel=1e-3
        )
        equal = Sample.of([3] * 20)
        assert standard_log_error(equal, "median", median(equal.values)) == pytest.approx(
            1 / math.sqrt(12) / 3
        )
        bound = Estimate(math.inf, 3.0, math.inf, 0.95)
        assert standard_log_error(spread, "median", bound) == math.inf

    @pytest.mark.parametrize(("name", "limit"), [*((s, 10**9) for s in STATISTICS), ("median", 90)])
    def test_they_are_what_repetition_shows(self, name, limit):
        # 60 samples of a log-normal, some cut off: the spread of ln(statistic) is known to 9 %.
        rng = np.random.default_rng(2)
        logs, errors = [], []
        for _ in range(60):
            drawn = np.exp(rng.normal(4, 1, 100)).round() + 1
            sample = Sample.of(np.minimum(drawn, limit), drawn <= limit)
            found = statistic(sample, name)
            if math.isfinite(found.value):
                logs.append(math.log(found.value))
                errors.append(standard_log_error(sample, name, found))
        assert np.std(logs) < 1.4 * np.median(errors)
        assert np.median(errors) < 1.7 * np.std(logs)

    def test_one_lucky_median_does_not_decide_the_law(self, tmp_path):
        sizes, instances = range(20, 111, 10), 40
        tasks = [
            Task("random_loops", {"n": n, "frustration": 0.1, "loops": 5},
                 solver=Annealer(1, max_sweeps=1), stop=Stop(instances))
            for n in sizes
        ]  # fmt: skip
        collect(tasks, tmp_path / "s.sqlite")
        rng = np.random.default_rng(3)
        database = sqlite3.connect(tmp_path / "s.sqlite")
        for number, n in enumerate(sizes, start=1):
            sweeps = np.exp(rng.normal(math.log(0.2 * n**2), 1.0, instances)).round() + 1
            if n == 80:  # most of the instances happen to take 500 sweeps, where 1280 are usual
                sweeps[:28] = 500
            database.executemany(
                "UPDATE hardness SET sweeps = ?, solved = 1 WHERE task = ? AND instance = ?",
                [(int(s), number, k) for k, s in enumerate(sweeps)],
            )
        database.commit()
        database.close()
        with Store(tmp_path / "s.sqlite") as store:
            (series,) = series_of(points_of(store, "median"), "size")
        lucky = next(p for p in series.points if p.size == 80)
        assert lucky.estimate.low == lucky.estimate.high == 500
        (law,) = fit_series([series]).laws.values()
        assert law.best.law == "power"
        assert law.best.predict(80.0) > 900
        # With the error of the interval alone, the law would run right through that point.
        others = [max(p.log_error if p is not lucky else 0, 0.3 / p.estimate.value)
                  for p in series.points]  # fmt: skip
        x, y, _ = series.arrays()
        assert compare_laws(x, y, errors=others).best.predict(80.0) < 550


class TestTimeToSolution:
    def test_one_run_is_enough_when_it_succeeds_more_often_than_wanted(self):
        assert time_to_solution(100, 100, 7.0).value == 7.0
        assert time_to_solution(100, 100, 7.0).high > 7.0

    def test_no_success_is_a_lower_bound(self):
        estimate = time_to_solution(0, 50, 10.0)
        assert estimate.value == math.inf
        assert estimate.high == math.inf
        assert 0 < estimate.low < math.inf

    @pytest.mark.parametrize("interval", ["wilson", "bayes"])
    def test_the_interval_holds_the_truth_as_often_as_it_says(self, interval):
        # 1000 intervals of 90 % at p = 0.3: fewer than 860 have a probability below 1 in 10,000.
        rng = np.random.default_rng(1)
        truth = 10 * math.log(0.01) / math.log(0.7)
        found = [time_to_solution(int(k), 80, 10.0, confidence=0.9, interval=interval)
                 for k in rng.binomial(80, 0.3, 1000)]  # fmt: skip
        hits = sum(e.low <= truth <= e.high for e in found)
        assert 860 <= hits <= 940

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((3, 2, 1.0), "successes=3 exceeds runs=2"),
            ((-1, 2, 1.0), "successes=-1 must be at least 0, and runs=2"),
            ((0, 0, 1.0), "successes=0 must be at least 0, and runs=0 at least 1"),
        ],
    )
    def test_impossible_counts_are_refused(self, arguments, words):
        with pytest.raises(ValueError, match=words):
            time_to_solution(*arguments)
