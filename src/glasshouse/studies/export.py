"""Handing the data over: one flat table, with what was asked beside what was measured."""

from __future__ import annotations

import csv
import io
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.extras import optional
from glasshouse.files.text.streams import Place, is_stream, replacing, writing
from glasshouse.problems.ratio import ratio
from glasshouse.problems.validation import INT64_MAX
from glasshouse.solvers.schedule import is_dialled_like_paper
from glasshouse.store.store import Store, StoredTask
from glasshouse.store.storefile import StoreError, one_line
from glasshouse.studies.quantities.hardness import HARDNESS

if TYPE_CHECKING:
    import polars


def to_frame(store: Store, kind: str | None = None) -> polars.DataFrame:
    """All rows of a kind with their tasks' parameters and solver settings as columns.

    Fractions such as "1/20" become floats. `solver_…` columns hold the annealer's settings, where
    "automatic" stands for the paper's that are not for a family, `realised_…` ones what they came
    to: sweeps per run, the range of β, and how it rises.

    Args:
        store: an open store.
        kind: which rows; hardness, or else the first there is, when None.
    """
    pl = optional("polars", "a table of a store")
    frames = [_frame(store, task) for task in _tasks(store, kind)]
    try:
        whole: polars.DataFrame = pl.concat(frames, how="diagonal_relaxed", rechunk=False)
    except pl.exceptions.PolarsError as error:
        raise StoreError(f"{store.path}: its tasks make no table ({one_line(error)})") from error
    return whole


def export_parquet(store: Store, path: str | Path, kind: str | None = None) -> int:
    """Write all rows of a kind to a Parquet file; returns how many."""
    frame = to_frame(store, kind)
    with replacing(Path(path), overwrite=True) as file:
        frame.write_parquet(file)
    return int(frame.height)


def export_csv(store: Store, place: Place, kind: str | None = None, overwrite: bool = False) -> int:
    """Write all rows of a kind as CSV, to a file or a stream; returns how many.

    The columns are those of `to_frame`; a cell is empty where a task has no such parameter.
    """
    parts = [_columns(store, task) for task in _tasks(store, kind)]
    names = dict.fromkeys(name for constants, rows in parts for name in (*constants, *rows))
    format_ = "csv" if is_stream(place) else None
    with writing(place, format_, overwrite=overwrite) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        table = csv.writer(text, lineterminator="\n")
        table.writerow(names)
        for constants, rows in parts:
            cells = [rows[name].tolist() if name in rows else repeat(constants.get(name))
                     for name in names]  # fmt: skip
            table.writerows(zip(*cells, strict=False))
        text.detach()
    return sum(len(rows["instance"]) for _, rows in parts)


def _tasks(store: Store, kind: str | None) -> list[StoredTask]:
    """All tasks with rows of a kind; at least one."""
    if kind is None:
        kind = next((k for k in (HARDNESS.name, *store.kinds) if k in store.kinds), HARDNESS.name)
    if kind not in store.kinds:
        known = ", ".join(store.kinds) or "none"
        raise ValueError(f"{store.path} has no {kind} rows; it has {known}")
    tasks = [task for task in store.tasks() if task.kind == kind]
    if not tasks:
        raise ValueError(f"{store.path} has no {kind} rows yet; run the study first")
    return tasks


def _frame(store: Store, task: StoredTask) -> polars.DataFrame:
    pl = optional("polars", "a table of a store")
    constants, rows = _columns(store, task)
    given = [pl.lit(value).alias(name) for name, value in constants.items()]
    frame: polars.DataFrame = pl.DataFrame(rows).select(*given, *rows)
    return frame


def _columns(store: Store, task: StoredTask) -> tuple[dict[str, Any], dict[str, Any]]:
    """What all rows of a task share, and the columns of its rows."""
    rows = dict(store.rows(task))
    described = task.description
    constants = {"task_id": task.task_id, "method": described.get("method")}
    constants |= task.table("parameters")
    constants |= _schedule(task)
    constants["seed"] = described.get("seed")
    batches = store.batches(task)
    counts = [end - first for first, end, _ in batches]
    versions = np.repeat(np.array([version for _, _, version in batches], dtype=object), counts)
    rows["version"] = versions[: len(rows["instance"])]  # a writer may have added a batch meanwhile
    shared = {}
    for name, value in constants.items():
        while name in rows:
            name = f"requested_{name}"  # such as frustration, which is also measured
        shared[name] = plain_number(value)
    return shared, rows


def _schedule(task: StoredTask) -> dict[str, Any]:
    """How instances were solved, as asked for and as it came out."""
    asked, realised = task.table("solver"), task.realised or {}
    plan = realised.get("schedule")
    if not isinstance(plan, dict):  # nothing is solved, or the store is an old one
        return {f"solver_{name}": value for name, value in asked.items()}
    if not realised.get("loops") or not is_dialled_like_paper(task.description.get("method")):
        asked = {
            name: "automatic" if str(value).startswith("paper") else value
            for name, value in asked.items()
        }
    used = {"schedule": "linear"} | {name: plan[name] for name in plan if name != "max_sweeps"}
    return {f"solver_{name}": value for name, value in asked.items()} | {
        f"realised_{name}": value for name, value in sorted(used.items())
    }


def plain_number(value: Any) -> Any:
    """A fraction as a float; lists, and numbers that no column can hold, as text."""
    if isinstance(value, str) and "/" in value:
        try:
            return float(ratio(value, "it"))
        except (ValueError, OverflowError):
            return value
    is_large = isinstance(value, int) and abs(value) > INT64_MAX
    return str(value) if is_large or isinstance(value, (list, dict)) else value
