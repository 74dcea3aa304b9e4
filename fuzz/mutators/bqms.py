"""Mutators of dimod's binary files, which have a JSON header and arrays."""

from __future__ import annotations

import json
import struct
from random import Random

from fuzz.mutators import texts, trees, words

_HEAD = 14


def mutate(data: bytes, random: Random) -> bytes:
    """Change the JSON header, or one number of the arrays."""
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
    """Replace a few bytes by a number near the limits of a numeric type."""
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
