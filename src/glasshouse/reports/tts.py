"""Times to solution with their intervals: over the dialled hardness, or instance by instance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from glasshouse.races.tts_figures import Parameters, chosen_dial, over_dial
from glasshouse.reports.charts import Axis, series_chart
from glasshouse.reports.page import MOST_POINTS, Figure, Part, Table, cut, number, text
from glasshouse.studies.statistics.samples import Estimate

Times = Mapping[str, Mapping[str, Estimate]]


def tts_figure(times: Times, parameters: Parameters, what: str) -> list[Part]:
    """TTS99 over the number that varies most; of each instance where none does.

    Args:
        times: per solver and instance.
        parameters: of the instances.
        what: is repeated until success, for the text.
    """
    dial = chosen_dial(parameters)
    rows: list[list[Any]] = []
    for solver, each in times.items():
        if dial is not None:
            points = [(at, "", time) for at, time in over_dial(each, parameters, dial)]
        else:
            ordered = sorted(each.items(), key=lambda pair: (pair[1].value, pair[1].low))
            points = [(float(k), name, time) for k, (name, time) in enumerate(ordered, 1)]
        rows += [_row(solver, *point) for point in points]
    if not rows or len(rows) > MOST_POINTS:
        return []
    axis = "place among the solver's instances, by time" if dial is None else dial.replace("_", " ")
    spec = series_chart(
        Axis("at", axis, is_whole=dial is None), Axis("tts", "TTS99 in seconds", is_log=True),
        [*times], {"interval": "interval", "measured": ["interval", "line", "points"],
                   "at least": "bound"},
        {"series": "solver", "at": axis, "told": "TTS99 in seconds"} | (
            {} if dial is not None else {"instance": "instance"}),
        rows,
    )  # fmt: skip
    over = f"over {axis}: the median over instances" if dial is not None else "of each instance"
    return [Figure(
        "Time to solution", f"Seconds of repeated {what} until the best known cost or energy is "
        f"reached with probability 0.99, {over}, with 95 % intervals. A hollow triangle is the "
        "least that it can be, where too few were solved.", spec,
        Table("", [text("series", "solver"), text("kind"), number("at", axis),
                   text("instance"), number("tts", "TTS99 (s)"), number("low"), number("high"),
                   text("told", "with interval")], cut(rows)[0]),
    )]  # fmt: skip


def _row(solver: str, at: float, instance: str, time: Estimate) -> list[Any]:
    if not math.isfinite(time.value):
        told = f"at least {time.low:.4g}"
        return [solver, "at least", at, instance, time.low, None, None, told]
    high = time.high if math.isfinite(time.high) else max(time.value, time.low)
    return [solver, "measured", at, instance, time.value, time.low, high, str(time)]
