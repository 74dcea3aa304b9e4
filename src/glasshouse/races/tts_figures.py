"""Pictures of times to solution and residual energies, on a caller's axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.charts.style import INSIDE, Look, looks, mark, place_legend, plain_ticks
from glasshouse.races.dial import chosen_dial, over_dial
from glasshouse.races.results import Results
from glasshouse.races.sampler_results import SamplerResults
from glasshouse.races.scores import tts_table
from glasshouse.statistics.samples import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CURVES = 200  # thin ones, of single instances
DECADES = 1e5  # of residual energy that are shown; below, all that is left is a rare bad draw


def draw_dial(ax: Axes, results: Results | SamplerResults, dial: str | None = None) -> None:
    """TTS99 over the dialled hardness: the median over the instances of each setting.

    A triangle is the least that it can be, where fewer than half of the instances were solved.

    Args:
        ax: where to draw.
        results: a race of commands or of samplers.
        dial: the parameter along x; by default frustration, size or density, whichever has most
            settings, or whatever number varies. Where none does, the instances stand side by side,
            as `draw_tts` has them.
    """
    times, parameters = _times(results), results.parameters
    name = chosen_dial(parameters, dial)
    if name is None:
        draw_tts(ax, results)
        return
    for solver, look, shift in _shifted(times):
        points = over_dial(times[solver], parameters, name)
        places = np.array([at for at, _ in points])
        apart = 0.02 * np.ptp(places) * shift
        _bars(ax, places + apart, [time for _, time in points], solver, look, line="-")
    ax.set_xlabel(name.replace("_", " "), parse_math=False)
    _finish(ax, "TTS99 in seconds, median over instances", times)


def draw_tts(ax: Axes, results: Results | SamplerResults) -> None:
    """TTS99 of every instance with its interval, in the order of the first solver's.

    A triangle is the least that it can be, where an instance was not solved.
    """
    from matplotlib.ticker import MaxNLocator

    times = _times(results)
    first = next(iter(times.values()))
    order = sorted(first, key=lambda one: (first[one].value, first[one].low))
    order += [name for each in times.values() for name in each if name not in first]
    place = {name: k for k, name in enumerate(dict.fromkeys(order), 1)}
    for solver, look, shift in _shifted(times):
        each = times[solver]
        at = np.array([place[name] for name in each]) + 0.25 * shift
        _bars(ax, at, list(each.values()), solver, look)
    ax.set_xlabel(f"instance, by the time of {next(iter(times))}", parse_math=False)
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    _finish(ax, "TTS99 in seconds", times)


def draw_residual(
    ax: Axes, results: SamplerResults, instance: str | None = None
) -> None:  # fmt: skip
    """The residual energy per spin that is left after so many seconds of reads.

    The thick curve is the median over instances, thin ones are theirs. Where a curve ends at the
    bottom, nothing is left.

    Args:
        ax: where to draw.
        results: a race of samplers.
        instance: only this one.
    """
    shown = results.instances if instance is None else (instance,)
    heights = []
    for solver, look in zip(results.solvers, looks(len(results.solvers)), strict=True):
        curves = [results.residual(solver, name) for name in shown[:_MOST_CURVES]]
        middle = results.residual(solver, instance)
        for curve in (*curves, middle):
            is_middle = curve is middle
            ax.plot(curve.seconds, curve.residual,
                    color=look.colour, linewidth=2 if is_middle else 0.7,
                    alpha=1 if is_middle else 0.25,
                    label=shown_name(solver) if is_middle else None)  # fmt: skip
            heights.append(curve.residual)
    left = np.concatenate([np.empty(0), *heights])
    left = left[left > 0]
    ax.set_xscale("log")
    if len(left):
        ax.set_yscale("log")
        ax.set_ylim(max(left.min() / 2, left.max() / DECADES), left.max() * 2)
    ax.set_xlabel("seconds of reads")
    is_proven = all(results.is_proven(name) for name in shown)
    what = "optimum proven before the race" if is_proven else "best known, in part not proven"
    ax.set_ylabel(f"expected energy per spin above the\n{what}")
    ax.set_title(instance or "", parse_math=False)
    place_legend(ax, **INSIDE)


def _times(results: Results | SamplerResults) -> dict[str, dict[str, Estimate]]:
    """TTS99 per solver and instance."""
    return results.tts_table() if isinstance(results, SamplerResults) else tts_table(results)


def _shifted(times: Mapping[str, object]) -> list[tuple[str, Look, float]]:
    """Solvers, how they look, and how far from the middle they stand: bars hide no others."""
    shifts = np.linspace(-1, 1, len(times)) if len(times) > 1 else np.zeros(1)
    return list(zip(times, looks(len(times)), shifts.tolist(), strict=True))


def _bars(
    ax: Axes, places: np.ndarray, times: Sequence[Estimate], name: str, look: Look,
    line: str = "none",
) -> None:  # fmt: skip
    """Values with their intervals; lower ends alone where nothing else is known."""
    is_known = np.array([math.isfinite(time.value) for time in times])
    known = [time for time in times if math.isfinite(time.value)]
    values = np.array([time.value for time in known])
    ax.plot(places[is_known], values, color=look.colour, marker=look.marker, linestyle=line,
            label=shown_name(name))  # fmt: skip
    for at, time in zip(places, times, strict=True):
        top = time.high if math.isfinite(time.high) else max(time.value, time.low)
        if math.isfinite(top):
            ax.plot([at, at], [time.low, top], color=look.colour, linewidth=0.8, zorder=1)
    lowest = [time.low for time in times if math.isinf(time.value)]
    ax.plot(places[~is_known], lowest, color=look.colour, marker="^", markerfacecolor="none",
            linestyle="none")  # fmt: skip


def _finish(ax: Axes, label: str, times: Mapping[str, Mapping[str, Estimate]]) -> None:
    ax.set_yscale("log")
    ax.set_ylabel(label)
    plain_ticks(ax, "y")
    empty = mark("at least, not solved", marker="^", markerfacecolor="none")
    is_open = any(math.isinf(time.value) for each in times.values() for time in each.values())
    place_legend(ax, [empty] if is_open else [], **INSIDE)


def shown_name(name: str) -> str:
    """A name in a legend, where $ would begin mathematics."""
    return name.replace("$", r"\$")
