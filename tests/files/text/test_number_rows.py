"""The compiled tokenizer and formatter, against Python's own."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.files.text import number_rows, streams
from glasshouse.files.text.kernels import HARD
from glasshouse.files.text.number_rows import read_rows, write_rows, write_table
from glasshouse.files.text.streams import Source

int64 = st.integers(-(2**63) + 1, 2**63 - 1)
token = st.one_of(
    int64.map(str),
    st.sampled_from(["h", "hh", "+7", "-", "+", "007", "-0", "1.5", "nan", "1_0", "9" * 19, "é"]),
    st.integers(2**63, 2**70).map(str),
    st.integers(2**63, 2**70).map(lambda x: str(-x)),
)
blank = st.sampled_from([" ", "\t", "  ", " \t ", "\x0b", "\x0c"])
line_end = st.sampled_from(["\n", "\r\n", " \n", "\n\n", "\r\n\r\n"])


def tokens_of(text: bytes) -> tuple[list[tuple[int, list[object]]], list[tuple[int, bytes, int]]]:
    """Line numbers with their tokens; and the lines that went elsewhere."""
    elsewhere: list[tuple[int, bytes, int]] = []
    found = []
    for part in read_rows(
        Source(Path("x"), io.BytesIO(text)), b"c", lambda *line: elsewhere.append(line)
    ):
        for start, end, line in zip(part.starts, part.ends, part.lines, strict=True):
            row = [
                part.odd.get(k, "h" if part.values[k] == HARD else int(part.values[k]))
                for k in range(start, end)
            ]
            found.append((int(line), row))
    return found, elsewhere


def by_definition(word: bytes) -> object:
    if word == b"h":
        return "h"
    digits = word[1:] if word[:1] in (b"+", b"-") else word
    if digits and set(digits) <= set(b"0123456789") and abs(int(word)) < 2**63:
        return int(word)
    return word


@given(st.lists(st.tuples(st.lists(st.tuples(token, blank), max_size=5), line_end), max_size=8))
def test_scan_finds_the_tokens_that_split_finds(lines):
    text = "".join("".join(t + b for t, b in row) + end for row, end in lines).encode()
    expected = [
        (number, [by_definition(word) for word in line.split()])
        for number, line in enumerate(text.split(b"\n"), start=1)
        if line.split()
    ]
    assert tokens_of(text) == (expected, [])


@given(st.binary(max_size=200).filter(lambda data: b"\0" not in data), st.integers(1, 40))
def test_blocks_of_any_size_and_any_bytes_give_the_same_rows(data, size):
    whole = tokens_of(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "BLOCK", size)
        assert tokens_of(data) == whole


def test_marked_lines_go_to_the_caller_with_their_place():
    text = b"1 2\n c first\r\n3\ncsecond\n\n4"
    found, elsewhere = tokens_of(text)
    assert found == [(1, [1, 2]), (3, [3]), (6, [4])]
    assert elsewhere == [(2, b"c first", 1), (4, b"csecond", 2)]


@given(st.lists(st.lists(int64, max_size=5), max_size=9), st.sampled_from([b"", b"h ", b"12 "]))
def test_join_writes_what_str_writes(table, prefix):
    file = io.BytesIO()
    values = np.array([x for row in table for x in row], dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(number_rows, "_ROWS_AT_ONCE", 4)
        write_rows(file, values, np.cumsum([len(row) for row in table], dtype=np.int64), prefix)
    expected = b"".join(prefix + b" ".join(b"%d" % x for x in row) + b"\n" for row in table)
    assert file.getvalue() == expected


def test_write_table_writes_columns_side_by_side():
    file = io.BytesIO()
    write_table(file, [np.array([1, 2], dtype=np.int32), np.array([-3, 2**63 - 1])])
    assert file.getvalue() == b"1 -3\n2 9223372036854775807\n"
