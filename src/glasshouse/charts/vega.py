"""A chart as a Vega-Lite specification: plain data from which a web page draws the chart.

Colours are variables of the page's style sheet, so a chart is dark if the page is.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from glasshouse.charts.chart import Axis, Chart, Mark, Shape, thinned

Spec: TypeAlias = dict[str, Any]

_COLOURS = 10  # variables --c0, --c1, … of the style sheet
_SIGNS = (
    "circle", "square", "diamond", "triangle-down", "cross", "triangle-left", "triangle-right",
)  # fmt: skip
# A star of five points, in Vega's units: a square from -1 to 1.
_STAR = (
    "M0,-1L.235,-.324L.951,-.309L.38,.124L.588,.809L0,.4L-.588,.809L-.38,.124L-.951,-.309"
    "L-.235,-.324Z"
)
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_CROWD = 400  # the number of points of one shape that is too large for large signs
_LEAST = 20  # the number of points of a mark that are always kept
_UNNAMED = "all"
_QUOTES = re.compile(r'["\\]')  # Vega-Lite cannot parse these in the title of a tooltip.
_BACK_TO_FRONT: tuple[Shape, ...] = (
    "bars", "band", "interval", "sideways", "line", "step", "dots", "points", "hollow", "bound",
    "star",
)  # fmt: skip


class Column(NamedTuple):
    """A column of the data rows of a chart or table."""

    name: str
    label: str
    is_number: bool = False


def vega_chart(
    chart: Chart, most: int = 4000, height: int = 320
) -> tuple[Spec, list[Column], list[list[Any]], int]:
    """Convert a chart for a page; faint marks are removed, and other marks are thinned evenly.

    Args:
        chart: the chart to convert.
        most: the number of points to keep, of all series together.
        height: the height of the chart, in pixels.

    Returns:
        The specification, whose data are named "rows"; their columns and the rows; and the number
        of points before thinning.
    """
    marks = [
        (one.name or _UNNAMED, part) for one in chart.series for part in one.marks
        if not part.is_faint
    ]  # fmt: skip
    total = Counter((name, part.kind) for name, part in marks)
    rows: list[dict[str, Any]] = []
    count = 0
    for number, (name, part) in enumerate(marks):
        words = {"series": name} | ({"kind": part.kind} if part.kind else {})
        if total[name, part.kind] > 1:  # lines of different runs are not joined
            words["run"] = f"{number}"
        cells = {"x": part.x, "y": part.y} | dict(part.told)
        cells |= {} if part.low is None else {"low": part.low, "high": part.high}
        places = [k for k in range(len(part.x)) if _is_shown(chart, part.x[k], part.y[k])]
        count += len(places)
        kept = [places[i] for i in thinned(len(places), max(_LEAST, most // len(marks)))]
        rows += [words | {column: values[k] for column, values in cells.items()} for k in kept]
    labels = {
        "series": chart.each, "kind": "kind", "run": "run", "x": chart.x.name or chart.x.title,
        "y": chart.y.name or chart.y.title, "low": chart.ends[0], "high": chart.ends[1],
    } | {title: title for _, part in marks for title in part.told}  # fmt: skip
    columns = [
        Column(key, label, not any(isinstance(row.get(key), str) for row in rows))
        for key, label in labels.items() if any(key in row for row in rows)
    ]  # fmt: skip
    columns.sort(key=lambda one: one.is_number)  # text before numbers
    spec = {"width": "container", "height": height, "data": {"name": "rows"},
            "layer": _layers(chart, marks, columns, rows)}  # fmt: skip
    return spec, columns, [[row.get(one.name) for one in columns] for row in rows], count


def _is_shown(chart: Chart, x: Any, y: Any) -> bool:
    """Return whether a point is finite and not below the start of either axis."""
    return all(
        math.isfinite(value) and not (axis.is_log and value <= 0)
        and (axis.low is None or value >= axis.low)
        for value, axis in ((x, chart.x), (y, chart.y))
    )  # fmt: skip


def _layers(
    chart: Chart,
    marks: Sequence[tuple[str, Mark]],
    columns: Sequence[Column],
    rows: Sequence[dict[str, Any]],
) -> list[Spec]:
    """Return a chart's layers: one for each shape and kind of marks, and the reference lines."""
    channels: Spec = {"x": _axis(chart.x, "x"), "y": _axis(chart.y, "y")}
    channels |= _by_series(chart, {row["series"] for row in rows})
    kinds = list(dict.fromkeys(row.get("kind", "") for row in rows))
    hidden = {"run"} | ({"series"} if len(chart.series) < 2 else set())
    hidden |= {"kind"} if len(kinds) < 2 else set()
    layers = []
    for shape in _BACK_TO_FRONT:
        for kind in kinds:
            of_kind = [(name, part) for name, part in marks if part.kind == kind]
            having = {name for name, part in of_kind if shape in part.shapes}
            if not having:
                continue
            points = [row for row in rows if row.get("kind", "") == kind]
            channels["tooltip"] = [
                {"field": one.name, "title": _QUOTES.sub("'", one.label)} for one in columns
                if one.name not in hidden and any(one.name in row for row in points)
            ]  # fmt: skip
            layer = _layer(shape, channels, of_kind, len(points))
            filters: list[Spec] = [{"field": "kind", "equal": kind}] if kind else []
            if having != {name for name, _ in of_kind}:
                filters.append({"field": "series", "oneOf": sorted(having)})
            layers.append(layer | {"transform": [{"filter": one} for one in filters]})
    if chart.has_diagonal:
        ends = [{"at": chart.x.low}, {"at": chart.x.high}]
        line = {"type": "line", "color": "var(--ink-faint)", "strokeWidth": 1}
        at = {"field": "at", "type": "quantitative"}
        layers.insert(0, {"data": {"values": ends}, "mark": line, "encoding": {"x": at, "y": at}})
    for which, axis in (("x", chart.x), ("y", chart.y)):
        if axis.limit is not None:
            rule = {"type": "rule", "strokeDash": [2, 3], "color": "var(--ink-faint)"}
            place = {"datum": axis.limit, "type": "quantitative", "scale": channels[which]["scale"]}
            layers.append({"mark": rule, "data": {"values": [{}]}, "encoding": {which: place}})
    return layers


def _by_series(chart: Chart, shown: set[str]) -> Spec:
    """Return the channels (colour, shape, dashes) that distinguish series in one legend.

    Lines of one colour, ten series apart, differ in their dashes.
    """
    names = [one.name or _UNNAMED for one in chart.series]
    legend = {"title": None, "values": [name for name in names if name in shown]}
    ranges = {
        "color": [f"var(--c{k % _COLOURS})" for k in range(len(names))],
        "shape": [_SIGNS[k % len(_SIGNS)] for k in range(len(names))],
        "strokeDash": [_DASHES[k // _COLOURS % len(_DASHES)] for k in range(len(names))],
    }
    shared = {"field": "series", "type": "nominal", "legend": legend if len(names) > 1 else None,
              "sort": None}  # fmt: skip
    return {channel: shared | {"scale": {"domain": names, "range": values}}
            for channel, values in ranges.items()}  # fmt: skip


def _layer(
    shape: Shape, channels: Spec, marks: Sequence[tuple[str, Mark]], count: int
) -> Spec:  # fmt: skip
    """Return the layer that draws the points of one kind in one shape."""
    encoding = {name: channels[name] for name in ("x", "y", "color", "tooltip")}
    mark: Spec = {"type": "point", "filled": True}
    if shape in ("line", "step"):
        has_runs = len(marks) > len({name for name, _ in marks})
        mark = {"type": "line", "strokeWidth": 1.2 if has_runs else 2}
        mark |= {"interpolate": "step-after"} if shape == "step" else {}
        encoding |= {"strokeDash": channels["strokeDash"], "order": {"field": "x"}}
        encoding |= {"detail": {"field": "run"}} if has_runs else {}
    elif shape == "bars":
        mark = {"type": "bar"}
        named = {"title": channels["x"]["axis"]["title"], "labelAngle": 0}
        encoding |= {"x": {"field": "x", "type": "ordinal", "axis": named},
                     "y": channels["y"] | {"stack": "zero"}}  # fmt: skip
    elif shape in ("interval", "sideways", "band"):
        along = "x" if shape == "sideways" else "y"
        encoding |= {along: channels[along] | {"field": "low"}, f"{along}2": {"field": "high"}}
        mark = {"type": "rule", "strokeWidth": 1, "opacity": 0.45 if marks[0][1].is_cloud else 1}
        if shape == "band":  # an area has no single value to show
            mark = {"type": "area", "opacity": 0.18, "strokeWidth": 0}
            encoding["tooltip"] = None
    elif shape == "bound":
        mark |= {"filled": False, "shape": "triangle-up", "size": 70}
    elif shape == "star":
        mark |= {"shape": _STAR, "size": 260, "opacity": 1, "stroke": "var(--ink)",
                 "strokeWidth": 1}  # fmt: skip
    elif count > _CROWD or (shape == "dots" and not marks[0][1].is_cloud):
        mark |= {"size": 14, "opacity": 0.5}
    else:
        is_alone = all(shape == "dots" or part.shapes == ("points",) for _, part in marks)
        mark |= {"size": 30, "opacity": 0.65} if is_alone else {"size": 45, "opacity": 0.95}
        mark["filled"] = shape != "hollow"
        encoding["shape"] = channels["shape"]
    return {"mark": mark, "encoding": encoding}


def _axis(axis: Axis, field: str) -> Spec:
    """Return an axis as a Vega-Lite specification."""
    scale: Spec = {"type": "log", "nice": False, "padding": 10}
    told: Spec = {"title": axis.title.split("\n"), "format": ",.6~g", "tickCount": 6}
    if not axis.is_log:
        has_zero = axis.low == 0
        scale = {"zero": has_zero, "nice": True, "padding": 0 if has_zero else 10}
    if axis.is_whole:
        told |= {"format": ",d", "tickMinStep": 1}
    if axis.low is not None and axis.high is not None:
        del scale["padding"]
        scale |= {"domain": [axis.low, axis.high], "nice": False}
        if axis.is_whole and axis.low == 0:
            told["values"] = whole_ticks(int(axis.high))
    return {"field": field, "type": "quantitative", "scale": scale, "axis": told}


def whole_ticks(top: int) -> list[int]:
    """Return at most eleven integers from 0 to `top`, in steps of 1, 2 or 5 times a power of ten.

    >>> whole_ticks(1), whole_ticks(12), whole_ticks(200)[-2:]
    ([0, 1], [0, 2, 4, 6, 8, 10, 12], [180, 200])
    """
    step = next(lead * 10**power for power in range(len(str(top)) + 1) for lead in (1, 2, 5)
                if lead * 10**power * 10 >= top)  # fmt: skip
    return list(range(0, top + 1, step))
