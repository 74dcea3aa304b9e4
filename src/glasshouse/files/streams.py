"""Bytes in and out: compression by suffix, whole lines in blocks, and files that appear at once."""

from __future__ import annotations

import gzip
import lzma
import os
import secrets
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from glasshouse.files.errors import FileError

COMPRESSED = (".gz", ".xz")

_BLOCK = 1 << 20
# A planted model of 67 million variables still fits; what is longer is no text of ours.
_LONGEST_LINE = 1 << 26


def format_suffix(path: Path) -> str:
    """The suffix that tells the format: `.wcnf` of `x.wcnf` and of `x.wcnf.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


@dataclass(frozen=True)
class Source:
    """A file being read: its bytes, and errors in its name."""

    path: Path
    file: BinaryIO

    def error(self, message: str, line: int | None = None) -> FileError:
        """What to raise when this file is wrong."""
        return FileError(self.path, message, line)

    def read(self, size: int = -1) -> bytes:
        """The next bytes, decompressed; a torn archive is an error of the file."""
        try:
            return self.file.read(size)
        except EOFError:
            raise self.error("the compressed data end too soon; the file is truncated") from None
        except (OSError, zlib.error, lzma.LZMAError) as cause:
            raise self.error(f"cannot be read ({_reason(cause)})") from None

    def blocks(self) -> Iterator[bytes]:
        """The text in blocks of whole lines; the last line gets a newline if it has none."""
        rest: list[bytes] = []
        size = 0
        while block := self.read(_BLOCK):
            if b"\0" in block:
                raise self.error("holds binary data; expected text")
            end = block.rfind(b"\n") + 1
            size = len(block) - end if end else size + len(block)
            if size > _LONGEST_LINE:
                raise self.error(f"a line is longer than {_LONGEST_LINE} bytes; expected text")
            if not end:
                rest.append(block)
                continue
            yield b"".join([*rest, block[:end]])
            rest = [block[end:]]
        last = b"".join(rest)
        if last:
            yield last + b"\n"


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open a file for reading, decompressed where its name ends in .gz or .xz."""
    try:
        raw = path.open("rb")
    except FileNotFoundError:
        raise FileError(path, "there is no such file") from None
    except IsADirectoryError:
        raise FileError(path, "is a directory; expected a file") from None
    except (OSError, ValueError) as cause:  # ValueError: a NUL in the name
        raise FileError(path, f"cannot be read ({_reason(cause)})") from None
    with raw:
        kind = path.suffix.lower()
        if kind == ".gz":
            with gzip.GzipFile(fileobj=raw, mode="rb") as file:
                yield Source(path, cast(BinaryIO, file))
        elif kind == ".xz":
            with lzma.LZMAFile(raw, mode="rb") as file:
                yield Source(path, cast(BinaryIO, file))
        else:
            yield Source(path, raw)


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
        draft.replace(path)
    except OSError as cause:
        raise FileError(path, f"cannot be written ({_reason(cause)})") from cause
    finally:
        draft.unlink(missing_ok=True)


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
