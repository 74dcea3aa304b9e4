"""Merging of stores from several computers in one transaction: all rows are added, or none.

Two stores can be merged if they have the same purpose, the same settings and the same instances.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from glasshouse.files.text.plain_json import canonical_json
from glasshouse.store import Columns, Kind, Store, StoredTask, StoreError, damaged, storefile
from glasshouse.store.purpose import STUDY, Purpose
from glasshouse.store.ranges import Ranges
from glasshouse.store.records import json_object, short
from glasshouse.studies.study import join_studies
from glasshouse.summaries import Summarised

# Settings that have another name on the command line.
_OPTIONS = {"seconds": "time_limit", "cpu_seconds": "cpu_limit"}
_APART = "keep them in separate stores"
# The settings that distinguish two solvers of one name, as far as a task describes them.
_IDENTITY = ("what", "parameters", "command", "dialect", "fingerprint")


@dataclass(frozen=True, repr=False)
class Merged(Summarised):
    """The result of a merge.

    Attributes:
        new_rows: rows that were added.
        known_rows: rows that the target already contained, with equal values.
        tasks: tasks in the result.
    """

    new_rows: int
    known_rows: int
    tasks: int


def merge(target: str | Path, sources: Iterable[str | Path]) -> Merged:
    """Add all rows, tasks and settings of some stores to a target store.

    Rows that are in both must be equal except for their seconds: a row is a function of its task
    and index. All stores must be for the same purpose: studies of one name, races on the same
    instances under the same rules, RBMs that learn the same data. If anything differs, nothing
    is added. A merge that is killed leaves the target as it was.

    Args:
        target: the store to add to; created if it does not exist.
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
    """Add one store within the transaction; return the numbers of new and of known rows."""
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
    """Return the task with the larger stop rule; finished if a store finished it by that rule."""
    kept = mine if mine.stop.instances >= theirs.stop.instances else theirs
    is_same = mine.stop == theirs.stop
    return replace(kept, is_finished=kept.is_finished or (is_same and theirs.is_finished))


def _refuse_clashes(into: Store, source: Store, tasks: list[StoredTask]) -> None:
    """Raise if two stores have rows that contradict each other."""
    mine = {task.task_id: task for task in into.tasks()}
    for name, kind in source.kinds.items():
        if name in into.kinds and into.kinds[name] != kind:
            raise StoreError(
                f"{source.path}: its {name} rows do not have the same columns as in the target"
            )
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
                    f"{source.path}: instance {place} of task {task.task_id[:12]} differs from "
                    "that in the target; merging would lose one of them"
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


def join_notes(into: Store, source: Store) -> None:
    """Add the settings of the source store to those of the target store.

    Raises:
        StoreError: the stores do not belong together.
    """
    held, theirs = into.purposes, source.purposes
    if not theirs:
        return  # a new store, without any tasks
    if len(theirs) > 1 or held not in ([], theirs):
        raise StoreError(
            f"{source.path} contains {_words(theirs)}, but the target contains "
            f"{_words(held) or 'nothing'}; merge only stores with the same purpose"
        )
    (purpose,) = theirs
    if purpose is STUDY:
        join_studies(into, source)
    else:
        _join_settings(into, source, purpose)
        _refuse_other_tasks(into, source, purpose)


def _words(purposes: list[Purpose]) -> str:
    return " and ".join(purpose.words for purpose in purposes)


def _join_settings(into: Store, source: Store, purpose: Purpose) -> None:
    theirs = _settings(source, purpose)
    if theirs is None:
        return
    mine = _settings(into, purpose)
    joined = theirs if mine is None else _joined(source, purpose, mine, theirs)
    into.note(purpose.note, json.dumps(joined))


def _settings(store: Store, purpose: Purpose) -> dict[str, Any] | None:
    noted = store.noted(purpose.note)
    if noted is None:
        return None
    try:
        settings = json_object(noted, purpose.words)
        members = {} if purpose.members is None else settings.get(purpose.members)
        if not isinstance(members, dict) or not all(isinstance(m, dict) for m in members.values()):
            raise ValueError(f"{purpose.words} has invalid {purpose.members}: {short(members)}")
    except ValueError as fault:
        raise damaged(store.path, fault) from None
    return settings


def _joined(
    source: Store, purpose: Purpose, mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the joint settings of two stores; if a setting may differ, keep the target's value."""
    what = f"{source.path} holds {purpose.words}"
    if mine.get("digest") != theirs.get("digest"):
        suites = short(theirs.get("suite")), short(mine.get("suite"))
        raise StoreError(f"{what} on {suites[0]}, but the target is on {suites[1]} with other "
                         f"instances; {_APART}")  # fmt: skip
    for name in sorted((mine.keys() | theirs.keys()) - purpose.own - {purpose.members}):
        if mine.get(name) != theirs.get(name):
            option = _OPTIONS.get(name, name)
            raise StoreError(
                f"{what} with {option}={short(theirs.get(name))}, but the target has "
                f"{option}={short(mine.get(name))}; {_APART}"
            )
    joined = {**theirs, **mine}
    if purpose.members is not None:
        joined[purpose.members] = theirs[purpose.members] | mine[purpose.members]
        for name, one in theirs[purpose.members].items():
            if _without(one, purpose.own) != _without(joined[purpose.members][name], purpose.own):
                raise StoreError(f"{what}, but {short(name)} is another in the target; {_APART}")
    return joined


def _without(values: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _refuse_other_tasks(into: Store, source: Store, purpose: Purpose) -> None:
    mine, theirs = into.tasks(), source.tasks()
    if not mine or not theirs:
        return
    if purpose.is_suite and _instances(mine) != _instances(theirs):
        raise StoreError(
            f"{source.path} holds {purpose.words} whose instances, or their proofs, differ from "
            f"those of the target; {_APART}"
        )
    if purpose.is_suite and (name := _renamed(mine, theirs)):
        raise StoreError(
            f"{source.path} and the target hold runs of different solvers named {name}; {_APART}"
        )
    if purpose.fixed is not None:
        fixed = [dict(purpose.fixed(task.table("parameters"))) for task in (*mine, *theirs)]
        if any(one != fixed[0] for one in fixed):
            raise StoreError(
                f"{source.path} holds {purpose.words}, but those in the target learn "
                f"other data; {_APART}"
            )


def _instances(tasks: list[StoredTask]) -> set[str]:
    """Return all instances of tasks, each as JSON with everything stated about it."""
    return {canonical_json(task.table("parameters")) for task in tasks}


def _renamed(mine: list[StoredTask], theirs: list[StoredTask]) -> str:
    """Return the name that two different solvers share; empty if there is none."""
    known: dict[str, dict[str, Any]] = {}
    for task in (*mine, *theirs):
        solver = task.table("solver")
        name = short(solver.get("name"))
        described = {key: solver.get(key) for key in _IDENTITY}
        if known.setdefault(name, described) != described:
            return name
    return ""
