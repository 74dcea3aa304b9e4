"""The store: all rows of a study in one SQLite file that a kill cannot tear.

One process writes, the coordinator of a study; any number may read meanwhile (WAL mode). A batch of
rows is one transaction, so that a batch is there as a whole or not at all.

Tables: `meta` (key, value), `tasks` (what was asked), `batches` (which instances are there, with
sums that make `status` fast), and one table for each row kind, keyed (task, instance).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.studies import storefile
from glasshouse.studies.kinds import SECONDS, Column, Kind, Measurable, Stop
from glasshouse.studies.ranges import Ranges
from glasshouse.studies.storefile import StoreError
from glasshouse.version import __version__

_NO_END = 2**63 - 1


@dataclass(frozen=True)
class StoredTask:
    """A task as the store knows it.

    Attributes:
        number: its key in this file.
        task_id: SHA-256 of the canonical form.
        kind: the name of its row kind.
        canonical: what was asked, as JSON.
        stop: the rules of the last run that collected it.
        is_finished: whether that run found that it has enough.
    """

    number: int
    task_id: str
    kind: str
    canonical: str
    stop: Stop
    is_finished: bool = False

    @property
    def description(self) -> dict[str, Any]:
        """The canonical form, parsed."""
        return dict(json.loads(self.canonical))


@dataclass(frozen=True)
class TaskStatus:
    """How far a task is.

    Attributes:
        task: which.
        rows: instances measured.
        counted: how many of them are solved (or whatever the kind counts).
        seconds: computing time.
        versions: the versions of glasshouse that measured them.
    """

    task: StoredTask
    rows: int
    counted: int
    seconds: float
    versions: tuple[str, ...]


class Store:
    """An open store. Use it in a `with` block.

    Args:
        path: the file; made when it is not there and `write` is set.
        write: open for writing; a second writer is refused.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Store(Path(folder.name) / "new.sqlite", write=True) as store:
    ...     store.status()
    []
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path, *, write: bool = False) -> None:
        self.path = Path(path)
        self.write = write
        self._lock: sqlite3.Connection | None = None
        is_new = not self.path.exists() or self.path.stat().st_size == 0
        if is_new and not write:
            raise StoreError(f"{self.path}: no such study; `study run … -o {self.path.name}` first")
        if not is_new:
            storefile.check_header(self.path)
        try:
            if write:
                self._lock = storefile.take_lock(self.path)
                if is_new:
                    storefile.create(self.path)
            self._database = storefile.connect(self.path, write)
            self._kinds = self._read_kinds()
        except sqlite3.Error as error:
            self._release()
            raise storefile.explain(self.path, error, write) from error
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def close(self) -> None:
        """Close the file; a writer also folds its journal into it."""
        self._database.close()  # the last connection checkpoints and removes the journal
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            storefile.lock_path(self.path).unlink(missing_ok=True)
            self._lock = None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; an error of the disk becomes an OSError that says what is safe."""
        if not self.write:
            raise StoreError(f"{self.path} is open for reading only")
        try:
            self._database.execute("BEGIN IMMEDIATE")
            yield self._database
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            self._rollback()
            raise storefile.explain(self.path, error, True) from error
        except BaseException:
            self._rollback()
            raise

    def _rollback(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")

    def add_tasks(self, tasks: Iterable[Measurable]) -> list[StoredTask]:
        """Make sure that tasks and their kinds are there; keep their newest stop rules."""
        tasks = list(tasks)
        known = self._insert_tasks(
            {task.kind.name: task.kind for task in tasks},
            [(t.task_id, t.kind.name, t.canonical(), json.dumps(asdict(t.stop))) for t in tasks],
        )
        return [known[task.task_id] for task in tasks]

    def import_tasks(
        self, tasks: Iterable[StoredTask], kinds: Mapping[str, Kind]
    ) -> dict[str, StoredTask]:
        """Make sure that another store's tasks are there; returns ours by their ids."""
        tasks = list(tasks)
        return self._insert_tasks(
            {task.kind: kinds[task.kind] for task in tasks},
            [(t.task_id, t.kind, t.canonical, json.dumps(asdict(t.stop))) for t in tasks],
        )

    def _insert_tasks(
        self, kinds: Mapping[str, Kind], values: list[tuple[str, str, str, str]]
    ) -> dict[str, StoredTask]:
        with self.transaction() as database:
            for kind in kinds.values():
                self._add_kind(kind)
            database.executemany(
                "INSERT INTO tasks (task_id, kind, canonical, stop) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (task_id) DO UPDATE SET stop = excluded.stop, finished = 0",
                values,
            )
        return {task.task_id: task for task in self.tasks()}

    def _add_kind(self, kind: Kind) -> None:
        """Make the table of a kind, or check that it is the same one."""
        if kind.name in self._kinds:
            if self._kinds[kind.name] != kind:
                raise StoreError(
                    f"{self.path}: its {kind.name} rows have other columns than this version's; "
                    "collect into a new store"
                )
            return
        columns = ", ".join(f"{c.name} {c.storage.upper()} NOT NULL" for c in kind.measured)
        self._database.execute(
            f"CREATE TABLE {kind.name} (task INTEGER NOT NULL REFERENCES tasks, "
            f"instance INTEGER NOT NULL, {columns}, PRIMARY KEY (task, instance)) WITHOUT ROWID"
        )
        text = json.dumps({"columns": [asdict(c) for c in kind.columns], "counted": kind.counted})
        self._database.execute("INSERT INTO meta VALUES (?, ?)", (f"kind {kind.name}", text))
        self._kinds[kind.name] = kind

    def _read_kinds(self) -> dict[str, Kind]:
        kinds = {}
        for key, value in self._database.execute(
            "SELECT key, value FROM meta WHERE key LIKE 'kind %'"
        ):
            name, stored = key.removeprefix("kind "), json.loads(value)
            columns = tuple(Column(**column) for column in stored["columns"])
            kinds[name] = Kind(name, columns, stored["counted"])
        return kinds

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The row kinds in this store."""
        return self._kinds

    def add_batch(
        self, task: StoredTask, first: int, rows: Mapping[str, npt.NDArray[Any]],
        version: str = __version__,
    ) -> None:  # fmt: skip
        """Store rows of instances first, first+1, … of a task in one transaction."""
        kind = self._kinds[task.kind]
        count = len(rows[SECONDS.name])
        checked = kind.check(rows, count)
        counted = int(checked[kind.counted].sum()) if kind.counted else 0
        with self.transaction() as database:
            self._insert_rows(task, np.arange(first, first + count), checked)
            database.execute(
                "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)",
                (task.number, first, count, counted, float(checked[SECONDS.name].sum()), version),
            )

    def _insert_rows(
        self, task: StoredTask, instances: npt.NDArray[np.int64], rows: Mapping[str, Any]
    ) -> None:
        names = [column.name for column in self._kinds[task.kind].measured]
        marks = ", ".join("?" * (len(names) + 2))
        listed = [instances.tolist(), *(rows[name].tolist() for name in names)]
        self._database.executemany(
            f"INSERT INTO {task.kind} (task, instance, {', '.join(names)}) VALUES ({marks})",
            ((task.number, *row) for row in zip(*listed, strict=True)),
        )

    def tasks(self) -> list[StoredTask]:
        """All tasks, in the order in which they came."""
        query = "SELECT task, task_id, kind, canonical, stop, finished FROM tasks ORDER BY task"
        return [
            StoredTask(number, task_id, kind, canonical, Stop(**json.loads(stop)), bool(finished))
            for number, task_id, kind, canonical, stop, finished in self._read(query)
        ]

    def mark_finished(self, tasks: Iterable[StoredTask]) -> None:
        """Remember that tasks have enough by their stop rules."""
        with self.transaction() as database:
            database.executemany(
                "UPDATE tasks SET finished = 1 WHERE task = ?", [(task.number,) for task in tasks]
            )

    def done(self, task: StoredTask) -> Ranges:
        """Which instances of a task are there."""
        query = "SELECT first, first + count FROM batches WHERE task = ? ORDER BY first"
        return Ranges.union(self._read(query, task.number))

    def batches(self, task: StoredTask) -> list[tuple[int, int, str]]:
        """(first, end, version) of every batch of a task."""
        query = "SELECT first, first + count, version FROM batches WHERE task = ? ORDER BY first"
        return list(self._read(query, task.number))

    def rows(
        self, task: StoredTask, columns: Iterable[str] | None = None, *,
        first: int = 0, below: int | None = None,
    ) -> dict[str, npt.NDArray[Any]]:  # fmt: skip
        """Columns of a task's rows as arrays, by ascending instance.

        Args:
            task: which.
            columns: their names, `instance` among them; all when None.
            first: only instances from this one on.
            below: only instances before this one.
        """
        kind = self._kinds[task.kind]
        types: dict[str, Any] = {"instance": np.int64} | {c.name: c.dtype for c in kind.measured}
        names = list(types) if columns is None else list(columns)
        query = f"SELECT {', '.join(names)} FROM {task.kind} WHERE task = ?"
        query += " AND instance >= ? AND instance < ? ORDER BY instance"
        cursor = self._read(query, task.number, first, _NO_END if below is None else below)
        table = np.fromiter(cursor, dtype=[(name, types[name]) for name in names])
        return {name: np.ascontiguousarray(table[name]) for name in names}

    def signed(self, task: StoredTask, column: str, mark: str) -> npt.NDArray[np.int64]:
        """An integer column, negated where the 0/1 column `mark` is 0; in no particular order.

        SQLite joins the numbers to one text, which is five times faster than row by row: what
        statistics of millions of rows are read with.
        """
        known = {c.name for c in self._kinds[task.kind].columns if c.storage == "integer"}
        if not {column, mark} <= known:
            raise ValueError(f"{column} and {mark} are not integer columns of {task.kind}")
        query = f"SELECT GROUP_CONCAT(IIF({mark}, {column}, -{column})) FROM {task.kind}"
        ((text,),) = self._read(query + " WHERE task = ?", task.number)
        return np.fromstring(text or "", dtype=np.int64, sep=",")

    def status(self) -> list[TaskStatus]:
        """How far every task is; reads the batches only, so it is fast at any number of rows."""
        sums: dict[int, tuple[int, int, float, str]] = {
            number: (rows, counted, seconds, versions)
            for number, rows, counted, seconds, versions in self._read(
                "SELECT task, SUM(count), SUM(counted), SUM(seconds), "
                "GROUP_CONCAT(DISTINCT version) FROM batches GROUP BY task"
            )
        }
        status = []
        for task in self.tasks():
            rows, counted, seconds, versions = sums.get(task.number, (0, 0, 0.0, ""))
            parts = tuple(sorted(versions.split(","))) if versions else ()
            status.append(TaskStatus(task, rows, counted, seconds, parts))
        return status

    def note(self, key: str, value: str) -> None:
        """Remember a text under a key, for example the study that was asked for."""
        with self.transaction() as database:
            database.execute(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                (f"note {key}", value),
            )

    def noted(self, key: str) -> str | None:
        """What `note` was told, or None."""
        found = list(self._read("SELECT value FROM meta WHERE key = ?", f"note {key}"))
        return found[0][0] if found else None

    def check(self) -> list[str]:
        """Everything that is wrong with the store, in words; an empty list is a good store."""
        faults = [row[0] for row in self._read("PRAGMA integrity_check") if row[0] != "ok"]
        if faults:
            return faults  # what follows would stumble over the same pages
        for kind in self._kinds:
            faults += self._miscounted(kind)
        for task in self.tasks():
            if task.kind not in self._kinds:
                faults.append(f"task {task.task_id[:12]} has rows of an unknown kind {task.kind}")
        return faults

    def _miscounted(self, kind: str) -> list[str]:
        """Tasks whose batches and rows do not tell the same."""
        query = f"""
            SELECT tasks.task_id,
                (SELECT COALESCE(SUM(count), 0) FROM batches WHERE batches.task = tasks.task),
                (SELECT COUNT(*) FROM {kind} WHERE {kind}.task = tasks.task)
            FROM tasks WHERE kind = '{kind}'
        """
        faults = [
            f"task {task_id[:12]}: batches tell of {told} rows, but there are {there}"
            for task_id, told, there in self._read(query)
            if told != there
        ]
        outside = f"""
            SELECT tasks.task_id, batches.first FROM batches JOIN tasks USING (task)
            WHERE tasks.kind = '{kind}' AND batches.count != (
                SELECT COUNT(*) FROM {kind} WHERE {kind}.task = batches.task
                AND instance >= batches.first AND instance < batches.first + batches.count)
        """
        faults += [
            f"task {task_id[:12]}: the batch from instance {first} on is not complete"
            for task_id, first in self._read(outside)
        ]
        return faults

    def _read(self, query: str, *values: Any) -> Iterator[Any]:
        try:
            yield from self._database.execute(query, values)
        except sqlite3.Error as error:
            raise storefile.explain(self.path, error, self.write) from error
