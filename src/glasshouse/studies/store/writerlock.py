"""One writer per store: a lock on an empty file beside it, which dies with the process.

The file is removed when its holder is done. Somebody may have opened it before it was removed, and
gets a lock on a file that no name leads to, while a third makes a new one: two writers. Therefore
a lock counts only if the name still leads to the locked file, and the file is removed while it is
still locked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from glasshouse.studies.store.storefile import StoreError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# Each failure means that another writer came and went in between, so this is never reached.
_ATTEMPTS = 1000


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Be the one writer of a store; a StoreError if there is another."""
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
                f"{path} cannot be written: {error.strerror}; use a folder that can be written"
            ) from error
        is_free = False
        try:
            is_free = _lock(handle)
            if is_free and _leads_to(lock_file, handle):
                return handle
        except OSError as error:
            os.close(handle)
            raise OSError(
                f"{path} cannot be locked: {error.strerror}; use a folder of a local disk"
            ) from error
        os.close(handle)
        if not is_free:
            break
    raise StoreError(
        f"{path} is being written by another process; wait for it, or use another file"
    )


def _lock(handle: int) -> bool:
    """Lock an open file if nobody has it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            # Not `lockf`, whose locks belong to the process: two stores of one would share it.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the latter on Windows
        return False
    return True


def _leads_to(name: Path, handle: int) -> bool:
    """Whether a name still is that of an open file."""
    try:
        return os.path.samestat(name.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _release(handle: int, lock_file: Path) -> None:
    """Remove the file, then the lock; Windows cannot remove an open file, nor one of another."""
    if sys.platform == "win32":
        os.close(handle)
        with suppress(OSError):
            lock_file.unlink(missing_ok=True)
        return
    try:
        if os.fstat(handle).st_size == 0:  # what is in it is not ours
            lock_file.unlink(missing_ok=True)
    except OSError:
        pass  # an empty file is left behind, for the next writer to lock and remove
    finally:
        os.close(handle)
