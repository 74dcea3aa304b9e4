"""The store: all rows of a study in one crash-safe SQLite file.

One process, the coordinator of a study, writes; others may read (WAL mode). A batch of rows is one
transaction, so it is stored completely or not at all. Tables: `meta` (key, value), `tasks`,
`batches` (stored instances, and their sums), and one for each row kind, keyed (task, instance).
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import INT64_MAX
from glasshouse.store import records, schema
from glasshouse.store.database import OpenDatabase
from glasshouse.store.purpose import Purpose, purposes_of, refuse_other
from glasshouse.store.ranges import Ranges
from glasshouse.store.records import BatchRecord
from glasshouse.store.records import StoredTask as StoredTask
from glasshouse.store.records import TaskStatus as TaskStatus
from glasshouse.store.row_types import SECONDS, Column, Kind, Measurable
from glasshouse.store.storefile import StoreError, one_line
from glasshouse.summaries import Summarised, SummaryTable
from glasshouse.version import __version__

# Numbers that are joined into one text at a time.
_JOINED = 1 << 20
_TASKS = f"""SELECT task, task_id, kind, canonical, stop, finished,
    (SELECT value FROM meta WHERE key = '{schema.REALISED}' || task_id) FROM tasks ORDER BY task"""
_BATCHES = "SELECT task, first, count, counted, seconds, version FROM batches"
_INSTANCE = Column("instance", "integer", "its index")


class Store(OpenDatabase, Summarised):
    """An open store. Use it in a `with` block.

    Args:
        path: the file; created if it does not exist and `write` is set.
        write: open for writing; a second writer is refused.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Store(Path(folder.name) / "new.sqlite", write=True) as store:
    ...     store.status()
    []
    >>> folder.cleanup()

    The store of a collected study:

    >>> from glasshouse.store import Stop, collect
    >>> from glasshouse.studies import Task
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "study.sqlite"
    >>> parameters = {"n": 6, "frustration": "1/5", "loops": 4}
    >>> asked = Task("random_loops", parameters, stop=Stop(3), seed=1)
    >>> _ = collect([asked], path)
    >>> store = Store(path)
    >>> store.summary()
    '...study.sqlite: 3 instances, 1 of 1 tasks done'
    >>> task = store.tasks()[0]
    >>> store.rows(task, ["instance", "solved"])
    {'instance': array([0, 1, 2]), 'solved': array([1, 1, 1])}
    >>> store.done(task), store.batches(task)[0][0]
    (Ranges(parts=((0, 3),)), 0)
    >>> store.signed(task, "sweeps", "solved").shape, list(store.kinds), store.check()
    ((3,), ['hardness'], [])
    >>> store.copy_to(Path(folder.name) / "copy.sqlite")
    >>> store.purposes[0].words, store.reserve(store.purposes[0])
    ('a study', None)
    >>> store.close()

    The steps of collecting and merging:

    >>> with Store(Path(folder.name) / "mine.sqlite", write=True) as mine:
    ...     stored = mine.add_tasks([asked])
    ...     mine.add_batch(stored[0], 0, asked.measure(0, 3))
    ...     mine.mark_finished(stored)
    ...     mine.note("title", "small")
    ...     mine.noted("title"), mine.status()[0].rows
    ('small', 3)
    >>> with Store(path) as old, Store(Path(folder.name) / "merged.sqlite", write=True) as new:
    ...     list(new.import_tasks(old.tasks(), old.kinds)) == [asked.task_id]
    ...     with new.transaction() as connection:
    ...         connection.execute("SELECT count(*) FROM tasks").fetchone()
    True
    (1,)
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path, *, write: bool = False) -> None:
        super().__init__(Path(path), schema.TABLES.values(), write=write)
        try:
            with self._snapshot():
                self._kinds = schema.read_kinds(self._database)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction; if it fails, also undo changes to the known kinds of rows."""
        known = dict(self._kinds)
        try:
            with super().transaction() as database:
                yield database
        except BaseException:
            self._kinds = known
            raise

    def summary(self) -> str:
        """Return a human-readable line about the number of instances and tasks."""
        parts = self.status()
        rows, done = sum(part.rows for part in parts), sum(part.task.is_finished for part in parts)
        return f"{self.path}: {rows} instances, {done} of {len(parts)} tasks done"

    def _summary_table(self) -> SummaryTable:
        """Return a table of the contents, or only the path if the store is closed."""
        try:
            return super()._summary_table()
        except StoreError as error:
            return SummaryTable(above=[str(error)])

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, {'writing' if self.write else 'reading'})"

    def add_tasks(self, tasks: Iterable[Measurable]) -> list[StoredTask]:
        """Add tasks and their kinds if they are missing; store the newest stop rules of all tasks.

        The realised values of a task are computed when it is first added, and stored.
        """
        tasks = list(tasks)
        known = {task.task_id for task in self.tasks() if task.realised is not None}
        realised = {t.task_id: t.realise() for t in tasks if t.task_id not in known}
        stored = self._insert_tasks(
            {task.kind.name: task.kind for task in tasks},
            [(t.task_id, t.kind.name, t.canonical(), json.dumps(asdict(t.stop))) for t in tasks],
            realised,
        )
        return [stored[task.task_id] for task in tasks]

    def import_tasks(
        self, tasks: Iterable[StoredTask], kinds: Mapping[str, Kind]
    ) -> dict[str, StoredTask]:
        """Add another store's tasks if they are missing; return this store's copies by task id."""
        tasks = list(tasks)
        return self._insert_tasks(
            {task.kind: kinds[task.kind] for task in tasks},
            [(t.task_id, t.kind, t.canonical, json.dumps(asdict(t.stop))) for t in tasks],
            {t.task_id: t.realised for t in tasks if t.realised is not None},
        )

    def _insert_tasks(
        self, kinds: Mapping[str, Kind], values: list[tuple[str, str, str, str]],
        realised: Mapping[str, Mapping[str, Any]],
    ) -> dict[str, StoredTask]:  # fmt: skip
        with self.transaction() as database:
            held = self.purposes
            for purpose in purposes_of(kinds, lambda note: False):
                refuse_other(self.path, held, purpose)
            for kind in kinds.values():
                self._add_kind(kind)
            database.executemany(
                "INSERT INTO tasks (task_id, kind, canonical, stop) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (task_id) DO UPDATE SET stop = excluded.stop, finished = 0",
                values,
            )
            database.executemany(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING",
                [(schema.REALISED + task, json.dumps(what)) for task, what in realised.items()],
            )
        return {task.task_id: task for task in self.tasks()}

    def _add_kind(self, kind: Kind) -> None:
        """Create the table of a kind, or check that an existing kind is identical."""
        if kind.name in self._kinds:
            if self._kinds[kind.name] != kind:
                raise StoreError(
                    f"{self.path}: its {kind.name} rows do not have this version's columns; "
                    "collect into a new store"
                )
            return
        self._database.execute(schema.table_of(kind))
        self._database.execute("INSERT INTO meta VALUES (?, ?)", schema.entry_of(kind))
        self._kinds[kind.name] = kind

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The row kinds in this store."""
        return self._kinds

    def add_batch(
        self, task: StoredTask, first: int, rows: Mapping[str, npt.NDArray[Any]],
        version: str = __version__,
    ) -> None:  # fmt: skip
        """Store the rows of instances first, first+1, … of a task in one transaction."""
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
        """Return all tasks, in the order in which they were added."""
        with self._snapshot():
            return self._tasks()

    def _tasks(self) -> list[StoredTask]:
        rows = records.ascending(self._database.execute(_TASKS), 1, "tasks")
        tasks = [*map(records.task_record, records.fitting(rows, self._content_size(), "tasks"))]
        if any(task.kind not in self._kinds for task in tasks):
            self._kinds = schema.read_kinds(self._database)  # a writer may have added some
        for task in tasks:
            if task.kind not in self._kinds:
                raise ValueError(f"task {task.task_id[:12]} has an unknown kind of rows")
        return tasks

    def mark_finished(self, tasks: Iterable[StoredTask]) -> None:
        """Record that tasks have enough instances according to their stop rules."""
        with self.transaction() as database:
            database.executemany(
                "UPDATE tasks SET finished = 1 WHERE task = ?", [(task.number,) for task in tasks]
            )

    def done(self, task: StoredTask) -> Ranges:
        """Return the stored instances of a task."""
        with self._snapshot():
            return self._done(task)

    def _done(self, task: StoredTask) -> Ranges:
        return Ranges.union((batch.first, batch.end) for batch in self._batches(task))

    def batches(self, task: StoredTask) -> list[tuple[int, int, str]]:
        """Return (first, end, version) of every batch of a task."""
        with self._snapshot():
            return [(batch.first, batch.end, batch.version) for batch in self._batches(task)]

    def _batches(self, task: StoredTask) -> list[BatchRecord]:
        query = f"{_BATCHES} WHERE task = ? ORDER BY first"
        found = [records.batch_record(row) for row in self._database.execute(query, (task.number,))]
        records.refuse_overlap(found)
        return found

    def rows(
        self, task: StoredTask, columns: Iterable[str] | None = None, *,
        first: int = 0, below: int | None = None,
    ) -> dict[str, npt.NDArray[Any]]:  # fmt: skip
        """Return columns of a task's rows as arrays, in ascending order of instance.

        Args:
            task: the task.
            columns: the names of the columns, which may include `instance`; None returns all.
            first: the first instance to return.
            below: return only instances below this one.
        """
        kind = self._kinds[task.kind]
        types = {column.name: column for column in (_INSTANCE, *kind.measured)}
        names = list(types) if columns is None else list(columns)
        unknown = [name for name in names if name not in types]
        if unknown:
            raise ValueError(f"{unknown[0]} is not a column of {task.kind}; use {', '.join(types)}")
        read = list(dict.fromkeys(["instance", *names]))
        # Values that do not have the type of their column are left out, and noticed below.
        typed = "".join(f" AND typeof({name}) = '{types[name].storage}'" for name in read)
        query = f"SELECT {', '.join(read)} FROM {task.kind} WHERE task = ? AND instance >= ? "
        query += f"AND instance < ?{typed} ORDER BY instance"
        end = INT64_MAX if below is None else below
        with self._snapshot():
            if any(types[name].storage == "text" for name in read):
                self._refuse_shared_pages()
            expected = self._expected(task, first, end)
            cursor = self._database.execute(query, (task.number, first, end))
            rows = itertools.islice(cursor, len(expected) + 1)
            table = np.fromiter(rows, dtype=[(name, types[name].dtype) for name in read])
            if not np.array_equal(table["instance"], expected):
                raise ValueError(
                    f"the rows of task {task.task_id[:12]} differ from those that its batches list"
                )
            found = {name: np.ascontiguousarray(table[name]) for name in names}
            kind.check_values(found)
        return found

    def signed(self, task: StoredTask, column: str, mark: str) -> npt.NDArray[np.int64]:
        """Return a column of positive integers in any order, each negated if its `mark` is 0.

        SQLite joins the numbers into one text, which is five times faster than row by row.
        Statistics of millions of rows are read in this way.
        """
        known = {c.name for c in self._kinds[task.kind].columns if c.storage == "integer"}
        if not {column, mark} <= known:
            raise ValueError(f"{column} and {mark} must be integer columns of {task.kind}")
        query = f"""
            SELECT GROUP_CONCAT(CASE WHEN {mark} = 1 AND {column} > 0 THEN {column}
                                     WHEN {mark} = 0 AND {column} > 0 THEN -{column} END)
            FROM {task.kind} WHERE task = ? AND instance >= ? AND instance < ?
        """
        found = [np.empty(0, np.int64)]
        with self._snapshot():
            expected = self._expected(task, 0, INT64_MAX)
            for at in range(0, len(expected), _JOINED):
                part = expected[at : at + _JOINED]
                keys = (task.number, int(part[0]), int(part[-1]) + 1)
                ((text,),) = self._database.execute(query, keys)
                found.append(records.whole_numbers(text, len(part), f"{column} or {mark}"))
        return np.concatenate(found)

    def _expected(self, task: StoredTask, first: int, end: int) -> npt.NDArray[np.int64]:
        """Return the instances of a range that the batches list; raise if the file is too small."""
        parts = [(max(low, first), min(high, end)) for low, high in self._done(task)]
        told = sum(max(high - low, 0) for low, high in parts)
        # A row takes a pointer, two lengths, and one byte each for its columns and two keys.
        least = 6 + len(self._kinds[task.kind].measured)
        if told > self._content_size() // least:
            raise ValueError(f"the batches list {told} rows, more than the file can contain")
        return np.concatenate([np.empty(0, np.int64), *(np.arange(*part) for part in parts)])

    def status(self) -> list[TaskStatus]:
        """Return the progress of every task; this is fast because only the batches are read."""
        of_task: dict[int, list[BatchRecord]] = {}
        with self._snapshot():
            tasks = self._tasks()
            rows = self._database.execute(f"{_BATCHES} ORDER BY task, first")
            for row in records.ascending(rows, 2, "batches"):
                batch = records.batch_record(row)
                of_task.setdefault(batch.task, []).append(batch)
            for batches in of_task.values():
                records.refuse_overlap(batches)
        return [TaskStatus.of(task, of_task.get(task.number, [])) for task in tasks]

    @property
    def purposes(self) -> list[Purpose]:
        """The purposes of the store: none for a new store, otherwise usually one."""
        return purposes_of(self._kinds, lambda note: self.noted(note) is not None)

    def reserve(self, purpose: Purpose) -> str | None:
        """Reserve the store for a purpose; return its stored settings, or None if there are none.

        Raises:
            StoreError: the store is for something else.
        """
        refuse_other(self.path, self.purposes, purpose)
        return self.noted(purpose.note)

    def note(self, key: str, value: str) -> None:
        """Store a text under a key, for example the text of a study."""
        records.text(value, f"the note {key}")
        with self.transaction() as database:
            database.execute(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                (f"note {key}", value),
            )

    def noted(self, key: str) -> str | None:
        """Return the text that `note` stored under a key; None if there is no such text."""
        with self._snapshot():
            query = "SELECT value FROM meta WHERE key = ?"
            found = self._database.execute(query, (f"note {key}",)).fetchone()
            return None if found is None else records.text(found[0], f"the note {key}")

    def check(self) -> list[str]:
        """Return a description of each fault in the store; empty if the store is intact."""
        try:
            with self._snapshot():
                query = "PRAGMA integrity_check"
                found = [row[0] for row in self._database.execute(query)]
                faults = [one_line(fault) for fault in found if fault != "ok"]
                if faults:
                    return faults  # later checks would fail on the same pages
                self._tasks()
                for kind in self._kinds.values():
                    faults += schema.faults_of(self._database, kind)
            self.status()
        except StoreError as error:
            faults = [str(error)]
        return faults
