"""Figures of studies, on a caller's axes: log scales, fitted curves, shaded bands."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.studies.analysis import (
    AXES,
    Point,
    Series,
    StudyFits,
    fit_series,
    points_of,
    series_of,
)
from glasshouse.studies.statistics.peaks import smoothed
from glasshouse.studies.statistics.scaling import FORMULAS
from glasshouse.studies.store.store import Store
from glasshouse.studies.study import Study, heading_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# One look for all figures: quiet axes, colour-blind safe colours, text as text in SVG.
STYLE: Any = {
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "savefig.bbox": "tight",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "axes.grid": True,
    "grid.color": "0.92",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "glasshouse",
}
_MANY = 15  # points along a density that are drawn as a cloud around their average
PAPER_COLOUR = "#c0392b"  # the paper's own curves, in every figure
STATISTIC_NAMES = {
    "median": "median of N_tot (sweeps)",
    "geometric_mean": "geometric mean of N_tot (sweeps)",
    "quantile_95": "95th percentile of N_tot (sweeps)",
    "paper_95": "exp(μ + 2σ) of N_tot (sweeps)",
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the look of this project."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        yield


def new_figure(width: float = 6.2, height: float = 4.0, columns: int = 1) -> tuple[Figure, Any]:
    """A figure and its axes (an array of them for several columns), without a window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, columns)


def save(figure: Figure, stem: str | Path) -> list[Path]:
    """Write a figure as STEM.png and STEM.svg; each is there as a whole or not at all."""
    written = []
    for suffix in ("png", "svg"):
        place = Path(f"{stem}.{suffix}")
        fresh = place.with_name(f"{place.name}.{os.getpid()}.new")
        try:
            # No date inside: the same data give the same bytes.
            metadata = {"Date": None} if suffix == "svg" else {"Software": None}
            with styled():
                figure.savefig(fresh, format=suffix, metadata=metadata)
            fresh.replace(place)
        finally:
            fresh.unlink(missing_ok=True)
        written.append(place)
    return written


def colours(count: int) -> list[Any]:
    """So many distinct colours, in order from dark to light."""
    import matplotlib as mpl

    return [mpl.colormaps["viridis"](0.88 * k / max(count - 1, 1)) for k in range(count)]


def plot_study(store: Store, ax: Axes | None = None, study: Study | None = None) -> Axes:
    """Draw the figure of a study: its series, their fits and what they were measured with.

    Args:
        store: an open store.
        ax: where to draw; a new figure when None (`ax.figure` is it).
        study: how to look at the store; the one it was collected for when None.
    """
    study = heading_of(store) if study is None else study
    axis = study.figure if study.figure in AXES else "density"
    points = points_of(store, study.statistic)
    if not points:
        raise ValueError(f"{store.path} has no hardness rows yet; run the study first")
    series = series_of(points, axis)
    with styled():
        if ax is None:
            _, ax = new_figure()
        plot_series(ax, series, fits=fit_series(series))
        ax.set_ylabel(STATISTIC_NAMES[study.statistic])
        ax.set_title(study.title)
        note_settings(ax, points)
    return ax


def plot_series(ax: Axes, series: Sequence[Series], *, fits: StudyFits | None = None) -> None:
    """Draw series with error bars; lower bounds as arrows; fits as curves with bands.

    Args:
        ax: where to draw.
        series: all along one axis.
        fits: what `fit_series` found; none are drawn when None.
    """
    axis = series[0].axis
    for one, colour in zip(series, colours(len(series)), strict=True):
        law = fits.laws.get(one.label) if fits else None
        label = one.label + (f"   {FORMULAS[law.best.law]}, {law.odds[0]:.0%}" if law else "")
        _draw_points(ax, one, colour, label, joined=law is None)
        if law is not None:
            x = np.geomspace(one.points[0].size, one.points[-1].size, 200)
            low, high = law.best.band(x, 2.0)
            ax.plot(x, law.best.predict(x), color=colour)
            ax.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
        peak = fits.peaks.get(one.label) if fits else None
        if peak is not None and not peak.at_edge:
            _draw_peak(ax, peak.density, peak.height, colour)
    ax.set_yscale("log")
    if axis != "frustration":
        ax.set_xscale("log")
    ax.set_xlabel(AXES[axis][0])
    plain_ticks(ax, "x")
    if any(one.label for one in series):
        place_legend(ax, len(series))


def _draw_points(ax: Axes, one: Series, colour: Any, label: str, joined: bool) -> None:
    """Points with error bars; joined, or along their kernel average where they are many."""
    x, y, _ = one.arrays()
    measured = one.measured
    below = [max(p.estimate.value - p.estimate.low, 0) for p in measured]
    # An interval without an upper end is drawn as far as a factor of 3.
    above = [min(p.estimate.high, 3 * p.estimate.value) - p.estimate.value for p in measured]
    many = joined and len(x) >= _MANY
    ax.errorbar(
        x, y, yerr=[below, above], fmt="o", linestyle="-" if joined and not many else "none",
        color=colour, label=None if many else label, elinewidth=0.6, alpha=0.35 if many else 0.9,
        markersize=2.2 if many else 3.5,
    )  # fmt: skip
    if many:
        logs = np.log(x)
        at = np.linspace(logs.min(), logs.max(), 300)
        errors = np.array([p.log_error for p in measured])
        width = max(0.07, 1.2 * float(np.median(np.diff(np.unique(logs)))))
        average = smoothed(logs, np.log(y), errors, at, width)
        ax.plot(np.exp(at), np.exp(average), color=colour, label=label, linewidth=1.4)
    bounds = [p for p in one.points if p not in measured]
    if bounds:
        ax.plot(
            [p.along(one.axis) for p in bounds], [p.estimate.low for p in bounds],
            linestyle="none", marker="^", markerfacecolor="none", color=colour,
        )  # fmt: skip


def _draw_peak(ax: Axes, density: Any, height: float, colour: Any) -> None:
    ax.errorbar(
        [density.value], [height], fmt="*", markersize=8, color=colour, markeredgecolor="black",
        markeredgewidth=0.5, zorder=5,
        xerr=[[density.value - density.low], [density.high - density.value]],
        ecolor="black", elinewidth=0.8,
    )  # fmt: skip


def plain_ticks(ax: Axes, which: str) -> None:
    """Numbers such as 0.2 and 50 along a logarithmic axis, instead of powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = ax.xaxis if which == "x" else ax.yaxis
    if axis.get_scale() != "log":
        return
    low, high = ax.get_xlim() if which == "x" else ax.get_ylim()
    steps = (1.0, 2.0, 3.0, 5.0, 7.0) if high / low < 20 else (1.0, 2.0, 5.0)
    axis.set_major_locator(LogLocator(subs=steps if high / low < 2000 else (1.0,), numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def place_legend(ax: Axes, entries: int) -> None:
    """Inside for a few entries, beside the axes for many."""
    if entries <= 6:
        ax.legend()
    else:
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), handlelength=1.2)


def settings_text(points: Iterable[Point]) -> str:
    """What was measured with: β range, N_sweep, restarts, where success was checked, samples."""
    points = list(points)
    firsts = _span([p.schedule.first_beta for p in points])
    lasts = _span([p.schedule.last_beta for p in points])
    sweeps = _span([p.schedule.sweeps_per_run for p in points])
    limit = _span([p.schedule.max_sweeps for p in points])
    samples, censored = sum(p.samples for p in points), sum(p.censored for p in points)
    each = _span([p.samples for p in points])
    return (
        f"β linear from {firsts} to {lasts} (units of 1/loop weight), N_sweep {sweeps}, reset to "
        f"random spins after each run, success checked at the end of each sweep, given up after "
        f"{limit} sweeps ({censored} of {samples} instances); {each} instances a point, bars 95 %"
    )


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.4g}" if low == high else f"{low:.4g}-{high:.4g}"


def note_settings(ax: Axes, points: Iterable[Point]) -> None:
    """Write the settings below the figure."""
    import textwrap

    figure = ax.figure
    text = textwrap.fill(settings_text(points), 118)
    figure.supxlabel(text, fontsize=6.5, color="0.35", x=0.01, ha="left")
