"""Times to solution over the number that varies in a suite, for commands and for samplers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.races.commands.test_scores import run

import glasshouse as gh
from glasshouse.charts.style import new_figure
from glasshouse.races.commands.results import Results
from glasshouse.races.commands.scores import tts99
from glasshouse.races.dials import chosen_dial, dials, over_dial
from glasshouse.races.figures import race_figure
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.races.tts_figures import draw_dial, draw_residual, draw_tts
from glasshouse.statistics.estimators import median_tts, quantile
from glasshouse.statistics.samples import Estimate


def dialled() -> Results:
    """Three instances at each of two frustrations; the harder ones take ten times as long."""
    runs = []
    for k, (frustration, seconds) in enumerate([("1/10", 0.1)] * 3 + [("0.2", 1.0)] * 3):
        for number in range(4):
            verdict = RunVerdict.TIME_OUT if number == 0 else RunVerdict.OPTIMAL
            one = run("mine", f"i{k}", seconds * (1 + k), verdict, 12 if number == 0 else 9, number)
            grown = {"n": 20, "frustration": frustration, "method": "random_loops", "seed": k}
            runs.append(replace(one, parameters=grown))
    return Results("dialled", tuple(runs))


def test_the_dial_with_most_settings_comes_first_and_sizes_before_their_densities():
    grid = {f"{n}{f}": {"n": n, "loop_density": 1 / n, "frustration": f, "seed": n + f}
            for n in (10, 20, 30) for f in (0.1, 0.2)}  # fmt: skip
    assert dials(grid) == ["n", "loop_density", "frustration", "seed"]


def test_dials_are_the_numbers_that_vary():
    parameters = {one.instance: one.parameters for one in dialled().runs}
    assert dials(parameters) == ["frustration", "seed"]
    assert chosen_dial(parameters) == "frustration"
    assert chosen_dial(parameters, "seed") == "seed"
    with pytest.raises(ValueError, match="possible dials: frustration, seed"):
        chosen_dial(parameters, "n")
    assert chosen_dial({}) is None
    assert chosen_dial({"a": {"graph": "torus:3x3"}, "b": {"graph": "torus:4x4"}}) is None
    # 1/5 and 0.2 are the same setting.
    assert dials({"a": {"frustration": "1/5"}, "b": {"frustration": "0.2"}}) == []


def test_the_curve_is_the_median_at_each_setting():
    results = dialled()
    times = {name: tts99(results, "mine", name) for name in results.instances}
    parameters = {one.instance: one.parameters for one in results.runs}
    points = over_dial(times, parameters, "frustration")
    assert [at for at, _ in points] == [0.1, 0.2]
    assert [time.value for _, time in points] == [times["i1"].value, times["i4"].value]
    _, ax = new_figure()
    draw_dial(ax, results)
    assert ax.get_lines()[0].get_ydata().tolist() == [times["i1"].value, times["i4"].value]
    assert ax.get_xlabel() == "frustration"


def test_a_median_with_unsolved_ones_is_that_of_the_studies():
    times = [Estimate(value, value / 2, 2 * value, 0.95) for value in (1.0, 2.0, 3.0)]
    beyond = [Estimate(math.inf, 7.0, math.inf, 0.95), Estimate(math.inf, 9.0, math.inf, 0.95)]
    found = median_tts([*times, *beyond])
    expected = quantile([1, 2, 3, 7, 9], 0.5, solved=[True] * 3 + [False] * 2)
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
    assert median_tts(beyond).low == 7.0
    # The bound of an unsolved one may be below what others took: it still counts as the longest.
    low = Estimate(math.inf, 0.1, math.inf, 0.95)
    assert median_tts([times[0], low, low]).value == math.inf


@pytest.mark.parametrize("dial", [None, "seed"])
def test_the_figure_is_drawn_for_commands(dial, tmp_path):
    race_figure(dialled(), "tts", dial=dial).savefig(tmp_path / "figure.png")
    with pytest.raises(ValueError, match="only to the figures tts and reaching, not cactus"):
        race_figure(dialled(), "cactus", dial="n")


def test_figures_of_samplers_are_drawn(tmp_path):
    pytest.importorskip("dimod")
    plants = [gh.random_loops(8, 8, frustration=f, loops=5, rng=k)
              for f in ("1/10", "1/5") for k in (1, 2)]  # fmt: skip
    entered = {"ours $x$": (gh.GlasshouseAnnealer(), {"num_sweeps": 2}), "none": lambda bqm: None}
    found = gh.race_samplers(entered, plants, reads=10, calls=2, rng=1, batches=())
    for draw in (draw_dial, draw_tts, draw_residual):
        figure, ax = new_figure()
        draw(ax, found)
        figure.savefig(tmp_path / "figure.png")
    draw_residual(ax, found, found.instances[0])
    _, ax = new_figure()
    draw_residual(ax, found)
    assert "optimum proven before the race" in ax.get_ylabel()
    thick = [line for line in ax.get_lines() if line.get_linewidth() == 2]
    assert np.array_equal(thick[0].get_xdata(), found.residual("ours $x$").seconds)
    draw_dial(ax, found)
    _, ax = new_figure()
    draw_dial(ax, found)
    assert ax.get_lines()[0].get_ydata().tolist() == [
        median_tts([found.tts("ours $x$", name) for name in found.instances[k : k + 2]]).value
        for k in (0, 2)
    ]
