"""The dialect of a command is found out by asking it: briefly, once, and never by guessing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.races.commands.test_entrants import real
from tests.races.field import BROKEN

from glasshouse.races.commands.entrants import entrants_of
from glasshouse.races.commands.probing import SECONDS
from glasshouse.races.running.command import Limits

# Answers by the first word of its file, and writes down how many seconds it was given.
ANSWERS = """
import sys
with open({log!r}, "a") as log:
    print(sys.argv[1], file=log)
text = open(sys.argv[2]).read()
print({answers!r}.get(text.split()[0] + " " + text.split()[1], "c what is this?"))
"""
RIGHT = "o 2\ns OPTIMUM FOUND\nv 01"


def answering(folder: Path, **answers: str) -> str:
    """A command that answers in some dialects: mse22, classic, opb, cnf."""
    begins = {
        "mse22": "c num-variables",
        "classic": "p wcnf",
        "opb": "* #variable=",
        "cnf": "p cnf",
    }
    script = folder / "solver.py"
    table = {begins[dialect]: answer for dialect, answer in answers.items()}
    script.write_text(ANSWERS.format(log=str(folder / "log"), answers=table))
    return f"mine={sys.executable} -S {script} {{seconds}} {{file}}"


def test_a_probe_has_seconds_of_its_own(tmp_path):
    (found,) = entrants_of([answering(tmp_path, opb=RIGHT)], Limits(seconds=7200))
    assert found.dialect == "opb"
    assert (tmp_path / "log").read_text().split() == [str(int(SECONDS))] * 3
    assert SECONDS <= 10


def test_a_dialect_that_drops_weights_and_hard_clauses_is_chosen_by_the_user_alone(tmp_path):
    solver = answering(tmp_path, cnf="o 1\ns OPTIMUM FOUND\nv 10")
    with pytest.raises(ValueError, match="the solver mine did not answer in any") as refusal:
        entrants_of([solver], Limits())
    assert "mse22, classic, opb: no answer" in str(refusal.value)
    assert "cnf" not in str(refusal.value)
    (found,) = entrants_of([solver], Limits(), "cnf")
    assert found.dialect == "cnf"


def test_a_solver_that_knows_plain_cnf_alone_is_not_accused():
    """z3 prints s lines for CNF files and for no others; its command lacks a script around it."""
    with pytest.raises(ValueError, match="the solver z3 did not answer in any dialect"):
        entrants_of([f"z3={real('z3')} {{file}}"], Limits(seconds=5))


def test_a_right_answer_comes_before_a_wrong_one_and_a_wrong_one_before_none(tmp_path):
    wrong = "o 1\ns OPTIMUM FOUND\nv 01"
    told = []
    for answers, dialect, is_right in (
        ({"mse22": wrong, "classic": RIGHT}, "classic", True),
        ({"classic": wrong}, "classic", False),
    ):
        (found,) = entrants_of([answering(tmp_path, **answers)], Limits(), tell=told.append)
        assert found.dialect == dialect
        assert (told[-1].name, told[-1].dialect) == ("mine", dialect)
        assert told[-1].judgement.is_right == is_right


def test_silence_until_the_time_is_over_is_no_answer(monkeypatch):
    monkeypatch.setattr("glasshouse.races.commands.probing.SECONDS", 0.2)
    limits = Limits(seconds=60, grace=0.1)
    with pytest.raises(ValueError, match=r"any dialect .*mse22, classic, opb: time-out"):
        entrants_of(["sh -c 'sleep 1000' {file}"], limits)
    talks = f"{sys.executable} -S {BROKEN} 'never ends'"
    monkeypatch.setattr("glasshouse.races.commands.probing.SECONDS", 5.0)
    (found,) = entrants_of([talks], limits)
    assert found.dialect == "classic"  # it printed an o line before it hung


def test_what_a_store_knows_is_not_found_out_again(tmp_path):
    told = []
    for known, tries in (({"mine": {"dialect": "opb"}}, 0), ({"mine": {"dialect": "x"}}, 1)):
        (found,) = entrants_of([answering(tmp_path, mse22=RIGHT)], Limits(), known=known,
                               tell=told.append)  # fmt: skip
        log = tmp_path / "log"
        assert len(log.read_text().split() if log.exists() else []) == tries
        assert found.dialect == ("mse22" if tries else "opb")
    assert [one.dialect for one in told] == ["opb", "mse22"]
    assert [one.judgement is None for one in told] == [True, False]
