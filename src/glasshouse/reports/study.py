"""The report section on a study: the hardness of ensembles, with intervals and fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasshouse.reports.page import (
    Fact,
    Listing,
    Part,
    Section,
    Table,
    charted,
    command,
    counted,
    cut,
    number,
    seen_seconds,
    text,
    versions_of,
)
from glasshouse.store.store import Store, TaskStatus
from glasshouse.studies.analysis import Point, StudyFits, points_of
from glasshouse.studies.charts import STATISTIC_NAMES, fitted_chart, settings_text
from glasshouse.studies.export import plain_number
from glasshouse.studies.study import Study, heading_of


def study_section(store: Store) -> Section:
    """Return the report section on a store that contains a finished or unfinished study."""
    study, status = heading_of(store), store.status()
    rows, wanted = (sum(one.rows for one in status),
                    sum(one.task.stop.instances for one in status))  # fmt: skip
    done = sum(one.task.is_finished for one in status)
    lead = (
        f"{study.title}: {rows:,} of {wanted:,} instances, {done:,} of {len(status):,} tasks done."
    )
    points = points_of(store, study.statistic, value=study.value) if rows else []
    parts: list[Part] = []
    if points:
        chart, fits = fitted_chart(points, study)
        parts += [charted(chart, 380), *_fits(fits)]
        lead += (f" The figures show {counted(sum(p.samples for p in points), 'row')}, "
                 f"summarised as {counted(len(points), 'point')}.")  # fmt: skip
    if status:
        parts.append(_tasks(status, points))
    elif not parts:
        lead += " Nothing has been measured yet."
    text_of = store.noted("study")
    if text_of:
        parts.append(Listing("The text of the study", text_of, is_open=len(text_of) < 1500))
        scale = [] if study.scale == 1 else ["--scale", repr(study.scale)]
        again = command("study", "run", f"{study.name}.toml", *scale, "-o", store.path.name)
        parts.append(Listing("The command that repeats the study", again))
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
        Fact("statistic", STATISTIC_NAMES[study.statistic]),
        Fact("instances stopped at the limit", f"{unsolved:,}"),
        Fact("seeds", _some(seeds), "stated"),
        Fact("computing time", seen_seconds(sum(one.seconds for one in status)), "stated"),
        Fact("glasshouse", versions_of(store), "stated"),
    ]
    if points:
        facts.append(Fact("measured with", settings_text(points), "stated"))
    unfinished = [one for one in status if not one.task.is_finished]
    if unfinished:
        facts.append(
            Fact("not finished", f"{counted(len(unfinished), 'task')}; the same command resumes")
        )
    return facts


def _some(values: Sequence[str]) -> str:
    shown = ", ".join(value[:40] for value in values[:8])
    return shown + (f" and {len(values) - 8} more" if len(values) > 8 else "")


def _fits(fits: StudyFits) -> list[Part]:
    if fits.is_empty:
        return []  # the remaining text only lists fits that lack data
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
