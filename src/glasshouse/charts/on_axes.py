"""Charts that are drawn on the caller's matplotlib axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.charts.chart import Axis, Chart, Mark, Series, Shape
from glasshouse.charts.style import Look, band, bars, looks, mark, plain_ticks, ticks_at, typeset

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE_COLOUR = "0.6"  # limits and diagonals
_ROOM = 1.3  # the factor by which an axis extends beyond a limit
_MARGIN = 0.02  # the fraction by which an axis extends, so that marks at its ends are complete
_CROWD = 400  # the number of points of a mark that is too large for large signs
_SIGNS = 6  # signs along a curve whose points are dots
_STAR: Any = {"marker": "*", "markersize": 8, "markeredgecolor": "black", "markeredgewidth": 0.5}


def plot_chart(chart: Chart, ax: Axes) -> list[Any]:
    """Draw a chart on axes, and return legend handles that explain its shapes.

    One mark of each series has the label of the series. The title is not drawn.

    Args:
        chart: the chart to draw.
        ax: the axes to draw on.
    """
    count = len(chart.series)
    shifts = chart.apart * (np.linspace(-1, 1, count) if count > 1 else np.zeros(count))
    heaps: dict[float, float] = {}
    for one, look, shift in zip(chart.series, looks(count), shifts.tolist(), strict=True):
        label = typeset(one.name if one.label is None else one.label)
        for part in one.marks:
            if part.shapes == ("bars",):
                _stack(ax, part, look, label, heaps)
            else:
                _draw(ax, part, one, look, shift, "" if part.is_cloud else label)
            label = label if part.is_cloud else ""
    for which, axis in (("x", chart.x), ("y", chart.y)):
        _set_axis(ax, which, axis)
    if chart.has_diagonal:
        ends: Any = [chart.x.low, chart.x.high]
        ax.plot(ends, ends, color=_LINE_COLOUR, linewidth=0.7, zorder=1)
        ax.set_aspect("equal")
    return [_explained(shape, words) for shape, words in chart.notes]


def _draw(ax: Axes, part: Mark, one: Series, look: Look, shift: float, label: str) -> None:
    shapes = {*part.shapes}
    x = np.asarray(part.x, dtype=np.float64) + shift
    is_joined = bool(shapes & {"line", "step", "faint line", "faint step"})
    is_small = "dots" in shapes or len(x) > _CROWD
    is_alone = not is_joined and "interval" not in shapes
    alpha = 1.0 if is_joined else 0.35 if is_small else 0.7 if is_alone else 0.9
    style: dict[str, Any] = {"color": look.colour, "linestyle": "-" if is_joined else "none"}
    if shapes & {"step", "faint step"}:
        style["drawstyle"] = "steps-post"
    if part.is_faint:
        style |= {"linewidth": 0.7, "alpha": 0.2, "zorder": 1.5}
    elif any(each.is_faint for each in one.marks):
        style |= {"linewidth": 2, "zorder": 3}
    elif "line" in shapes and any(each.is_cloud for each in one.marks):
        every = max(1, len(x) // _SIGNS)
        style |= {"linewidth": 1.4, "marker": look.marker, "markersize": 4.5,
                  "markevery": (look.order * every // 5 % every, every)}  # fmt: skip
    if shapes & {"points", "hollow"} or ("dots" in shapes and not is_joined):
        style |= {"marker": look.marker, "alpha": alpha, "markersize": 2.2 if is_small else 3.5}
        if len(x) > _CROWD:
            style |= {"markeredgewidth": 0, "rasterized": not is_joined}
    if "hollow" in shapes:
        style |= {"markerfacecolor": "white", "alpha": 1.0, "zorder": 4}
    if "bound" in shapes:  # Sizes differ, because bounds of several series are often equal.
        style |= {"marker": "^", "markerfacecolor": "none",
                  "markersize": 8 - 1.5 * (look.order % 4)}  # fmt: skip
    if "star" in shapes:
        style |= _STAR | {"zorder": 5}
    ax.plot(x, part.y, label=label or None, **style)
    if "band" in shapes:
        ax.fill_between(x, part.low, part.high, color=look.colour, alpha=0.18, linewidth=0)
    if "interval" in shapes:
        upright = _rungs(x, x), _rungs(part.low, part.high)
        ax.plot(*upright, color=look.colour, linewidth=0.7, alpha=alpha, zorder=1)
    if "sideways" in shapes:
        level = _rungs(part.low, part.high), _rungs(part.y, part.y)
        ax.plot(*level, color="black", linewidth=0.8, zorder=4)


def _rungs(first: Any, second: Any) -> Any:
    """Return one array with the ends of many line segments; NaN separates the segments.

    The segments become one artist, because a legend avoids lines, but not collections.
    """
    return np.column_stack([first, second, np.full(len(first), np.nan)]).ravel()


def _stack(ax: Axes, part: Mark, look: Look, label: str, heaps: dict[float, float]) -> None:
    """Draw the bars of a mark on top of the bars of earlier series."""
    for x, y in zip(part.x, part.y, strict=True):
        ax.bar(x, y, bottom=heaps.get(x, 0), color=look.colour, label=label or None)
        heaps[x], label = heaps.get(x, 0) + y, ""


def _set_axis(ax: Axes, which: str, axis: Axis) -> None:
    """Set the scale, title, limits and ticks of the x-axis or the y-axis."""
    from matplotlib.ticker import MaxNLocator

    is_x = which == "x"
    (ax.set_xlabel if is_x else ax.set_ylabel)(typeset(axis.title))
    if axis.is_log:
        (ax.set_xscale if is_x else ax.set_yscale)("log")
    elif axis.is_whole:
        (ax.xaxis if is_x else ax.yaxis).set_major_locator(MaxNLocator(8, integer=True))
    ends: Any = ax.set_xlim if is_x else ax.set_ylim
    if axis.limit is not None:
        line = ax.axvline if is_x else ax.axhline
        line(axis.limit, color=_LINE_COLOUR, linewidth=0.7, linestyle=":", zorder=1)
        if axis.high is None:
            ends(None, max(ends()[1], axis.limit * _ROOM))
    if axis.low is not None:
        ends(axis.low, None)
    if axis.high is not None:
        ends(None, axis.high if axis.is_log else axis.high + _MARGIN * (axis.high - ends()[0]))
    if is_x and len(axis.ticks):
        ticks_at(ax, axis.ticks)
    else:
        plain_ticks(ax, which)


def _explained(shape: Shape, words: str) -> Any:
    """Return a legend handle that explains a shape of a chart."""
    if shape == "interval":
        return bars(words)
    if shape == "band":
        return band(words)
    looks_of: dict[str, dict[str, Any]] = {
        "line": {"linestyle": "-"},
        "bound": {"marker": "^", "markersize": 5, "markerfacecolor": "none"},
        "star": _STAR,
    }
    return mark(words, **looks_of[shape])
