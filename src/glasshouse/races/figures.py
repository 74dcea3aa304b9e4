"""Charts of a race: cactus, shares, profile, scatter, incumbents, seconds over a dial."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.charts import Axis, Chart, Mark, Series, plot_chart
from glasshouse.charts.style import new_figure, place_legend, styled
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
from glasshouse.races.samplers.results import SamplerResults
from glasshouse.races.tts_figures import (
    batch_chart,
    chosen_dial,
    dial_chart,
    residual_chart,
    settings,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROOM = 1.3  # beyond the data, on logarithmic axes
_UNSOLVED = 2.0  # times the limit: where a scatter plot has what was not solved


def cactus_chart(results: Results) -> Chart:
    """How many instances each solver solves within how many seconds each."""
    each = {name: cactus(results, name) for name in results.solvers}
    series = [
        Series(name, [Mark("run", ("line", "points"), np.arange(1, len(times) + 1), times)],
               f"{name} ({len(times)})")
        for name, times in each.items()
    ]  # fmt: skip
    top = max(1, results.num_entered, *map(len, each.values()))
    return Chart(
        "Cactus",
        "How many instances each solver solves within how many seconds each; further right and "
        "lower is better. The dotted line is the time limit.",
        Axis("instances solved", is_whole=True, low=0, high=top),
        Axis("seconds per instance, at most", "seconds", is_log=True, limit=results.limit),
        series, "solver",
    )  # fmt: skip


def ecdf_chart(results: Results) -> Chart:
    """The share of instances that each solver has solved after so many seconds."""
    series = []
    for name in results.solvers:
        seconds, total = cactus(results, name), len(results.by_solver[name])
        series.append(_steps(name, seconds, np.arange(1, len(seconds) + 1) / total, results.limit))
    return Chart(
        "Instances solved over time",
        "The share of instances that each solver has solved after so many seconds; higher is "
        "better.",
        Axis("seconds", is_log=True), Axis("share of instances solved", "share", low=0, high=1),
        series, "solver",
    )  # fmt: skip


def profile_chart(results: Results) -> Chart:
    """Dolan and Moré's profile: the share solved within τ times the fastest solver's time."""
    profiles = performance_profile(results)
    furthest = max((ratios[-1] for ratios, _ in profiles.values() if len(ratios)), default=1.0)
    end = _ROOM * float(furthest)
    return Chart(
        "Performance profile",
        "The share of instances that each solver solved within τ times the seconds of the fastest "
        "one, on the instances that all of them have run on; higher is better.",
        Axis("τ: times the seconds of the fastest solver", "τ", is_log=True, low=1.0, high=end),
        Axis("share of instances within τ", "share", low=0, high=1),
        [_steps(name, *profile, end) for name, profile in profiles.items()], "solver",
    )  # fmt: skip


def scatter_chart(results: Results, first: str, second: str) -> Chart:
    """Each instance at the seconds of two solvers; beyond the limit where one did not solve it."""
    limit = results.limit
    times = [limited_seconds(results, name, limit) for name in (first, second)]
    both = [name for name in times[0] if name in times[1]]
    if not both:
        raise ValueError(f"{first} and {second} have no instance in common yet")
    x, y = (np.array([one[name] for name in both]) for one in times)
    edge = _UNSOLVED * limit
    low = float(min(x.min(), y.min())) / _ROOM
    ends: Any = {"is_log": True, "low": low, "high": 1.1 * edge, "limit": limit}
    return Chart(
        f"{first} and {second}, instance by instance",
        "Above the diagonal the first is faster. Instances that one of them did not solve stand "
        f"at {edge:g} seconds, twice the limit.",
        Axis(f"seconds of {first}", first, **ends), Axis(f"seconds of {second}", second, **ends),
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


def race_figure(
    results: Results | SamplerResults,
    name: str | None = None,
    solvers: tuple[str, ...] = (),
    dial: str | None = None,
) -> Figure:  # fmt: skip
    """A figure of its own with one of the pictures.

    Args:
        results: the race.
        name: cactus (the default), ecdf, profile, scatter, incumbents, tts or reaching (over the
            dialled hardness); of a race of samplers, tts (the default), residual or batches.
        solvers: for a scatter, the two solvers; the first two when empty.
        dial: for tts and reaching, the parameter along x; by default frustration, size
            or density, whichever has most settings, or what else varies.
    """
    if isinstance(results, SamplerResults):
        return _sampler_figure(results, name or "tts", dial)
    name = name or "cactus"
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
        chart = FIGURES[name](results, *(pair if name == "scatter" else dialled))
        place_legend(ax, plot_chart(chart, ax))
        ax.set_title(results.suite, parse_math=False)
    return figure


def _sampler_figure(results: SamplerResults, name: str, dial: str | None) -> Figure:
    charts: dict[str, Callable[[SamplerResults], Chart]]
    charts = {"tts": partial(dial_chart, dial=dial), "residual": residual_chart,
              "batches": batch_chart}  # fmt: skip
    if name not in charts or (dial is not None and name != "tts"):
        raise ValueError(
            f"figure={name!r} of a race of samplers must be tts (along a dial), residual or batches"
        )
    if not results.calls:
        raise ValueError("no calls yet; race first")
    with styled():
        figure, ax = new_figure(6.2, 4.0)
        place_legend(ax, plot_chart(charts[name](results), ax))
        ax.set_title(results.suite, parse_math=False)
    return figure


def _steps(name: str, places: Floats, shares: Floats, end: float) -> Series:
    """A curve that keeps its height up to the end of the axis."""
    last = shares[-1] if len(shares) else 0.0
    x, y = np.append(places, max(end, *places, 0.0)), np.append(shares, last)
    return Series(name, [Mark("share", ("step",), x, y)])
