"""Solutions as solvers print them, and texts that are not solutions."""

from __future__ import annotations

import io

import pytest

from glasshouse.files import FileError
from glasshouse.files.solutions import read_solution

MODEL = [1, 0, 0, 1]
SPELLINGS = [
    "1001", "1 0 0 1", "1,0,0,1", "1\n0\n0\n1\n", "1 -1 -1 1", "+1 -1 -1 +1", "1.0 -1.0 -1. 1.0",
    "v 1001", "c hello 1\no 17\ns OPTIMUM FOUND\nv 1001\n", "v 1 -2\nv -3 4 0\n", "v 1 -2 -3 4",
    "v x1 -x2\nv -x3 x4\n", "o 3\nv 4 1 -3 -2 0", "4 -3 -2 1 0",
    "cost              3\nmodel             1001\nbest energy 3\n",
    "[1, 0, 0, 1]", "[1, -1, -1, 1]", "[1.0, 0.0, 0.0, 1.0]", '{"model": "1001", "energy": 3}',
    '{"0": 1, "1": -1, "2": -1, "3": 1}', '{"sample": {"3": 1, "2": 0, "1": 0, "0": 1}}',
    '{"state": [1, 0, 0, 1]}',
]  # fmt: skip
WRONG = [
    "", "100", "10010", "1 0 0 2", "1 0 0 -1", "v 1 -2 -3", "v 1 -2 -3 3 0", "v 1 1 -2 3 4",
    "1 0 x 1", "[1, 0, 0]", "[1, 0, 0, null]", "[[1, 0, 0, 1]]", "[1, 0", '{"a": 1}', "nan 0 0 1",
    "\xff\xfe", "[" * 9999, '{"0": 1, "1": 0, "2": 0, "4": 1}', "true", "1e0 0 0 1",
]  # fmt: skip


@pytest.mark.parametrize("text", SPELLINGS)
def test_all_spellings_mean_the_same(text):
    assert read_solution(io.BytesIO(text.encode()), [4]).tolist() == MODEL


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_solution_is_refused_in_one_line(text):
    with pytest.raises(FileError, match=r"^<stream>: has no solution with 4 variables") as caught:
        read_solution(io.BytesIO(text.encode()), [4])
    assert "\n" not in str(caught.value)


def test_the_first_size_that_fits_is_taken():
    assert len(read_solution(io.BytesIO(b"10110"), [3, 5])) == 5
    with pytest.raises(FileError, match="3 or 5 variables"):
        read_solution(io.BytesIO(b"1011"), [3, 5])


@pytest.mark.parametrize(
    ("text", "labels", "bits"),
    [
        ('{"0": 1, "1": -1, "2": 1}', (2, 0, 1), [1, 1, 0]),
        ('{"sample": {"30": 1, "31": 0, "45": 1}}', (30, 31, 45), [1, 0, 1]),
        ('{"a": 0, "b": 1, "c": 1}', ("c", "a", "b"), [1, 0, 1]),
        ("[true, false, true]", (30, 31, 45), [1, 0, 1]),
        ('{"0": 1, "1": -1, "2": 1}', None, [1, 0, 1]),
    ],
)
def test_names_are_the_problems_own(text, labels, bits):
    assert read_solution(io.BytesIO(text.encode()), [3], labels).tolist() == bits


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ('{"0": 1, "1": -1, "2": 1}', (30, 31, 45)),
        ('{"30": 1, "31": 0, "30": 0}', (30, 31, 45)),
        ('{"model": "111", "model": "000"}', None),
        ('{"1": 1, "2": 1, "3": 0}', (1, "1", 2)),
    ],
)
def test_names_that_are_not_the_problems_are_refused(text, labels):
    with pytest.raises(FileError, match="no solution"):
        read_solution(io.BytesIO(text.encode()), [3], labels)
