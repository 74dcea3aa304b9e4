"""A store made to harm: the rows of a race share the pages of one long text."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.reports.pretended import race_store

PAGE = 4096
SHORT = 20_000
LONG = SHORT + 10 * (PAGE - 4)  # the same length in the tree, because both overflow


def store_of_shared_pages(path: Path, rows: int) -> int:
    """Make such a store; returns the bytes that its texts seem to have."""
    race_store(path, 1, rows)
    database = sqlite3.connect(path, isolation_level=None)
    names = [column[1] for column in database.execute("PRAGMA table_info(race)")]
    others = ", ".join(f"{name} = (SELECT {name} FROM race WHERE task = 1)" for name in names[2:])
    database.execute(f"UPDATE race SET {others}")
    for task in range(1, rows + 1):
        text = "x" * (LONG if task == 1 else SHORT)
        database.execute("UPDATE race SET reason = ? WHERE task = ?", (text, task))
    database.execute("VACUUM")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    query = "SELECT rootpage FROM sqlite_master WHERE name = 'race'"
    ((root,),) = database.execute(query).fetchall()
    database.close()
    data = bytearray(path.read_bytes())
    cells = _cells(data, root)
    (first,) = [cell for cell in cells if _number(data, cell)[0] > LONG]
    size, start = _number(data, first)
    inner = _inner(size)
    chain = data[start + inner : start + inner + 4]
    for cell in cells:
        own, start = _number(data, cell)
        if own > LONG:
            continue
        assert _inner(own) == inner
        data[cell:start] = _three_bytes(size)
        length, place = _number(data, start)
        while place < start + length:  # the head of the record, a number for each column
            kind, following = _number(data, place)
            if kind == 13 + 2 * SHORT:
                data[place:following] = _three_bytes(13 + 2 * LONG)
            place = following
        data[start + inner : start + inner + 4] = chain
    path.write_bytes(data)
    return rows * LONG


def _cells(data: bytearray, page: int) -> list[int]:
    """Where the cells of an index tree begin, after their left children."""
    start, found = (page - 1) * PAGE, []
    is_inner = data[start] == 2
    head = start + (12 if is_inner else 8)
    for k in range(int.from_bytes(data[start + 3 : start + 5], "big")):
        cell = start + int.from_bytes(data[head + 2 * k : head + 2 * k + 2], "big")
        if is_inner:
            found += _cells(data, int.from_bytes(data[cell : cell + 4], "big"))
            cell += 4
        found.append(cell)
    if is_inner:
        found += _cells(data, int.from_bytes(data[start + 8 : start + 12], "big"))
    return found


def _number(data: bytearray, place: int) -> tuple[int, int]:
    """A number of SQLite, and where it ends; none here has more than three bytes."""
    value = 0
    while True:
        value = value << 7 | data[place] & 127
        place += 1
        if data[place - 1] < 128:
            return value, place


def _three_bytes(value: int) -> bytes:
    return bytes([128 | value >> 14, 128 | value >> 7 & 127, value & 127])


def _inner(size: int) -> int:
    """How many bytes of so large a record lie in the tree, by SQLite's file format."""
    most, least = (PAGE - 12) * 64 // 255 - 23, (PAGE - 12) * 32 // 255 - 23
    fitting = least + (size - least) % (PAGE - 4)
    return size if size <= most else fitting if fitting <= most else least
