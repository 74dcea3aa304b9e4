"""Charts of times to solution and of residual energies, over the dial of the suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.charts import Axis, Chart, Mark, Series, estimate_marks, plot_chart
from glasshouse.charts.style import INSIDE, place_legend
from glasshouse.races.commands.results import Results
from glasshouse.races.commands.scores import MOST_CURVES, tts_table
from glasshouse.races.dials import chosen_dial, over_dial, settings
from glasshouse.races.samplers.results import SamplerResults
from glasshouse.statistics.samples import Estimate
from glasshouse.statistics.time_model import By, median_over

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WHAT = {
    "elapsed": "one solver on the whole computer with its best batch size",
    "work": "work, the time of a further read times the reads needed,",
}
_DECADES = 1e5  # range of residual energy that is shown; below, only rare bad draws remain


def dial_chart(
    results: Results | SamplerResults, dial: str | None = None, by: By = "elapsed"
) -> Chart:
    """Return the chart for `draw_dial`: the median TTS99 at each setting of a dial."""
    times, parameters = _times(results, by), results.parameters
    name = chosen_dial(parameters, dial)
    if name is None:
        return tts_chart(results, by)
    points = {solver: _over_dial(results, solver, each, name, by) for solver, each in times.items()}
    places = {solver: [at for at, _ in each] for solver, each in points.items()}
    series = [
        Series(solver, estimate_marks(places[solver], [time for _, time in each],
                                      ("interval", "line", "points"), {}))
        for solver, each in points.items()
    ]  # fmt: skip
    axis = name.replace("_", " ")
    apart = 0.02 * float(np.ptp([at for each in places.values() for at in each]))
    return _tts(results, series, Axis(axis), f"over {axis}: the median over instances", apart, by)


def _over_dial(
    results: Results | SamplerResults, solver: str, times: Mapping[str, Estimate], dial: str, by: By
) -> list[tuple[float, Estimate]]:
    """Return a dial's settings in ascending order, with a solver's median TTS99 at each."""
    if not isinstance(results, SamplerResults):  # for samplers, intervals resample times, too
        return over_dial(times, results.parameters, dial)
    return [
        (float(at), median_over([results.model(solver, one).tts_draws(by) for one in group],
                                results.confidence))
        for at, group in settings(results.parameters, dial).items()
    ]  # fmt: skip


def tts_chart(results: Results | SamplerResults, by: By = "elapsed") -> Chart:
    """Return the chart for `draw_tts`: the TTS99 of every instance."""
    times = _times(results, by)
    leader, first = next(iter(times.items()))
    order = sorted(first, key=lambda one: (first[one].value, first[one].low))
    order += [name for each in times.values() for name in each if name not in first]
    place = {name: k for k, name in enumerate(dict.fromkeys(order), 1)}
    series = [
        Series(solver, estimate_marks([place[name] for name in each], [*each.values()],
                                      ("interval", "points"), {"instance": [*each]}))
        for solver, each in times.items()
    ]  # fmt: skip
    axis = Axis(f"instance, by the time of {leader}", "rank", is_whole=True)
    return _tts(results, series, axis, "for each instance", 0.25, by)


def _tts(
    results: Results | SamplerResults, series: list[Series], x: Axis, over: str, apart: float,
    by: By,
) -> Chart:  # fmt: skip
    is_open = any(mark.kind == "lower bound" for one in series for mark in one.marks)
    is_race = not isinstance(results, SamplerResults)
    what, named = ("repeated runs", "TTS99") if is_race else (_WHAT[by], f"TTS99 ({by})")
    return Chart(
        "Time to solution",
        f"Seconds of {what} until the best known cost or energy is reached with "
        f"probability 0.99, {over}, with 95 % intervals. A hollow triangle is a lower bound "
        "if too few were solved.",
        x, Axis(f"{named} in seconds" + ", median over instances" * ("median" in over), "TTS99 (s)",
                is_log=True),
        series, "solver", notes=[("bound", "at least, not solved")] if is_open else [], apart=apart,
    )  # fmt: skip


def batch_chart(results: SamplerResults, instance: str | None = None) -> Chart:
    """Return the chart for `draw_batches`: TTS99 over the number of reads per call."""
    name = results.instances[0] if instance is None else instance
    series = []
    for solver in results.solvers:
        model = results.model(solver, name)
        sizes = model.batches.astype(int).tolist()
        marks = estimate_marks(sizes, [model.elapsed_at(size) for size in sizes],
                               ("interval", "line", "points"), {})  # fmt: skip
        work, ends = model.tts("work").value, np.array([sizes[0], sizes[-1]], np.float64)
        if np.isfinite(work):
            level = np.array([work, work])
            marks = [*marks, Mark("work", ("star",), ends[1:], level[1:]),
                     Mark("level", ("faint line",), ends, level)]  # fmt: skip
        series.append(Series(solver, marks))
    return Chart(
        "Time to solution and batch size",
        f"Seconds until the target of {name} is reached with probability 0.99, by calls of as many "
        "reads as the x-axis shows, with 95 % intervals: small batches pay the latency of many "
        "calls, large ones have more reads than are needed. A star at the right end is the work: "
        "the reads needed times the seconds of a further read.",
        Axis("reads per call", "reads", is_log=True),
        Axis("TTS99 in seconds", "TTS99 (s)", is_log=True), series, "sampler",
        notes=[("star", "work")],
    )  # fmt: skip


def residual_chart(
    results: SamplerResults, instance: str | None = None, solvers: Sequence[str] | None = None
) -> Chart:
    """Return the chart for `draw_residual`: residual energies over elapsed time."""
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
    what = "optimum proven before the race" if is_proven else "best known energy, not always proven"
    return Chart(
        "Residual energy",
        f"Expected energy per spin above the {what} after a number of seconds: the median "
        "over problems. The y-axis shows at most five decades below the highest median.",
        Axis("elapsed seconds", "seconds", is_log=True),
        Axis(f"expected energy per spin above the\n{what}", "energy per spin above the target",
             **ends),
        series, "sampler",
    )  # fmt: skip


def draw_batches(ax: Axes, results: SamplerResults, instance: str | None = None) -> None:
    """Draw TTS99 and the work on one instance over the number of reads per call.

    Args:
        ax: the axes to draw on.
        results: a race of samplers.
        instance: the name of the instance; the first instance by default.
    """
    drawn(ax, batch_chart(results, instance))


def draw_dial(
    ax: Axes, results: Results | SamplerResults, dial: str | None = None, *, by: By = "elapsed"
) -> None:
    """Draw the median TTS99 over the instances at each setting of a dial.

    A triangle is a lower bound: fewer than half of the instances were solved.

    Args:
        ax: the axes to draw on.
        results: a race of commands or of samplers.
        dial: the parameter along x; by default frustration, size or density, whichever has most
            settings, or any other number that varies. If none does, the instances are drawn side by
            side, as by `draw_tts`.
        by: "elapsed" or "work", for races of samplers.
    """
    drawn(ax, dial_chart(results, dial, by))


def draw_tts(ax: Axes, results: Results | SamplerResults, *, by: By = "elapsed") -> None:
    """Draw the TTS99 of every instance with its interval, ordered by the first solver's TTS99.

    A triangle is a lower bound: the instance was not solved.
    """
    drawn(ax, tts_chart(results, by))


def draw_residual(
    ax: Axes, results: SamplerResults, instance: str | None = None
) -> None:  # fmt: skip
    """Draw the residual energy per spin over elapsed time.

    The thick curve is the median over instances, thin curves are single instances. A curve that
    ends at the bottom has reached the target.

    Args:
        ax: the axes to draw on.
        results: a race of samplers.
        instance: only this instance; None draws all.
    """
    drawn(ax, residual_chart(results, instance))
    ax.set_title(instance or "", parse_math=False)


def drawn(ax: Axes, chart: Chart) -> None:
    """Draw a chart on the caller's axes, with the legend inside the axes."""
    place_legend(ax, plot_chart(chart, ax), **INSIDE)


def _times(results: Results | SamplerResults, by: By) -> dict[str, dict[str, Estimate]]:
    """Return TTS99 by solver and instance, for a race of commands or of samplers."""
    return results.tts_table(by) if isinstance(results, SamplerResults) else tts_table(results)
