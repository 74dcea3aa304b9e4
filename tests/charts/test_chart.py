"""One chart is drawn on axes and written for a page: the same numbers, and no others."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from glasshouse.charts import (
    Axis,
    Chart,
    Mark,
    Series,
    Shape,
    estimate_marks,
    plot_chart,
    vega_chart,
)
from glasshouse.charts.style import new_figure
from glasshouse.statistics.samples import Estimate

pytest.importorskip("matplotlib")


def chart_of(*series: Series, **changed) -> Chart:
    return Chart("title", "text", Axis("x of it", "x"), Axis("y of it", "y"), series, **changed)


def simple(shapes: tuple[Shape, ...] = ("line", "points"), name: str = "one") -> Series:
    return Series(name, [Mark("run", shapes, [1.0, 2.0, 3.0], [4.0, 5.0, 9.0])])


def drawn(chart: Chart):
    _, ax = new_figure()
    return ax, plot_chart(chart, ax)


def named(chart: Chart, **options) -> list[dict]:
    """The rows of the page, each with the names of its columns."""
    _, columns, rows, _ = vega_chart(chart, **options)
    return [dict(zip([one.name for one in columns], row, strict=True)) for row in rows]


def marks_of(spec) -> list[str]:
    return [layer["mark"]["type"] for layer in spec["layer"]]


def test_axes_and_page_show_the_same_numbers():
    chart = chart_of(simple(), simple(("step",), "two"))
    ax, _ = drawn(chart)
    for line, series in zip(ax.lines, chart.series, strict=True):
        rows = [row for row in named(chart) if row["series"] == series.name]
        assert line.get_xydata().tolist() == [[row["x"], row["y"]] for row in rows]
        assert line.get_label() == series.name
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x of it", "y of it")


@pytest.mark.parametrize("shape", get_args(Shape))
def test_every_shape_is_drawn_in_both_ways_except_faint_ones_on_a_page(shape):
    mark = Mark("", (shape,), [1, 2], [4, 5], [3, 4], [6, 7])
    chart = chart_of(Series("one", [mark]))
    ax, _ = drawn(chart)
    assert ax.lines or ax.patches
    spec, *_ = vega_chart(chart)
    json.dumps(spec)
    assert len(spec["layer"]) == (not mark.is_faint)


def test_faint_marks_make_the_others_thick_and_are_not_on_a_page():
    many = [Mark("instance", ("faint line",), [1, 2], [k, k]) for k in range(3)]
    chart = chart_of(Series("one", [*simple().marks, *many]))
    ax, _ = drawn(chart)
    assert [line.get_linewidth() for line in ax.lines] == [2, 0.7, 0.7, 0.7]
    assert {row["kind"] for row in named(chart)} == {"run"}


def test_runs_of_a_series_are_lines_of_their_own():
    runs = [Mark("run", ("step",), [1, 2], [k, 0]) for k in (3, 4)]
    spec, *_ = vega_chart(chart := chart_of(Series("one", runs)))
    assert spec["layer"][0]["encoding"]["detail"] == {"field": "run"}
    assert len({row["run"] for row in named(chart)}) == 2


def test_what_an_axis_cannot_show_is_not_on_a_page():
    mark = Mark("", ("line",), range(5), [0.0, math.nan, 1e-9, 0.5, math.inf])
    axis = Axis("y", is_log=True, low=1e-3, high=1)
    chart = replace(chart_of(Series("one", [mark])), y=axis)
    assert [row["y"] for row in named(chart)] == [0.5]
    ax, _ = drawn(chart)
    assert ax.get_ylim() == (1e-3, 1)


def test_many_points_are_thinned_evenly_and_counted():
    long = Mark("run", ("points",), np.arange(10_000), np.arange(10_000))
    chart = chart_of(Series("one", [long]), simple(name="two"))
    spec, _, rows, count = vega_chart(chart, most=1000)
    assert (len(rows), count) == (503, 10_003)
    assert (rows[0][2], rows[499][2]) == (0, 9999)
    assert spec["layer"][-1]["mark"]["size"] == 14  # too many for large signs


def test_a_kind_that_some_series_draw_differently_is_a_layer_each():
    chart = chart_of(simple(("line", "points")), simple(("points",), "two"))
    line, points = vega_chart(chart)[0]["layer"]
    assert {"filter": {"field": "series", "oneOf": ["one"]}} in line["transform"]
    assert len(points["transform"]) == 1


def test_a_series_without_marks_keeps_the_colours_of_the_others():
    chart = chart_of(Series("none", []), simple())
    colour = vega_chart(chart)[0]["layer"][0]["encoding"]["color"]
    assert colour["scale"]["domain"] == ["none", "one"]
    assert colour["legend"]["values"] == ["one"]
    _, second = drawn(chart_of(simple(name="a"), simple(name="b")))[0].lines
    assert drawn(chart)[0].lines[0].get_color() == second.get_color()


def test_limits_and_diagonals_are_in_both():
    ends = {"is_log": True, "low": 1, "high": 100, "limit": 50}
    chart = replace(chart_of(simple(("points",)), has_diagonal=True), x=Axis("x", **ends),
                    y=Axis("y", **ends))  # fmt: skip
    ax, _ = drawn(chart)
    assert len(ax.lines) == 4
    assert marks_of(vega_chart(chart)[0]) == ["line", "point", "rule", "rule"]


def test_tooltips_tell_what_the_kind_has():
    bound = Mark("bound", ("bound",), [1], [2], told={"instance": ["a"]})
    wide = Mark("value", ("interval", "points"), [1], [2], [1], [3])
    chart = chart_of(Series("one", [wide, bound]), Series("two", [wide]))
    layers = vega_chart(chart)[0]["layer"]
    told = [[one["field"] for one in layer["encoding"]["tooltip"]] for layer in layers]
    assert told[0] == ["series", "kind", "x", "y", "low", "high"]
    assert told[-1] == ["series", "kind", "instance", "x", "y"]


def test_names_are_text_whatever_they_hold():
    ax, _ = drawn(chart_of(simple(name="costs $5 in $x^{")))
    assert ax.lines[0].get_label() == r"costs \$5 in \$x^{"
    ax.legend()
    ax.figure.canvas.draw()


def test_bars_stand_on_each_other():
    bars = [Series(name, [Mark("", ("bars",), [1, 2], [3, 4])]) for name in "ab"]
    ax, _ = drawn(chart_of(*bars))
    assert [patch.get_y() for patch in ax.patches] == [0, 0, 3, 4]
    assert len(ax.get_legend_handles_labels()[1]) == 2


def test_estimates_have_intervals_and_others_are_lower_bounds():
    values = [(1.0, 0.5, 2.0), (math.inf, 7.0, math.inf), (2.0, 1.0, math.inf)]
    estimates = [Estimate(*value, 0.95) for value in values]
    measured, bounds = estimate_marks(
        [10, 20, 30], estimates, ("points",), {"name": ["a", "b", "c"]}
    )
    assert measured.x.tolist() == [10, 30]
    assert (measured.low.tolist(), measured.high.tolist()) == ([0.5, 1.0], [2.0, 2.0])
    assert (bounds.x.tolist(), bounds.y.tolist()) == ([20], [7.0])
    cut, _ = estimate_marks([10, 20, 30], estimates, ("points",), {}, cut=1.5)
    assert cut.high.tolist() == [1.5, 3.0]
    assert len(estimate_marks([1], estimates[:1], ("points",), {})) == 1


def test_notes_explain_shapes():
    notes: list[tuple[Shape, str]] = [("interval", "bars"), ("band", "bands"), ("line", "lines"),
                                      ("bound", "bounds"), ("star", "peaks")]  # fmt: skip
    _, handles = drawn(chart_of(simple(), notes=notes))
    assert [one.get_label() for one in handles] == [words for _, words in notes]
