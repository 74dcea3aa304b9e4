"""Merging stores that several computers collected: all of it in one transaction, or nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from glasshouse.studies.kinds.kind import Columns, Kind
from glasshouse.studies.ranges import Ranges
from glasshouse.studies.store import storefile
from glasshouse.studies.store.joining import join_notes
from glasshouse.studies.store.store import Store, StoredTask
from glasshouse.studies.store.storefile import StoreError
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
    """Add everything that some stores hold to another one: rows, tasks and settings.

    Rows that are in both must be equal but for their seconds: a row is a function of its task and
    index. All stores must be for the same purpose: studies of one name, races on the same instances
    under the same rules, machines that learn the same data. If anything differs, nothing is added.
    A merge that is killed leaves the target as it was.

    Args:
        target: the store to add to; made when it is not there.
        sources: the stores to read; they are not changed.
    """
    paths = [Path(source) for source in sources]
    for path in paths:  # before anything is made or changed
        if path.resolve() == Path(target).resolve():
            raise ValueError(f"{path} cannot be merged into itself")
        Store(path).close()
    if storefile.is_there(Path(target)):
        return _merged(Path(target), paths)
    with storefile.new_file(Path(target)) as fresh:
        return _merged(fresh, paths)


def _merged(target: Path, paths: Iterable[Path]) -> Merged:
    new = known = 0
    with Store(target, write=True) as into, into.transaction():
        for path in paths:
            with Store(path) as source:
                added, seen = _add(into, source)
                new, known = new + added, known + seen
        return Merged(new, known, len(into.tasks()))


def _add(into: Store, source: Store) -> tuple[int, int]:
    """Add one store, as a part of the transaction of all."""
    join_notes(into, source)
    tasks, mine = source.tasks(), {task.task_id: task for task in into.tasks()}
    _refuse_clashes(into, source, tasks)
    new = known = 0
    asked = [_larger(task, mine.get(task.task_id, task)) for task in tasks]
    numbers = into.import_tasks(asked, source.kinds)
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
    finished = {task.task_id for task in asked if task.is_finished}
    into.mark_finished(numbers[task_id] for task_id in finished)
    return new, known


def _larger(theirs: StoredTask, mine: StoredTask) -> StoredTask:
    """A task with the stop rule that asks for more instances, finished if one run found it so."""
    kept = mine if mine.stop.instances >= theirs.stop.instances else theirs
    is_same = mine.stop == theirs.stop
    return replace(kept, is_finished=kept.is_finished or (is_same and theirs.is_finished))


def _refuse_clashes(into: Store, source: Store, tasks: list[StoredTask]) -> None:
    """Refuse two stores whose rows contradict each other."""
    mine = {task.task_id: task for task in into.tasks()}
    for name, kind in source.kinds.items():
        if name in into.kinds and into.kinds[name] != kind:
            raise StoreError(f"{source.path}: its {name} rows have other columns than those before")
    for task in tasks:
        if task.task_id not in mine:
            continue
        kind = source.kinds[task.kind]
        for low, high in _overlap(into.done(mine[task.task_id]), source.done(task)):
            ours = into.rows(mine[task.task_id], below=high, first=low)
            theirs = source.rows(task, below=high, first=low)
            place = _first_difference(kind, ours, theirs)
            if place is not None:
                raise StoreError(
                    f"{source.path}: instance {place} of task {task.task_id[:12]} differs from the "
                    "one in the target; one of them would be lost"
                )


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
