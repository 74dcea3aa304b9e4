"""Reading the output of solvers: every form of the rules, and texts that break them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.races.judging.answer import AnswerError, read_answer
from glasshouse.races.running.transcript import Transcript


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
        ("v 1 0", 2, [1, 0]),
        ("v 1 0", 1, [1]),
        ("v 1", 1, [1]),
        ("v", 0, []),
        ("v 0", 0, []),
        ("v 10\nv 1", 3, [1, 0, 1]),
        ("v 11\nv 111", 5, [1, 1, 1, 1, 1]),
        ("v 01\t10", 4, [0, 1, 1, 0]),
        ("v  01  10  \r", 4, [0, 1, 1, 0]),
        ("c v 01", 2, None),
    ],
)
def test_models_in_all_their_forms(lines, size, model):
    assert answer(lines).model(size) == model


@pytest.mark.parametrize(
    ("lines", "size", "message"),
    [
        ("v 01101", 4, "5 values, but must have 4"),
        ("v 1 -5 0", 4, "'-5' in a v line is not a literal of variables 1 to 4"),
        ("v 1 -1 0", 4, "variable 1 is both true and false"),
        ("v 1 x 0", 3, "'x' in a v line is not a literal"),
        ("v 0-1", 3, "'0-1' in a v line is not a literal"),
        ("v 0101\nv -2 3", 200, "'0101' in a v line is not a literal"),
        ("v 1 -0 2", 2, "'-0' in a v line is not a literal"),
    ],
)
def test_models_that_are_none(lines, size, message):
    with pytest.raises(AnswerError, match=message):
        answer(lines).model(size)


@pytest.mark.parametrize(
    ("lines", "size", "message"),
    [
        (f"v {'01' * 19}0", 40, "39 values, but must have at least 40"),
        ("v 0 1 1", 4, "3 values, but must have at least 4"),
        ("v 10\nv 1", 5, "3 values, but must have at least 5"),
        ("v 2 0", 3, "no value for variable 1, nor for 1 more"),
        ("v 1 10 11 0", 12, "no value for variable 2, nor for 8 more"),
        ("v -1 2 -4 0", 4, "no value for variable 3"),
        ("v 101\nv -4 5", 5, "'101' in a v line is not a literal"),
        ("v", 2, "0 values, but must have at least 2"),
    ],
)
def test_every_variable_needs_a_value(lines, size, message):
    with pytest.raises(AnswerError, match=message):
        answer(lines).model(size)


def test_variables_that_no_clause_has_need_no_value():
    """Without a header, a solver cannot know of variables that no clause has."""
    assert answer("v 011").model(5, needed={1, 3}) == [0, 1, 1, 0, 0]
    assert answer("v -1 3 0").model(5, needed={1, 3}) == [0, 0, 1, 0, 0]
    assert answer("v 1 10 11 0").model(12, needed={1, 10, 11})[9:] == [1, 1, 0]
    assert answer("v").model(2, needed=()) == [0, 0]
    with pytest.raises(AnswerError, match="2 values, but must have at least 3"):
        answer("v 01").model(5, needed={1, 3})


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
    read = answer("o 9\r\no 7\no 8\no x\ns OPTIMUM FOUND \r\nsome s line\ns OPTIM")
    assert read.value == 8
    assert [value for _, value in read.incumbents] == [9, 7, 8]
    assert read.statuses == ("OPTIMUM FOUND", "s OPTIM")
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
    monkeypatch.setattr("glasshouse.races.judging.answer._MOST_INCUMBENTS", 5)
    said = answer("".join(f"o {value}\n" for value in (*range(20, 9, -1), -3, 10)))
    assert [value for _, value in said.incumbents] == [20, 19, 18, 17, -3, 10]


@pytest.mark.parametrize(
    "line",
    ["s OPTIMUM  FOUND", "s  OPTIMUM FOUND", "s OPTIMUM\tFOUND", "s\tOPTIMUM FOUND", "s",
     "s optimum found", "S OPTIMUM FOUND", " s OPTIMUM FOUND", "s OPTIMUM FOUND!", "s UNSAT"],
)  # fmt: skip
def test_a_status_line_must_be_spelled_exactly(line):
    read = answer(f"o 3\n{line}\nv 01\n")
    assert read.status == line
    assert read.faults == (line,)


@pytest.mark.parametrize("line", ["o\t3", "O 3", " o 3", "o 3 4", "o", "o 3.0"])
def test_a_value_line_is_an_o_a_space_and_an_integer(line):
    read = answer(f"o 9\n{line}\n")
    assert (read.value, read.unread, read.faults) == (9, line, (line,))
    assert answer(f"{line}\no  9 \n").unread is None


@pytest.mark.parametrize("line", ["v\t01", "V 01", " v 01", "v\x0b01"])
def test_a_model_line_is_a_v_and_a_space(line):
    read = answer(f"{line}\n")
    assert (read.model(2), read.faults) == (None, (line,))


def test_other_lines_are_passed_over():
    said = answer("ov 2\nsolver 1\nvery nice\nc s OPTIMUM FOUND\n\nSolved\n x 1\n")
    assert (said.value, said.status, said.model(2), said.faults) == (None, None, None, ())
