"""dimod's binary file: its header as JSON, its arrays as numbers."""

from __future__ import annotations

import json
import struct
from random import Random

from fuzz.mutators import texts, trees, words

_HEAD = 14


def mutate(data: bytes, random: Random) -> bytes:
    """The header's tree, or one number of the arrays, changed."""
    try:
        (length,) = struct.unpack_from("<I", data, 10)
        header, arrays = json.loads(data[_HEAD : _HEAD + length]), data[_HEAD + length :]
    except (ValueError, struct.error, RecursionError):
        return texts.mutate(data, random)
    if random.random() < 0.3:
        header = trees.changed(header, random)
    else:
        arrays = with_number(arrays, random)
    text = trees.dumped(header)
    return data[:10] + struct.pack("<I", len(text)) + text + arrays


def with_number(data: bytes, random: Random) -> bytes:
    """Some bytes that are a number of a usual type replaced by one at an edge."""
    kind = random.choice("bhiqIQfd")
    width = struct.calcsize(kind)
    if len(data) < width:
        return data + bytes(width)
    start = random.randrange(0, len(data) - width + 1, random.choice((1, width)))
    value = words.number(random)
    try:
        new = struct.pack(f"<{kind}", float(value) if kind in "fd" else value)
    except (struct.error, OverflowError):
        new = bytes(random.choices((0, 0xFF, 0x7F, 0x80), k=width))
    if random.random() < 0.15:
        return data[:start] + random.choice((b"", new + new)) + data[start + width :]
    return data[:start] + new + data[start + width :]
