"""A chart as data: axes, and series of marks.

`plot_chart` draws it, `vega_chart` writes it for a page. Texts are plain: a drawing typesets their
symbols, and no text contains markup.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from glasshouse.statistics.samples import Estimate

# "line" and "step" join the points of a mark. "points" show the marker of the series, "dots" a
# smaller one; dots along a line are only on a page, where a reader can hover over them. "bound" is
# a hollow triangle, "hollow" a hollow marker. "interval" and "band" span `low` to `high`,
# "sideways" spans them along x. Faint lines are a background for the other marks of a series; a
# page omits them.
Shape: TypeAlias = Literal[
    "line", "step", "points", "dots", "bound", "hollow", "star", "interval", "sideways", "band",
    "bars", "faint line", "faint step",
]  # fmt: skip
Numbers: TypeAlias = Any  # a sequence or an array of them


@dataclass(frozen=True)
class Axis:
    """One axis of a chart.

    Attributes:
        title: the quantity along the axis.
        name: a shorter title, for tables; the title if empty.
        is_log: whether the scale is logarithmic.
        is_whole: whether only integers get ticks.
        low: the start of the axis; None for the range of the data.
        high: the end of the axis; None for the range of the data.
        limit: the position of a dotted line across the chart; None for no line.
        ticks: the positions of the ticks in a drawing; empty for those of the scale.
    """

    title: str
    name: str = ""
    is_log: bool = False
    is_whole: bool = False
    low: float | None = None
    high: float | None = None
    limit: float | None = None
    ticks: Sequence[float] = ()


@dataclass(frozen=True)
class Mark:
    """Points of one series: all are of the same kind, and are drawn in the same shapes.

    Attributes:
        kind: the kind of the points, one word for tables; empty if the chart has only one kind.
        shapes: the shapes of the points.
        x: the positions of the points.
        y: the heights of the points; points that are not finite are not drawn.
        low: the lower ends of intervals or bands; None without intervals.
        high: the upper ends of intervals or bands.
        told: further columns of tables, as plain text by title.
    """

    kind: str
    shapes: tuple[Shape, ...]
    x: Numbers
    y: Numbers
    low: Numbers = None
    high: Numbers = None
    told: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def is_faint(self) -> bool:
        """Whether the mark is only a background for the other marks of its series."""
        return self.shapes[0].startswith("faint")

    @property
    def is_cloud(self) -> bool:
        """Whether the mark consists of dots without a line between them."""
        return "dots" in self.shapes and not {"line", "step"} & {*self.shapes}


@dataclass(frozen=True)
class Series:
    """A series of a chart: marks that share one name and one colour.

    Attributes:
        name: the name of the series; may be empty.
        marks: the marks; a legend shows the first one that is not a cloud.
        label: the name in the legend of a drawing, with further facts; None for `name`.
    """

    name: str
    marks: Sequence[Mark]
    label: str | None = None


@dataclass(frozen=True)
class Chart:
    """A chart as data, with a text that explains how to read the chart.

    Attributes:
        title: the subject of the chart.
        text: how to read the chart, also for readers who cannot see it.
        x: the horizontal axis.
        y: the vertical axis.
        series: the series, in the order of their colours.
        each: the kind of thing that a series is, such as "solver".
        ends: the names of `low` and `high`.
        notes: explanations of shapes, for the legend of a drawing.
        has_diagonal: whether a line joins equal x and y; both axes then have the same range.
        apart: how far the outer series of a drawing are shifted along x, so that all are visible.
    """

    title: str
    text: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    each: str = "series"
    ends: tuple[str, str] = ("low", "high")
    notes: Sequence[tuple[Shape, str]] = ()
    has_diagonal: bool = False
    apart: float = 0.0


def estimate_marks(
    x: Numbers,
    estimates: Sequence[Estimate],
    shapes: tuple[Shape, ...],
    told: Mapping[str, Sequence[Any]],
    cut: float = math.inf,
) -> list[Mark]:
    """Return the marks for estimates: measured values with their intervals, and lower bounds.

    Args:
        x: the positions of the estimates.
        estimates: the estimates; an infinite one is a lower bound.
        shapes: the shapes of the measured values.
        told: further columns of tables, by title.
        cut: an interval ends at most at `cut` times its value; an infinite one, at the value.
    """
    value, low, high = np.array([(one.value, one.low, one.high) for one in estimates]).T
    tops = np.minimum(high, cut * value)
    tops = np.where(np.isinf(tops), np.maximum(value, low), tops)
    places, known = np.asarray(x), np.isfinite(value)

    def beside(kept: Any) -> dict[str, list[Any]]:
        return {title: np.asarray(cells)[kept].tolist() for title, cells in told.items()}

    measured = Mark("measured", shapes, places[known], value[known], np.minimum(low, value)[known],
                    tops[known], beside(known))  # fmt: skip
    bounds = Mark("lower bound", ("bound",), places[~known], low[~known], told=beside(~known))
    return [mark for mark in (measured, bounds) if len(mark.x)]


def thinned(count: int, most: int) -> list[int]:
    """Return at most `most` evenly spaced indices below `count`, including the first and the last.

    >>> thinned(3, 10), thinned(100, 4)
    ([0, 1, 2], [0, 33, 66, 99])
    """
    if count <= most:
        return list(range(count))
    return [round(k * (count - 1) / (most - 1)) for k in range(most)]
