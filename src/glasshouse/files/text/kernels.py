"""Compiled conversion between lines of text and rows of integers.

`scan` is the tokenizer of every text format. It does not know clauses or edges: a line is a row of
tokens, and a token that is not a 64-bit integer is left to the caller, with its position.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner

# The token "h", which marks a hard clause; no number has this value, as magnitudes end at 2^63-1.
HARD = -(2**63)
# Any other token that is not a 64-bit integer. One number has this value too, so only the list of
# odd tokens shows which tokens are odd.
ODD = -(2**63) + 1

_HARD = np.int64(HARD)
_ODD = np.int64(ODD)
_MOST = np.int64(2**63 - 1)


@inner
def _is_blank(byte: int) -> bool:
    """Return whether a byte is white space within a line (including a carriage return)."""
    return byte == 32 or byte == 9 or (11 <= byte <= 13)


class Room(NamedTuple):
    """The buffers that `scan` fills; `counts` contains the numbers of entries in use."""

    values: npt.NDArray[np.int64]  # one per token: its value, `HARD` or `ODD`
    row_ends: npt.NDArray[np.int64]  # one per row: the number of values up to its end
    row_lines: npt.NDArray[np.int64]  # the line number of each row
    odd_places: npt.NDArray[np.int64]  # indices of odd tokens in `values`
    odd_spans: npt.NDArray[np.int64]  # first byte and end of each odd token
    counts: npt.NDArray[np.int64]  # values, rows, odd tokens


@compiled
def scan(block: Any, position: int, line: int, is_mark: Any, room: Any) -> Any:
    """Read rows of tokens from `position` until the block ends or a line begins with a mark.

    It also stops before a row with more odd tokens than the buffers can hold.

    Args:
        block: uint8, whole lines, including a newline at the end of the last one.
        position: the index of the first byte of a line.
        line: the number of that line.
        is_mark: for each of the 256 bytes, whether a line that begins with it is left to the
            caller.
        room: the buffers; new rows are appended.

    Returns:
        The position and line number where it stopped, and whether the buffers are full.
    """
    num_values, num_rows, num_odd = room.counts[0], room.counts[1], room.counts[2]
    is_full = False
    while position < len(block) and not is_full:
        start = position
        while _is_blank(block[start]):
            start += 1
        if is_mark[block[start]]:
            break
        end, last, last_odd = _read_line(block, start, room, num_values, num_odd)
        is_full = last_odd > len(room.odd_places)
        if not is_full:
            if last > num_values:
                room.row_ends[num_rows], room.row_lines[num_rows] = last, line
                num_rows += 1
            num_values, num_odd = last, last_odd
            position = end + 1
            line += 1
    room.counts[0], room.counts[1], room.counts[2] = num_values, num_rows, num_odd
    return position, line, is_full


@inner
def _read_line(block: Any, position: int, room: Any, num_values: int, num_odd: int) -> Any:
    """Read the tokens of one nonempty line; return its end and the new counts."""
    while block[position] != 10:
        begin = position
        negative = block[position] == 45  # "-"
        if negative or block[position] == 43:  # "+"
            position += 1
        value = np.int64(0)
        whole = True
        digits = 0
        while not _is_blank(block[position]) and block[position] != 10:
            digit = np.int64(block[position]) - 48
            if digit < 0 or digit > 9 or value > (_MOST - digit) // 10:
                whole = False
            else:
                value = 10 * value + digit
            digits += 1
            position += 1
        if whole and digits > 0:
            room.values[num_values] = -value if negative else value
        elif position == begin + 1 and block[begin] == 104:  # "h"
            room.values[num_values] = _HARD
        else:
            room.values[num_values] = _ODD
            if num_odd < len(room.odd_places):
                room.odd_places[num_odd] = num_values
                room.odd_spans[num_odd, 0], room.odd_spans[num_odd, 1] = begin, position
            num_odd += 1
        num_values += 1
        while _is_blank(block[position]):
            position += 1
    return position, num_values, num_odd


@compiled
def join(values: Any, row_ends: Any, prefix: Any, buffer: Any) -> int:
    """Write rows of int64 into `buffer` as lines of text that begin with `prefix`.

    Args:
        values: int64, the values of all rows, concatenated; none is -2^63.
        row_ends: int64, the number of values up to the end of each row.
        prefix: uint8, written at the beginning of every line.
        buffer: uint8, with space for 21 bytes per value and, per line, the prefix and a newline.

    Returns:
        The number of bytes written.
    """
    digits = np.empty(20, dtype=np.uint8)
    size = 0
    place = 0
    for end in row_ends:
        for byte in prefix:
            buffer[size] = byte
            size += 1
        first = place
        while place < end:
            if place > first:
                buffer[size] = 32
                size += 1
            value = values[place]
            if value < 0:
                buffer[size] = 45
                size += 1
                value = -value
            count = 0
            while True:
                rest = value // 10
                digits[count] = 48 + (value - 10 * rest)
                count += 1
                value = rest
                if value == 0:
                    break
            while count > 0:
                count -= 1
                buffer[size] = digits[count]
                size += 1
            place += 1
        buffer[size] = 10
        size += 1
    return size
