"""Reader and writer of text files that consist of rows of numbers, block by block."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.files.text import kernels, streams
from glasshouse.files.text.errors import shown
from glasshouse.files.text.kernels import HARD, Room
from glasshouse.files.text.streams import Source
from glasshouse.problems import INT64_MAX, IntArray, Number

# Called with a line that is not a row (a comment, a header): its number, its text, and the number
# of rows before it.
OnLine = Callable[[int, bytes, int], None]
# A fault that rows may have: a flag for each row, and the message for row k.
Fault = tuple[npt.NDArray[np.bool_], Callable[[int], str]]

# No sum of 64-bit weights is larger; a longer number in a note is a mistake.
_TOO_LARGE = 2**70
LONGEST_NUMBER = 400
# By default, Python does not parse or print longer numbers.
MOST_DIGITS = 4300

_ROWS_AT_ONCE = 1 << 16
# Tokens that are not integers, stored at once: more than a block of decimals has.
_ODD_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Rows:
    """A block of number rows: row k is `values[starts[k]:ends[k]]`, from line `lines[k]`.

    Values are 64-bit integers. `HARD` stands for the letter h. Any other token is `ODD`; its text
    is in `odd`, by its index in `values`.
    """

    values: IntArray
    ends: IntArray
    lines: IntArray
    odd: dict[int, bytes]

    @cached_property
    def starts(self) -> IntArray:
        """The index in `values` at which each row begins."""
        return np.concatenate([[0], self.ends[:-1]]).astype(np.int64)

    @cached_property
    def lengths(self) -> IntArray:
        """The number of tokens in each row."""
        return np.diff(self.ends, prepend=0)

    def column(self, number: int, missing: int = 0) -> IntArray:
        """Return token `number` of every row; 0 is the first token of a row, and -1 the last."""
        places = self.ends + number if number < 0 else self.starts + number
        there = self.lengths > (number if number >= 0 else -number - 1)
        return np.where(there, self.values[np.where(there, places, 0)], missing)

    def text(self, row: int, number: int) -> str:
        """Return token `number` of a row as text for a message; -1 is the last token."""
        place = int(self.starts[row] if number >= 0 else self.ends[row]) + number
        if place in self.odd:
            return shown(self.odd[place])
        value = int(self.values[place])
        return "'h'" if value == HARD else str(value)

    def part(self, start: int, stop: int) -> Rows:
        """Return the rows from `start` up to, but not including, `stop`."""
        first = int(self.starts[start]) if start < len(self.ends) else len(self.values)
        last = int(self.ends[stop - 1]) if stop > start else first
        odd = {place - first: text for place, text in self.odd.items() if first <= place < last}
        ends, lines = self.ends[start:stop] - first, self.lines[start:stop]
        return Rows(self.values[first:last], ends, lines, odd)

    def having(self, tokens: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return a mask of the rows that contain at least one of the marked tokens."""
        rows = np.zeros(len(self.ends), dtype=np.bool_)
        rows[np.searchsorted(self.ends, np.flatnonzero(tokens), side="right")] = True
        return rows

    def refuse(self, source: Source, faults: Iterable[Fault]) -> None:
        """Raise for the first row with a fault; of several faults, report the first in `faults`."""
        found = [(int(np.argmax(mask)), message) for mask, message in faults if mask.any()]
        if found:
            row, message = min(found, key=lambda fault: fault[0])
            raise source.error(message(row), int(self.lines[row]))


def read_rows(
    source: Source, marks: bytes, on_line: OnLine, blocks: Iterable[bytes] | None = None
) -> Iterator[Rows]:
    """Yield the rows of a text file; pass lines that begin with a byte of `marks` to `on_line`.

    Args:
        source: the file.
        marks: the first bytes of lines that are not rows.
        on_line: called with each such line.
        blocks: the source's blocks, if the caller changed them.
    """
    is_mark = np.zeros(256, dtype=np.bool_)
    is_mark[list(marks)] = True
    size, room = 0, _new_room(0)
    line, before = 1, 0
    for text in source.blocks() if blocks is None else blocks:
        if len(text) > 2 * streams.BLOCK:  # a long line comes alone
            words = text.strip()
            if words and is_mark[words[0]]:
                on_line(line, words, before)
                line += 1
                continue
            if len(text) > source.allowance.longest_row:
                raise source.error(
                    f"a line of numbers is longer than {source.allowance.longest_row} bytes; "
                    f"{source.allowance.remedy}",
                    line,
                )
        if len(text) > size:
            size, room = len(text), _new_room(len(text))
        block = np.frombuffer(text, dtype=np.uint8)
        position = 0
        room.counts[:] = 0
        while True:
            position, line, is_full = kernels.scan(block, position, line, is_mark, room)
            rows = int(room.counts[1])
            if position < len(block) and not is_full:
                end = text.index(b"\n", position)
                on_line(line, text[position:end].strip(), before + rows)
                position, line = end + 1, line + 1
                continue
            if rows:
                yield _rows(room, text)
            elif is_full:
                raise source.error(
                    f"the line has more than {_ODD_AT_ONCE} entries that are not integers", line
                )
            before += rows
            if not is_full:
                break
            room.counts[:] = 0


def _new_room(size: int) -> Room:
    """Allocate buffers for the tokens of any block of at most `size` bytes."""
    tokens = size // 2 + 1
    odd = min(tokens, _ODD_AT_ONCE)
    shapes = tokens, tokens, tokens, odd, (odd, 2), 3
    return Room(*(np.empty(shape, dtype=np.int64) for shape in shapes))


def _rows(room: Room, text: bytes) -> Rows:
    """Return the rows that `scan` found in `text`."""
    values, rows, odd = room.counts.tolist()
    columns = room.odd_places[:odd].tolist(), *room.odd_spans[:odd].T.tolist()
    words = {place: text[start:end] for place, start, end in zip(*columns, strict=True)}
    tokens, ends, lines = room.values[:values], room.row_ends[:rows], room.row_lines[:rows]
    return Rows(tokens.copy(), ends.copy(), lines.copy(), words)


def joined(parts: list[npt.NDArray[Any]], kind: Any, width: int | None = None) -> npt.NDArray[Any]:
    """Concatenate arrays; return an empty array of type `kind` if the list is empty."""
    shape = (0,) if width is None else (0, width)
    return np.concatenate([np.empty(shape, dtype=kind), *parts], dtype=kind)


def write_rows(file: BinaryIO, values: IntArray, row_ends: IntArray, prefix: bytes = b"") -> None:
    """Write rows of integers as lines of text that begin with `prefix`."""
    head = np.frombuffer(prefix, dtype=np.uint8)
    for start in range(0, len(row_ends), _ROWS_AT_ONCE):
        ends = row_ends[start : start + _ROWS_AT_ONCE]
        first = int(row_ends[start - 1]) if start else 0
        part = values[first : int(ends[-1])]
        buffer = np.empty(21 * len(part) + (len(prefix) + 1) * len(ends), dtype=np.uint8)
        size = kernels.join(part, ends - first, head, buffer)
        file.write(buffer[:size].data)


def write_table(file: BinaryIO, columns: list[npt.NDArray[Any]], prefix: bytes = b"") -> None:
    """Write columns of integers side by side: line k has entry k of each column."""
    for start in range(0, len(columns[0]), _ROWS_AT_ONCE):
        part = [column[start : start + _ROWS_AT_ONCE] for column in columns]
        table = np.column_stack(part).astype(np.int64, copy=False)
        write_rows(file, table.reshape(-1), np.arange(1, len(table) + 1) * len(columns), prefix)


def whole_number_fault(text: str) -> str:
    """Return the part of a message that states why a token is not a 64-bit integer."""
    digits = text.strip("'+-")
    if digits.isdigit() and int(digits[:40]) > INT64_MAX:
        return "is above 2^63-1"
    return "is not an integer"


def bit_string(bits: npt.NDArray[np.int8]) -> str:
    """Return bits as a string of 0 and 1 without separators."""
    return (bits + 48).astype(np.uint8).tobytes().decode("ascii")


def parse_bits(text: bytes) -> npt.NDArray[np.int8] | None:
    """Parse a string of 0 and 1 as int8; return None for any other text."""
    bits = np.frombuffer(text, dtype=np.uint8)
    if not ((bits == 48) | (bits == 49)).all():
        return None
    return (bits - 48).astype(np.int8)


def parse_number(text: bytes) -> Number | None:
    """Parse an int, or a float with a point or an exponent; return None for any other text.

    Only plain spellings are accepted: no nan, no infinity, no underscores between digits.
    """
    if len(text) > LONGEST_NUMBER or not is_spelled(text):
        return None
    try:
        number = int(text) if set(text) <= set(b"0123456789+-") else float(text)
    except ValueError:
        return None
    return number if is_sound(number) else None


def whole_number(text: bytes) -> int | None:
    """Parse an integer of at most `MOST_DIGITS` digits; return None for any other text."""
    if not re.fullmatch(rb"[+-]?[0-9]+", text):
        return None
    digits = text.lstrip(b"+-").lstrip(b"0") or b"0"
    if len(digits) > MOST_DIGITS:
        return None
    return -int(digits) if text.startswith(b"-") else int(digits)


def is_spelled(text: bytes) -> bool:
    """Return whether a text has only characters of plain numbers (no letters except e, no _)."""
    return not text.translate(None, b"0123456789+-.eE")


def is_sound(number: object) -> bool:
    """Return whether a value is a finite float, or an integer below 2^70 in magnitude."""
    if isinstance(number, float):
        return math.isfinite(number)
    return isinstance(number, int) and not isinstance(number, bool) and abs(number) < _TOO_LARGE
