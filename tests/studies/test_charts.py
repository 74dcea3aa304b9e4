"""Figures of studies: what is drawn is explained, beside the data, and nothing else is."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from glasshouse.cli import main
from glasshouse.statistics.samples import Estimate
from glasshouse.store import Stop, Store, collect
from glasshouse.studies import Annealer, Task
from glasshouse.studies.analysis import Point, fit_series, series_of
from glasshouse.studies.quantities.hardness import RunPlan
from glasshouse.studies.study import parse_study

pytest.importorskip("matplotlib")

from matplotlib.lines import Line2D

from glasshouse.charts.style import (
    _COLOURS,
    looks,
    new_figure,
    picture_paths,
    save,
    styled,
    typeset,
)
from glasshouse.studies import charts
from glasshouse.studies.charts import note_settings, plot_series, plot_study, settings_text

SIZES = (6, 8, 10, 14, 20, 30)
DENSITIES = tuple(0.15 * 1.1**k for k in range(22))


def point(n=10, f="1/10", density="1/2", value=50.0, spread=1.3):
    """A measured point; an infinite value is a lower bound."""
    family = {"n": n, "frustration": f, "loop_density": str(density)}
    task = Task("random_loops", family, solver=Annealer(30, (0.01, 2.0), 1000))
    low, high = (300.0, math.inf) if math.isinf(value) else (value / spread, value * spread)
    return Point(task, n, float(Fraction(str(density))), 5, Estimate(value, low, high, 0.95),
                 0.1 if math.isfinite(value) else math.inf, 40, 0,
                 RunPlan(30, 0.01, 2.0, 1000))  # fmt: skip


def one_curve():
    return series_of([point(n, value=0.3 * n**2) for n in SIZES], "size")


def nine_curves():
    return series_of(
        [point(n, f"{k}/100", value=k * n**1.5) for k in range(3, 21, 2) for n in SIZES], "size"
    )


def censored():
    values = {0.2: 40.0, 0.4: 200.0, 0.5: math.inf, 0.6: math.inf, 0.8: 90.0}
    points = [point(n, density=d, value=v * n) for n in (10, 20) for d, v in values.items()]
    points[0] = point(10, density=0.2, value=400.0, spread=50)  # its bar is cut
    return series_of(points, "density")


def cloud():
    return series_of(
        [point(n, density=f"{d:.6f}", value=n * (1 + 9 * math.exp(-8 * math.log(d / 0.4) ** 2)))
         for n in (10, 20, 30) for d in DENSITIES], "density",
    )  # fmt: skip


def single():
    return series_of([point()], "density")


KINDS = {"one": one_curve, "nine": nine_curves, "censored": censored, "cloud": cloud,
         "single": single}  # fmt: skip


def drawn(series, size=(6.2, 4.0)):
    """Axes of some series, laid out as they are saved."""
    with styled():
        figure, ax = new_figure(*size)
        plot_series(ax, series, fits=fit_series(series))
        ax.set_title("title")
        note_settings(ax, [p for one in series for p in one.points])
        figure.canvas.draw()
    return figure, ax


@cache
def shown(kind):
    """Figure and axes of a kind of series, drawn once."""
    return drawn(KINDS[kind]())


@pytest.mark.parametrize("kind", KINDS)
class TestLegend:
    def test_it_is_over_no_data(self, kind):
        figure, ax = shown(kind)
        box = ax.get_legend().get_window_extent()
        assert not box.overlaps(ax.get_window_extent())
        assert box.x1 <= figure.bbox.x1 + 1
        for line in ax.lines:
            places = ax.transData.transform(line.get_xydata())
            assert not any(box.contains(x, y) for x, y in places)

    def test_every_marker_in_use_is_explained(self, kind):
        _, ax = shown(kind)
        used = {str(line.get_marker()) for line in ax.lines} - {"None", "_", "|", ""}
        explained = {str(line.get_marker()) for line in ax.get_legend().findobj(Line2D)}
        if kind == "single" or kind == "one":
            used -= {"o"}  # the only curve needs no name
        assert used <= explained
        assert ("lower bounds: too many given up" in _words(ax)) == (kind == "censored")
        assert ("peaks of local fits, 95 % intervals" in _words(ax)) == (kind == "cloud")
        assert ("fitted laws ± 2 standard errors" in _words(ax)) == (kind in ("one", "nine"))
        assert ("… cut at 3 times the value" in _words(ax)) == (kind == "censored")
        assert "bars: 95 % intervals" in _words(ax)

    def test_curves_are_named_in_their_order(self, kind):
        series = KINDS[kind]()
        _, ax = shown(kind)
        named = [typeset(one.label) for one in series if one.label]
        listed = [text.split(":")[0] for text in _words(ax)]
        assert [text for text in listed if text in named] == named


def _words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


class TestTicks:
    @pytest.mark.parametrize("kind", ["one", "nine"])
    def test_sizes_have_their_ticks(self, kind):
        _, ax = shown(kind)
        assert ax.get_xscale() == "log"
        assert ax.get_xticks().tolist() == list(SIZES)
        assert [text.get_text() for text in ax.get_xticklabels()] == [str(n) for n in SIZES]

    def test_of_many_sizes_all_have_ticks_and_no_numbers_touch(self):
        sizes = list(range(30, 201, 10))
        _, ax = drawn(series_of([point(n, value=n**2) for n in sizes], "size"))
        ticks = [*ax.get_xticks(), *ax.get_xticks(minor=True)]
        assert sorted(ticks) == sizes
        boxes = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
        assert len(boxes) >= 4
        assert all(a.x1 < b.x0 for a, b in itertools.pairwise(sorted(boxes, key=lambda b: b.x0)))

    def test_frustrations_and_a_few_densities_too(self):
        fs = [0.05, 0.1, 0.15, 0.2]
        _, ax = drawn(series_of([point(f=str(f)) for f in fs], "frustration"))
        assert ax.get_xticks() == pytest.approx(fs)
        _, ax = shown("censored")
        assert ax.get_xticks() == pytest.approx([0.2, 0.4, 0.5, 0.6, 0.8])


def test_no_two_curves_look_alike_and_neighbours_differ_for_every_eye():
    assert len({look[:2] for look in looks(90)}) == 90
    for eye in (np.eye(3), DEUTERANOPE, PROTANOPE):
        shades = [_lab(eye @ _linear(colour)) for colour in _COLOURS]
        for one, other in itertools.pairwise(shades):
            assert np.linalg.norm(one - other) > 15


# Machado, Oliveira and Fernandes 2009, severity 1, for linear RGB.
DEUTERANOPE = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                        [-0.011820, 0.042940, 0.968881]])  # fmt: skip
PROTANOPE = np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                      [-0.003882, -0.048116, 1.051998]])  # fmt: skip


def _linear(colour):
    values = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _lab(linear):
    turn = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.clip(turn @ np.clip(linear, 0, 1) / [0.9505, 1.0, 1.089], 1e-4, None))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("count", "method"), [(36, "random_loops"), (100, "bias_loops")])
def test_many_curves_of_long_names_leave_room_for_the_axes(count, method, monkeypatch):
    names = [f"{method}, f = {k}, overlap = constructive" for k in range(count)]
    many = [replace(one, label=name) for one in one_curve() for name in names]
    monkeypatch.setattr(charts, "points_of", lambda store, statistic, value: [point()])
    monkeypatch.setattr(charts, "series_of", lambda found, axis: many)
    monkeypatch.setattr(charts, "fit_series", lambda series: None)
    study = parse_study(MANY)
    ax = plot_study(None, study=study)
    ax.figure.canvas.draw()
    assert ax.get_window_extent().width > 300
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())


MANY = """
name = "x"
figure = "size"
[[family]]
method = "random_loops"
parameters = { n = 4, frustration = 0.1, loops = 1 }
"""


class TestWords:
    def test_mathematics_is_typeset(self):
        _, ax = shown("nine")
        assert ax.get_xlabel() == "system size $n$"
        assert any(r"$A\,n^b$" in text for text in _words(ax))
        assert typeset("n = 30, N_sweep = 5, 1e+06") == (
            r"$n = 30$, $N_{\mathrm{sweep}} = $5, $10^{6}$"
        )
        assert typeset("in $ and €") == r"in \$ and €"

    def test_settings_are_stated(self):
        figure, _ = shown("one")
        stated = figure.get_supxlabel()
        assert r"$\beta$ linear from 0.01 to 2" in stated
        assert r"$N_{\mathrm{sweep}}$ 30" in stated
        assert "N_sweep 30" in settings_text([point()])
        assert "40 instances per point" in stated.replace("\n", " ")

    def test_any_title_is_taken_as_it_is(self, tmp_path):
        title = r"costs $5 in $x^{ \nowhere"
        study = parse_study(f"""
name = "x"
title = '{title}'
[stop]
instances = 2
[[family]]
method = "random_loops"
parameters = {{ n = 4, frustration = 0.1, loops = 1 }}
""")
        collect(study.tasks, tmp_path / "s.sqlite")
        with Store(tmp_path / "s.sqlite") as store:
            ax = plot_study(store, study=study)
        save(ax.figure, [tmp_path / "s.png"])
        assert ax.get_title() == title


def _small():
    figure, ax = new_figure(1.5, 1.5)
    ax.plot([1, 2], label="$n$")
    return figure


class TestFiles:
    def test_a_suffix_is_a_format(self, tmp_path):
        marks = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "PNG": b"\x89PNG"}
        for suffix, mark in marks.items():
            figures = [_small() for _ in range(2)]
            paths = picture_paths(tmp_path / f"x.{suffix}")
            first, second = [save(figure, paths)[0].read_bytes() for figure in figures]
            assert first.startswith(mark)
            assert first == second  # equal data give equal bytes
        assert [p.name for p in picture_paths("a/x")] == ["x.png", "x.svg"]
        for name in ("x.jpg", "x.txt", "x.5"):
            with pytest.raises(ValueError, match=r"\.png, \.svg or \.pdf"):
                picture_paths(name)
        assert not list(tmp_path.glob("*.new"))

    def test_the_command_writes_what_it_is_asked_for(self, tmp_path, capsys):
        family = {"n": 6, "frustration": 0.1, "loops": 2}
        store = tmp_path / "run-0.5.sqlite"
        collect([Task("random_loops", family, stop=Stop(3))], store)
        assert main(["study", "plot", str(store)]) == 0
        assert main(["study", "plot", str(store), "-o", str(tmp_path / "x.pdf")]) == 0
        assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")
        capsys.readouterr()
        assert main(["study", "plot", str(store), "-o", str(tmp_path / "x.jpg")]) == 2
        assert capsys.readouterr().err.count("\n") == 1
        pictures = {p.name for p in tmp_path.iterdir()} - {store.name, f"{store.name}.writer"}
        assert pictures == {"run-0.5.png", "run-0.5.svg", "x.pdf"}


def test_a_caller_s_axes_are_used(tmp_path):
    collect([Task("random_loops", {"n": 6, "frustration": 0.1, "loops": 2}, stop=Stop(3))],
            tmp_path / "s.sqlite")  # fmt: skip
    figure, ax = new_figure()
    with Store(tmp_path / "s.sqlite") as store:
        assert plot_study(store, ax) is ax
    assert ax.figure is figure


def test_an_empty_store_is_refused(tmp_path):
    with (
        Store(tmp_path / "s.sqlite", write=True) as store,
        pytest.raises(ValueError, match="no rows yet"),
    ):
        plot_study(store)
