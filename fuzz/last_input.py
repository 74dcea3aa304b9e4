"""A copy of the current input that survives a crash of the process.

libFuzzer saves the input that ended the process, unless the heap is too damaged for that.
"""

from __future__ import annotations

import mmap
from pathlib import Path

_LENGTH_BYTES = 8


class LastInput:
    """A file mapped into memory, in which an input is saved without a system call."""

    def __init__(self, path: Path, most: int) -> None:
        path.write_bytes(bytes(_LENGTH_BYTES + most))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)

    def remember(self, data: bytes) -> None:
        """Save an input in place of the previous input."""
        end = min(_LENGTH_BYTES + len(data), len(self._map))
        self._map[:_LENGTH_BYTES] = (end - _LENGTH_BYTES).to_bytes(_LENGTH_BYTES, "big")
        self._map[_LENGTH_BYTES:end] = data[: end - _LENGTH_BYTES]


def last_input(path: Path) -> bytes:
    """Return the input that was saved last."""
    data = path.read_bytes()
    return data[_LENGTH_BYTES:][: int.from_bytes(data[:_LENGTH_BYTES], "big")]
