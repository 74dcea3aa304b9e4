"""Compiled text: whole numbers out of lines, and lines out of whole numbers.

`scan` is the tokenizer of every text format. It knows nothing of clauses or edges: a line is a row
of tokens, and what is not a whole number of 64 bits is left to the caller by its place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner

# The token "h", which opens a hard clause: a value that no number has, as magnitudes end at 2^63-1.
HARD = -(2**63)
# Any other token that is no whole number of 64 bits. One number has this value too: whether a token
# is odd is known from the list of odd ones.
ODD = -(2**63) + 1

_HARD = np.int64(HARD)
_ODD = np.int64(ODD)
_MOST = np.int64(2**63 - 1)


@inner
def _is_blank(byte: int) -> bool:
    """White space inside a line; the carriage return of other systems' line ends is one."""
    return byte == 32 or byte == 9 or (11 <= byte <= 13)


class Room(NamedTuple):
    """What a scan fills; `counts` tells how much of it is filled."""

    values: npt.NDArray[np.int64]  # one per token: its value, `HARD` or `ODD`
    row_ends: npt.NDArray[np.int64]  # one per row: the number of values up to its end
    row_lines: npt.NDArray[np.int64]  # the line number of each row
    odd_places: npt.NDArray[np.int64]  # where odd tokens are in `values`
    odd_spans: npt.NDArray[np.int64]  # their first byte and the one after their last
    counts: npt.NDArray[np.int64]  # values, rows, odd tokens


@compiled
def scan(block: Any, position: int, line: int, is_mark: Any, room: Any) -> Any:
    """Read rows of tokens from `position` on, until the block ends or a line opens with a mark.

    It also stops before a row that has more odd tokens than there is room for.

    Args:
        block: uint8, whole lines, the last one ended by a newline too.
        position: where to begin: the first byte of a line.
        line: its number.
        is_mark: for each of the 256 bytes, whether a line that opens with it is left to the caller.
        room: where rows go, behind those that are there.

    Returns:
        Where it stopped, that line's number, and whether room ran out there.
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
    """Read the tokens of one line, which begins with one; its end, and how many there are now."""
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
    """Write rows of int64 as lines: the prefix, then the values with a space between them.

    Args:
        values: int64, all rows one after the other; none of them -2^63.
        row_ends: int64, the number of values up to the end of each row.
        prefix: uint8, put at the head of every line.
        buffer: uint8, with room for the prefix and 21 bytes a value in every line, and one more.

    Returns:
        How many bytes were written.
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
