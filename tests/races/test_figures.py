"""Figures of races show the numbers of the scores, on whatever axes they are given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.races.commands.test_scores import run

from glasshouse.charts.style import new_figure
from glasshouse.races.commands.results import Results
from glasshouse.races.commands.scores import cactus
from glasshouse.races.figures import (
    FIGURES,
    cactus_chart,
    incumbents_chart,
    race_figure,
    reaching_chart,
    scatter_chart,
)
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.races.tts_figures import drawn


def pretended(instances: int = 30) -> Results:
    rng = np.random.default_rng(5)
    runs = []
    for k in range(instances):
        for solver, speed in (("rc2", 1.0), ("clasp", 0.3), ("mine $x_1$", 2.5)):
            seconds = float(np.exp(rng.normal(np.log(speed), 1.5)))
            is_solved = seconds < 10
            steps = np.sort(rng.uniform(0.01, 1, 5)) * min(seconds, 10)
            found = tuple(zip(steps.tolist(), (200, 60, 25, 11, 9), strict=True))
            verdict = RunVerdict.OPTIMAL if is_solved else RunVerdict.TIME_OUT
            runs.append(run(solver, f"instance-{k:02}", min(seconds, 10.0), verdict,
                            incumbents=found))  # fmt: skip
    return Results("pretended", tuple(runs))


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn(name, tmp_path):
    figure = race_figure(pretended(), name)
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5000


@pytest.mark.parametrize("name", FIGURES)
def test_solvers_that_solve_nothing_are_drawn_too(name, tmp_path):
    nothing = [
        run("x", "a", 10.0, RunVerdict.TIME_OUT, None),
        run("y", "a", 10.0, RunVerdict.CRASH),
    ]
    race_figure(Results("sad", tuple(nothing)), name).savefig(tmp_path / "figure.svg")
    if name in ("cactus", "ecdf", "profile", "scatter"):
        race_figure(Results("sad", tuple(nothing)), name, clock="cpu")


@pytest.mark.parametrize("cpu_limit", [None, 30.0])
def test_figures_by_cpu_time_hold_cpu_seconds(cpu_limit):
    """Two threads; without a limit on CPU time there is no line of a limit."""
    runs = [replace(one, cpu_seconds=2 * one.seconds, cpu_limit=cpu_limit)
            for one in pretended().runs]  # fmt: skip
    results = Results("", tuple(runs))
    chart = cactus_chart(results, "cpu")
    assert [one.name for one in chart.series] == [*results.solvers, "virtual best"]
    wall = cactus_chart(results)
    for mine, theirs in zip(chart.series, wall.series, strict=True):
        assert np.allclose(mine.marks[0].y, 2 * theirs.marks[0].y)
    assert (chart.y.limit, wall.y.limit) == (cpu_limit, 10.0)
    pair = scatter_chart(results, "rc2", "clasp", "cpu")
    assert pair.x.title == "CPU seconds of rc2"
    points = pair.series[0].marks[0]
    assert max(points.x.max(), points.y.max()) <= pair.x.high


def test_a_cactus_holds_the_sorted_times():
    results = pretended()
    _, ax = new_figure()
    drawn(ax, cactus_chart(results))
    line = ax.get_lines()[0]
    assert np.array_equal(line.get_ydata(), cactus(results, "rc2"))
    assert np.array_equal(line.get_xdata(), np.arange(1, len(line.get_ydata()) + 1))


def test_incumbents_of_any_size_are_drawn():
    _, ax = new_figure()
    huge = run("x", "a", 2.0, RunVerdict.FOUND, 9, incumbents=((0.0, 10**39), (1.0, 9)))
    drawn(ax, incumbents_chart(Results("", (huge,)), "a"))
    assert ax.get_lines()[0].get_ydata()[0] == pytest.approx(1e39)


def test_wrong_names_are_one_clear_line():
    with pytest.raises(ValueError, match="figure='pie' is not one of cactus"):
        race_figure(pretended(2), "pie")
    with pytest.raises(ValueError, match="two solvers, not rc2, nobody; choose two of rc2, clasp"):
        race_figure(pretended(2), "scatter", ("rc2", "nobody"))
    with pytest.raises(ValueError, match="no runs yet"):
        race_figure(Results("", ()), "cactus")


def test_the_median_curve_is_that_of_the_values_at_each_time():
    from glasshouse.races.commands.scores import median_curve

    curves = [([1.0, 3.0], [9.0, 1.0]), ([2.0, 5.0], [7.0, 5.0]), ([4.0], [8.0])]
    times, middle = median_curve(curves)
    # At 2: 9, 7, none yet; at 3: 1, 7, none; at 4: 1, 7, 8; at 5: 1, 5, 8.
    assert (times.tolist(), middle.tolist()) == ([2, 3, 4, 5], [9, 7, 7, 5])


def test_the_dial_shows_medians_and_hollow_points_at_the_limit():
    runs = [run("x", f"{f}{k}", 10.0, RunVerdict.FOUND, 9, incumbents=((at + k, 9),), frustration=f)
            for f, at in (("1/4", 5.0), (0.1, 1.0)) for k in range(3)]  # fmt: skip
    runs += [run("y", "1/40", 10.0, RunVerdict.TIME_OUT, None, frustration="1/4")]
    _, ax = new_figure(5, 4)
    drawn(ax, reaching_chart(Results("dialled", tuple(runs))))
    first, first_late, second, second_late, _ = ax.get_lines()
    assert first.get_xydata().tolist() == [[0.1, 2.0], [0.25, 6.0]]
    assert len(first_late.get_xydata()) == 0
    assert second.get_xydata().tolist() == second_late.get_xydata().tolist() == [[0.25, 10.0]]
    with pytest.raises(ValueError, match="dial='block' is not a numeric parameter that varies"):
        drawn(ax, reaching_chart(Results("dialled", tuple(runs)), "block"))


@pytest.mark.parametrize("name", [one for one in FIGURES if one != "scatter"])
def test_legends_stay_on_a_callers_axes_and_beside_those_of_our_own(name):
    def place(figure, ax):
        figure.canvas.draw()
        box = ax.get_legend().get_window_extent()
        return box.transformed(ax.transAxes.inverted())

    figure, ax = new_figure(6.2, 4.0)
    drawn(ax, FIGURES[name](pretended()))
    box = place(figure, ax)
    assert -0.01 <= box.x0 < box.x1 <= 1.01
    figure = race_figure(pretended(), name)
    assert place(figure, figure.axes[0]).x0 > 1
