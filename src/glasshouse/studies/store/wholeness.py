"""Whether the rows of a store are those that its batches tell of."""

from __future__ import annotations

import sqlite3

from glasshouse.studies.kinds.kind import Kind


def faults_of(database: sqlite3.Connection, kind: Kind) -> list[str]:
    """Tasks whose batches and rows do not tell the same, in words."""
    name = kind.name
    query = f"""
        SELECT tasks.task_id,
            (SELECT COALESCE(SUM(count), 0) FROM batches WHERE batches.task = tasks.task),
            (SELECT COUNT(*) FROM {name} WHERE {name}.task = tasks.task)
        FROM tasks WHERE kind = '{name}'
    """
    faults = [
        f"task {task_id[:12]}: batches tell of {told} rows, but there are {there}"
        for task_id, told, there in database.execute(query)
        if told != there
    ]
    # SQLite lets a column hold what is not of its type; such a row does not count.
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
        f"task {task_id[:12]}: the batch from instance {first} on is not complete, or not as typed"
        for task_id, first in database.execute(incomplete)
    ]
    return faults
