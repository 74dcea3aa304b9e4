"""The input that is being run, where a process that dies over it cannot take it along.

libFuzzer saves the input that ended it, unless the heap is so broken that it cannot even do that.
"""

from __future__ import annotations

import mmap
from pathlib import Path

_LENGTH_BYTES = 8


class LastInput:
    """A file mapped into memory: remembering an input costs a copy, and no call of the system."""

    def __init__(self, path: Path, most: int) -> None:
        path.write_bytes(bytes(_LENGTH_BYTES + most))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)

    def remember(self, data: bytes) -> None:
        """Keep an input until the next one comes."""
        end = min(_LENGTH_BYTES + len(data), len(self._map))
        self._map[:_LENGTH_BYTES] = (end - _LENGTH_BYTES).to_bytes(_LENGTH_BYTES, "big")
        self._map[_LENGTH_BYTES:end] = data[: end - _LENGTH_BYTES]


def last_input(path: Path) -> bytes:
    """What was remembered last."""
    data = path.read_bytes()
    return data[_LENGTH_BYTES:][: int.from_bytes(data[:_LENGTH_BYTES], "big")]
