"""The SQLite file of a store: created atomically, checked before use, opened defensively.

One process writes. It holds a lock on an empty file next to the store, which ends with the process.
The lock file is removed when its holder is done. Another process may have opened it before, and
would then lock a file without a name, while a third process creates a new one: two writers.
Therefore a lock counts only if the name still leads to the locked file, and the file is removed
while it is still locked.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from glasshouse.files.text.streams import drafted

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

APPLICATION_ID = 0x476C6173  # "Glas", in the file's header: see `file` and PRAGMA application_id
SCHEMA_VERSION = 1
_HEADER_SIZE = 100
_MAGIC = b"SQLite format 3\x00"
# No text of a store is nearly this long, and no row this wide.
_LONGEST_VALUE = 1 << 26
# SQLite reads the statements that created the tables before we can check them.
_MOST_COLUMNS, _LONGEST_STATEMENT = 500, 1 << 17
_LONGEST_MESSAGE = 200
# Queries are ended after this many steps of SQLite's machine, and this many more per byte of the
# file. Our own queries need less than a quarter of that; a tree of pages with cycles has no end.
_STEPS, _STEPS_PER_BYTE, _STEPS_AT_A_TIME = 2_000_000, 20, 10_000
_DEFENSIVE = 1010  # SQLITE_DBCONFIG_DEFENSIVE: no SQL can corrupt the file
# Each failed attempt to lock means that another writer came and went, so this is never reached.
_ATTEMPTS = 1000


class StoreError(ValueError):
    """Raised for a file that is not a store, or that cannot be used as requested."""


class OtherSettingsError(StoreError):
    """Raised if a store was filled with settings other than the requested ones.

    Attributes:
        names_arguments: the message names arguments, which are options of a command.
    """

    names_arguments = True


def one_line(error: object) -> str:
    """Return an error's message as one line of limited length, since it may quote the file."""
    text = " ".join(str(error).split())
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"


def damaged(path: Path, what: object) -> StoreError:
    """Return the error for a damaged store: one that glasshouse cannot have written."""
    return StoreError(f"{path} is damaged ({one_line(what)}); restore it from a copy")


def is_there(path: Path) -> bool:
    """Return whether something other than an empty file exists at a path."""
    try:
        return path.stat().st_size > 0 or not path.is_file()
    except FileNotFoundError:
        return False


def check_header(path: Path) -> None:
    """Refuse a file that is not a glasshouse store before SQLite opens it."""
    if not path.is_file():  # opening a pipe would wait forever
        raise StoreError(
            f"{path} is not a file, so it is not a glasshouse store; nothing was changed"
        )
    with path.open("rb") as file:
        header = file.read(_HEADER_SIZE)
    if len(header) < _HEADER_SIZE or not header.startswith(_MAGIC):
        raise StoreError(f"{path} is not a glasshouse store; nothing was changed")
    version = int.from_bytes(header[60:64], "big")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise StoreError(
            f"{path} is another program's SQLite file, not a glasshouse store; nothing was changed"
        )
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was written by a newer glasshouse (store version {version}, but this one "
            f"reads version {SCHEMA_VERSION}); upgrade to read it; nothing was changed"
        )


def create(path: Path, tables: Iterable[str]) -> None:
    """Create an empty store under a temporary name and rename it, so that it is never partial.

    Args:
        path: the path of the store; a file with content is never replaced.
        tables: the statements that create the tables.
    """
    with new_file(path) as fresh:
        database = sqlite3.connect(fresh, isolation_level=None)
        try:
            database.executescript(
                f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = "
                f"{SCHEMA_VERSION}; {'; '.join(tables)}; COMMIT; PRAGMA journal_mode = WAL;"
            )
        finally:
            database.close()


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a temporary name; the file is moved to `path` if the block succeeds."""
    place = path.resolve()
    with drafted(place) as fresh:
        yield fresh
        _move_to_new_name(fresh, place)


def _move_to_new_name(fresh: Path, place: Path) -> None:
    """Rename a file, but raise if a file with content already has the new name."""
    try:
        os.link(fresh, place)
    except OSError:  # an empty file exists, or the file system does not support hard links
        if is_there(place):
            raise StoreError(f"{place} was just created by another process; run again") from None
        fresh.replace(place)


def refuse_journal(path: Path) -> None:
    """Refuse a store with a rollback journal, which SQLite would apply to the store automatically.

    Our stores have none: they are in WAL mode from the start. A journal from an untrusted source
        rewrites the store, and can name any other file to be deleted.
    """
    real = path.resolve()
    journal = real.with_name(real.name + "-journal")
    if journal.exists() or journal.is_symlink():
        raise StoreError(
            f"{path} has a rollback journal, {journal.name}, which a glasshouse store never has; "
            "remove that file, or restore the store from a copy; nothing was changed"
        )


def connect(path: Path, write: bool) -> sqlite3.Connection:
    """Open a store; readers get a connection that cannot write."""
    refuse_journal(path)
    if write:
        database = sqlite3.connect(path, isolation_level=None, timeout=30)
        _be_careful(database, path)
        database.execute("PRAGMA synchronous = NORMAL")  # safe against kills in WAL mode
        database.execute("PRAGMA foreign_keys = ON")
        return database
    place = path.resolve().as_uri()
    may_write = os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)
    # The last connection removes WAL's files, but only if it can write.
    mode = "rw" if may_write else "ro"
    database = sqlite3.connect(f"{place}?mode={mode}", uri=True, isolation_level=None, timeout=30)
    try:
        _be_careful(database, path)
        database.execute("PRAGMA query_only = ON")
        database.execute("PRAGMA schema_version").fetchone()  # reads the first page of the file
    except sqlite3.OperationalError:
        database.close()
        journal = path.with_name(path.name + "-wal")
        if may_write or (journal.exists() and journal.stat().st_size):
            raise
        # A read-only folder cannot hold WAL's index, and no process can write there.
        database = sqlite3.connect(f"{place}?immutable=1", uri=True, isolation_level=None)
        _be_careful(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _be_careful(database: sqlite3.Connection, path: Path) -> None:
    """Apply SQLite's settings for untrusted files (sqlite.org/security.html)."""
    limit_steps(database, content_size(path))
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    database.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, _MOST_COLUMNS)
    database.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_STATEMENT)
    database.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1)
    configure = getattr(database, "setconfig", None)  # since Python 3.12
    if configure is not None:
        configure(_DEFENSIVE, True)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    database.execute("PRAGMA mmap_size = 0")  # a mapped file that shrinks would end the process


def limit_steps(database: sqlite3.Connection, size: int) -> None:
    """Limit the steps of all queries from now on to what a file of `size` bytes can need."""
    steps = _STEPS + _STEPS_PER_BYTE * size
    # The handler is in C: Ctrl-C in a handler written in Python would be lost.
    left = itertools.repeat(0, steps // _STEPS_AT_A_TIME).__next__
    database.set_progress_handler(left, _STEPS_AT_A_TIME)


def content_size(path: Path) -> int:
    """Return the total bytes of a store and its journal, an upper bound on its content."""
    size, path = 0, path.resolve()  # SQLite's own files are next to the real file
    for part in (path, path.with_name(path.name + "-wal")):
        if part.exists():
            size += part.stat().st_size
    return size


def explain(path: Path, error: sqlite3.Error, write: bool) -> Exception:
    """Convert a SQLite error to one that states what happened, what is safe and what to do."""
    text = one_line(error)
    if "unable to open" in text or "readonly" in text:
        place = "written" if write else "read"
        return OSError(f"{path} cannot be {place}: {text}; use a writable folder")
    if "full" in text or "disk I/O" in text:
        return OSError(
            f"{path}: {text}; all batches stored before are safe; free disk space and run again"
        )
    if "closed database" in text:
        return StoreError(f"{path} is closed; open it again to use it")
    if "locked" in text or isinstance(error, sqlite3.IntegrityError):
        return StoreError(f"{path}: {text}")
    return damaged(
        path, "a query reads more data than the file can contain" if "interrupt" in text else text
    )


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Become the only writer of a store; raise a StoreError if there is another writer."""
    place = path.resolve()  # a link leads to the same store, so to the same lock
    lock_file = place.with_name(place.name + ".writer")
    handle = _take(path, lock_file)
    try:
        yield
    finally:
        _release(handle, lock_file)


def _take(path: Path, lock_file: Path) -> int:
    for _ in range(_ATTEMPTS):
        try:
            handle = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise OSError(
                f"{path} cannot be written: {error.strerror}; use a writable folder"
            ) from error
        is_free = False
        try:
            is_free = _lock(handle)
            if is_free and _leads_to(lock_file, handle):
                return handle
        except OSError as error:
            os.close(handle)
            raise OSError(
                f"{path} cannot be locked: {error.strerror}; use a folder on a local disk"
            ) from error
        os.close(handle)
        if not is_free:
            break
    raise StoreError(
        f"{path} is being written by another process; wait for it, or use another file"
    )


def _lock(handle: int) -> bool:
    """Lock an open file unless another process has locked it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            # Locks of `lockf` belong to the process, so two stores of one process would share them.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the latter on Windows
        return False
    return True


def _leads_to(name: Path, handle: int) -> bool:
    """Return whether a path still names the file that is open as `handle`."""
    try:
        return os.path.samestat(name.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _release(handle: int, lock_file: Path) -> None:
    """Remove the lock file and close it; on Windows, close it first."""
    if sys.platform == "win32":
        os.close(handle)
        with suppress(OSError):
            lock_file.unlink(missing_ok=True)
        return
    try:
        if os.fstat(handle).st_size == 0:  # never overwrite a file with content
            lock_file.unlink(missing_ok=True)
    except OSError:
        pass  # the empty file stays for the next writer to lock and remove
    finally:
        os.close(handle)
