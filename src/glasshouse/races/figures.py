"""Charts for races of commands: cactus, fraction solved, profile, scatter and incumbents."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.charts import Axis, Chart, Mark, Series, plot_chart
from glasshouse.charts.style import new_figure, place_legend, styled
from glasshouse.races.commands.comparison import VirtualBest, virtual_cactus
from glasshouse.races.commands.results import Clock, Results
from glasshouse.races.commands.scores import (
    FEW_CURVES,
    MOST_CURVES,
    Floats,
    cactus,
    excess_curve,
    median_curve,
    median_reaching,
    performance_profile,
    solving_seconds,
)
from glasshouse.races.dials import chosen_dial, settings
from glasshouse.races.samplers.results import SamplerResults
from glasshouse.races.tts_figures import batch_chart, dial_chart, residual_chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROOM = 1.3  # factor beyond the data, on logarithmic axes
_UNSOLVED = 2.0  # times the limit: position of unsolved instances in a scatter plot
_SECONDS: dict[Clock, str] = {"wall": "seconds", "cpu": "CPU seconds"}


def cactus_chart(results: Results, clock: Clock = "wall") -> Chart:
    """Return the cactus chart: the number of instances that each solver solves within a time."""
    each = {name: cactus(results, name, clock) for name in results.solvers}
    note = ""
    if len(each) > 1:
        each[VirtualBest.name] = virtual_cactus(results, clock)
        note = " The virtual best solver is the fastest solver of each instance."
    series = [
        Series(name, [Mark("run", ("line", "points"), np.arange(1, len(times) + 1), times)],
               f"{name} ({len(times)})")
        for name, times in each.items()
    ]  # fmt: skip
    top = max(1, results.num_entered, *map(len, each.values()))
    return Chart(
        "Cactus",
        f"The number of instances that each solver solves within a number of {_SECONDS[clock]} "
        f"each; further right and lower is better. The dotted line is the limit.{note}",
        Axis("instances solved", is_whole=True, low=0, high=top),
        Axis(f"{_SECONDS[clock]} per instance, at most", _SECONDS[clock], is_log=True,
             limit=_limit(results, clock)),
        series, "solver",
    )  # fmt: skip


def ecdf_chart(results: Results, clock: Clock = "wall") -> Chart:
    """Return the chart of the fraction of instances that each solver has solved over time."""
    series = []
    for name in results.solvers:
        seconds, total = cactus(results, name, clock), len(results.by_solver[name])
        shares = np.arange(1, len(seconds) + 1) / total
        series.append(_steps(name, seconds, shares, _limit(results, clock) or results.limit))
    return Chart(
        "Instances solved over time",
        f"The fraction of instances that each solver has solved, over {_SECONDS[clock]}; "
        "higher is better.",
        Axis(_SECONDS[clock], is_log=True),
        Axis("fraction of instances solved", "fraction", low=0, high=1),
        series, "solver",
    )  # fmt: skip


def profile_chart(results: Results, clock: Clock = "wall") -> Chart:
    """Return the performance profile: the fraction solved within τ times the fastest time."""
    profiles = performance_profile(results, clock=clock)
    furthest = max((ratios[-1] for ratios, _ in profiles.values() if len(ratios)), default=1.0)
    end = _ROOM * float(furthest)
    return Chart(
        "Performance profile",
        f"The fraction of instances that each solver solved within τ times the {_SECONDS[clock]} "
        "of the fastest solver, on the instances that all have run on; higher is better.",
        Axis(f"τ: times the {_SECONDS[clock]} of the fastest solver", "τ", is_log=True, low=1.0,
             high=end),
        Axis("fraction of instances within τ", "fraction", low=0, high=1),
        [_steps(name, *profile, end) for name, profile in profiles.items()], "solver",
    )  # fmt: skip


def scatter_chart(results: Results, first: str, second: str, clock: Clock = "wall") -> Chart:
    """Return a scatter chart of two solvers' times, with one point for each instance."""
    times = [solving_seconds(results, name, clock) for name in (first, second)]
    both = [name for name in times[0] if name in times[1]]
    if not both:
        raise ValueError(f"{first} and {second} have no instance in common yet; race both first")
    seconds = np.array([[one[name] for name in both] for one in times])
    limit = _limit(results, clock)
    # CPU seconds of a parallel solver may exceed the time limit.
    edge = _UNSOLVED * (limit or max([results.limit, *seconds[np.isfinite(seconds)]]))
    x, y = np.minimum(seconds, edge)
    low = float(min(x.min(), y.min())) / _ROOM
    ends: Any = {"is_log": True, "low": low, "high": 1.1 * edge, "limit": limit}
    what = _SECONDS[clock]
    return Chart(
        f"{first} and {second}, instance by instance",
        "Above the diagonal, the first solver is faster. Instances that one did not solve are "
        f"at {edge:g} {what}" + (", twice the limit." if limit else "."),
        Axis(f"{what} of {first}", first, **ends), Axis(f"{what} of {second}", second, **ends),
        [Series("", [Mark("", ("points",), x, y, told={"instance": both})])], has_diagonal=True,
    )  # fmt: skip


def incumbents_chart(results: Results, instance: str | None = None) -> Chart:
    """Return a chart of the stated costs over time, as 1 plus the excess over the best known cost.

    There is one line per run; many runs are drawn faint, with a line for their median.

    Args:
        results: the race.
        instance: only this instance; None uses all.
    """
    series, most = [], 0
    for name in results.solvers:
        runs = [run for run in results.runs if run.solver == name and run.incumbents
                and instance in (None, run.instance)]  # fmt: skip
        curves = [
            excess_curve(run, results.best_known.get(run.instance)) for run in runs[:MOST_CURVES]
        ]
        most = max(most, len(curves))
        is_many = len(curves) >= FEW_CURVES
        marks = [Mark("median", ("step",), *median_curve(curves))] if is_many else []
        marks += [Mark("run", ("faint step" if is_many else "step",), *one) for one in curves]
        series.append(Series(name, marks))
    words = f"the median of up to {most} runs" if most >= FEW_CURVES else "every run"
    return Chart(
        "Best cost found over time",
        f"Cost above the best known, plus 1, over time: {words} per solver; lower is "
        "better. These are the solvers' own o lines, which are not checked; a run that has found "
        "nothing yet counts as worse than all others.",
        Axis("seconds", is_log=True),
        Axis("1 + (o value − best known cost)", "1 + cost above the best known", is_log=True),
        series, "solver",
    )  # fmt: skip


def reaching_chart(results: Results, dial: str | None = None) -> Chart:
    """Return a chart of the median seconds to the best known cost at each setting of a dial.

    Solvers that always run until the limit can be timed only in this way.

    Args:
        results: the race.
        dial: the parameter along x; by default frustration, size or density, whichever has most
            settings, or any other number that varies. If no number varies, all instances are at
            one position.
    """
    parameters = results.parameters
    name = chosen_dial(parameters, dial)
    limit, series = results.limit, []
    for solver in results.solvers:
        known = {one: parameters[one] for one in results.by_solver[solver]}
        groups = {Fraction(0): list(known)} if name is None else settings(known, name)
        heights = np.array([median_reaching(results, solver, g).value for g in groups.values()])
        places, late = np.array([float(at) for at in groups]), ~np.isfinite(heights)
        shown = np.where(late, limit, heights)
        series.append(Series(solver, [
            Mark("median", ("line", "points"), places, shown),
            Mark("not reached", ("hollow",), places[late], shown[late]),
        ]))  # fmt: skip
    return Chart(
        "Time to the best known cost",
        "Median seconds until the best known cost was printed. A hollow marker at the limit means "
        "that the solver does not reach this cost on half of the instances.",
        Axis((name or "all instances").replace("_", " ")),
        Axis("median seconds to the best known cost", "seconds", is_log=True, limit=limit),
        series, "solver",
    )  # fmt: skip


FIGURES: dict[str, Callable[..., Chart]] = {
    "cactus": cactus_chart,
    "ecdf": ecdf_chart,
    "profile": profile_chart,
    "scatter": scatter_chart,
    "incumbents": incumbents_chart,
    "tts": dial_chart,
    "reaching": reaching_chart,
}
_DIALLED = ("tts", "reaching")
_CLOCKED = ("cactus", "ecdf", "profile", "scatter")


def race_figure(
    results: Results | SamplerResults,
    name: str | None = None,
    solvers: tuple[str, ...] = (),
    dial: str | None = None,
    clock: Clock = "wall",
) -> Figure:  # fmt: skip
    """Draw one of the charts of a race as a new matplotlib figure.

    Args:
        results: the race.
        name: cactus (the default), ecdf, profile, scatter, incumbents, tts or reaching (over the
            dial); for a race of samplers, tts (the default), residual or batches.
        solvers: the two solvers of a scatter plot; by default the first two.
        dial: the parameter along x of tts and reaching; by default frustration, size or density,
            whichever has most settings, or any other number that varies.
        clock: "wall" or "cpu" (CPU seconds), for cactus, ecdf, profile and scatter.
    """
    if isinstance(results, SamplerResults):
        return _figure(_sampler_chart(results, name or "tts", dial, clock), results.suite)
    name = name or "cactus"
    if name not in FIGURES:
        raise ValueError(f"figure={name!r} is not one of {', '.join(FIGURES)}")
    if not results.runs:
        raise ValueError("there are no runs yet; run the race first")
    if dial is not None and name not in _DIALLED:
        raise ValueError(f"dial={dial!r} applies only to the figures tts and reaching, not {name}")
    if clock != "wall" and (clock not in _SECONDS or name not in _CLOCKED):
        raise ValueError(f"clock={clock!r} must be 'wall', or 'cpu' for the figures "
                         f"{', '.join(_CLOCKED)}; {name} always uses wall-clock time")  # fmt: skip
    pair = solvers or results.solvers[:2]
    unknown = [one for one in pair if one not in results.solvers]
    if name == "scatter" and (len(pair) != 2 or unknown):
        known = ", ".join(results.solvers)
        raise ValueError(
            f"a scatter plot needs two solvers, not {', '.join(pair)}; choose two of {known}"
        )
    options = {"dial": dial} if name in _DIALLED else {"clock": clock}
    timed = options if name in (*_DIALLED, *_CLOCKED) else {}
    return _figure(FIGURES[name](results, *(pair if name == "scatter" else ()), **timed),
                   results.suite)  # fmt: skip


def _figure(chart: Chart, title: str) -> Figure:
    with styled():
        figure, ax = new_figure(*((4.4, 4.2) if chart.has_diagonal else (6.2, 4.0)))
        place_legend(ax, plot_chart(chart, ax))
        ax.set_title(title, parse_math=False)
    return figure


def _sampler_chart(results: SamplerResults, name: str, dial: str | None, clock: Clock) -> Chart:
    charts: dict[str, Callable[[SamplerResults], Chart]]
    charts = {"tts": partial(dial_chart, dial=dial), "residual": residual_chart,
              "batches": batch_chart}  # fmt: skip
    if name not in charts or (dial is not None and name != "tts") or clock != "wall":
        raise ValueError(f"figure={name!r} must be 'tts', 'residual' or 'batches' for samplers; "
                         "only 'tts' takes a dial, and all use the race's clock")  # fmt: skip
    if not results.calls:
        raise ValueError("there are no calls yet; run the race first")
    return charts[name](results)


def _steps(name: str, places: Floats, shares: Floats, end: float) -> Series:
    """Return a series with one step curve, which continues to the end of the axis."""
    last = shares[-1] if len(shares) else 0.0
    x, y = np.append(places, max(end, *places, 0.0)), np.append(shares, last)
    return Series(name, [Mark("share", ("step",), x, y)])


def _limit(results: Results, clock: Clock) -> float | None:
    return results.limit if clock == "wall" else results.cpu_limit
