"""From stores to points, series, fits and figures."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from glasshouse.studies import Annealer, Stop, Store, Task, collect
from glasshouse.studies.analysis import fit_study, log_error, points_of, series_of
from glasshouse.studies.statistics.estimators import geometric_mean, time_to_solution
from glasshouse.studies.statistics.samples import Estimate
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
    with pytest.raises(ValueError, match="not one of"):
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


def test_errors_of_logarithms():
    assert log_error(Estimate(100.0, 100 / 1.5, 150.0, 0.95)) == pytest.approx(
        np.log(1.5) / 1.96, rel=1e-3
    )
    assert log_error(Estimate(3.0, 3.0, 3.0, 0.95)) == pytest.approx(1 / math.sqrt(12) / 3)
    assert log_error(Estimate(math.inf, 3.0, math.inf, 0.95)) == math.inf


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

    @pytest.mark.parametrize("arguments", [(3, 2, 1.0), (-1, 2, 1.0), (0, 0, 1.0)])
    def test_impossible_counts_are_refused(self, arguments):
        with pytest.raises(ValueError, match="cannot be"):
            time_to_solution(*arguments)


class TestFigures:
    @pytest.fixture(autouse=True)
    def _needs_matplotlib(self):
        pytest.importorskip("matplotlib")

    @pytest.mark.parametrize("name", ["size", "density"])
    def test_a_study_is_drawn_and_says_what_it_was_measured_with(self, folder, tmp_path, name):
        from glasshouse.studies.figures.curves import plot_study, save

        with Store(folder / f"{name}.sqlite") as store:
            ax = plot_study(store)
        png, svg = save(ax.figure, tmp_path / name)
        assert png.read_bytes().startswith(b"\x89PNG")
        text = svg.read_text()
        for words in ("N_sweep 30", "β linear from 0.01", "end of each sweep", "40 instances"):
            assert words in " ".join(text.replace("\n", " ").split()) or words in text
        assert ax.get_yscale() == "log"
        assert sorted(p.name for p in tmp_path.iterdir()) == [f"{name}.png", f"{name}.svg"]

    def test_the_same_data_give_the_same_bytes(self, folder, tmp_path):
        from glasshouse.studies.figures.curves import plot_study, save

        with Store(folder / "size.sqlite") as store:
            files = [save(plot_study(store).figure, tmp_path / str(k)) for k in range(2)]
        for one, other in zip(*files, strict=True):
            assert one.read_bytes() == other.read_bytes()

    def test_a_caller_s_axes_are_used(self, folder):
        from glasshouse.studies.figures.curves import new_figure, plot_study

        figure, ax = new_figure()
        with Store(folder / "size.sqlite") as store:
            assert plot_study(store, ax) is ax
        assert ax.figure is figure

    def test_an_empty_store_is_refused(self, tmp_path):
        from glasshouse.studies.figures.curves import plot_study

        with (
            Store(tmp_path / "s.sqlite", write=True) as store,
            pytest.raises(ValueError, match="no hardness"),
        ):
            plot_study(store)

    def test_instances_are_drawn(self, tmp_path):
        from glasshouse.planting import random_loops, structured_loops
        from glasshouse.planting.graph_loops import graph_loops
        from glasshouse.studies.figures.curves import new_figure, save
        from glasshouse.studies.figures.drawing import draw, draw_graph, draw_weights

        plants = [
            random_loops(12, 8, frustration="1/5", loops=6, rng=1),
            structured_loops(10, 10, frustration="0.23", block="0.3", loops=20, rng=1),
            graph_loops("torus:4x5", frustration="1/5", loops=5, rng=1),
            graph_loops("complete:70", frustration="1/5", loops=9, rng=1),
        ]
        for k, plant in enumerate(plants):
            assert save(draw(plant), tmp_path / str(k))[0].stat().st_size > 5000
        _, ax = new_figure()
        with pytest.raises(ValueError, match="use draw_graph"):
            draw_weights(ax, plants[2], gauged=True)
        large = graph_loops("lattice:60x60", frustration="1/5", loops=5, rng=1)
        with pytest.raises(ValueError, match="at most 2500"):
            draw_graph(ax, large)

    def test_a_large_matrix_is_averaged(self):
        from glasshouse.planting import random_loops
        from glasshouse.studies.figures.drawing import draw

        figure = draw(random_loops(3000, 3000, frustration="1/5", loops=500, rng=1))
        assert len(figure.axes) == 4


def test_package_files_are_there():
    import glasshouse.studies.paper as paper

    place = Path(paper.__file__).parent
    for name, figure in paper.FIGURES.items():
        assert (place / f"{name}.toml").exists() == figure.has_study
