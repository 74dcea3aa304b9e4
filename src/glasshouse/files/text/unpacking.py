"""Readers that unpack gzip, xz and zip files piece by piece, no further than requested."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

from glasshouse.files.text.allowance import Allowance

# The bytes that are searched for the directory of a zip archive, which is in the last 64 KiB.
MOST_DIRECTORY = 1 << 18
_PIECE = 1 << 16
_GZIP = 16 + zlib.MAX_WBITS


class UnpackError(Exception):
    """Raised if compressed data are invalid, or unpack to more than the limit."""


class Unpacker:
    """Reader for a gzip or xz file, which may consist of several parts.

    Python's own readers skip any number of empty parts, ignore garbage after an xz stream, and
    allocate whatever dictionary an xz header requests; this one does not.
    """

    def __init__(self, raw: BinaryIO, kind: str, allowance: Allowance) -> None:
        self._raw = raw
        self._allowance = allowance
        self._new: Callable[[], Any] = _gzip if kind == ".gz" else self._xz
        self._decoder: Any = None
        self._input = b""
        self._parts = 0

    def read(self, size: int) -> bytes:
        """Return the next `size` unpacked bytes; fewer at the end of the file."""
        pieces = []
        while size and (self._decoder is not None or self._begin_part()):
            piece = self._decode(size)
            if self._decoder.eof:
                self._input = self._decoder.unused_data
                self._decoder = None
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _begin_part(self) -> bool:
        """Prepare to unpack the next part; return False at the end of the file."""
        while True:  # zeros may pad parts
            self._input = self._input.lstrip(b"\0") if self._parts else self._input
            if self._input:
                break
            self._input = self._raw.read(_PIECE)
            if not self._input:
                if not self._parts:
                    raise EOFError
                return False
        self._parts += 1
        if self._parts > self._allowance.most_parts:
            raise UnpackError(
                f"consists of more than {self._allowance.most_parts} compressed parts; "
                f"{self._allowance.remedy}"
            )
        self._decoder = self._new()
        return True

    def _decode(self, size: int) -> bytes:
        """Unpack at most `size` bytes; return no bytes if the decoder needs more input."""
        if not self._input and getattr(self._decoder, "needs_input", True):
            self._input = self._raw.read(_PIECE)
            if not self._input:
                raise EOFError
        try:
            piece: bytes = self._decoder.decompress(self._input, size)
        except zlib.error as cause:
            raise UnpackError(f"cannot be read ({self._where(cause)})") from None
        except lzma.LZMAError as cause:
            if "limit" in str(cause):
                raise UnpackError(
                    f"needs more than {2 * self._allowance.limit} bytes to unpack; "
                    f"{self._allowance.remedy}"
                ) from None
            raise UnpackError(f"cannot be read ({self._where(cause)})") from None
        self._input = getattr(self._decoder, "unconsumed_tail", b"")  # lzma stores it internally
        return piece

    def _where(self, cause: Exception) -> str:
        return str(cause) if self._parts == 1 else f"{cause}, after the first compressed part"

    def _xz(self) -> Any:
        # The largest dictionary of the xz command, 64 MiB, fits into the default limit.
        return lzma.LZMADecompressor(memlimit=2 * self._allowance.limit)


def _gzip() -> Any:
    return zlib.decompressobj(_GZIP)


class ZipUnpacker:
    """Reader for the only file in a zip archive.

    The archive is opened by the first read, so that all its faults raise an `UnpackError`.
    """

    def __init__(self, raw: BinaryIO, allowance: Allowance) -> None:
        self._raw = raw
        self._allowance = allowance
        self._data: Any = None

    def read(self, size: int) -> bytes:
        """Return the next `size` unpacked bytes; fewer at the end of the file."""
        try:
            data: bytes = self._opened().read(size)
        except (MemoryError, UnpackError):
            raise
        except EOFError:
            raise UnpackError("the compressed data end too soon; the file is truncated") from None
        except Exception as cause:  # zipfile raises many types of errors for corrupt bytes
            raise UnpackError(f"cannot be read ({cause})") from None
        return data

    @property
    def member(self) -> str:
        """The name of the only file in the archive."""
        self.read(0)
        return str(self._data.name)

    def _opened(self) -> Any:
        if self._data is None:
            file = MeteredFile(self._raw if self._raw.seekable() else self._held())
            archive = zipfile.ZipFile(file)
            file.bytes_left = None
            files = [member for member in archive.infolist() if not member.is_dir()]
            if len(files) != 1:
                raise UnpackError(f"is a zip archive with {len(files)} files; expected one file")
            if files[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise UnpackError("is compressed with an unsupported method; use deflate")
            if files[0].flag_bits & 1:
                raise UnpackError("is encrypted; expected a plain zip archive")
            self._data = archive.open(files[0])
        return self._data

    def _held(self) -> BinaryIO:
        """Read an archive from a pipe into memory, because its directory is at its end."""
        held = self._raw.read(self._allowance.unpacked + 1)
        if len(held) > self._allowance.unpacked:
            raise UnpackError(f"is too long to be read from a pipe; {self._allowance.remedy}")
        return io.BytesIO(held)


class MeteredFile(io.RawIOBase):
    """A zip file that limits how many bytes are read before its directory is known."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.bytes_left: int | None = MOST_DIRECTORY

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; raise if there are more than `bytes_left`."""
        if self.bytes_left is None:
            return self._file.read(size)
        most = self.bytes_left + 1
        data = self._file.read(most if size < 0 else min(size, most))
        self.bytes_left -= len(data)
        if self.bytes_left < 0:
            raise ValueError(f"the directory is longer than {MOST_DIRECTORY} bytes")
        return data

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Move to a file position, and return the new position."""
        return self._file.seek(place, whence)

    def tell(self) -> int:
        """Return the current file position."""
        return self._file.tell()

    def seekable(self) -> bool:
        """Return True, because the position in the file can be changed."""
        return True

    def readable(self) -> bool:
        """Return True, because the file is open for reading."""
        return True
