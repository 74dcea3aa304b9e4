"""Compression, and decompression of untrusted data up to a limit."""

from __future__ import annotations

import gzip
import lzma
import zlib


def first_bytes(data: bytes, kind: str, most: int = 8) -> bytes:
    """Return the first bytes of unpacked `.gz` or `.xz` data; empty if the data are corrupt."""
    try:
        if kind == ".gz":
            return zlib.decompressobj(wbits=31).decompress(data, most)
        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(data, most)
    except (zlib.error, lzma.LZMAError, EOFError):
        return b""


def packed(data: bytes, kind: str) -> bytes:
    """Return bytes compressed as `.gz` or `.xz`."""
    if kind == ".gz":
        return gzip.compress(data, compresslevel=4, mtime=0)
    return lzma.compress(data, preset=1)
