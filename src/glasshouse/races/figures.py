"""Charts of races: cactus, shares, profile, scatter, incumbents, times to solution, residuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.charts import Axis, Chart, Mark, Series, estimate_marks, plot_chart
from glasshouse.charts.style import INSIDE, new_figure, place_legend, styled
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
    tts_table,
)
from glasshouse.races.dials import chosen_dial, over_dial, settings
from glasshouse.races.samplers.results import SamplerResults
from glasshouse.statistics.samples import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROOM = 1.3  # beyond the data, on logarithmic axes
_UNSOLVED = 2.0  # times the limit: where a scatter plot has what was not solved
_DECADES = 1e5  # of residual energy that are shown; below, all that is left is a rare bad draw


_SECONDS: dict[Clock, str] = {"wall": "seconds", "cpu": "CPU seconds"}


def cactus_chart(results: Results, clock: Clock = "wall") -> Chart:
    """How many instances each solver solves within how many seconds each, and the virtual best."""
    each = {name: cactus(results, name, clock) for name in results.solvers}
    note = ""
    if len(each) > 1:
        each[VirtualBest.name] = virtual_cactus(results, clock)
        note = " The virtual best solver is, on each instance, the one that is fastest there."
    series = [
        Series(name, [Mark("run", ("line", "points"), np.arange(1, len(times) + 1), times)],
               f"{name} ({len(times)})")
        for name, times in each.items()
    ]  # fmt: skip
    top = max(1, results.num_entered, *map(len, each.values()))
    return Chart(
        "Cactus",
        f"How many instances each solver solves within how many {_SECONDS[clock]} each; further "
        f"right and lower is better. The dotted line is the limit.{note}",
        Axis("instances solved", is_whole=True, low=0, high=top),
        Axis(f"{_SECONDS[clock]} per instance, at most", _SECONDS[clock], is_log=True,
             limit=_limit(results, clock)),
        series, "solver",
    )  # fmt: skip


def ecdf_chart(results: Results, clock: Clock = "wall") -> Chart:
    """The share of instances that each solver has solved after so many seconds."""
    series = []
    for name in results.solvers:
        seconds, total = cactus(results, name, clock), len(results.by_solver[name])
        shares = np.arange(1, len(seconds) + 1) / total
        series.append(_steps(name, seconds, shares, _limit(results, clock) or results.limit))
    return Chart(
        "Instances solved over time",
        f"The share of instances that each solver has solved after so many {_SECONDS[clock]}; "
        "higher is better.",
        Axis(_SECONDS[clock], is_log=True),
        Axis("share of instances solved", "share", low=0, high=1),
        series, "solver",
    )  # fmt: skip


def profile_chart(results: Results, clock: Clock = "wall") -> Chart:
    """Dolan and Moré's profile: the share solved within τ times the fastest solver's time."""
    profiles = performance_profile(results, clock=clock)
    furthest = max((ratios[-1] for ratios, _ in profiles.values() if len(ratios)), default=1.0)
    end = _ROOM * float(furthest)
    return Chart(
        "Performance profile",
        f"The share of instances that each solver solved within τ times the {_SECONDS[clock]} of "
        "the fastest one, on the instances that all of them have run on; higher is better.",
        Axis(f"τ: times the {_SECONDS[clock]} of the fastest solver", "τ", is_log=True, low=1.0,
             high=end),
        Axis("share of instances within τ", "share", low=0, high=1),
        [_steps(name, *profile, end) for name, profile in profiles.items()], "solver",
    )  # fmt: skip


def scatter_chart(results: Results, first: str, second: str, clock: Clock = "wall") -> Chart:
    """Each instance at the seconds of two solvers; beyond the limit where one did not solve it."""
    times = [solving_seconds(results, name, clock) for name in (first, second)]
    both = [name for name in times[0] if name in times[1]]
    if not both:
        raise ValueError(f"{first} and {second} have no instance in common yet")
    seconds = np.array([[one[name] for name in both] for one in times])
    limit = _limit(results, clock)
    # CPU seconds of a parallel solver may be beyond the time limit.
    edge = _UNSOLVED * (limit or max([results.limit, *seconds[np.isfinite(seconds)]]))
    x, y = np.minimum(seconds, edge)
    low = float(min(x.min(), y.min())) / _ROOM
    ends: Any = {"is_log": True, "low": low, "high": 1.1 * edge, "limit": limit}
    what = _SECONDS[clock]
    return Chart(
        f"{first} and {second}, instance by instance",
        "Above the diagonal the first is faster. Instances that one of them did not solve stand "
        f"at {edge:g} {what}" + (", twice the limit." if limit else "."),
        Axis(f"{what} of {first}", first, **ends), Axis(f"{what} of {second}", second, **ends),
        [Series("", [Mark("", ("points",), x, y, told={"instance": both})])], has_diagonal=True,
    )  # fmt: skip


def incumbents_chart(results: Results, instance: str | None = None) -> Chart:
    """What solvers said to have found, over time: cost above the best that is known, plus 1.

    One line per run, faint where there are many of them, which have a line for their median then.

    Args:
        results: the race.
        instance: only this one; all instances when None.
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
        "Anytime: what was found by when",
        f"Cost above the best that is known, plus 1, over time: {words} per solver; lower is "
        "better. These are the solvers' own o lines, which nobody checked; a run that has found "
        "nothing yet counts as worse than all others.",
        Axis("seconds", is_log=True),
        Axis("1 + (o value − best known cost)", "1 + cost above the best known", is_log=True),
        series, "solver",
    )  # fmt: skip


def reaching_chart(results: Results, dial: str | None = None) -> Chart:
    """Median seconds until the best known cost was said, over the dialled hardness.

    For solvers that work until the limit, whose runs have no other length.

    Args:
        results: the race.
        dial: the parameter along x; by default frustration, size or density, whichever has most
            settings, or whatever number varies. Where none does, all instances stand in one place.
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
        "Median seconds until the best known cost was said. A hollow sign at the limit: the solver "
        "does not get there on half of the instances.",
        Axis((name or "all instances").replace("_", " ")),
        Axis("median seconds to the best known cost", "seconds", is_log=True, limit=limit),
        series, "solver",
    )  # fmt: skip


def dial_chart(results: Results | SamplerResults, dial: str | None = None) -> Chart:
    """TTS99 over the dialled hardness: the median over the instances of each setting.

    A triangle is the least that it can be, where fewer than half of the instances were solved.

    Args:
        results: a race of commands or of samplers.
        dial: the parameter along x; by default frustration, size or density, whichever has most
            settings, or whatever number varies. Where none does, the instances stand side by side,
            as `tts_chart` has them.
    """
    times, parameters = _times(results), results.parameters
    name = chosen_dial(parameters, dial)
    if name is None:
        return tts_chart(results)
    points = {solver: over_dial(each, parameters, name) for solver, each in times.items()}
    places = {solver: [at for at, _ in each] for solver, each in points.items()}
    series = [
        Series(solver, estimate_marks(places[solver], [time for _, time in each],
                                      ("interval", "line", "points"), {}))
        for solver, each in points.items()
    ]  # fmt: skip
    axis = name.replace("_", " ")
    apart = 0.02 * float(np.ptp([at for each in places.values() for at in each]))
    return _tts(results, series, Axis(axis), f"over {axis}: the median over instances", apart)


def tts_chart(results: Results | SamplerResults) -> Chart:
    """TTS99 of every instance with its interval, in the order of the first solver's.

    A triangle is the least that it can be, where an instance was not solved.
    """
    times = _times(results)
    leader, first = next(iter(times.items()))
    order = sorted(first, key=lambda one: (first[one].value, first[one].low))
    order += [name for each in times.values() for name in each if name not in first]
    place = {name: k for k, name in enumerate(dict.fromkeys(order), 1)}
    series = [
        Series(solver, estimate_marks([place[name] for name in each], [*each.values()],
                                      ("interval", "points"), {"instance": [*each]}))
        for solver, each in times.items()
    ]  # fmt: skip
    axis = Axis(f"instance, by the time of {leader}", "place", is_whole=True)
    return _tts(results, series, axis, "of each instance", 0.25)


def _tts(
    results: Results | SamplerResults, series: list[Series], x: Axis, over: str, apart: float
) -> Chart:
    is_open = any(mark.kind == "lower bound" for one in series for mark in one.marks)
    what = "reads" if isinstance(results, SamplerResults) else "runs"
    return Chart(
        "Time to solution",
        f"Seconds of repeated {what} until the best known cost or energy is reached with "
        f"probability 0.99, {over}, with 95 % intervals. A hollow triangle is the least that it "
        "can be, where too few were solved.",
        x, Axis("TTS99 in seconds" + ", median over instances" * ("median" in over), "TTS99 (s)",
                is_log=True),
        series, "solver", notes=[("bound", "at least, not solved")] if is_open else [], apart=apart,
    )  # fmt: skip


def residual_chart(
    results: SamplerResults, instance: str | None = None, solvers: Sequence[str] | None = None
) -> Chart:
    """The residual energy per spin that is left after so many seconds of reads.

    The thick curve is the median over instances, thin ones are theirs. Where a curve ends at the
    bottom, nothing is left.

    Args:
        results: a race of samplers.
        instance: only this one; all instances when None.
        solvers: only these samplers; all of them when None.
    """
    shown = results.instances if instance is None else (instance,)
    series = []
    for solver in results.solvers if solvers is None else solvers:
        middle = results.residual(solver, instance)
        curves = [results.residual(solver, name) for name in shown[:MOST_CURVES]]
        series.append(Series(solver, [
            Mark("median", ("line", "dots"), middle.seconds, middle.residual),
            *(Mark("instance", ("faint line",), one.seconds, one.residual) for one in curves),
        ]))  # fmt: skip
    medians = np.concatenate([np.empty(0), *(one.marks[0].y for one in series)])
    left = medians[medians > 0]
    ends: dict[str, Any] = {}
    if len(left):
        highest = max(part.y.max(initial=0.0) for one in series for part in one.marks)
        low = max(left.min() / 2, left.max() / _DECADES)
        ends = {"is_log": True, "low": float(low), "high": 2 * float(highest)}
    is_proven = all(results.is_proven(name) for name in shown)
    what = "optimum proven before the race" if is_proven else "best known, in part not proven"
    return Chart(
        "Residual energy",
        f"Expected energy per spin above the {what} after so many seconds of reads: the median "
        "over problems. A curve ends where less than a hundred-thousandth of the highest is left.",
        Axis("seconds of reads", "seconds", is_log=True),
        Axis(f"expected energy per spin above the\n{what}", "energy per spin above the target",
             **ends),
        series, "sampler",
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
    """A figure of its own with one of the pictures.

    Args:
        results: the race.
        name: cactus (the default), ecdf, profile, scatter, incumbents, tts or reaching (over the
            dialled hardness); of a race of samplers, tts (the default) or residual.
        solvers: for a scatter, the two solvers; the first two when empty.
        dial: for tts and reaching, the parameter along x; by default frustration, size
            or density, whichever has most settings, or what else varies.
        clock: for cactus, ecdf, profile and scatter: "wall", or "cpu" for CPU seconds.
    """
    if isinstance(results, SamplerResults):
        return _figure(_sampler_chart(results, name or "tts", dial, clock), results.suite)
    name = name or "cactus"
    if name not in FIGURES:
        raise ValueError(f"figure={name!r} is not one of {', '.join(FIGURES)}")
    if not results.runs:
        raise ValueError("no runs yet; race first")
    if dial is not None and name not in _DIALLED:
        raise ValueError(f"dial={dial!r} is for the figures tts and reaching, not for {name}")
    if clock != "wall" and (clock not in _SECONDS or name not in _CLOCKED):
        raise ValueError(f"clock={clock!r} must be 'wall', or 'cpu' with one of the figures "
                         f"{', '.join(_CLOCKED)}; {name} is drawn by wall-clock time")  # fmt: skip
    pair = solvers or results.solvers[:2]
    unknown = [one for one in pair if one not in results.solvers]
    if name == "scatter" and (len(pair) != 2 or unknown):
        known = ", ".join(results.solvers)
        raise ValueError(
            f"a scatter plot takes two solvers, not {', '.join(pair)}; this race has {known}"
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
    if name not in ("tts", "residual") or (dial is not None and name != "tts") or clock != "wall":
        raise ValueError(f"figure={name!r} of a race of samplers must be tts (along a dial) or "
                         "residual, both by wall-clock time")  # fmt: skip
    if not results.calls:
        raise ValueError("no calls yet; race first")
    return dial_chart(results, dial) if name == "tts" else residual_chart(results)


def draw_dial(ax: Axes, results: Results | SamplerResults, dial: str | None = None) -> None:
    """Draw a `dial_chart` on the caller's axes."""
    drawn(ax, dial_chart(results, dial))


def draw_tts(ax: Axes, results: Results | SamplerResults) -> None:
    """Draw a `tts_chart` on the caller's axes."""
    drawn(ax, tts_chart(results))


def draw_residual(ax: Axes, results: SamplerResults, instance: str | None = None) -> None:
    """Draw a `residual_chart` on the caller's axes."""
    drawn(ax, residual_chart(results, instance))
    ax.set_title(instance or "", parse_math=False)


def drawn(ax: Axes, chart: Chart) -> None:
    """Draw a chart on a caller's axes, with a legend among the data."""
    place_legend(ax, plot_chart(chart, ax), **INSIDE)


def _steps(name: str, places: Floats, shares: Floats, end: float) -> Series:
    """A curve that keeps its height up to the end of the axis."""
    last = shares[-1] if len(shares) else 0.0
    x, y = np.append(places, max(end, *places, 0.0)), np.append(shares, last)
    return Series(name, [Mark("share", ("step",), x, y)])


def _limit(results: Results, clock: Clock) -> float | None:
    return results.limit if clock == "wall" else results.cpu_limit


def _times(results: Results | SamplerResults) -> dict[str, dict[str, Estimate]]:
    """TTS99 per solver and instance."""
    return results.tts_table() if isinstance(results, SamplerResults) else tts_table(results)
