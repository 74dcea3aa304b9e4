"""Reading what solvers print: every form of the rules, and what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.races.answer import AnswerError, read_answer
from glasshouse.races.transcript import Transcript


def answer(text: str):
    return read_answer(Transcript.of(text.encode()))


@pytest.mark.parametrize(
    ("lines", "size", "model"),
    [
        ("v 0110", 4, [0, 1, 1, 0]),
        ("v 0 1 1 0", 4, [0, 1, 1, 0]),
        ("v 01\nv 10", 4, [0, 1, 1, 0]),
        ("v -1 2 3 -4 0", 4, [0, 1, 1, 0]),
        ("v -1 2\nv 3 -4 0", 4, [0, 1, 1, 0]),
        ("v -x1 x2 x3 -x4", 4, [0, 1, 1, 0]),
        ("v 011", 5, [0, 1, 1, 0, 0]),
        ("v 1 10 11 0", 12, [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0]),
        ("v 2 0", 3, [0, 1, 0]),
        ("v 1 0", 2, [1, 0]),
        ("v 1", 1, [1]),
        ("v", 2, [0, 0]),
        ("v", 0, []),
        ("v 0", 0, []),
        ("v 10\nv 1", 5, [1, 0, 1, 0, 0]),
        ("v 11\nv 111", 10, [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]),
        ("v\t01\t10", 4, [0, 1, 1, 0]),
        ("c v 01", 2, None),
    ],
)
def test_models_in_all_their_forms(lines, size, model):
    assert answer(lines).model(size) == model


@pytest.mark.parametrize(
    ("lines", "size"),
    [("v 01101", 4), ("v 1 -5 0", 4), ("v 1 -1 0", 4), ("v 1 x 0", 3), ("v 0-1", 3)],
)
def test_models_that_are_none(lines, size):
    with pytest.raises(AnswerError):
        answer(lines).model(size)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=40))
def test_every_model_is_read_back(model):
    digits = "".join(map(str, model))
    literals = " ".join(str(k if bit else -k) for k, bit in enumerate(model, 1))
    half = len(digits) // 2
    for text in (
        f"v {digits}", f"v {' '.join(digits)}", f"v {literals} 0", f"v {literals}",
        f"v {digits[:half]}\nv {digits[half:]}",
    ):  # fmt: skip
        assert answer(text).model(len(model)) == model


def test_of_several_models_the_last_one_counts():
    """clasp shows each model that it finds, its value after it; others show the value first."""
    after = answer("v -1 2\nv 3 0\no 7\nv 1 -2\nv -3 0\no 4\ns OPTIMUM FOUND\n")
    before = answer("o 7\nv -1 2\nv 3 0\no 4\nv 1 -2\nv -3 0\ns OPTIMUM FOUND\n")
    assert after.model(3) == before.model(3) == [1, 0, 0]
    assert answer("o 7\nv 011\no 4\n").model(3) == [0, 1, 1]


def test_values_statuses_and_faults():
    read = answer("o 9\r\no 7\no 8\no x\ns OPTIMUM  FOUND\r\nsome s line\ns OPTIM")
    assert read.value == 8
    assert [value for _, value in read.incumbents] == [9, 7, 8]
    assert read.statuses == ("OPTIMUM FOUND", "OPTIM")
    assert read.faults == ("o x", "s OPTIM")
    with pytest.raises(AnswerError, match="2 s lines"):
        _ = read.status


@given(st.binary(max_size=300))
def test_no_output_is_fatal(output):
    read = read_answer(Transcript.of(output))
    try:
        read.model(5)
        _ = read.status
    except AnswerError:
        pass


def test_values_beyond_64_bits_are_numbers_too():
    assert answer(f"o {2**64 - 2}").value == 2**64 - 2
    assert answer("o " + "9" * 50).value is None


def test_the_lowest_value_is_kept_however_many_come_before_it(monkeypatch):
    monkeypatch.setattr("glasshouse.races.answer._MOST_INCUMBENTS", 5)
    said = answer("".join(f"o {value}\n" for value in (*range(20, 9, -1), -3, 10)))
    assert [value for _, value in said.incumbents] == [20, 19, 18, 17, -3, 10]


def test_any_white_space_parts_a_letter_from_the_rest():
    said = answer("o\t3\ns\tOPTIMUM FOUND\nv\t1\t0\nov 2\nsolver 1\n")
    assert (said.value, said.status, said.model(2), said.faults) == (3, "OPTIMUM FOUND", [1, 0], ())
