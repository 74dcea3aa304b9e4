"""The dial of a suite: the parameter that varies between instances and sets their hardness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from glasshouse.planting import METHODS
from glasshouse.problems.ratio import ratio
from glasshouse.statistics.estimators import median_tts
from glasshouse.statistics.samples import Estimate

Parameters = Mapping[str, Mapping[str, Any]]

# The parameters that set the hardness. If several vary, the one with the most settings is chosen;
# among equals, the first in this list, because a density that is chosen for each size varies with
# it. Parameters of planting methods follow.
_USUAL = ("frustration", "n", "loop_density", "clause_density")


def dials(parameters: Parameters) -> list[str]:
    """Return the names of numeric parameters that vary between instances, default dials first.

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
    """Return `name` if it is a dial, or the default dial; None if no parameter varies."""
    found = dials(parameters)
    if name is None:
        return found[0] if found else None
    if name not in found:
        known = ", ".join(found) or "none"
        raise ValueError(
            f"dial={name!r} is not a numeric parameter that varies; possible dials: {known}"
        )
    return name


def over_dial(
    times: Mapping[str, Estimate], parameters: Parameters, dial: str, confidence: float = 0.95
) -> list[tuple[float, Estimate]]:
    """Return a dial's settings in ascending order, with the median time to solution at each.

    Args:
        times: the times of one solver, by instance.
        parameters: the parameters of all instances.
        dial: the name of the dial.
        confidence: the confidence of the intervals.
    """
    groups = settings({instance: parameters[instance] for instance in times}, dial)
    return [
        (float(at), _median([times[one] for one in group], confidence))
        for at, group in groups.items()
    ]


def settings(parameters: Parameters, dial: str) -> dict[Fraction, list[str]]:
    """Return a dial's settings in ascending order, with the names of the instances at each."""
    groups: dict[Fraction, list[str]] = {}
    for instance, table in parameters.items():
        value = _number(table[dial])
        assert value is not None
        groups.setdefault(value, []).append(instance)
    return dict(sorted(groups.items()))


def _median(times: Sequence[Estimate], confidence: float) -> Estimate:
    """Return the median of several times to solution; a single time keeps its own interval."""
    return times[0] if len(times) == 1 else median_tts(times, confidence)


def _number(value: Any) -> Fraction | None:
    try:
        return ratio(value, "a parameter")
    except ValueError:
        return None
