"""Compressed files, unpacked piece by piece and never further than asked."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

from glasshouse.files.budget import Budget

_PIECE = 1 << 16
_GZIP = 16 + zlib.MAX_WBITS


class UnpackError(Exception):
    """Compressed data that are no such data, or more of them than a file may hold."""


class Unpacker:
    """Reads a gzip or xz file of one part or of several joined ones.

    Python's own readers go on over any number of empty parts, pass over garbage behind an xz
    stream, and allocate whatever dictionary an xz header asks for; this one does not.
    """

    def __init__(self, raw: BinaryIO, kind: str, budget: Budget) -> None:
        self._raw = raw
        self._budget = budget
        self._new: Callable[[], Any] = _gzip if kind == ".gz" else self._xz
        self._decoder: Any = None
        self._input = b""
        self._parts = 0

    def read(self, size: int) -> bytes:
        """The next `size` bytes; fewer at the end."""
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
        """Make ready for the next part; False where the file ends. Parts may be padded with 0."""
        while True:
            self._input = self._input.lstrip(b"\0") if self._parts else self._input
            if self._input:
                break
            self._input = self._raw.read(_PIECE)
            if not self._input:
                if not self._parts:
                    raise EOFError
                return False
        self._parts += 1
        if self._parts > self._budget.most_parts:
            raise UnpackError(
                f"is joined from more than {self._budget.most_parts} compressed parts; "
                f"{self._budget.remedy}"
            )
        self._decoder = self._new()
        return True

    def _decode(self, size: int) -> bytes:
        """Some bytes of the part; none where the decoder wants more input first."""
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
                    f"needs more than {2 * self._budget.limit} bytes to unpack; "
                    f"{self._budget.remedy}"
                ) from None
            raise UnpackError(f"cannot be read ({self._where(cause)})") from None
        self._input = getattr(self._decoder, "unconsumed_tail", b"")  # lzma keeps it inside
        return piece

    def _where(self, cause: Exception) -> str:
        return str(cause) if self._parts == 1 else f"{cause}, behind the first compressed part"

    def _xz(self) -> Any:
        # The largest dictionary of the xz command, 64 MiB, fits into the default limit.
        return lzma.LZMADecompressor(memlimit=2 * self._budget.limit)


def _gzip() -> Any:
    return zlib.decompressobj(_GZIP)
