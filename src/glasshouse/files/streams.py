"""Bytes in and out: compression by suffix, whole lines in blocks, and files that appear at once."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from glasshouse.files.budget import Budget
from glasshouse.files.errors import FileError
from glasshouse.files.unpacking import Unpacker, UnpackError

COMPRESSED = (".gz", ".xz")

BLOCK = 1 << 20
# What a line of compressed text costs beside its bytes: the numbers that it becomes.
_LINE_COST = 8


def format_suffix(path: Path) -> str:
    """The suffix that tells the format: `.wcnf` of `x.wcnf` and of `x.wcnf.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


@dataclass(frozen=True)
class Source:
    """A file being read: its bytes, what it may cost, and errors in its name.

    Attributes:
        path: its name.
        file: the file as it is on disk.
        budget: what it may cost.
        unpacker: what reads it, where it is compressed.
    """

    path: Path
    file: BinaryIO
    budget: Budget = field(default_factory=Budget)
    unpacker: Unpacker | None = None

    def error(self, message: str, line: int | None = None) -> FileError:
        """What to raise when this file is wrong."""
        return FileError(self.path, message, line)

    def read(self, size: int) -> bytes:
        """The next bytes, unpacked, at most `size` of them; a torn archive is an error."""
        try:
            data = self.file.read(size) if self.unpacker is None else self.unpacker.read(size)
        except EOFError:
            raise self.error("the compressed data end too soon; the file is truncated") from None
        except UnpackError as cause:
            raise self.error(str(cause)) from None
        except OSError as cause:
            raise self.error(f"cannot be read ({_reason(cause)})") from None
        self.spend(len(data))
        return data

    def read_all(self) -> bytes:
        """All bytes that are left."""
        return b"".join(iter(lambda: self.read(BLOCK), b""))

    def seekable(self) -> BinaryIO:
        """The bytes as a file to move about in, unpacked into memory if need be."""
        if self.unpacker is None and self.file.seekable():
            return self.file
        return io.BytesIO(self.read_all())

    @property
    def _is_metered(self) -> bool:
        return self.unpacker is not None or not self.budget.on_disk

    def spend(self, size: int) -> None:
        """Count bytes against the budget; those of a plain file are there already and cost none."""
        if not self._is_metered:
            return
        self.budget.spent += size
        if self.budget.spent > self.budget.unpacked:
            raise self.error(self.budget.too_much)

    def refuse_idle(self, size: int, terms: int, what: str) -> None:
        """Refuse far more variables than terms: a small file would fill the memory with zeros.

        Args:
            size: how many variables the file names.
            terms: how many terms or clauses it has.
            what: what they are called.
        """
        if size > max(self.budget.most_idle, 100 * terms):
            raise self.error(
                f"{size} variables but only {terms} {what}; more than {self.budget.most_idle} "
                f"variables need at least one for each hundred of them; {self.budget.remedy}"
            )

    def blocks(self) -> Iterator[bytes]:
        """The text in blocks of whole lines; the last line gets a newline if it has none.

        A line longer than a block comes alone.
        """
        rest: list[bytes] = []
        size = 0
        while block := self.read(BLOCK):
            if b"\0" in block:
                raise self.error("holds binary data; expected text")
            if self._is_metered:
                self.spend(_LINE_COST * block.count(b"\n"))
            if size + len(block) > self.budget.longest_line and not self._ends(block, size):
                raise self.error(
                    f"a line is longer than {self.budget.longest_line} bytes; {self.budget.remedy}"
                )
            end = block.rfind(b"\n") + 1
            if not end:
                rest.append(block)
                size += len(block)
                continue
            start = 0
            if size > BLOCK:
                start = block.index(b"\n") + 1
                rest.append(block[:start])
                yield b"".join(rest)
                rest.clear()
            if start < end:
                yield b"".join([*rest, block[start:end]])
            rest = [block[end:]]
            size = len(block) - end
        last = b"".join(rest)
        if last:
            yield last + b"\n"

    def _ends(self, block: bytes, size: int) -> bool:
        """Whether a line of which `size` bytes came before ends in a block soon enough."""
        return 0 <= block.find(b"\n") <= self.budget.longest_line - size


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open a file for reading, unpacked where its name ends in .gz or .xz."""
    try:
        raw = open(path, "rb", opener=_without_waiting)  # noqa: SIM115  # it is entered below
    except FileNotFoundError:
        raise FileError(path, "there is no such file") from None
    except IsADirectoryError:
        raise FileError(path, "is a directory; expected a file") from None
    except (OSError, ValueError) as cause:  # ValueError: a NUL in the name
        raise FileError(path, f"cannot be read ({_reason(cause)})") from None
    with raw:
        known = os.fstat(raw.fileno())
        if not stat.S_ISREG(known.st_mode) and not stat.S_ISFIFO(known.st_mode):
            raise FileError(path, "is a device; expected a file")
        budget = Budget(known.st_size)
        kind = path.suffix.lower()
        unpacker = Unpacker(raw, kind, budget) if kind in COMPRESSED else None
        yield Source(path, raw, budget, unpacker)


def _without_waiting(name: str, flags: int) -> int:
    """Open a file; a pipe that nobody writes to is empty, where it would be waited for."""
    descriptor = os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
    if hasattr(os, "set_blocking"):
        os.set_blocking(descriptor, True)
    return descriptor


@contextmanager
def replacing(path: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """Write to a temporary file beside `path`, which takes its name once all went well.

    A reader never sees half a file, and what was there before stays when writing fails. The same
    content gives the same bytes: compressed files hold no date and no name.
    """
    refuse_existing(path, overwrite=overwrite)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        with draft.open("xb") as raw, _compressing(raw, path.suffix.lower()) as file:
            yield file
        _appear(draft, path, overwrite=overwrite)
    except OSError as cause:
        raise FileError(path, f"cannot be written ({_reason(cause)})") from cause
    finally:
        draft.unlink(missing_ok=True)


def _appear(draft: Path, path: Path, *, overwrite: bool) -> None:
    """Give a finished draft its name; one that came to be there meanwhile is not overwritten."""
    if not overwrite:
        try:
            os.link(draft, path)
            return
        except FileExistsError:
            raise FileError(
                path, "was made by somebody else meanwhile; say overwrite=True to replace it"
            ) from None
        except OSError:  # a disk that knows no links
            refuse_existing(path, overwrite=False)
    draft.replace(path)


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Raise if something would be overwritten by accident."""
    if path.is_dir():
        raise FileError(path, "is a directory; expected the name of a file")
    if not overwrite and path.exists():
        raise FileError(path, "exists already; say overwrite=True to replace it")


@contextmanager
def _compressing(raw: BinaryIO, kind: str) -> Iterator[BinaryIO]:
    if kind == ".gz":
        with gzip.GzipFile(filename="", mode="wb", compresslevel=4, fileobj=raw, mtime=0) as file:
            yield cast(BinaryIO, file)
    elif kind == ".xz":
        with lzma.LZMAFile(raw, mode="wb", preset=3) as file:
            yield cast(BinaryIO, file)
    else:
        yield raw


def _reason(cause: BaseException) -> str:
    if isinstance(cause, OSError) and cause.errno is not None:
        return os.strerror(cause.errno)
    return str(cause) or type(cause).__name__
