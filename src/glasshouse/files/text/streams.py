"""Byte streams: compression by suffix, blocks of whole lines, and atomic replacement of files."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TypeAlias, TypeGuard, cast

from glasshouse.certificates import Squares
from glasshouse.files.text.allowance import Allowance
from glasshouse.files.text.errors import (
    ExistingFileError,
    FileAccessError,
    FileError,
    MissingFileError,
)
from glasshouse.files.text.unpacking import Unpacker, UnpackError, ZipUnpacker
from glasshouse.problems import Units

COMPRESSED = (".gz", ".xz")
UNPACKED = (*COMPRESSED, ".zip")  # only read; zip archives are never written

# The source or target of bytes: the name of a file, or an open stream of bytes.
Place: TypeAlias = str | os.PathLike[str] | BinaryIO

BLOCK = 1 << 20
# Bytes that a line of compressed text costs in addition to its text: the numbers in it.
_LINE_COST = 8
# The cost of each spin of a product, as a number of pairs: products are stored, pairs are not.
_PRODUCT = 64
# The least cost, as a number of pairs, of a pair whose sums may exceed 64 bits.
_WIDE_PAIR = 64


def format_suffix(path: Path) -> str:
    """Return the suffix that gives the format: `.wcnf` for `x.wcnf` and `x.wcnf.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in UNPACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_stream(place: Place) -> TypeGuard[BinaryIO]:
    """Return whether `place` is an open stream rather than the path of a file."""
    return not isinstance(place, (str, os.PathLike))


def name_of(place: Place) -> Path:
    """Return the name of a file or stream for messages, such as `<stdin>`."""
    if isinstance(place, (str, os.PathLike)):
        return Path(place)
    name = getattr(place, "name", None)
    return Path(name if isinstance(name, str) and name else "<stream>")


def typed_name(place: Place, format: str | None) -> Path:
    """Return a file name with the suffixes of `format`; by default, the file's own name."""
    if format is not None:
        return Path(f"_.{format.lower().lstrip('.')}")
    if is_stream(place):
        if not hasattr(place, "read") and not hasattr(place, "write"):
            raise ValueError(
                f"{type(place).__name__} is neither a path nor an open stream; pass the file "
                "first: write(path, problem)"
            )
        raise FileError(
            name_of(place), 'has no suffix that gives its format; pass it, such as format="wcnf"'
        )
    return name_of(place)


@dataclass(frozen=True)
class Source:
    """A file that is being read, with its allowance and its error messages.

    Attributes:
        path: the file's name.
        file: the open file, not unpacked.
        allowance: the resources that the file may use.
        unpacker: reads the file if it is compressed.
        units: the units that the caller states for a file without units: ±1, or 0 and 1.
    """

    path: Path
    file: BinaryIO
    allowance: Allowance = field(default_factory=Allowance)
    unpacker: Unpacker | ZipUnpacker | None = None
    units: Units | None = None

    def error(self, message: str, line: int | None = None) -> FileError:
        """Return a `FileError` that names this file and, if given, the line."""
        return FileError(self.path, message, line)

    def refuse_units(self) -> None:
        """Raise if the caller passed units, although the file states its own units."""
        if self.units is not None:
            raise self.error(
                "states its own units; pass units only for matrices (.npy, .csv, and .npz "
                "with W, a, b) and for .hubo files without a vartype"
            )

    def read(self, size: int) -> bytes:
        """Return the next unpacked bytes, at most `size`; raise if the archive is truncated."""
        try:
            data = self.file.read(size) if self.unpacker is None else self.unpacker.read(size)
        except EOFError:
            raise self.error("the compressed data end too soon; the file is truncated") from None
        except UnpackError as cause:
            raise self.error(str(cause)) from None
        except OSError as cause:
            raise FileAccessError(self.path, f"cannot be read ({_reason(cause)})") from None
        self.spend(len(data))
        return data

    @property
    def inner_name(self) -> Path:
        """The file name that gives the format; for a zip archive, the name of its only member."""
        if not isinstance(self.unpacker, ZipUnpacker):
            return self.path
        try:
            return Path(self.unpacker.member)
        except UnpackError as cause:
            raise self.error(str(cause)) from None

    def read_all(self) -> bytes:
        """Return all remaining bytes, unpacked."""
        return b"".join(iter(lambda: self.read(BLOCK), b""))

    def seekable(self) -> BinaryIO:
        """Return the bytes as a seekable file, unpacked into memory if needed."""
        if self.unpacker is None and self.file.seekable():
            return self.file
        return io.BytesIO(self.read_all())

    @property
    def _is_metered(self) -> bool:
        return self.unpacker is not None or not self.allowance.on_disk

    def spend(self, size: int) -> None:
        """Count `size` bytes towards the allowance, unless the file is uncompressed and on disk."""
        if not self._is_metered:
            return
        self.allowance.spent += size
        if self.allowance.spent > self.allowance.unpacked:
            raise self.error(self.allowance.too_much)

    def refuse_idle(self, size: int, terms: int, what: str) -> None:
        """Raise if a file states far more variables than it has terms.

        Args:
            size: the number of variables that the file states.
            terms: the number of terms or clauses.
            what: the word for terms in messages.
        """
        if size > max(self.allowance.most_idle, 100 * terms):
            raise self.error(
                f"has {size} variables but only {terms} {what}; above {self.allowance.most_idle} "
                f"variables, it needs one of the {what} per 100 variables; {self.allowance.remedy}"
            )

    def refuse_pairs(self, squares: Squares, degree: int = 1) -> None:
        """Raise if the squares have more pairs of nodes (or of monomials) than may be checked."""
        cost = max(_WIDE_PAIR, squares.most_digits) if squares.is_wide else 1
        cost *= degree if degree == 1 else _PRODUCT * degree
        if squares.num_terms * cost > self.allowance.most_pairs:
            raise self.error(
                f"the squares have {squares.num_terms} pairs of nodes, too many to check; "
                f"{self.allowance.remedy}"
            )

    def refuse_products(self, spins: int) -> None:
        """Raise if the monomials of all loops have more spins in total than may be checked."""
        if spins * _PRODUCT > self.allowance.most_pairs:
            raise self.error(
                f"the monomials of the loops have {spins} spins in total, too many to check; "
                f"{self.allowance.remedy}"
            )

    def blocks(self) -> Iterator[bytes]:
        """Yield the text in blocks of whole lines, and add a missing newline at the end.

        A line longer than a block is yielded alone.
        """
        rest: list[bytes] = []
        size = 0
        while block := self.read(BLOCK):
            if b"\0" in block:
                raise self.error("contains binary data; expected a text file")
            if self._is_metered:
                self.spend(_LINE_COST * block.count(b"\n"))
            if size + len(block) > self.allowance.longest_line and not self._ends(block, size):
                raise self.error(
                    f"a line is longer than {self.allowance.longest_line} bytes; "
                    f"{self.allowance.remedy}"
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
        """Return whether a line that has `size` bytes so far ends in `block` within the limit."""
        return 0 <= block.find(b"\n") <= self.allowance.longest_line - size


@contextmanager
def opened(place: Place, format: str | None = None, units: Units | None = None) -> Iterator[Source]:
    """Open a file for reading, and unpack it if its suffix is .gz, .xz or .zip.

    A stream is read from its current position, and left open. Opening a named pipe blocks until a
    program opens it for writing.
    """
    path = name_of(place)
    kind = path.suffix.lower() if format is None else typed_name(place, format).suffix
    with _enough_memory(path):
        if is_stream(place):
            yield _source(path, place, kind, _size_of_stream(place), units)
            return
        try:
            # Opening a device may block or have side effects.
            if stat.S_IFMT(path.stat().st_mode) not in (stat.S_IFREG, stat.S_IFIFO, stat.S_IFDIR):
                raise FileError(path, "is a device; expected a file")
            raw = path.open("rb")
        except FileError:
            raise
        except FileNotFoundError:
            raise MissingFileError(path, "there is no such file") from None
        except IsADirectoryError:
            raise FileAccessError(path, "is a directory; expected a file") from None
        except (OSError, ValueError) as cause:  # ValueError: a NUL in the name
            raise FileAccessError(path, f"cannot be read ({_reason(cause)})") from None
        with raw:
            yield _source(path, raw, kind, os.fstat(raw.fileno()).st_size, units)


@contextmanager
def _enough_memory(path: Path) -> Iterator[None]:
    """Add the name of the file to a MemoryError that is raised while reading it."""
    try:
        yield
    except MemoryError as lack:
        raise MemoryError(f"{path}: there is not enough memory to read it ({lack})") from None


def refuse_pipe(path: Path) -> None:
    """Raise if `path` is a named pipe, which can be read only once."""
    is_pipe = False
    with suppress(OSError, ValueError):  # opening the file reports what is wrong with its name
        is_pipe = path.is_fifo()
    if is_pipe:
        raise FileError(path, "is a pipe, which can be read only once; save its data to a file")


def _source(path: Path, raw: BinaryIO, kind: str, size: int, units: Units | None) -> Source:
    allowance = Allowance(size)
    unpacker: Unpacker | ZipUnpacker | None = None
    if kind in COMPRESSED:
        unpacker = Unpacker(raw, kind, allowance)
    elif kind == ".zip":
        unpacker = ZipUnpacker(raw, allowance)
    return Source(path, raw, allowance, unpacker, units)


def _size_of_stream(stream: BinaryIO) -> int:
    """Return the size in bytes of the file behind a stream (`< file`); 0 for a pipe."""
    try:
        known = os.fstat(stream.fileno())
    except (OSError, AttributeError):  # the stream is in memory
        return 0
    return known.st_size if stat.S_ISREG(known.st_mode) else 0


@contextmanager
def replacing(path: Path, format: str | None = None, *, overwrite: bool) -> Iterator[BinaryIO]:
    """Write to a temporary file next to `path`, and rename it after success.

    Readers never see a partial file, and the previous file stays if writing fails. The same content
    gives the same bytes: compressed files contain neither date nor name.
    """
    refuse_existing(path, overwrite=overwrite)
    kind = _written_kind(path, format)
    with drafted(path) as draft:
        try:
            with draft.open("xb") as raw, _compressing(raw, kind) as file:
                yield file
            _appear(draft, path, overwrite=overwrite)
        except FileError:
            raise
        except OSError as cause:
            raise FileAccessError(path, f"cannot be written ({_reason(cause)})") from cause


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; on exit, delete this file if it exists."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        yield draft
    finally:
        with suppress(OSError):  # the draft or its folder may not exist
            draft.unlink()


def writing(
    place: Place, format: str | None = None, *, overwrite: bool = False
) -> AbstractContextManager[BinaryIO]:
    """Open a file or stream for writing; it receives its contents only after success."""
    if is_stream(place):
        return _passing(place, _written_kind(place, format))
    return replacing(name_of(place), format, overwrite=overwrite)


def _written_kind(place: Place, format: str | None) -> str:
    """Return the suffix that determines the compression of a file to write; raise for .zip."""
    kind = typed_name(place, format).suffix.lower()
    if kind == ".zip":
        raise FileError(name_of(place), "zip archives cannot be written; use .gz or .xz")
    return kind


@contextmanager
def _passing(stream: BinaryIO, kind: str) -> Iterator[BinaryIO]:
    """Write to a temporary file, and copy it to `stream` as a whole after success.

    Some formats seek while writing, which a pipe does not allow.
    """
    with tempfile.TemporaryFile() as raw:
        with _compressing(cast(BinaryIO, raw), kind) as file:
            yield file
        raw.seek(0)
        shutil.copyfileobj(raw, stream)
        stream.flush()


def _appear(draft: Path, path: Path, *, overwrite: bool) -> None:
    """Rename a finished draft to `path`; raise if that file was created in the meantime."""
    if not overwrite:
        try:
            os.link(draft, path)
            return
        except FileExistsError:
            raise ExistingFileError(
                path,
                "was created by another process in the meantime; pass overwrite=True to replace it",
            ) from None
        except OSError:  # the file system does not support hard links
            refuse_existing(path, overwrite=False)
    draft.replace(path)


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Raise if `path` is a folder or a device, or a file that must not be overwritten."""
    if path.is_dir():
        raise FileAccessError(path, "is a directory; expected the name of a file")
    if path.exists() and not path.is_file():
        raise FileAccessError(path, "is a device, which is never replaced; expected a file")
    if not overwrite and path.exists():
        raise ExistingFileError(path, "already exists; pass overwrite=True to replace it")


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
