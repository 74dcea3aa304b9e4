"""Pictures of a race, on a caller's axes: cactus, profile, scatter, incumbents, TTS over a dial."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.charts.style import (
    INSIDE,
    Look,
    looks,
    move_legend_beside,
    new_figure,
    place_legend,
    plain_ticks,
    styled,
)
from glasshouse.races.commands.results import Results
from glasshouse.races.commands.scores import (
    FEW_CURVES,
    MOST_CURVES,
    Floats,
    cactus,
    excess_curve,
    limited_seconds,
    median_curve,
    median_reaching,
    performance_profile,
)
from glasshouse.races.tts_figures import chosen_dial, draw_dial, settings, shown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROOM = 1.3  # beyond the data, on logarithmic axes


def draw_cactus(ax: Axes, results: Results) -> None:
    """How many instances each solver solves within how many seconds each."""
    for name, look in _looks(results).items():
        seconds = cactus(results, name)
        label = f"{shown_name(name)} ({len(seconds)})"
        places = np.arange(1, len(seconds) + 1)
        ax.plot(places, seconds, label=label, color=look.colour, marker=look.marker)
    ax.set_yscale("log")
    ax.set_xlabel("instances solved")
    ax.set_ylabel("seconds per instance, at most")
    _whole_numbers(ax)
    _limit_line(ax, results)
    plain_ticks(ax, "y")
    place_legend(ax, **INSIDE)


def draw_ecdf(ax: Axes, results: Results) -> None:
    """The share of instances that each solver has solved after so many seconds."""
    for name, look in _looks(results).items():
        seconds, total = cactus(results, name), len(results.by_solver[name])
        shares = np.arange(1, len(seconds) + 1) / total
        _steps(ax, seconds, shares, results.limit, name, look)
    ax.set_xscale("log")
    ax.set_xlabel("seconds")
    ax.set_ylabel("share of instances solved")
    _share_axis(ax)


def draw_profile(ax: Axes, results: Results) -> None:
    """Dolan and Moré's profile: the share solved within τ times the fastest solver's time."""
    profiles = performance_profile(results)
    furthest = max((ratios[-1] for ratios, _ in profiles.values() if len(ratios)), default=1.0)
    for name, look in _looks(results).items():
        _steps(ax, *profiles[name], _ROOM * furthest, name, look)
    ax.set_xscale("log")
    ax.set_xlim(1.0, _ROOM * furthest)
    ax.set_xlabel(r"$\tau$: times the seconds of the fastest solver")
    ax.set_ylabel(r"share of instances within $\tau$")
    _share_axis(ax)


def draw_scatter(ax: Axes, results: Results, first: str, second: str) -> None:
    """Each instance at the seconds of two solvers; at the edge where one did not solve it."""
    limit = results.limit
    times = [limited_seconds(results, name, limit) for name in (first, second)]
    both = [name for name in times[0] if name in times[1]]
    if not both:
        raise ValueError(f"{first} and {second} have no instance in common yet")
    x, y = (np.array([one[name] for name in both]) for one in times)
    low = min(x.min(), y.min()) / _ROOM
    edge = limit * _ROOM
    ax.plot([low, edge], [low, edge], color="0.6", linewidth=0.7, zorder=1)
    for line in (ax.axvline, ax.axhline):
        line(limit, color="0.6", linewidth=0.7, linestyle=":", zorder=1)
    look = looks(1)[0]
    ax.plot(np.minimum(x, edge), np.minimum(y, edge), linestyle="none", marker=look.marker,
            color=look.colour, alpha=0.7, clip_on=False, zorder=3)  # fmt: skip
    for scale, bound, name, text in (
        (ax.set_xscale, ax.set_xlim, ax.set_xlabel, first),
        (ax.set_yscale, ax.set_ylim, ax.set_ylabel, second),
    ):
        scale("log")
        bound(low, edge)
        name(f"{text} (seconds)", parse_math=False)
    ax.set_aspect("equal")
    plain_ticks(ax, "x")
    plain_ticks(ax, "y")


def draw_incumbents(ax: Axes, results: Results, instance: str | None = None) -> None:
    """What solvers said to have found, over time: cost above the best that is known, plus 1.

    One thin line per run, and where there are many of them a thick one for their median; a run
    that has found nothing yet counts as worse than all others.

    Args:
        ax: where to draw.
        results: the race.
        instance: only this one; all instances when None.
    """
    for name, look in _looks(results).items():
        runs = [run for run in results.runs if run.solver == name and run.incumbents]
        if instance is not None:
            runs = [run for run in runs if run.instance == instance]
        curves = [
            excess_curve(run, results.best_known.get(run.instance)) for run in runs[:MOST_CURVES]
        ]
        has_median = len(curves) >= FEW_CURVES
        for seconds, excess in curves:
            ax.step(seconds, excess, where="post", color=look.colour, zorder=2,
                    alpha=0.12 if has_median else 1.0)  # fmt: skip
        if has_median:
            ax.step(*median_curve(curves), where="post", color=look.colour, linewidth=2, zorder=3)
        if curves:
            ax.plot([], [], color=look.colour, label=shown_name(name))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("seconds")
    ax.set_ylabel("1 + (o value − best known cost)")
    ax.set_title(instance or "", parse_math=False)
    plain_ticks(ax, "y")
    place_legend(ax, **INSIDE)


def draw_reaching(ax: Axes, results: Results, dial: str | None = None) -> None:
    """Median seconds until the best known cost was said, over the dialled hardness.

    For solvers that work until the limit, whose runs have no other length. A point stands at the
    limit, hollow, where a solver does not get there on half of the instances.

    Args:
        ax: where to draw.
        results: the race.
        dial: the parameter along x; by default frustration, size or density, whichever has most
            settings, or whatever number varies. Where none does, all instances stand in one place.
    """
    parameters = results.parameters
    name = chosen_dial(parameters, dial)
    limit = results.limit
    for solver, look in _looks(results).items():
        known = {one: parameters[one] for one in results.by_solver[solver]}
        groups = {Fraction(0): list(known)} if name is None else settings(known, name)
        heights = np.array([median_reaching(results, solver, g).value for g in groups.values()])
        places, late = np.array([float(at) for at in groups]), ~np.isfinite(heights)
        shown = np.where(late, limit, heights)
        ax.plot(places, shown, color=look.colour, marker=look.marker, label=shown_name(solver))
        ax.plot(places[late], shown[late], color=look.colour, marker=look.marker,
                linestyle="none", markerfacecolor="white", zorder=4)  # fmt: skip
    ax.set_yscale("log")
    ax.set_xlabel((name or "all instances").replace("_", " "), parse_math=False)
    ax.set_ylabel("median seconds to the best known cost")
    _limit_line(ax, results)
    plain_ticks(ax, "y")
    place_legend(ax, **INSIDE)


FIGURES: dict[str, Callable[..., None]] = {
    "cactus": draw_cactus,
    "ecdf": draw_ecdf,
    "profile": draw_profile,
    "scatter": draw_scatter,
    "incumbents": draw_incumbents,
    "tts": draw_dial,
    "reaching": draw_reaching,
}
_DIALLED = ("tts", "reaching")


def race_figure(
    results: Results,
    name: str = "cactus",
    solvers: tuple[str, ...] = (),
    dial: str | None = None,
) -> Figure:  # fmt: skip
    """A figure of its own with one of the pictures.

    Args:
        results: the race.
        name: cactus, ecdf, profile, scatter, incumbents, tts or reaching (over the dialled
            hardness).
        solvers: for a scatter, the two solvers; the first two when empty.
        dial: for tts and reaching, the parameter along x; by default frustration, size
            or density, whichever has most settings, or what else varies.
    """
    if name not in FIGURES:
        raise ValueError(f"figure={name!r} is not one of {', '.join(FIGURES)}")
    if not results.runs:
        raise ValueError("no runs yet; race first")
    if dial is not None and name not in _DIALLED:
        raise ValueError(f"dial={dial!r} is for the figures tts and reaching, not for {name}")
    pair = solvers or results.solvers[:2]
    unknown = [one for one in pair if one not in results.solvers]
    if name == "scatter" and (len(pair) != 2 or unknown):
        known = ", ".join(results.solvers)
        raise ValueError(
            f"a scatter plot takes two solvers, not {', '.join(pair)}; this race has {known}"
        )
    with styled():
        figure, ax = new_figure(*((4.4, 4.2) if name == "scatter" else (6.2, 4.0)))
        dialled = (dial,) if name in _DIALLED else ()
        FIGURES[name](ax, results, *(pair if name == "scatter" else dialled))
        move_legend_beside(ax)
        if not ax.get_title():
            ax.set_title(results.suite, parse_math=False)
    return figure


def _looks(results: Results) -> dict[str, Look]:
    return dict(zip(results.solvers, looks(len(results.solvers)), strict=True))


def _steps(
    ax: Axes, places: Floats, shares: Floats, end: float, name: str, look: Look
) -> None:  # fmt: skip
    """A curve that keeps its height up to the end of the axis."""
    last = shares[-1] if len(shares) else 0.0
    x, y = np.append(places, max(end, *places, 0.0)), np.append(shares, last)
    ax.step(x, y, where="post", label=shown_name(name), color=look.colour)


def _limit_line(ax: Axes, results: Results) -> None:
    limit = results.limit
    ax.axhline(limit, color="0.6", linewidth=0.7, linestyle=":")
    ax.set_ylim(top=max(ax.get_ylim()[1], limit * _ROOM))


def _whole_numbers(ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.set_xlim(left=0)


def _share_axis(ax: Axes) -> None:
    ax.set_ylim(0.0, 1.02)
    plain_ticks(ax, "x")
    place_legend(ax, **INSIDE)
