"""The chart and the figure of a study: points with intervals, fitted curves and bands."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from glasshouse.charts import Axis, Chart, Mark, Shape, estimate_marks, plot_chart
from glasshouse.charts import Series as ChartSeries
from glasshouse.charts.style import (
    NOTE_COLOUR,
    legend_columns,
    new_figure,
    place_legend,
    styled,
    typeset,
)
from glasshouse.statistics.estimators import Statistic
from glasshouse.statistics.scaling import FORMULAS
from glasshouse.store.store import Store
from glasshouse.studies.analysis import (
    Point,
    Series,
    StudyFits,
    averaged,
    fit_series,
    fitted_law,
    is_cloud,
    points_of,
    series_of,
    telling_axis,
)
from glasshouse.studies.quantities import KINDS
from glasshouse.studies.quantities.hardness import HARDNESS
from glasshouse.studies.study import Study, heading_of, is_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OPEN_BAR = 3.0  # the factor at which a bar ends that has no upper end
_FEW_PLACES, _SHORT_NUMBER = 10, 5  # such densities get a tick each
_LONGEST_LABEL = 60
_LETTERS = 19  # letters of the smallest print per inch
STATISTIC_NAMES = {
    "median": "median",
    "geometric_mean": "geometric mean",
    "quantile_95": "95th percentile",
    "paper_95": "exp(μ + 2σ)",
    "mean": "mean",
}
# The marks of a chart by kind: their shape, a note for a legend, a sentence for a page.
_EXPLAINED: tuple[tuple[str, Shape, str, str], ...] = (
    ("measured", "interval", "bars: 95 % intervals", "Points have 95 % intervals."),
    ("cut", "interval", f"… cut at {_OPEN_BAR:g} times the value",
     "A bar without an upper end is cut at three times its value."),
    ("lower bound", "bound", "lower bounds: too many given up",
     "Hollow triangles are lower bounds, where too many instances were given up."),
    ("average", "line", "lines: averages of neighbouring points",
     "Lines are averages of neighbouring points."),
    ("law", "band", "fitted laws ± 2 standard errors",
     "Curves are the best fitted laws, with bands of two standard errors."),
    ("peak", "star", "peaks of local fits, 95 % intervals",
     "Stars are fitted peaks, with the 95 % intervals of their positions."),
)  # fmt: skip
_AXIS_NAMES = {
    "density": "loop density ρ",
    "size": "system size n",
    "frustration": "frustration index f",
    "beta": "inverse temperature β",
    "L": "linear size L",
}


def plot_study(store: Store, ax: Axes | None = None, study: Study | None = None) -> Axes:
    """Draw the figure of a study: its series, their fits and the settings of the measurement.

    Args:
        store: an open store.
        ax: the axes to draw on; None creates new axes in a new figure, `ax.figure`.
        study: how to show the store; by default, the study for which it was collected.
    """
    study = heading_of(store) if study is None else study
    points = points_of(store, study.statistic, value=study.value)
    if not points:
        others = ", ".join(sorted({s.kind for s in store.tasks() if len(store.done(s))}))
        raise ValueError(
            f"{store.path} contains only rows without a figure ({others}); export them"
            if others
            else f"{store.path} has no rows yet; run the study first"
        )
    chart, _ = fitted_chart(points, study)
    with styled():
        if ax is None:
            _, ax = new_figure(*_room([one.name for one in chart.series]))
        place_legend(ax, plot_chart(chart, ax))
        ax.set_title(study.title, parse_math=False)
        note_settings(ax, points)
    return ax


def fitted_chart(points: Sequence[Point], study: Study) -> tuple[Chart, StudyFits]:
    """Return the chart of the points of a study, and its fits."""
    axis = study.figure if is_axis(study.figure) else telling_axis(points)
    series = series_of(points, axis)
    fits = fit_series(series)
    symbol = points[0].task.quantity.symbol if study.value is None else study.value
    return study_chart(series, fits, f"{STATISTIC_NAMES[study.statistic]} of {symbol}"), fits


def statistic_name(statistic: Statistic, measures: str = HARDNESS.name) -> str:
    """Return a figure's title: the name of a statistic of the quantity that a study measures."""
    return typeset(f"{STATISTIC_NAMES[statistic]} of {KINDS[measures].symbol}")


def _room(names: Sequence[str]) -> tuple[float, float]:
    """Return the width and height of a figure that has space for its legend."""
    longest = min(max(map(len, names)), _LONGEST_LABEL)
    lines = len(names) + 4  # some explain marks
    columns = legend_columns(lines)
    return 6.2 + 0.06 * longest + (columns - 1) * (1.8 + 0.06 * longest), max(
        4.0, 1.2 + 0.18 * lines / columns
    )


def plot_series(
    ax: Axes, series: Sequence[Series], *, fits: StudyFits | None = None, notes: Sequence[Any] = ()
) -> None:
    """Draw series with error bars, lower bounds as triangles, and fits as curves with bands.

    Every kind of mark that is drawn is explained in the legend beside the axes.

    Args:
        ax: the axes to draw on.
        series: the series, all along one axis.
        fits: the fits of `fit_series`; None draws none.
        notes: handles of further marks, for the legend.
    """
    place_legend(ax, [*plot_chart(study_chart(series, fits), ax), *notes])


def study_chart(series: Sequence[Series], fits: StudyFits | None = None, height: str = "") -> Chart:
    """Return a chart of points with intervals, lower bounds, averages, fitted laws and peaks.

    Args:
        series: the series, all along one axis.
        fits: the fits of `fit_series`; None shows none.
        height: the title of the y axis.
    """
    axis = series[0].axis
    places = sorted({p.along(axis) for one in series for p in one.points})
    is_few = len(places) <= _FEW_PLACES and all(len(f"{p:g}") <= _SHORT_NUMBER for p in places)
    shown = [_shown(one, fits) for one in series]
    kinds = {mark.kind for one in shown for mark in one.marks}
    is_log = not any(map(_is_signed, series))
    if is_log and any(
        p.estimate.high > _OPEN_BAR * p.estimate.value for one in series for p in one.measured
    ):
        kinds.add("cut")
    told = [one for one in _EXPLAINED if one[0] in kinds]
    return Chart(
        f"{height[:1].upper()}{height[1:]}", " ".join(sentence for *_, sentence in told),
        Axis(_AXIS_NAMES.get(axis, axis.replace("_", " ")),
             is_log=axis != "frustration" and places[0] > 0,
             ticks=places if axis != "density" or is_few else ()),
        Axis(height, is_log=is_log), shown,
        notes=[(shape, note) for _, shape, note, _ in told],
    )  # fmt: skip


def _is_signed(one: Series) -> bool:
    """Return whether any interval reaches 0 or below, which rules out a logarithmic axis."""
    return any(p.estimate.low <= 0 for p in one.measured)


def _shown(one: Series, fits: StudyFits | None) -> ChartSeries:
    """Return the chart form of a series: its points, its fit, and its average if it has many."""
    law = fits.laws.get(one.label) if fits else None
    peak = fits.peaks.get(one.label) if fits else None
    label = textwrap.shorten(one.label, _LONGEST_LABEL, placeholder="…")
    is_signed = _is_signed(one)
    has_average = law is None and is_cloud(one) and not is_signed
    joined: tuple[Shape, ...] = ("dots",) if has_average else ("points",) if law else (
        "line", "points")  # fmt: skip
    marks = estimate_marks(
        [p.along(one.axis) for p in one.points], [p.estimate for p in one.points],
        ("interval", *joined), {"instances": [p.samples for p in one.points],
                                "given up": [p.censored for p in one.points]},
        math.inf if is_signed else _OPEN_BAR,
    )  # fmt: skip
    if has_average:
        marks.append(Mark("average", ("line",), *averaged(one)))
    if law is not None:
        marks.append(Mark("law", ("band", "line"), *fitted_law(one, law)))
        fit = f"{FORMULAS[law.best.law]}, odds {100 * law.odds[0]:.0f} %"
        label = f"{label}{': ' if label else ''}{fit}"
    if peak is not None and not peak.at_edge:
        at = peak.density
        marks.append(Mark("peak", ("sideways", "star"), [at.value], [peak.height], [at.low],
                          [at.high]))  # fmt: skip
    return ChartSeries(one.label, marks, label)


def settings_text(points: Iterable[Point]) -> str:
    """Return the settings as text: β range, N_sweep, restarts, success check and sample sizes."""
    points = list(points)
    each = f"{_span([p.samples for p in points])} instances per point"
    plans = [p.schedule for p in points if p.schedule is not None]
    if not plans:
        return each
    firsts = _span([plan.first_beta for plan in plans])
    lasts = _span([plan.last_beta for plan in plans])
    sweeps = _span([plan.sweeps_per_run for plan in plans])
    limit = _span([plan.max_sweeps for plan in plans])
    samples, censored = sum(p.samples for p in points), sum(p.censored for p in points)
    kinds = {"linear": "linear", "geometric": "geometric, over anneal's own range,"}
    rise = " or ".join(kinds[kind] for kind in kinds if kind in {p.schedule for p in plans})
    return (
        f"β {rise} from {firsts} to {lasts} (units of 1/loop weight), N_sweep {sweeps}, reset to "
        f"random spins after each run, success checked at the end of each sweep, given up after "
        f"{limit} sweeps ({censored} of {samples} instances); {each}"
    )


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.4g}" if low == high else f"{low:.4g}–{high:.4g}"


def note_settings(ax: Axes, points: Iterable[Point]) -> None:
    """Write the settings below the figure."""
    figure: Any = ax.figure
    text = textwrap.fill(settings_text(points), round(_LETTERS * figure.get_figwidth()))
    figure.supxlabel(typeset(text), fontsize=6.5, color=NOTE_COLOUR, x=0.01, ha="left")
