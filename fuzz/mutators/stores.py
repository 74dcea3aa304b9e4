"""Mutators of stores, which change values through SQLite, or bytes of a page."""

from __future__ import annotations

import json
import sqlite3
from random import Random
from typing import Any

from fuzz.mutators import bqms, texts, trees, words

_NAMES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
)


def mutate(data: bytes, random: Random) -> bytes:
    """Change one value, table or byte of a store."""
    if random.random() < 0.3:
        return bqms.with_number(data, random)
    database = sqlite3.connect(":memory:", isolation_level=None)
    try:
        # There is no write-ahead log in memory; its two header bytes are restored below.
        database.deserialize(data[:18] + b"\x01\x01" + data[20:])
        _change(database, random)
        new = database.serialize()
    except (sqlite3.Error, MemoryError, ValueError, OverflowError, IndexError):
        return bqms.with_number(data, random)
    finally:
        database.close()
    return new[:18] + data[18:20] + new[20:]


def _change(database: sqlite3.Connection, random: Random) -> None:
    tables = [name for (name,) in database.execute(_NAMES)]
    table = random.choice(tables)
    kind = random.random()
    if kind < 0.8:
        _change_value(database, table, random)
    elif kind < 0.9:
        database.execute(f'DELETE FROM "{table}"')
    elif kind < 0.95:
        database.execute(f'DROP TABLE "{table}"')
    else:
        database.execute(
            f'ALTER TABLE "{table}" RENAME TO "{random.choice(["meta", "x", "rows"])}"'
        )


def _change_value(database: sqlite3.Connection, table: str, random: Random) -> None:
    """Change the value in one column of one row."""
    cursor = database.execute(f'SELECT * FROM "{table}"')
    names = [column[0] for column in cursor.description]
    row = random.choice(list(cursor))
    here = random.randrange(len(names))
    same = " AND ".join(f'"{name}" IS ?' for name in names)
    new = _another(row[here], random)
    database.execute(f'UPDATE "{table}" SET "{names[here]}" = ? WHERE {same}', (new, *row))


def _another(value: Any, random: Random) -> Any:
    if isinstance(value, str) and random.random() < 0.7:
        try:
            return trees.dumped(trees.changed(json.loads(value), random)).decode()
        except (ValueError, RecursionError):
            return texts.mutate(value.encode(), random).decode("latin1")
    number = words.number(random)
    if abs(number) >= 2**63:
        return float(min(number, 10**300))
    return random.choice((number, number, str(number), b"\xff\x00", None, 0.5, float("inf")))
