"""Targets that read the TOML files and the stores of studies."""

from __future__ import annotations

from pathlib import Path

from fuzz.promises import or_refused, require, require_one_line
from glasshouse.store import Store
from glasshouse.store.storefile import StoreError
from glasshouse.studies.study import Study, load_study, study_of
from glasshouse.studies.task import Task


def study_file(data: bytes, folder: Path) -> bool:
    """Read a study in TOML, and require that canonical forms reproduce its tasks."""
    path = folder / "input.toml"
    path.write_bytes(data)
    study = or_refused((ValueError,), load_study, path)
    if study is not None:
        _require_tasks(study)
    return study is not None


def _require_tasks(study: Study) -> None:
    require(len(study.tasks) > 0, "a study without tasks")
    for task in study.tasks[:3]:
        again = Task.from_canonical(task.canonical(), task.stop)
        require(again.task_id == task.task_id, "another task after its canonical form")


def store_file(data: bytes, folder: Path) -> bool:
    """Open a store, and read everything that `study show`, `fit` and `check` read."""
    path = folder / "input.sqlite"
    for left in folder.glob("input.sqlite*"):
        left.unlink()
    path.write_bytes(data)
    before = path.read_bytes()
    opened = or_refused((StoreError,), Store, path)
    if opened is None:
        return False
    with opened as store:
        or_refused((StoreError,), store.status)
        faults = or_refused((StoreError,), store.check)
        for fault in faults or ():
            require_one_line(fault)
        for task in or_refused((StoreError,), store.tasks) or ():
            or_refused((StoreError,), store.rows, task)
            or_refused((StoreError,), store.done, task)
            or_refused((StoreError,), store.batches, task)
        or_refused((StoreError, ValueError), study_of, store)
    require(path.read_bytes() == before, "reading changed the store")
    return faults == []
