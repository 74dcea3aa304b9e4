"""Figures of studies, on a caller's axes: log scales, fitted curves, shaded bands."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.charts.style import (
    NOTE_COLOUR,
    Look,
    band,
    bars,
    legend_columns,
    looks,
    mark,
    new_figure,
    place_legend,
    plain_ticks,
    styled,
    ticks_at,
    typeset,
)
from glasshouse.statistics.estimators import Statistic
from glasshouse.statistics.peaks import Peak
from glasshouse.statistics.scaling import Law, LawComparison
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

OPEN_BAR = 3.0  # how far, as a factor, a bar is drawn that has no upper end
_FEW_PLACES, _SHORT_NUMBER = 10, 5  # such densities get a tick each
_LONGEST_LABEL = 60
_LETTERS = 19  # of the smallest print, in an inch
_STATISTIC_NAMES = {
    "median": "median",
    "geometric_mean": "geometric mean",
    "quantile_95": "95th percentile",
    "paper_95": r"$\exp(\mu + 2\sigma)$",
}
_AXIS_NAMES = {
    "density": r"loop density $\rho$",
    "size": "system size $n$",
    "frustration": "frustration index $f$",
}
_LAWS: dict[Law, str] = {
    "power": r"$A\,n^b$",
    "stretched": r"$A\,e^{b\sqrt{n}}$",
    "exponential": r"$A\,e^{b n}$",
}


def plot_study(store: Store, ax: Axes | None = None, study: Study | None = None) -> Axes:
    """Draw the figure of a study: its series, their fits and what they were measured with.

    Args:
        store: an open store.
        ax: where to draw; a new figure when None (`ax.figure` is it).
        study: how to look at the store; the one it was collected for when None.
    """
    study = heading_of(store) if study is None else study
    points = points_of(store, study.statistic)
    axis = study.figure if is_axis(study.figure) else telling_axis(points)
    if not points:
        others = ", ".join(sorted({s.kind for s in store.tasks() if len(store.done(s))}))
        raise ValueError(
            f"{store.path} holds rows that have no figure ({others}); export them"
            if others
            else f"{store.path} has no rows yet; run the study first"
        )
    series = series_of(points, axis)
    with styled():
        if ax is None:
            _, ax = new_figure(*_room(series))
        plot_series(ax, series, fits=fit_series(series))
        ax.set_ylabel(statistic_name(study.statistic, points[0].task.measures))
        ax.set_title(study.title, parse_math=False)
        note_settings(ax, points)
    return ax


def statistic_name(statistic: Statistic, measures: str = HARDNESS.name) -> str:
    """What a figure shows: a statistic of what a kind of study measures."""
    return f"{_STATISTIC_NAMES[statistic]} of {KINDS[measures].symbol}"


def _room(series: Sequence[Series]) -> tuple[float, float]:
    """Width and height of a figure: a long legend would squeeze the axes to nothing."""
    longest = min(max(len(one.label) for one in series), _LONGEST_LABEL)
    lines = len(series) + 4  # some explain marks
    columns = legend_columns(lines)
    return 6.2 + 0.06 * longest + (columns - 1) * (1.8 + 0.06 * longest), max(
        4.0, 1.2 + 0.18 * lines / columns
    )


def plot_series(
    ax: Axes, series: Sequence[Series], *, fits: StudyFits | None = None, notes: Sequence[Any] = ()
) -> None:
    """Draw series with error bars; lower bounds as triangles; fits as curves with bands.

    Every kind of mark that is drawn is explained in the legend beside the axes.

    Args:
        ax: where to draw.
        series: all along one axis.
        fits: what `fit_series` found; none are drawn when None.
        notes: handles of further marks, for the legend.
    """
    axis = series[0].axis
    used: dict[str, Any] = dict.fromkeys(("bars", "open", "bounds", "average", "law", "peak"))
    handles = ax.get_legend_handles_labels()[0]
    for one, look in zip(series, looks(len(series)), strict=True):
        law = fits.laws.get(one.label) if fits else None
        handles += _draw_points(ax, one, look, law, used)
        if law is not None:
            _draw_law(ax, one, look, law, used)
        peak = fits.peaks.get(one.label) if fits else None
        if peak is not None and not peak.at_edge:
            _draw_peak(ax, peak, look, used)
    ax.set_yscale("log")
    places = {p.along(axis) for one in series for p in one.points}
    if axis != "frustration" and min(places) > 0:
        ax.set_xscale("log")
    ax.set_xlabel(_AXIS_NAMES.get(axis, axis.replace("_", " ")))
    is_few = len(places) <= _FEW_PLACES and all(len(f"{p:g}") <= _SHORT_NUMBER for p in places)
    if axis != "density" or is_few:
        ticks_at(ax, sorted(places))
    else:
        plain_ticks(ax, "x")
    plain_ticks(ax, "y")
    place_legend(ax, [*filter(None, used.values()), *notes], handles=handles)


def _draw_points(
    ax: Axes, one: Series, look: Look, law: LawComparison | None, used: dict[str, Any]
) -> list[Any]:
    """Points with error bars; joined, or along their average where they are many.

    Returns:
        What stands for the series in a legend; nothing where it has no name.
    """
    label = typeset(textwrap.shorten(one.label, _LONGEST_LABEL, placeholder="…"))
    if law is not None:
        label = (
            f"{label}{': ' if label else ''}{_LAWS[law.best.law]}, odds {100 * law.odds[0]:.0f} %"
        )
    x, y, _ = one.arrays()
    measured = one.measured
    drawn: list[Any] = []
    has_average = law is None and is_cloud(one)
    if len(x):
        below = [max(p.estimate.value - p.estimate.low, 0) for p in measured]
        above = np.minimum([p.estimate.high for p in measured], OPEN_BAR * y) - y
        points = ax.errorbar(
            x, y, yerr=np.array([below, above]), fmt=look.marker, color=look.colour, elinewidth=0.6,
            linestyle="-" if law is None and not has_average else "none",
            label=label, alpha=0.35 if has_average else 0.9,
            markersize=2.2 if has_average else 3.5,
        )  # fmt: skip
        drawn.append(points)
        used["bars"] = bars("bars: 95 % intervals")
        if any(p.estimate.high > OPEN_BAR * p.estimate.value for p in measured):
            used["open"] = bars(f"… cut at {OPEN_BAR:g} times the value")
    if has_average:
        at, average = averaged(one)
        drawn = ax.plot(
            at, average, color=look.colour, label=label, linewidth=1.4,
            marker=look.marker, markevery=(look.order * 11 % 50, 50), markersize=4.5,
        )  # fmt: skip
        used["average"] = mark("lines: averages of neighbouring points", linestyle="-")
    bounds = [p for p in one.points if p not in measured]
    if bounds:
        triangles = ax.plot(
            [p.along(one.axis) for p in bounds], [p.estimate.low for p in bounds],
            linestyle="none", marker="^", markerfacecolor="none", color=look.colour, label=label,
            markersize=8 - 1.5 * (look.order % 4),  # bounds of several series are often equal
        )  # fmt: skip
        drawn += triangles
        used["bounds"] = mark("lower bounds: too many given up", marker="^", markersize=5,
                              markerfacecolor="none")  # fmt: skip
    return drawn[:1] if label else []


def _draw_law(ax: Axes, one: Series, look: Look, law: LawComparison, used: dict[str, Any]) -> None:
    x, value, low, high = fitted_law(one, law)
    ax.plot(x, value, color=look.colour)
    ax.fill_between(x, low, high, color=look.colour, alpha=0.18, linewidth=0)
    used["law"] = band("fitted laws ± 2 standard errors")


def _draw_peak(ax: Axes, peak: Peak, look: Look, used: dict[str, Any]) -> None:
    density = peak.density
    star: Any = {"marker": "*", "markersize": 8, "markeredgecolor": "black",
                 "markeredgewidth": 0.5}  # fmt: skip
    ax.errorbar(
        [density.value], [peak.height], color=look.colour, zorder=5, **star,
        xerr=[[density.value - density.low], [density.high - density.value]],
        ecolor="black", elinewidth=0.8,
    )  # fmt: skip
    used["peak"] = mark("peaks of local fits, 95 % intervals", **star)


def settings_text(points: Iterable[Point]) -> str:
    """What was measured with: β range, N_sweep, restarts, where success was checked, samples."""
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
