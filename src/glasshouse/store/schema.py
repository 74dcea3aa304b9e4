"""The tables of a store, and a check that a file contains exactly these tables.

A SQLite file from an untrusted source can contain views, triggers, expressions and tables of other
shapes under our names. SQLite keeps the statement that created each of them: a store is accepted
only if every statement is exactly ours. `faults_of` compares the rows of a store with its
batches.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from typing import get_args

from glasshouse.store.records import fields_of, json_object, short
from glasshouse.store.row_types import Column, Kind, Storage

TABLES = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "tasks": """CREATE TABLE tasks (
    task INTEGER PRIMARY KEY, task_id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
    canonical TEXT NOT NULL, stop TEXT NOT NULL, finished INTEGER NOT NULL DEFAULT 0
)""",
    "batches": """CREATE TABLE batches (
    task INTEGER NOT NULL REFERENCES tasks, first INTEGER NOT NULL, count INTEGER NOT NULL,
    counted INTEGER NOT NULL, seconds REAL NOT NULL, version TEXT NOT NULL,
    PRIMARY KEY (task, first)
) WITHOUT ROWID""",
}
# The indices that SQLite creates by itself for `UNIQUE`.
_INDEX = ("index", "sqlite_autoindex_tasks_1", "tasks", None)
_KIND = "kind "
# Realised values of a task are stored in `meta` under its id: older stores have none, and need no
# new tables to get them.
REALISED = "realised "


def table_of(kind: Kind) -> str:
    """Return the SQL statement that creates the table of a kind of row."""
    columns = ", ".join(f"{c.name} {c.storage.upper()} NOT NULL" for c in kind.measured)
    return (
        f"CREATE TABLE {kind.name} (task INTEGER NOT NULL REFERENCES tasks, "
        f"instance INTEGER NOT NULL, {columns}, PRIMARY KEY (task, instance)) WITHOUT ROWID"
    )


def entry_of(kind: Kind) -> tuple[str, str]:
    """Return the key and the value that describe a kind of row in the table `meta`."""
    text = json.dumps({"columns": [asdict(c) for c in kind.columns], "counted": kind.counted})
    return _KIND + kind.name, text


def read_kinds(database: sqlite3.Connection) -> dict[str, Kind]:
    """Check a store's tables, and return its kinds of rows; a ValueError states what is wrong."""
    there = _tables(database)
    _compare(there, TABLES)
    kinds = {}
    last = ""
    for key, value in database.execute("SELECT key, value FROM meta ORDER BY key"):
        if not isinstance(key, str) or key == last:
            raise ValueError(f"the table meta has the invalid or repeated key {short(key)}")
        last = key
        if key.startswith(_KIND):
            kind = _kind(key.removeprefix(_KIND), value)
            kinds[kind.name] = kind
    _compare(there, TABLES | {kind.name: table_of(kind) for kind in kinds.values()}, whole=True)
    return kinds


def _tables(database: sqlite3.Connection) -> dict[str, str]:
    """Return the SQL statement of each table; raise if the file contains anything unexpected."""
    tables = {}
    indices = 0
    for entry in database.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"):
        if entry == _INDEX and not indices:
            indices += 1
            continue
        kind, name, table, text = entry
        if kind != "table" or name != table:
            raise ValueError(f"the {short(kind)} {short(name)} is not part of a glasshouse store")
        tables[name] = text
    return tables


def _compare(there: Mapping[str, str], expected: Mapping[str, str], whole: bool = False) -> None:
    for name, text in expected.items():
        if name not in there:
            raise ValueError(f"the table {name} is missing")
        if there[name] != text:
            raise ValueError(f"the table {name} is not defined as in a glasshouse store")
    foreign = sorted(there.keys() - expected.keys(), key=str)
    if whole and foreign:
        raise ValueError(f"the table {short(foreign[0])} is not part of a glasshouse store")


def _kind(name: str, value: object) -> Kind:
    """Return the kind that `meta` describes, and check its names, because SQL will contain them."""
    stored = json_object(value, f"the row kind {short(name)}")
    columns, counted = fields_of(stored, "columns", "counted")
    if not isinstance(columns, list) or not isinstance(counted, (str, type(None))):
        raise ValueError(f"the row kind {short(name)} has invalid columns: {short(columns)}")
    return Kind(name, tuple(_column(column) for column in columns), counted)


def _column(value: object) -> Column:
    name, storage, meaning = fields_of(value, "name", "storage", "meaning")
    if not (isinstance(name, str) and isinstance(meaning, str)):
        raise ValueError(f"a column's name or meaning is not a string: {short(value)}")
    if storage not in get_args(Storage):
        raise ValueError(f"the column {short(name)} has the unknown type {short(storage)}")
    return Column(name, storage, meaning)


def faults_of(database: sqlite3.Connection, kind: Kind) -> list[str]:
    """Return a line of text for each task or batch that disagrees with its rows."""
    name = kind.name
    query = f"""
        SELECT tasks.task_id,
            (SELECT COALESCE(SUM(count), 0) FROM batches WHERE batches.task = tasks.task),
            (SELECT COUNT(*) FROM {name} WHERE {name}.task = tasks.task)
        FROM tasks WHERE kind = '{name}'
    """
    faults = [
        f"task {task_id[:12]}: the batches list {told} rows, but the store has {there}"
        for task_id, told, there in database.execute(query)
        if told != there
    ]
    # SQLite allows a value of another type in a column; such a row does not count.
    typed = " AND ".join(f"typeof({c.name}) = '{c.storage}'" for c in kind.measured)
    if kind.counted is not None:
        typed += f" AND {kind.counted} IN (0, 1)"
    incomplete = f"""
        SELECT tasks.task_id, batches.first FROM batches JOIN tasks USING (task)
        WHERE tasks.kind = '{name}' AND batches.count != (
            SELECT COUNT(*) FROM {name} WHERE {name}.task = batches.task
            AND instance >= batches.first AND instance < batches.first + batches.count AND {typed})
    """
    faults += [
        f"task {task_id[:12]}: the batch at instance {first} is incomplete or has wrong types"
        for task_id, first in database.execute(incomplete)
    ]
    return faults
