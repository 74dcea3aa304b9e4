"""Handing the data over: one flat table, with what was asked beside what was measured."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.studies.store import Store, StoredTask

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
    return polars.concat(frames, how="diagonal_relaxed", rechunk=False)


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
    constants: dict[str, Any] = {"task_id": task.task_id, "method": described.get("method")}
    constants |= {name: _number(v) for name, v in described.get("parameters", {}).items()}
    constants |= {f"solver_{k}": _number(v) for k, v in (described.get("solver") or {}).items()}
    constants["seed"] = described.get("seed")
    # A parameter that is also measured, such as frustration, is what was requested.
    renamed = {(f"requested_{k}" if k in rows else k): v for k, v in constants.items()}
    columns = [polars.lit(value).alias(name) for name, value in renamed.items()]
    batches = store.batches(task)
    counts = [end - first for first, end, _ in batches]
    rows["version"] = np.repeat([version for _, _, version in batches], counts)
    return polars.DataFrame(rows).select(*columns, *rows)


def _number(value: Any) -> Any:
    """A fraction as a float, a list as text, everything else as it is."""
    from fractions import Fraction

    if isinstance(value, str) and "/" in value:
        return float(Fraction(value))
    return str(value) if isinstance(value, list) else value
