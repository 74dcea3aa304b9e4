"""Export of a store's rows as one flat table of parameters and results: CSV, Parquet, frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from glasshouse.extras import optional
from glasshouse.files.text.streams import Place, is_stream, name_of, writing
from glasshouse.problems.ratio import ratio
from glasshouse.problems.validation import INT64_MAX
from glasshouse.solvers.schedule import is_dialled_like_paper
from glasshouse.store import Store, StoredTask, StoreError, one_line
from glasshouse.studies.quantities.hardness import HARDNESS

if TYPE_CHECKING:
    import polars


# What all rows of a task share, and the columns of its rows.
Part: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Any]]


def read_rows(
    store: Store | str | Path,
    rows: str | None = None,
    *,
    frame: Literal["polars", "pandas"] = "polars",
) -> Any:
    """Return the rows of a store as a polars or pandas frame, with the parameters of their tasks.

    The store may be that of a study, a race, a race of samplers, or trained RBMs. Fractions
    such as "1/20" become floats. `solver_…` columns hold the requested settings of the annealer;
    they are "automatic" if the paper's settings do not apply to a family. `realised_…` columns
    hold the settings in use: sweeps per run, the range of β, and how β rises.

    Args:
        store: the file of a store, or an open store.
        rows: the name of the rows; by default hardness, otherwise the first kind in the store.
        frame: the package whose `DataFrame` is returned.

    >>> import tempfile
    >>> from glasshouse.store import Stop, collect
    >>> from glasshouse.studies import Task
    >>> task = Task("random_loops", {"n": 9, "frustration": 0.1, "loops": 4}, stop=Stop(3), seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = collect([task], f"{folder}/tiny.sqlite")
    ...     read_rows(f"{folder}/tiny.sqlite")["solved"].to_list()
    [1, 1, 1]
    """
    package = optional(frame, "a table of a store")
    if not isinstance(store, Store):
        with Store(store) as opened:
            return read_rows(opened, rows, frame=frame)
    parts = [_columns(store, task) for task in _tasks(store, rows)]
    if frame == "pandas":
        return package.DataFrame(list(_lines(parts)), columns=_names(parts))
    try:
        return _polars(parts)
    except package.exceptions.PolarsError as error:
        raise StoreError(
            f"{store.path}: its tasks cannot form a table ({one_line(error)})"
        ) from error


def export_rows(
    store: Store, place: Place, rows: str | None = None, *, overwrite: bool = False
) -> int:
    """Write the rows of a store to a `.csv` or `.parquet` file, or as CSV to a stream.

    The columns are those of `read_rows`. A cell is empty if a task has no such parameter.

    Returns:
        the number of rows.
    """
    return write_parts([_columns(store, task) for task in _tasks(store, rows)], place, overwrite)


def write_parts(parts: Sequence[Part], place: Place, overwrite: bool) -> int:
    """Write a table to a `.csv` or `.parquet` file, or as CSV to a stream; return the row count."""
    format_ = "csv" if is_stream(place) else None
    is_parquet = format_ is None and name_of(place).suffix.lower() == ".parquet"
    frame = _polars(parts) if is_parquet else None
    with writing(place, format_, overwrite=overwrite) as file:
        if frame is not None:
            frame.write_parquet(file)
            return int(frame.height)
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        table = csv.writer(text, lineterminator="\n")
        table.writerow(_names(parts))
        table.writerows(_lines(parts))
        text.detach()
    return sum(len(next(iter(rows.values()))) for _, rows in parts)


def _names(parts: Sequence[Part]) -> list[str]:
    return list(dict.fromkeys(name for shared, rows in parts for name in (*shared, *rows)))


def _lines(parts: Sequence[Part]) -> Iterator[tuple[Any, ...]]:
    """Yield all rows of the table, with one cell for each column name."""
    names = _names(parts)
    for shared, rows in parts:
        cells = [_plain_list(rows[name]) if name in rows else repeat(shared.get(name))
                 for name in names]  # fmt: skip
        yield from zip(*cells, strict=False)


def _plain_list(values: Any) -> list[Any]:
    return values if isinstance(values, list) else values.tolist()


def _polars(parts: Sequence[Part]) -> polars.DataFrame:
    pl = optional("polars", "a table of a store")
    frames = []
    for shared, rows in parts:
        given = [pl.lit(value).alias(name) for name, value in shared.items()]
        frames.append(pl.DataFrame(rows).select(*given, *rows))
    whole: polars.DataFrame = pl.concat(frames, how="diagonal_relaxed", rechunk=False)
    return whole


def _tasks(store: Store, kind: str | None) -> list[StoredTask]:
    """Return all tasks with rows of the given kind; raise if there are none."""
    if kind is None:
        kind = next((k for k in (HARDNESS.name, *store.kinds) if k in store.kinds), HARDNESS.name)
    if kind not in store.kinds:
        known = ", ".join(store.kinds) or "none"
        raise ValueError(f"{store.path} has no {kind} rows; it has {known}")
    tasks = [task for task in store.tasks() if task.kind == kind]
    if not tasks:
        raise ValueError(f"{store.path} has no {kind} rows yet; run the study first")
    return tasks


def _columns(store: Store, task: StoredTask) -> Part:
    """Return the values that all rows of a task share, and the columns of these rows."""
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
    """Return the settings with which instances were solved, as requested and as realised."""
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
    """Convert a value for a cell: fractions to floats, lists and integers beyond int64 to text."""
    if isinstance(value, str) and "/" in value:
        try:
            return float(ratio(value, "it"))
        except (ValueError, OverflowError):
            return value
    is_large = isinstance(value, int) and abs(value) > INT64_MAX
    return str(value) if is_large or isinstance(value, (list, dict)) else value
