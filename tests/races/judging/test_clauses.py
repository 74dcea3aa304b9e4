"""Verdicts: each defect of a solver gets its own, and what is right is called right."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.files.clause_file import read_clauses
from glasshouse.files.known import Known, known_file
from glasshouse.files.text.errors import FileError
from glasshouse.races.judging.answer import read_answer
from glasshouse.races.judging.clauses import RunVerdict, judge
from glasshouse.races.running.command import MEGABYTE, Limits
from glasshouse.races.running.runner import run
from glasshouse.races.running.transcript import Transcript

BROKEN = Path(__file__).parents[1] / "broken_solver.py"


@pytest.fixture(scope="module")
def instance(tmp_path_factory):
    """A planted file whose optimum is not at all false, its clauses and what is proven."""
    plant = gh.random_loops(5, 5, loop_density=2, frustration="1/5", rng=3)
    path = tmp_path_factory.mktemp("race") / "inst.wcnf"
    gh.write(path, plant)
    truth = known_file(path)
    optimum = truth.optimum
    assert optimum is not None
    clauses = read_clauses(path)
    assert clauses.cost([0] * clauses.num_variables) > optimum
    return path, clauses, truth


def race(instance, defect, strict=False, **limits):
    path, clauses, truth = instance
    limits = {"seconds": 20, "memory": 400 * MEGABYTE, "output": 8 * MEGABYTE} | limits
    outcome = run([sys.executable, str(BROKEN), defect, str(path)], Limits(**limits))
    return judge(clauses, read_answer(outcome.transcript), truth, outcome, strict=strict)


@pytest.mark.parametrize(
    ("defect", "verdict", "reason"),
    [
        ("none", RunVerdict.OPTIMAL, "cost"),
        ("off by one", RunVerdict.WRONG_OPTIMUM, "every assignment costs at least"),
        ("wrong model", RunVerdict.INVALID_MODEL, "the model costs"),
        ("too early", RunVerdict.WRONG_OPTIMUM, "is optimal, but a model costs"),
        ("children", RunVerdict.OPTIMAL, "cost"),
        ("a gigabyte", RunVerdict.TOO_MUCH_OUTPUT, "output"),
        ("segfault", RunVerdict.CRASH, "signal 11"),
        ("exit code", RunVerdict.OPTIMAL, "cost"),
        ("half a line", RunVerdict.MALFORMED, "s OPTIM"),
        ("no o line", RunVerdict.NO_VALUE, "has no o line"),
        ("no v line", RunVerdict.INVALID_MODEL, "has no v line"),
        ("two s lines", RunVerdict.MALFORMED, "2 s lines"),
        ("memory", RunVerdict.OUT_OF_MEMORY, "memory"),
        ("unsatisfiable", RunVerdict.WRONG_OPTIMUM, "UNSATISFIABLE, but a model costs"),
        ("gives up", RunVerdict.NO_ANSWER, "UNKNOWN"),
    ],
)
def test_each_defect_has_its_verdict(instance, defect, verdict, reason):
    judgement = race(instance, defect)
    assert judgement.verdict == verdict, judgement
    assert reason in judgement.reason


@pytest.mark.parametrize("defect", ["never ends", "deaf"])
def test_a_time_out_keeps_the_best_value_so_far(instance, defect):
    judgement = race(instance, defect, seconds=0.8)
    assert judgement.verdict == RunVerdict.TIME_OUT
    assert judgement.stated is not None
    assert judgement.cost is None  # without a model, no claim is trusted


def test_a_model_printed_at_the_last_moment_counts(instance):
    judgement = race(instance, "polite", seconds=0.8)
    assert judgement.verdict == RunVerdict.FOUND
    assert judgement.cost == instance[2].optimum


def test_a_wrong_exit_code_is_a_remark_unless_strict(instance):
    lenient = race(instance, "exit code")
    assert lenient.remarks == ("exit code 1 with s OPTIMUM FOUND, expected 30",)
    strict = race(instance, "exit code", strict=True)
    assert strict.verdict == RunVerdict.WRONG_EXIT_CODE
    assert strict.verdict.is_fault
    assert race(instance, "none", strict=True).verdict == RunVerdict.OPTIMAL


def said(clauses, text, truth):
    return judge(clauses, read_answer(Transcript.of(text.encode())), truth)


def test_what_is_not_proven_is_not_decided(instance):
    _, clauses, truth = instance
    model = "0" * clauses.num_variables
    cost = clauses.cost([0] * clauses.num_variables)
    claim = f"o {cost}\ns OPTIMUM FOUND\nv {model}"
    assert said(clauses, claim, Known()).verdict == RunVerdict.UNDECIDED
    assert said(clauses, claim, Known(bound=cost - 1)).verdict == RunVerdict.UNDECIDED
    assert said(clauses, claim, Known(bound=cost)).verdict == RunVerdict.OPTIMAL
    assert said(clauses, claim, Known(best=cost - 1)).verdict == RunVerdict.WRONG_OPTIMUM
    assert said(clauses, claim, truth).verdict == RunVerdict.WRONG_OPTIMUM
    unsatisfiable = "s UNSATISFIABLE"
    assert said(clauses, unsatisfiable, Known()).verdict == RunVerdict.UNDECIDED


def test_broken_hard_clauses_and_files_of_both_dialects(tmp_path):
    classic, lettered = tmp_path / "a.wcnf", tmp_path / "b.wcnf"
    classic.write_text("c hi\np wcnf 3 3 10\n10 1 2 0\n3 -1 0\n4 -2 3 0\n")
    lettered.write_text("h 1 2 0\n3 -1 0\n4 -2 3 0\n")
    assert read_clauses(classic) == read_clauses(lettered)
    clauses = read_clauses(classic)
    judgement = said(clauses, "o 0\ns OPTIMUM FOUND\nv 000", Known(0, 0))
    assert judgement.verdict == RunVerdict.INVALID_MODEL
    assert "violates 1 hard clauses" in judgement.reason
    assert said(clauses, "o 0\ns OPTIMUM FOUND\nv 011", Known(0, 0)).verdict == RunVerdict.OPTIMAL


@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    [
        ("o 3\ns OPTIMUM FOUND\nv 10", RunVerdict.INVALID_MODEL, "but must have at least 3"),
        ("o 3\ns OPTIMUM FOUND\nv 1 -2 0", RunVerdict.INVALID_MODEL, "no value for variable 3"),
        ("o 3\ns OPTIMUM  FOUND\nv 100", RunVerdict.MALFORMED, "'s OPTIMUM  FOUND' is not"),
        ("o 3\ns\tOPTIMUM FOUND\nv 100", RunVerdict.MALFORMED, "is not a status line"),
        ("o 3\ns optimum found\nv 100", RunVerdict.MALFORMED, "is not a status line"),
        ("o\t3\ns OPTIMUM FOUND\nv 100", RunVerdict.MALFORMED, "expected 'o ' and an integer"),
        ("o 3\ns OPTIMUM FOUND\nv\t100", RunVerdict.INVALID_MODEL, "has no v line"),
        ("o 3\ns OPTIMUM FOUND\nv 100", RunVerdict.OPTIMAL, "cost 3"),
        ("o 3\ns OPTIMUM FOUND\nv 10000", RunVerdict.OPTIMAL, "cost 3"),
        ("o 3 \r\ns OPTIMUM FOUND  \r\nv 100 \r\n", RunVerdict.OPTIMAL, "cost 3"),
        ("o 3\ns OPTIMUM FOUND\nv 100000", RunVerdict.INVALID_MODEL, "6 values, but must have 5"),
    ],
)  # fmt: skip
def test_the_lines_are_those_of_the_rules(tmp_path, text, verdict, reason):
    path = tmp_path / "a.wcnf"
    path.write_text("c num-variables 5\nh 1 2 0\n3 -1 0\n4 -2 3 0\n9 -2 0\n")
    judgement = said(read_clauses(path), text, Known(3, 3))
    assert judgement.verdict == verdict, judgement
    assert reason in judgement.reason


CUT_OFF = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stdout.write({text!r})
sys.stdout.flush()
time.sleep(1000)
"""


@pytest.mark.parametrize(
    "text", ["o 3\ns OPTI", "o 3\no 2", "o 3\ns OPTIMUM FOUND\nv 1", "o 3\ns OPTIMUM FOUND\n",
             "s OPTIMUM FOUND\n"],
)  # fmt: skip
def test_an_answer_that_the_limit_cuts_off_is_a_time_out(tmp_path, text):
    path = tmp_path / "a.wcnf"
    path.write_text("h 1 2 0\n3 -1 0\n4 -2 3 0\n9 -2 0\n")
    words = [sys.executable, "-S", "-c", CUT_OFF.format(text=text)]
    outcome = run(words, Limits(seconds=1, grace=0.1))
    assert bytes(outcome.transcript.output).decode() == text
    judgement = judge(read_clauses(path), read_answer(outcome.transcript), Known(3, 3), outcome)
    assert judgement.verdict is RunVerdict.TIME_OUT, judgement
    assert not said(read_clauses(path), text, Known(3, 3)).is_right


def test_weights_beyond_the_library_are_judged_exactly(tmp_path):
    path = tmp_path / "huge.wcnf"
    path.write_text(f"h 1 2 0\n{2**63} -1 0\n{2**63 - 2} -2 0\n1 3 4 5 0\n")
    clauses = read_clauses(path)
    text = f"o {2**63 - 2}\ns OPTIMUM FOUND\nv 01100"
    assert said(clauses, text, Known(2**63 - 2, 2**63 - 2)).verdict == RunVerdict.OPTIMAL
    assert said(clauses, text.replace(str(2**63 - 2), str(2**63 - 1)), Known()).verdict == (
        RunVerdict.INVALID_MODEL
    )


@pytest.mark.parametrize(
    "text", ["p cnf 2 1\np cnf 2 1\n", "1 2 3\n", "x 1 0\n", "h 0 1 0\n", "p wcnf 1 1 5\n1 2 0\n",
             "-3 1 0\n", "p dnf 1 1\n", "1 1 0\np cnf 1 1\n"],
)  # fmt: skip
def test_files_that_hold_no_clauses_are_refused(tmp_path, text):
    path = tmp_path / "bad.wcnf"
    path.write_text(text)
    with pytest.raises(gh.FileError, match=r"bad\.wcnf"):
        read_clauses(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("p cnf 2\n", "the p line must be 'p cnf VARIABLES CLAUSES'$"),
        ("p wcnf 2\n", "the p line must be 'p wcnf VARIABLES CLAUSES TOP'$"),
        ("p cnf 2 1\n1 2\n", "a clause must consist of literals and a final 0$"),
        ("p wcnf 2 1 9\n3 1 2\n", "a clause must consist of a weight, literals, and a final 0$"),
        ("p cnf 2 1\n" + 41 * "1" + " 0\n", "is not an integer of at most 40 digits$"),
    ],
)
def test_messages_name_the_form_of_the_own_dialect(tmp_path, text, reason):
    path = tmp_path / "bad.cnf"
    path.write_text(text)
    with pytest.raises(gh.FileError, match=reason):
        read_clauses(path)


@given(st.data())
def test_no_answer_is_called_right_unless_it_is(data):
    """Random claims against enumeration: optimal exactly if claimed, shown and true."""
    size = data.draw(st.integers(1, 4))
    literal = st.integers(1, size).flatmap(lambda v: st.sampled_from([v, -v]))
    soft = data.draw(
        st.lists(st.tuples(st.integers(0, 5), st.lists(literal, max_size=2)), max_size=6)
    )
    from itertools import product

    from glasshouse.files.clause_file import ClauseFile

    clauses = ClauseFile(size, tuple((w, tuple(c)) for w, c in soft), ())
    optimum = min(clauses.cost(bits) for bits in product((0, 1), repeat=size))
    model = data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    stated = data.draw(st.integers(0, 12))
    digits = "".join(map(str, model))
    judgement = said(clauses, f"o {stated}\ns OPTIMUM FOUND\nv {digits}", Known(optimum, optimum))
    is_right = clauses.cost(model) == optimum == stated
    assert (judgement.verdict == RunVerdict.OPTIMAL) == is_right
    assert judgement.verdict.is_fault != is_right


def test_a_last_o_line_that_is_no_number_is_malformed(instance):
    _, clauses, _ = instance
    cost, model = clauses.cost([0] * clauses.num_variables), "0" * clauses.num_variables
    text = f"o {cost}\no 2.5\ns SATISFIABLE\nv {model}\n"
    judgement = said(clauses, text, Known())
    assert judgement.verdict == RunVerdict.MALFORMED
    assert "the last o line is 'o 2.5'; expected 'o ' and an integer" in judgement.reason
    judgement = said(clauses, f"o 2.5\n{text.replace('o 2.5', '')}", Known())
    assert judgement.verdict == RunVerdict.FOUND
    assert judgement.remarks


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("p wcnf 1 1 5\n2 1 0\n", Known(0, 2)),
        ("p wcnf 2 3 50\n2 0\n4 0\n2 1 0\n", Known(6, 8)),
        ("p wcnf 1 2 5\n5 1 0\n2 -1 0\n", Known(0, 2)),
        ("p wcnf 1 2 5\n5 1 0\n5 -1 0\n", Known(is_infeasible=True)),
        ("h 1 2 0\nh 1 -2 0\nh -1 0\n7 1 2 3 0\n", Known(is_infeasible=True)),
        ("h 0\n1 1 0\n", Known(is_infeasible=True)),
        ("h 1 2 3 0\n1 -1 0\n3 0\n", Known(bound=3)),
        (f"h 1 0\n{2**63} -1 0\n{2**63} 0\n", Known(2**63, 2**64)),
        ("p cnf 2 1\n1 2 0\n", Known(0, 1)),
    ],
)
def test_what_a_file_shows_without_a_certificate(text, truth, tmp_path):
    path = tmp_path / ("a.cnf" if " cnf " in text else "a.wcnf")
    path.write_text(text)
    assert known_file(path) == truth
    judgement = said(read_clauses(path), "s UNSATISFIABLE", truth)
    known = RunVerdict.UNDECIDED if truth.best is None else RunVerdict.WRONG_OPTIMUM
    assert judgement.verdict == (RunVerdict.OPTIMAL if truth.is_infeasible else known)


def test_values_below_the_empty_clauses_are_lies(tmp_path):
    path = tmp_path / "a.wcnf"
    path.write_text("p wcnf 2 2 50\n2 1 0\n3 0\n")
    text = "o 2\no 5\ns SATISFIABLE\nv 00"
    assert said(read_clauses(path), text, known_file(path)).verdict == RunVerdict.WRONG_OPTIMUM
    text = "o 3\ns OPTIMUM FOUND\nv 10"
    assert said(read_clauses(path), text, known_file(path)).verdict == RunVerdict.OPTIMAL


@pytest.mark.parametrize(
    "text",
    [
        "p wcnf 2 5 10\n3 -1 0\n2 1 0\n",
        "p wcnf 3 5 10\n3 -1 2 3 0\n2 1 0\n",
        "c num-clauses 5\nh 1 2 3 0\n",
        "p wcnf 3 1 +10\n3 -1 2 3 0\n",
        "c nothing\n",
        "p wcnf 2000000000 1 10\n3 -1 2 3 0\n",
    ],
)
def test_files_that_are_torn_or_no_clauses_are_refused(text, tmp_path):
    path = tmp_path / "a.wcnf"
    path.write_text(text)
    for read in (read_clauses, known_file):
        with pytest.raises(FileError, match=r"a\.wcnf"):
            read(path)


def test_a_model_below_the_proven_bound_shows_that_the_proof_is_false(instance):
    _, clauses, _ = instance
    cost = clauses.cost([0] * clauses.num_variables)
    text = f"o {cost}\ns SATISFIABLE\nv {'0' * clauses.num_variables}"
    with pytest.raises(gh.CertificateError, match="but the proven bound is"):
        said(clauses, text, Known(bound=cost + 1))
