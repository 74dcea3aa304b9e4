"""The file under a store: made whole, checked before it is touched, written by one process."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

APPLICATION_ID = 0x476C6173  # "Glas", in the file's header: see `file` and PRAGMA application_id
SCHEMA_VERSION = 1
_HEADER_SIZE = 100
_MAGIC = b"SQLite format 3\x00"

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tasks (
    task INTEGER PRIMARY KEY, task_id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
    canonical TEXT NOT NULL, stop TEXT NOT NULL, finished INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE batches (
    task INTEGER NOT NULL REFERENCES tasks, first INTEGER NOT NULL, count INTEGER NOT NULL,
    counted INTEGER NOT NULL, seconds REAL NOT NULL, version TEXT NOT NULL,
    PRIMARY KEY (task, first)
) WITHOUT ROWID;
"""


class StoreError(ValueError):
    """A file that is not a store, or not one that this version can use."""


def check_header(path: Path) -> None:
    """Refuse a file that is not ours before SQLite touches it."""
    with path.open("rb") as file:
        header = file.read(_HEADER_SIZE)
    if len(header) < _HEADER_SIZE or not header.startswith(_MAGIC):
        raise StoreError(f"{path} is not a glasshouse store; nothing was changed")
    version = int.from_bytes(header[60:64], "big")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise StoreError(
            f"{path} is a SQLite file of another program, not a glasshouse store; nothing was "
            "changed"
        )
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was written by a newer glasshouse (store version {version}, this one knows "
            f"{SCHEMA_VERSION}); upgrade to read it; nothing was changed"
        )


def lock_path(path: Path) -> Path:
    """The empty file beside a store that stands for its writer."""
    return path.with_name(path.name + ".writer")


def take_lock(path: Path) -> sqlite3.Connection:
    """Be the one writer, for as long as this process lives: SQLite's lock dies with it."""
    lock = sqlite3.connect(lock_path(path), timeout=0, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        if "locked" not in str(error):
            raise
        raise StoreError(
            f"{path} is being written by another process; wait for it, or use another file"
        ) from None
    return lock


def create(path: Path) -> None:
    """Make an empty store beside its place and move it there, so that it is never half made."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    try:
        database = sqlite3.connect(fresh, isolation_level=None)
        try:
            database.executescript(
                f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = "
                f"{SCHEMA_VERSION}; {_SCHEMA} COMMIT; PRAGMA journal_mode = WAL;"
            )
        finally:
            database.close()
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def connect(path: Path, write: bool) -> sqlite3.Connection:
    """Open a checked store; readers get a connection that cannot write."""
    if write:
        database = sqlite3.connect(path, isolation_level=None, timeout=30)
        database.execute("PRAGMA synchronous = NORMAL")  # safe against kills in WAL mode
        database.execute("PRAGMA foreign_keys = ON")
        return database
    place = path.resolve().as_uri()
    may_write = os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)
    # The last connection tidies WAL's files away, but only if it could write.
    mode = "rw" if may_write else "ro"
    database = sqlite3.connect(f"{place}?mode={mode}", uri=True, isolation_level=None, timeout=30)
    try:
        database.execute("PRAGMA query_only = ON")
        database.execute("SELECT COUNT(*) FROM meta").fetchone()
    except sqlite3.OperationalError:
        database.close()
        journal = path.with_name(path.name + "-wal")
        if may_write or (journal.exists() and journal.stat().st_size):
            raise
        # A folder that cannot be written has no room for WAL's index; nobody writes there either.
        database = sqlite3.connect(f"{place}?immutable=1", uri=True, isolation_level=None)
    return database


def explain(path: Path, error: sqlite3.Error, write: bool) -> Exception:
    """SQLite's error in our voice: what happened, what is safe, what to do."""
    text = str(error)
    if isinstance(error, sqlite3.DatabaseError) and "malformed" in text:
        return StoreError(f"{path} is damaged ({text}); restore it from a copy")
    if "unable to open" in text or "readonly" in text:
        place = "written" if write else "read"
        return OSError(f"{path} cannot be {place}: {text}; use a folder that can be written")
    if "full" in text or "disk I/O" in text:
        return OSError(
            f"{path}: {text}; all batches stored before are safe: make room and run again"
        )
    return StoreError(f"{path}: {text}")
