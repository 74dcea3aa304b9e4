"""One open SQLite file, with a writer lock, atomic transactions, snapshots and readable errors."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from glasshouse.files.text.errors import FileAccessError, MissingFileError
from glasshouse.files.text.streams import drafted, refuse_existing
from glasshouse.store import storefile
from glasshouse.store.storefile import StoreError


class OpenDatabase:
    """A SQLite file that is open until `close`, or until the end of a `with` block.

    Args:
        path: the file; created if it does not exist and `write` is set.
        tables: the statements that create the tables of a new file.
        write: open for writing; a second writer is refused.
    """

    def __init__(self, path: Path, tables: Iterable[str], *, write: bool) -> None:
        self.path = path
        self.write = write
        self._is_in_transaction = False
        self._has_own_pages = False
        with ExitStack() as opened:
            if write:
                # The lock is taken before testing whether the store exists. Otherwise two processes
                # could both find that it does not, and the second would erase what the first has
                # written.
                opened.enter_context(storefile.writing(self.path))
            if storefile.is_there(self.path):
                storefile.check_header(self.path)
            elif not write:
                raise MissingFileError(
                    self.path,
                    "no such store; run a study or a race, or train RBMs, to create one",
                )
            with self._explained():
                if write and not storefile.is_there(self.path):
                    storefile.create(self.path, tables)
                connection = storefile.connect(self.path, write)
                self._database = opened.enter_context(closing(connection))
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def close(self) -> None:
        """Close the file; a writer first writes its journal back into the file."""
        self._opened.close()  # the last connection writes the journal back and removes it

    def copy_to(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Copy the store with SQLite's backup API, even while another process writes to the store.

        The copy contains all rows that were stored before the call. It appears as a whole, so a
        reader sees an older copy or this one.

        Args:
            path: the new file, on any disk; SQLite itself works next to the store only.
            overwrite: replace a file that exists.
        """
        place = Path(path).resolve()
        refuse_existing(place, overwrite=overwrite and place != self.path.resolve())
        with drafted(self.path.resolve()) as whole, drafted(place) as draft:
            with self._explained(), closing(sqlite3.connect(whole)) as target:
                self._database.backup(target)
            try:
                shutil.copyfile(whole, draft)
                draft.replace(place)
            except OSError as cause:  # it names a draft, or the wrong disk
                raise FileAccessError(place, f"cannot be written ({cause.strerror})") from cause

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Convert any error about the file to one line that names the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise storefile.explain(self.path, error, self.write) from error
        except StoreError:
            raise
        except (ValueError, OverflowError) as error:
            raise storefile.damaged(self.path, error) from error
        except MemoryError as error:
            # This is not a fault of the file: its demands were compared with its size before.
            raise MemoryError(f"{self.path}: there is not enough memory to read it") from error

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Run several queries on one snapshot of the file, even while another process writes."""
        with self._explained():
            is_own = not self._database.in_transaction
            if is_own:
                self._database.execute("BEGIN")
            storefile.limit_steps(self._database, self._content_size())
            try:
                yield
            finally:
                self._database.set_progress_handler(None, 0)
                if is_own:
                    self._rollback()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction; a disk error becomes an OSError that states which data is safe.

        A transaction within another transaction is a part of the outer one.
        """
        if not self.write:
            raise StoreError(f"{self.path} is open only for reading; open it with write=True")
        if self._is_in_transaction:
            yield self._database
            return
        try:
            self._database.execute("BEGIN IMMEDIATE")
            self._is_in_transaction = True
            yield self._database
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            self._rollback()
            raise storefile.explain(self.path, error, True) from error
        except BaseException:
            self._rollback()
            raise
        finally:
            self._is_in_transaction = False

    def _refuse_shared_pages(self) -> None:
        """Refuse a file in which rows share pages, because a few bytes could be read many times.

        This reads the whole file once; it is for stores with long texts and few rows.
        """
        if not self._has_own_pages:
            ((found,),) = self._database.execute("PRAGMA quick_check(1)")
            if found != "ok":
                raise ValueError(found)
            self._has_own_pages = True

    def _content_size(self) -> int:
        """Return an upper bound on the store's content in bytes, to limit how much is read."""
        size = storefile.content_size(self.path)
        if self._is_in_transaction:  # uncommitted data may be only in memory
            ((pages,),) = self._database.execute("PRAGMA page_count")
            ((bytes_per_page,),) = self._database.execute("PRAGMA page_size")
            size += pages * bytes_per_page
        return size

    def _rollback(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")
