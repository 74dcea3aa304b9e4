"""Bytes in and out: compression by suffix, whole lines in blocks, and files that appear at once."""

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
UNPACKED = (*COMPRESSED, ".zip")  # these are read; zip archives are never written

# Where bytes come from or go to: a file by its name, or an open stream of bytes.
Place: TypeAlias = str | os.PathLike[str] | BinaryIO

BLOCK = 1 << 20
# What a line of compressed text costs beside its bytes: the numbers that it becomes.
_LINE_COST = 8
# A pair of a square whose sums may leave 64 bits takes as long as so many others, or as its
# multiplier has binary digits, where they are more.
_PRODUCT = 64  # a spin of a product, which is kept, against a pair that is not
_WIDE_PAIR = 64


def format_suffix(path: Path) -> str:
    """The suffix that tells the format: `.wcnf` of `x.wcnf` and of `x.wcnf.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in UNPACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_stream(place: Place) -> TypeGuard[BinaryIO]:
    """Whether a place is an open stream, which has no name to tell its format."""
    return not isinstance(place, (str, os.PathLike))


def name_of(place: Place) -> Path:
    """What a file or stream is called in messages, such as `<stdin>`."""
    if isinstance(place, (str, os.PathLike)):
        return Path(place)
    name = getattr(place, "name", None)
    return Path(name if isinstance(name, str) and name else "<stream>")


def typed_name(place: Place, format: str | None) -> Path:
    """A name whose suffixes tell the format: the one asked for, else that of the file."""
    if format is not None:
        return Path(f"_.{format.lower().lstrip('.')}")
    if is_stream(place):
        raise FileError(
            name_of(place), 'has no suffix that tells its format; give one, such as format="wcnf"'
        )
    return name_of(place)


@dataclass(frozen=True)
class Source:
    """A file being read: its bytes, what it may cost, and errors in its name.

    Attributes:
        path: its name.
        file: the file as it is on disk.
        allowance: what it may cost.
        unpacker: what reads it, where it is compressed.
        units: what the caller says of a file that does not say it: ±1, or 0 and 1.
    """

    path: Path
    file: BinaryIO
    allowance: Allowance = field(default_factory=Allowance)
    unpacker: Unpacker | ZipUnpacker | None = None
    units: Units | None = None

    def error(self, message: str, line: int | None = None) -> FileError:
        """What to raise when this file is wrong."""
        return FileError(self.path, message, line)

    def refuse_units(self) -> None:
        """Refuse units that the caller stated of a file that states its own."""
        if self.units is not None:
            raise self.error(
                "says itself what its variables are; units are for matrices: .npy, .csv, and .npz "
                "of W, a, b; and for .hubo files without a vartype"
            )

    def read(self, size: int) -> bytes:
        """The next bytes, unpacked, at most `size` of them; a torn archive is an error."""
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
        """The name that tells the format: that of the one file in a zip archive, else its own."""
        if not isinstance(self.unpacker, ZipUnpacker):
            return self.path
        try:
            return Path(self.unpacker.member)
        except UnpackError as cause:
            raise self.error(str(cause)) from None

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
        return self.unpacker is not None or not self.allowance.on_disk

    def spend(self, size: int) -> None:
        """Count bytes against the allowance; those of a plain file cost nothing."""
        if not self._is_metered:
            return
        self.allowance.spent += size
        if self.allowance.spent > self.allowance.unpacked:
            raise self.error(self.allowance.too_much)

    def refuse_idle(self, size: int, terms: int, what: str) -> None:
        """Refuse far more variables than terms: a small file would fill the memory with zeros.

        Args:
            size: how many variables the file names.
            terms: how many terms or clauses it has.
            what: what they are called.
        """
        if size > max(self.allowance.most_idle, 100 * terms):
            raise self.error(
                f"{size} variables but only {terms} {what}; more than {self.allowance.most_idle} "
                f"variables need at least one for each hundred of them; {self.allowance.remedy}"
            )

    def refuse_pairs(self, squares: Squares, degree: int = 1) -> None:
        """Refuse squares with more pairs of nodes, of monomials perhaps, than we may look at."""
        cost = max(_WIDE_PAIR, squares.most_digits) if squares.is_wide else 1
        cost *= degree if degree == 1 else _PRODUCT * degree
        if squares.num_terms * cost > self.allowance.most_pairs:
            raise self.error(
                f"its squares have {squares.num_terms} pairs of nodes, too many to look at; "
                f"{self.allowance.remedy}"
            )

    def refuse_products(self, spins: int) -> None:
        """Refuse loops whose vertices are monomials with so many spins, all visits together."""
        if spins * _PRODUCT > self.allowance.most_pairs:
            raise self.error(
                f"its loops visit monomials with {spins} spins in all, too many to look at; "
                f"{self.allowance.remedy}"
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
        """Whether a line of which `size` bytes came before ends in a block soon enough."""
        return 0 <= block.find(b"\n") <= self.allowance.longest_line - size


@contextmanager
def opened(place: Place, format: str | None = None, units: Units | None = None) -> Iterator[Source]:
    """Open a file for reading, unpacked where its name, or its format, ends in .gz, .xz or .zip.

    A stream is read from where it stands, and left open. A named pipe is waited for until a program
    opens it for writing.
    """
    path = name_of(place)
    kind = path.suffix.lower() if format is None else typed_name(place, format).suffix
    with _enough_memory(path):
        if is_stream(place):
            yield _source(path, place, kind, _size_of_stream(place), units)
            return
        try:
            # Opening a device may wait, or do something.
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
    """Name the file that was being read when there was too little memory."""
    try:
        yield
    except MemoryError as lack:
        raise MemoryError(f"{path}: there is not enough memory to read it ({lack})") from None


def refuse_pipe(path: Path) -> None:
    """Refuse a named pipe where a file is read more than once, or was not named by the caller."""
    is_pipe = False
    with suppress(OSError, ValueError):  # opening the file will say what is wrong with its name
        is_pipe = path.is_fifo()
    if is_pipe:
        raise FileError(path, "is a pipe, which can be read only once; write it to a file first")


def _source(path: Path, raw: BinaryIO, kind: str, size: int, units: Units | None) -> Source:
    allowance = Allowance(size)
    unpacker: Unpacker | ZipUnpacker | None = None
    if kind in COMPRESSED:
        unpacker = Unpacker(raw, kind, allowance)
    elif kind == ".zip":
        unpacker = ZipUnpacker(raw, allowance)
    return Source(path, raw, allowance, unpacker, units)


def _size_of_stream(stream: BinaryIO) -> int:
    """Bytes of the file behind a stream (`< file`); 0 for a pipe, which may never end."""
    try:
        known = os.fstat(stream.fileno())
    except (OSError, AttributeError):  # a stream in memory
        return 0
    return known.st_size if stat.S_ISREG(known.st_mode) else 0


@contextmanager
def replacing(path: Path, format: str | None = None, *, overwrite: bool) -> Iterator[BinaryIO]:
    """Write to a temporary file beside `path`, which takes its name once all went well.

    A reader never sees half a file, and what was there before stays when writing fails. The same
    content gives the same bytes: compressed files hold no date and no name.
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
    """A name beside `path` to write under; what is still there in the end goes."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        yield draft
    finally:
        with suppress(OSError):  # where there is no draft, or no folder for one
            draft.unlink()


def writing(
    place: Place, format: str | None = None, *, overwrite: bool = False
) -> AbstractContextManager[BinaryIO]:
    """What to write to: a file that appears once all went well, or a stream that gets it then."""
    if is_stream(place):
        return _passing(place, _written_kind(place, format))
    return replacing(name_of(place), format, overwrite=overwrite)


def _written_kind(place: Place, format: str | None) -> str:
    """The suffix that tells how to compress a file."""
    kind = typed_name(place, format).suffix.lower()
    if kind == ".zip":
        raise FileError(name_of(place), "zip archives are read, not written; write .gz or .xz")
    return kind


@contextmanager
def _passing(stream: BinaryIO, kind: str) -> Iterator[BinaryIO]:
    """Write to a temporary file, which goes to `stream` as a whole once all went well.

    Some formats move about in what they write, which a pipe does not allow.
    """
    with tempfile.TemporaryFile() as raw:
        with _compressing(cast(BinaryIO, raw), kind) as file:
            yield file
        raw.seek(0)
        shutil.copyfileobj(raw, stream)
        stream.flush()


def _appear(draft: Path, path: Path, *, overwrite: bool) -> None:
    """Give a finished draft its name; one that came to be there meanwhile is not overwritten."""
    if not overwrite:
        try:
            os.link(draft, path)
            return
        except FileExistsError:
            raise ExistingFileError(
                path, "was made by somebody else meanwhile; say overwrite=True to replace it"
            ) from None
        except OSError:  # a disk that knows no links
            refuse_existing(path, overwrite=False)
    draft.replace(path)


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Raise if something would be overwritten by accident."""
    if path.is_dir():
        raise FileAccessError(path, "is a directory; expected the name of a file")
    if path.exists() and not path.is_file():
        raise FileAccessError(path, "is a device, which is never replaced; expected a file")
    if not overwrite and path.exists():
        raise ExistingFileError(path, "exists already; say overwrite=True to replace it")


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
