"""Handing the data over: one flat table, with what was asked beside what was measured."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.landscape.ratio import ratio
from glasshouse.problems.validation import INT64_MAX
from glasshouse.studies.store.store import Store, StoredTask
from glasshouse.studies.store.storefile import StoreError, one_line

if TYPE_CHECKING:
    import polars


def to_frame(store: Store, kind: str = "hardness") -> polars.DataFrame:
    """All rows of a kind with their tasks' parameters and solver settings as columns.

    Fractions such as "1/20" become floats; `solver_…` columns hold the annealer's settings.

    Args:
        store: an open store.
        kind: which rows.
    """
    import polars

    if kind not in store.kinds:
        known = ", ".join(store.kinds) or "none"
        raise ValueError(f"{store.path} has no {kind} rows; it has {known}")
    frames = [_frame(store, task) for task in store.tasks() if task.kind == kind]
    if not frames:
        raise ValueError(f"{store.path} has no {kind} rows yet; run the study first")
    try:
        return polars.concat(frames, how="diagonal_relaxed", rechunk=False)
    except polars.exceptions.PolarsError as error:
        raise StoreError(f"{store.path}: its tasks make no table ({one_line(error)})") from error


def export_parquet(store: Store, path: str | Path, kind: str = "hardness") -> int:
    """Write all rows of a kind to a Parquet file; returns how many."""
    frame = to_frame(store, kind)
    place = Path(path)
    fresh = place.with_name(f"{place.name}.{os.getpid()}.new")
    try:
        frame.write_parquet(fresh)
        fresh.replace(place)
    finally:
        fresh.unlink(missing_ok=True)
    return int(frame.height)


def _frame(store: Store, task: StoredTask) -> polars.DataFrame:
    import polars

    rows = store.rows(task)
    described = task.description
    constants = {"task_id": task.task_id, "method": described.get("method")}
    constants |= task.table("parameters")
    constants |= {f"solver_{name}": value for name, value in task.table("solver").items()}
    constants["seed"] = described.get("seed")
    batches = store.batches(task)
    counts = [end - first for first, end, _ in batches]
    versions = np.repeat(np.array([version for _, _, version in batches], dtype=object), counts)
    rows["version"] = versions[: len(rows["instance"])]  # a writer may have added a batch meanwhile
    columns = []
    for name, value in constants.items():
        while name in rows:
            name = f"requested_{name}"  # such as frustration, which is also measured
        columns.append(polars.lit(_number(value)).alias(name))
    return polars.DataFrame(rows).select(*columns, *rows)


def _number(value: Any) -> Any:
    """A fraction as a float; lists, and numbers that no column can hold, as text."""
    if isinstance(value, str) and "/" in value:
        try:
            return float(ratio(value, "it"))
        except (ValueError, OverflowError):
            return value
    is_large = isinstance(value, int) and abs(value) > INT64_MAX
    return str(value) if is_large or isinstance(value, (list, dict)) else value
