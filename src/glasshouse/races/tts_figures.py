"""Figures of times to solution and residual energies, on a caller's axes and over the suite's dial.

The dial of a suite is the number that varies from instance to instance, and sets the hardness.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.charts.style import INSIDE, Look, looks, mark, place_legend, plain_ticks
from glasshouse.planting import METHODS
from glasshouse.problems.ratio import ratio
from glasshouse.races.commands.results import Results
from glasshouse.races.commands.scores import tts_table
from glasshouse.races.samplers.results import SamplerResults
from glasshouse.statistics.estimators import median_tts
from glasshouse.statistics.samples import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Parameters = Mapping[str, Mapping[str, Any]]

# What hardness is dialled with. Where several vary, the one with most settings comes first; of
# equals the first one here: a density that is chosen for each size varies with it. Knobs of methods
# come after these.
_USUAL = ("frustration", "n", "loop_density", "clause_density")


def dials(parameters: Parameters) -> list[str]:
    """The numbers that all instances have and that vary, the usual dials first.

    >>> easy, hard = {"n": 80, "frustration": "1/10"}, {"n": 80, "frustration": "1/5"}
    >>> dials({"a": easy, "b": hard})
    ['frustration']
    """
    tables = list(parameters.values())
    shared = [name for name in (tables[0] if tables else ()) if all(name in t for t in tables)]
    values = {name: [_number(table[name]) for table in tables] for name in shared}
    varied = [name for name, each in values.items() if None not in each and len(set(each)) > 1]
    known = dict.fromkeys([*_USUAL, *(knob for one in METHODS.values() for knob in one.knobs)])
    usual = sorted((name for name in known if name in varied), key=lambda n: -len(set(values[n])))
    return [*usual, *sorted(set(varied) - set(usual))]


def chosen_dial(parameters: Parameters, name: str | None = None) -> str | None:
    """A dial by its name, or the most usual one; None where nothing varies."""
    found = dials(parameters)
    if name is None:
        return found[0] if found else None
    if name not in found:
        known = ", ".join(found) or "none"
        raise ValueError(f"dial={name!r} is no number that varies in the suite; there are: {known}")
    return name


def over_dial(
    times: Mapping[str, Estimate], parameters: Parameters, dial: str, confidence: float = 0.95
) -> list[tuple[float, Estimate]]:
    """Each setting of the dial, ascending, and the median time to solution there.

    Args:
        times: of one solver, by instance.
        parameters: of all instances.
        dial: which number.
        confidence: of the intervals.
    """
    groups = settings({instance: parameters[instance] for instance in times}, dial)
    return [
        (float(at), _median([times[one] for one in group], confidence))
        for at, group in groups.items()
    ]


def settings(parameters: Parameters, dial: str) -> dict[Fraction, list[str]]:
    """The instances at each setting of a dial, ascending."""
    groups: dict[Fraction, list[str]] = {}
    for instance, table in parameters.items():
        value = _number(table[dial])
        assert value is not None
        groups.setdefault(value, []).append(instance)
    return dict(sorted(groups.items()))


def _median(times: Sequence[Estimate], confidence: float) -> Estimate:
    """A single instance has an interval of its own."""
    return times[0] if len(times) == 1 else median_tts(times, confidence)


def _number(value: Any) -> Fraction | None:
    try:
        return ratio(value, "a parameter")
    except ValueError:
        return None


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
