"""Charts as Vega-Lite specifications: plain data, drawn by the page itself.

Colours are variables of the page's style sheet, so that a chart is dark where the page is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Spec: TypeAlias = dict[str, Any]
Shape: TypeAlias = Literal[
    "line", "step", "points", "dots", "interval", "band", "bound", "thin", "peak"
]

_COLOURS = 10  # variables --c0, --c1, … of the style sheet
_SHAPES = (
    "circle",
    "square",
    "diamond",
    "triangle-down",
    "cross",
    "triangle-left",
    "triangle-right",
)
# A star of five points, in Vega's units: a square from -1 to 1.
_STAR = (
    "M0,-1L.235,-.324L.951,-.309L.38,.124L.588,.809L0,.4L-.588,.809L-.38,.124L-.951,-.309"
    "L-.235,-.324Z"
)
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])


@dataclass(frozen=True)
class Axis:
    """One axis of a chart.

    Attributes:
        column: what of the rows lies along it.
        title: what that is.
        is_log: whether its scale is logarithmic.
        has_zero: whether it starts at zero.
        is_whole: whether only whole numbers get a tick.
        top: of an axis of whole numbers from zero, where it ends at least; None for its rows' end.
    """

    column: str
    title: str
    is_log: bool = False
    has_zero: bool = False
    is_whole: bool = False
    top: int | None = None

    def encoding(self) -> Spec:
        """The axis in Vega-Lite's words."""
        scale: Spec = {"type": "log", "nice": False, "padding": 10}
        axis: Spec = {"title": self.title, "format": ",.6~g", "tickCount": 6}
        if not self.is_log:
            scale = {"zero": self.has_zero, "nice": True, "padding": 0 if self.has_zero else 10}
        if self.is_whole:
            axis |= {"format": ",d", "tickMinStep": 1}
        if self.top is not None:
            axis["values"] = whole_ticks(self.top)
            scale = {"domain": [0, self.top], "nice": False}
        return {"field": self.column, "type": "quantitative", "scale": scale, "axis": axis}


def whole_ticks(top: int) -> list[int]:
    """At most eleven whole numbers from 0 to a top, in steps of 1, 2 or 5 times a power of ten.

    >>> whole_ticks(1), whole_ticks(12), whole_ticks(200)[-2:]
    ([0, 1], [0, 2, 4, 6, 8, 10, 12], [180, 200])
    """
    step = next(lead * 10**power for power in range(len(str(top)) + 1) for lead in (1, 2, 5)
                if lead * 10**power * 10 >= top)  # fmt: skip
    return list(range(0, top + 1, step))


def series_chart(
    x: Axis,
    y: Axis,
    names: Sequence[str],
    layers: Mapping[str, Shape | Sequence[Shape]],
    tooltip: Mapping[str, str],
    rows: Sequence[Sequence[Any]],
    *,
    height: int = 320,
    limits: Sequence[float] = (),
    y_limit: float | None = None,
) -> Spec:
    """Several series in one chart.

    Rows have the columns `series` and `kind`, in this order, and those of the axes; `low` and
    `high` where there are intervals or bands.

    Args:
        x: the horizontal axis.
        y: the vertical one.
        names: all series, in the order of their colours.
        layers: how rows of each kind are drawn, from the back to the front.
        tooltip: columns that are shown at a point, and what they are called.
        rows: what will be drawn; a kind that none of them is of has no layer.
        height: of the chart, in pixels.
        limits: what the y axis must reach at least.
        y_limit: where a dotted line is drawn across.
    """
    shared: Spec = {
        "x": x.encoding(), "y": y.encoding(), "color": _colour(names),
        "tooltip": _tooltip(tooltip),
    }  # fmt: skip
    if limits:
        shared["y"]["scale"] = shared["y"]["scale"] | {"domain": list(limits)}
    drawn, present = [], {row[1] for row in rows}
    for kind, shapes in layers.items():
        if kind not in present:
            continue
        for shape in [shapes] if isinstance(shapes, str) else shapes:
            layer = _layer(shape, shared, names)
            drawn.append(layer | {"transform": [{"filter": {"field": "kind", "equal": kind}}]})
    if y_limit is not None:
        line: Spec = {"type": "rule", "strokeDash": [2, 3], "color": "var(--ink-faint)"}
        place = {"datum": y_limit, "type": "quantitative", "scale": shared["y"]["scale"]}
        drawn.append({"mark": line, "data": {"values": [{}]}, "encoding": {"y": place}})
    return {"width": "container", "height": height, "data": {"name": "rows"}, "layer": drawn}


def scatter_chart(
    x: Axis,
    y: Axis,
    names: Sequence[str],
    tooltip: Mapping[str, str],
    diagonal: float | None = None,
) -> Spec:
    """One dot per row, coloured by its series; with a diagonal from 0 (or far below) to a value."""
    dots = {
        "mark": {"type": "point", "filled": True, "size": 30, "opacity": 0.65},
        "encoding": {"x": x.encoding(), "y": y.encoding(), "color": _colour(names),
                     "shape": _shape(names), "tooltip": _tooltip(tooltip)},
    }  # fmt: skip
    layers: list[Spec] = [dots]
    if diagonal is not None:
        line: Spec = {"type": "line", "color": "var(--ink-faint)", "strokeWidth": 1}
        ends = {"x": {"field": "at", "type": "quantitative"},
                "y": {"field": "at", "type": "quantitative"}}  # fmt: skip
        layers.insert(0, {"data": {"name": "diagonal"}, "mark": line, "encoding": ends})
    return {"width": "container", "height": 380, "data": {"name": "rows"}, "layer": layers}


def bar_chart(x: Axis, y: Axis, names: Sequence[str], tooltip: Mapping[str, str]) -> Spec:
    """Stacked bars at whole numbers."""
    place = x.encoding() | {"type": "ordinal", "axis": {"title": x.title, "labelAngle": 0}}
    del place["scale"]
    return {
        "width": "container", "height": 240, "data": {"name": "rows"},
        "mark": {"type": "bar"},
        "encoding": {"x": place, "y": y.encoding() | {"stack": "zero"}, "color": _colour(names),
                     "tooltip": _tooltip(tooltip)},
    }  # fmt: skip


def matrix_chart(
    rows: int, columns: int, step: int, names: tuple[str, str], reach: float, *, has_path: bool
) -> Spec:
    """A matrix of weights with the parameters `gauged` (0 or 1) and `loop` (a number, or -1).

    Cells have the columns row, column, weight, gauged; loops have loop, order, row, column, sign.

    Args:
        rows: of the matrix.
        columns: of the matrix.
        step: the side of a cell.
        names: of the spins along the rows and the columns.
        reach: the largest magnitude, that of the strongest colours.
        has_path: whether a loop is a closed path of cells, as in an RBM.
    """
    along, across = names

    def place(column: str, title: str, end: int) -> Spec:
        # A cell stands around its number, so that the last tick is that of the last spin.
        scale = {"domain": [-0.5, end - 0.5], "nice": False, "reverse": column == "row"}
        axis = {"title": title, "format": ",d", "tickMinStep": 1, "grid": False}
        return {"field": column, "type": "quantitative", "scale": scale, "axis": axis}

    def far(column: str) -> Spec:
        return {"field": column}

    colour = {"field": "shown", "type": "quantitative",
              "scale": {"domain": [-reach, 0, reach], "range": ["#c0392b", "#b9b9b9", "#2f6fbb"]},
              "legend": {"title": "weight", "gradientLength": 160}}  # fmt: skip
    cells = {
        "transform": [
            {"calculate": "gauged ? datum.turned : datum.weight", "as": "shown"},
            {"calculate": "datum.row - 0.5", "as": "row_start"},
            {"calculate": "datum.column - 0.5", "as": "column_start"},
            {"calculate": f"datum.row + {step - 0.5}", "as": "row_end"},
            {"calculate": f"datum.column + {step - 0.5}", "as": "column_end"},
        ],
        "mark": {"type": "rect", "stroke": None},
        "encoding": {
            "x": place("column", across, columns) | far("column_start"), "x2": far("column_end"),
            "y": place("row", along, rows) | far("row_start"), "y2": far("row_end"),
            "color": colour,
            "tooltip": _tooltip({"row": along, "column": across, "weight": "weight as handed out",
                                 "turned": "weight in the gauge of the state"}),
        },
    }  # fmt: skip
    chosen = {"filter": "datum.loop === loop"}
    middle = [
        {"calculate": f"datum.row + {(step - 1) / 2}", "as": "row_middle"},
        {"calculate": f"datum.column + {(step - 1) / 2}", "as": "column_middle"},
    ]
    at = {"x": far("column_middle") | {"type": "quantitative"},
          "y": far("row_middle") | {"type": "quantitative"}}  # fmt: skip
    path = {
        "data": {"name": "loops"}, "transform": [chosen, *middle],
        "mark": {"type": "line", "color": "var(--ink)", "strokeWidth": 2, "tooltip": None},
        "encoding": at | {"order": {"field": "order", "type": "quantitative"}},
    }  # fmt: skip
    corners = {
        "data": {"name": "loops"}, "transform": [chosen, *middle],
        "mark": {"type": "point", "filled": True, "size": 70, "stroke": "var(--ink)",
                 "strokeWidth": 1.5, "opacity": 1},
        "encoding": at | {
            "shape": {"field": "sign", "type": "nominal", "legend": None,
                      "scale": {"domain": ["positive", "negative"], "range": ["circle", "square"]}},
            "fill": {"field": "sign", "type": "nominal", "legend": None,
                     "scale": {"domain": ["positive", "negative"],
                               "range": ["#2f6fbb", "#c0392b"]}},
            "tooltip": _tooltip({"loop": "loop", "sign": "its weight here", "row": along,
                                 "column": across}),
        },
    }  # fmt: skip
    return {
        # The page makes it as high as its width asks for, so that cells are square.
        "width": "container", "height": 400, "usermeta": {"ratio": rows / columns},
        "data": {"name": "rows"},
        "params": [{"name": "gauged", "value": False}, {"name": "loop", "value": -1}],
        "layer": [cells, path, corners] if has_path else [cells, corners],
        "resolve": {"scale": {"color": "independent", "fill": "independent"}},
    }  # fmt: skip


def _tooltip(columns: Mapping[str, str]) -> list[Spec]:
    """Columns that are shown at a mark, and what they are called."""
    return [{"field": name, "title": label} for name, label in columns.items()]


def _colour(names: Sequence[str]) -> Spec:
    colours = [f"var(--c{k % _COLOURS})" for k in range(len(names))]
    return _by_series(names, colours or ["var(--c0)"])


def _shape(names: Sequence[str]) -> Spec:
    shapes = [_SHAPES[k % len(_SHAPES)] for k in range(len(names))]
    return _by_series(names, shapes or ["circle"])


def _dash(names: Sequence[str]) -> Spec:
    """Lines of one colour, ten series apart, differ in their dashes."""
    dashes = [_DASHES[k // _COLOURS % len(_DASHES)] for k in range(len(names))]
    return _by_series(names, dashes or [[1, 0]])


def _by_series(names: Sequence[str], range_: Sequence[Any]) -> Spec:
    """A channel that tells series apart; all such channels share one legend."""
    legend = None if len(names) < 2 else {"title": None}
    return {"field": "series", "type": "nominal", "legend": legend, "sort": None,
            "scale": {"domain": list(names), "range": list(range_)}}  # fmt: skip


def _layer(shape: Shape, shared: Spec, names: Sequence[str]) -> Spec:
    x, y = shared["x"], shared["y"]
    if shape in ("interval", "band"):
        ends = {"y": y | {"field": "low"}, "y2": {"field": "high"}}
        mark = {"type": "rule", "strokeWidth": 1} if shape == "interval" else {
            "type": "area", "opacity": 0.18, "strokeWidth": 0}  # fmt: skip
        # An area is no point: it has no value to show.
        told = shared if shape == "interval" else shared | {"tooltip": None}
        return {"mark": mark, "encoding": told | ends}
    if shape == "points":
        mark = {"type": "point", "filled": True, "size": 45, "opacity": 0.95}
        return {"mark": mark, "encoding": shared | {"shape": _shape(names)}}
    if shape == "dots":
        return {"mark": {"type": "point", "filled": True, "size": 14, "opacity": 0.5},
                "encoding": shared}  # fmt: skip
    if shape == "peak":
        mark = {"type": "point", "filled": True, "shape": _STAR, "size": 260, "opacity": 1,
                "stroke": "var(--ink)", "strokeWidth": 1}  # fmt: skip
        return {"mark": mark, "encoding": shared}
    if shape == "bound":
        mark = {"type": "point", "filled": False, "shape": "triangle-up", "size": 70}
        return {"mark": mark, "encoding": shared}
    mark = {"type": "line", "strokeWidth": 1.2 if shape == "thin" else 2}
    if shape in ("step", "thin"):
        mark["interpolate"] = "step-after"
    encoding = {"x": x, "y": y, "color": shared["color"], "strokeDash": _dash(names),
                "tooltip": shared["tooltip"], "order": {"field": x["field"]}}  # fmt: skip
    if shape == "thin":
        encoding["detail"] = {"field": "run"}
    return {"mark": mark, "encoding": encoding}
