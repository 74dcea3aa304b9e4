"""Merging stores that several machines collected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from glasshouse.studies.kinds.kind import Columns, Kind
from glasshouse.studies.ranges import Ranges
from glasshouse.studies.store.store import Store, StoredTask
from glasshouse.studies.store.storefile import StoreError
from glasshouse.studies.study import heading_of
from glasshouse.summaries import Summarised


@dataclass(frozen=True, repr=False)
class Merged(Summarised):
    """What a merge did.

    Attributes:
        new_rows: rows that were added.
        known_rows: rows that were there already, and equal.
        tasks: tasks in the result.
    """

    new_rows: int
    known_rows: int
    tasks: int


def merge(target: str | Path, sources: Iterable[str | Path]) -> Merged:
    """Add the rows of some stores to another one.

    Rows that are in both must be equal but for their seconds: a row is a function of its task and
    index. If they differ, nothing of that store is added.

    Args:
        target: the store to add to; made when it is not there.
        sources: the stores to read; they are not changed.
    """
    new = known = 0
    paths = [Path(source) for source in sources]
    for path in paths:  # before anything is made or changed
        if path.resolve() == Path(target).resolve():
            raise ValueError(f"{path} cannot be merged into itself")
        Store(path).close()
    with Store(target, write=True) as into:
        for path in paths:
            with Store(path) as source:
                added, seen = _add(into, source)
                new, known = new + added, known + seen
        return Merged(new, known, len(into.tasks()))


def _add(into: Store, source: Store) -> tuple[int, int]:
    """Add one store; all of it or nothing."""
    tasks = source.tasks()
    heading_of(source)  # its study is taken over; it must be one
    clashes = _clashes(into, source, tasks)
    if clashes:
        raise StoreError(clashes)
    new = known = 0
    numbers = into.import_tasks(tasks, source.kinds)
    for task in tasks:
        there = into.done(numbers[task.task_id])
        for first, end, version in source.batches(task):
            gaps = there.missing(end, first)
            known += (end - first) - len(gaps)
            for low, high in gaps:
                rows = source.rows(task, below=high, first=low)
                del rows["instance"]
                into.add_batch(numbers[task.task_id], low, rows, version)
                new += high - low
    study = source.noted("study")
    if study is not None and into.noted("study") is None:
        into.note("study", study)
    return new, known


def _clashes(into: Store, source: Store, tasks: list[StoredTask]) -> str | None:
    """The first place where two stores contradict each other, in words."""
    mine = {task.task_id: task for task in into.tasks()}
    for name, kind in source.kinds.items():
        if name in into.kinds and into.kinds[name] != kind:
            return f"{source.path}: its {name} rows have other columns than those of {into.path}"
    for task in tasks:
        if task.task_id not in mine:
            continue
        kind = source.kinds[task.kind]
        for low, high in _overlap(into.done(mine[task.task_id]), source.done(task)):
            ours = into.rows(mine[task.task_id], below=high, first=low)
            theirs = source.rows(task, below=high, first=low)
            place = _first_difference(kind, ours, theirs)
            if place is not None:
                return (
                    f"{source.path}: instance {place} of task {task.task_id[:12]} differs from the "
                    f"one in {into.path}; one of them was not measured by this version"
                )
    return None


def _overlap(mine: Ranges, theirs: Ranges) -> list[tuple[int, int]]:
    return [
        (max(a, c), min(b, d)) for a, b in mine for c, d in theirs if max(a, c) < min(b, d)
    ]  # fmt: skip


def _first_difference(kind: Kind, ours: Columns, theirs: Columns) -> int | None:
    for column in kind.columns:
        if column.name.endswith("_seconds"):  # times differ, like the seconds that all kinds have
            continue
        differs = np.flatnonzero(ours[column.name] != theirs[column.name])
        if len(differs):
            return int(ours["instance"][differs[0]])
    return None
