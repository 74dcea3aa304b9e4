"""A study: how hard ensembles of instances are, with intervals and fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from glasshouse.reports.charts import Axis, Shape, series_chart
from glasshouse.reports.page import (
    MOST_POINTS,
    Fact,
    Figure,
    Listing,
    Part,
    Section,
    Table,
    command,
    counted,
    cut,
    number,
    seen_seconds,
    text,
    thinned,
    versions_of,
)
from glasshouse.store.store import Store, TaskStatus
from glasshouse.studies.analysis import (
    Point,
    Series,
    StudyFits,
    averaged,
    fit_series,
    fitted_law,
    is_cloud,
    points_of,
    series_of,
    telling_axis,
)
from glasshouse.studies.charts import OPEN_BAR, settings_text
from glasshouse.studies.export import plain_number
from glasshouse.studies.quantities import KINDS
from glasshouse.studies.study import Study, heading_of, is_axis

_STATISTICS = {
    "median": "median", "geometric_mean": "geometric mean", "quantile_95": "95th percentile",
    "paper_95": "exp(μ + 2σ)",
}  # fmt: skip
_AXES = {"density": "loop density ρ", "size": "system size n", "frustration": "frustration index f"}


def study_section(store: Store) -> Section:
    """The section of a store that holds a study, finished or not."""
    study, status = heading_of(store), store.status()
    rows, wanted = (sum(one.rows for one in status),
                    sum(one.task.stop.instances for one in status))  # fmt: skip
    done = sum(one.task.is_finished for one in status)
    lead = (
        f"{study.title}: {rows:,} of {wanted:,} instances, {done:,} of {len(status):,} tasks done."
    )
    points = points_of(store, study.statistic) if rows else []
    parts: list[Part] = []
    if points:
        axis = study.figure if is_axis(study.figure) else telling_axis(points)
        series = series_of(points, axis)
        fits = fit_series(series)
        parts += [_curves(series, study, fits, points), *_fits(fits)]
        lead += (f" The figures stand for {counted(sum(p.samples for p in points), 'row')}, "
                 f"added up to {counted(len(points), 'point')}.")  # fmt: skip
    if status:
        parts.append(_tasks(status, points))
    elif not parts:
        lead += " Nothing has been measured yet."
    text_of = store.noted("study")
    if text_of:
        parts.append(
            Listing("The study, as it was asked for", text_of, is_open=len(text_of) < 1500)
        )
        scale = [] if study.scale == 1 else ["--scale", repr(study.scale)]
        again = command("study", "run", f"{study.name}.toml", *scale, "-o", store.path.name)
        parts.append(Listing("The command that makes it again", again))
    result = Fact("measured", f"{rows:,} of {counted(wanted, 'instance')}") if wanted else None
    return Section(store.path.name, "Study", lead,
                   _facts(store, study, status, points), parts, result=result)  # fmt: skip


def _facts(
    store: Store, study: Study, status: Sequence[TaskStatus], points: Sequence[Point]
) -> list[Fact]:
    kinds = sorted({one.task.kind for one in status})
    seeds = sorted({str(one.task.description.get("seed")) for one in status})
    unsolved = sum(one.rows - one.counted for one in status if one.task.kind == "hardness")
    facts = [
        Fact("study", study.name, "stated"),
        Fact("measures", ", ".join(kinds) or "nothing yet", "stated"),
        Fact("statistic", _STATISTICS[study.statistic]),
        Fact("instances given up", f"{unsolved:,}"),
        Fact("seeds", _some(seeds), "stated"),
        Fact("computing time", seen_seconds(sum(one.seconds for one in status)), "stated"),
        Fact("glasshouse", versions_of(store), "stated"),
    ]
    if points:
        facts.append(Fact("measured with", settings_text(points), "stated"))
    unfinished = [one for one in status if not one.task.is_finished]
    if unfinished:
        facts.append(
            Fact("not finished", f"{counted(len(unfinished), 'task')}; the same command goes on")
        )
    return facts


def _some(values: Sequence[str]) -> str:
    shown = ", ".join(value[:40] for value in values[:8])
    return shown + (f" and {len(values) - 8} more" if len(values) > 8 else "")


def _curves(
    series: Sequence[Series], study: Study, fits: StudyFits, points: Sequence[Point]
) -> Figure:
    axis = series[0].axis
    names = [one.label or "all" for one in series]
    rows: list[list[Any]] = []
    most = max(20, MOST_POINTS // max(1, len(series)) // 3)
    for name, one in zip(names, series, strict=True):
        rows += _point_rows(name, one, most)
        law, peak = fits.laws.get(one.label), fits.peaks.get(one.label)
        if law is not None:
            curves = fitted_law(one, law)
            rows += [[name, "law", *(float(part[k]) for part in curves), None, None]
                     for k in thinned(len(curves[0]), 60)]  # fmt: skip
        elif is_cloud(one):
            at, average = averaged(one)
            rows += [[name, "average", float(at[k]), float(average[k]), None, None, None, None]
                     for k in thinned(len(at), 80)]  # fmt: skip
        if peak is not None and not peak.at_edge:
            rows.append([name, "peak", peak.density.value, peak.height, *[None] * 4])
    is_log = axis != "frustration" and all(p.along(axis) > 0 for one in series for p in one.points)
    title = _AXES.get(axis, axis.replace("_", " "))
    measures = points[0].task.measures
    height = f"{_STATISTICS[study.statistic]} of {KINDS[measures].symbol.replace('$', '')}"
    height = height.replace(r"N_{\mathrm{tot}}", "N_tot")
    joined: list[Shape] = ["interval", "points"] if all(map(is_cloud, series)) or fits.laws else [
        "interval", "line", "points"]  # fmt: skip
    spec = series_chart(
        Axis("at", title, is_log=is_log), Axis("value", height, is_log=True), names,
        {"law": ["band", "line"], "measured": joined, "average": "line", "lower bound": "bound",
         "peak": "peak"},
        {"series": "series", "kind": "what", "at": title, "value": height, "low": "low",
         "high": "high", "samples": "instances", "censored": "given up"}, rows,
        height=380,
    )  # fmt: skip
    words = (
        "Points with 95 % intervals; a bar without an upper end is cut at three times its value. "
        "Hollow triangles are lower bounds, where too many instances were given up."
    )
    if fits.laws:
        words += " Curves are the best fitted laws, with bands of two standard errors."
    if fits.peaks:
        words += " Lines are averages of neighbouring points; stars are fitted peaks."
    return Figure(
        f"{height[0].upper()}{height[1:]}", words, spec,
        Table("", [text("series"), text("kind", "what"), number("at", title),
                   number("value", height), number("low"), number("high"),
                   number("samples", "instances"), number("censored", "given up")],
              cut(rows, 2 * MOST_POINTS)[0]),
    )  # fmt: skip


def _point_rows(name: str, one: Series, most: int) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for place in thinned(len(one.points), most):
        point = one.points[place]
        value, at = point.estimate, point.along(one.axis)
        if math.isfinite(value.value):
            high = min(value.high, OPEN_BAR * value.value)
            rows.append([name, "measured", at, value.value, value.low, high, point.samples,
                         point.censored])  # fmt: skip
        else:
            rows.append([name, "lower bound", at, value.low, None, None, point.samples,
                         point.censored])  # fmt: skip
    return rows


def _fits(fits: StudyFits) -> list[Part]:
    if not fits.laws and not fits.peaks:
        return []  # what is left says only what there is too little of
    said = fits.summary()
    return [Listing("Fits", said, is_open=said.count("\n") < 30)]


def _tasks(status: Sequence[TaskStatus], points: Sequence[Point]) -> Table:
    values = {point.task.task_id: point for point in points}
    names = list(dict.fromkeys(k for one in status for k in one.task.table("parameters")))[:12]
    rows = []
    for one in status:
        asked = one.task.table("parameters")
        point = values.get(one.task.task_id)
        told = None if point is None else point.estimate
        rows.append([
            one.task.description.get("method"),
            *(_short(asked.get(name)) for name in names),
            one.rows, one.task.stop.instances, one.task.is_finished, one.counted,
            None if told is None else told.value, None if told is None else told.low,
            None if told is None else told.high, one.seconds,
        ])  # fmt: skip
    kept, count = cut(rows)
    note = "One line per task." + (f" The first {len(kept):,} of {count:,}." * (count > len(kept)))
    return Table(
        "Tasks",
        [text("method"), *(number(f"p{k}", name.replace("_", " ")) for k, name in enumerate(names)),
         number("rows", "instances"), number("wanted"), text("finished"),
         number("solved", "solved"), number("value", "statistic"), number("low"), number("high"),
         number("seconds", "computing seconds")],
        kept, note,
    )  # fmt: skip


def _short(value: Any) -> Any:
    value = plain_number(value)
    return value[:80] if isinstance(value, str) else value
