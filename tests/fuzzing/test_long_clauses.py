"""Long clauses: drawn in every corner, a planted bug found and shrunk, files that people bring."""

from __future__ import annotations

import hashlib
import itertools
import json
import shlex
import sys
from pathlib import Path

import pytest

from glasshouse.cli import main
from glasshouse.files.clause_file import read_clauses
from glasshouse.fuzzing.drawing import Corners, fuzz_question
from glasshouse.fuzzing.hunting import hunt, instance, shrunk_fault, shrunk_file
from glasshouse.fuzzing.question import MOST_CLASSIC_TOTAL, MOST_TOTAL, MOST_WEIGHT
from glasshouse.fuzzing.trial import BuiltInTrial, trial_of
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.races.running.command import Limits

LONG = Corners(clauses="long")
SCRIPT = Path(__file__).with_name("long_solver.py")


@pytest.fixture(scope="module")
def questions():
    return [fuzz_question(seed, LONG) for seed in range(300)]


def least(question):
    """Compute the cost by the definition."""
    clauses, models = question.clauses, itertools.product((0, 1), repeat=question.num_variables)
    return min((clauses.cost(m) for m in models if not clauses.broken(m)), default=None)


def test_a_seed_means_the_same_bytes_for_ever(questions):
    text = b"".join(question.text for question in questions[:50])
    assert hashlib.sha256(text).hexdigest()[:16] == "e774a9e1381007de"


def test_the_optimum_is_that_of_all_assignments(questions):
    small = [question for question in questions if question.num_variables <= 7]
    assert len(small) > 50
    for question in small:
        assert question.optimum == least(question)


def test_every_corner_is_drawn(questions):
    lines = [line for question in questions for line in question.lines]
    clauses = [literals for _, literals in lines]
    assert max(map(len, clauses)) >= 10
    assert sum(len(clause) > 2 for clause in clauses) > len(clauses) / 3
    assert any(len(set(map(abs, c))) < len(set(c)) for c in clauses)  # tautologies
    assert any(len(set(c)) < len(c) for c in clauses)
    assert {weight is None for weight, literals in lines if not literals} == {True, False}
    assert sum(question.optimum is None for question in questions) > 15
    assert any(q.clauses.hard and q.optimum is not None for q in questions)
    totals = {q.layout.dialect: 0 for q in questions}
    for question in questions:
        total = sum(weight for weight, _ in question.clauses.soft)
        totals[question.layout.dialect] = max(total, totals[question.layout.dialect])
    assert totals == {"mse22": MOST_TOTAL, "classic": MOST_CLASSIC_TOTAL}
    assert max(weight or 0 for weight, _ in lines) == MOST_WEIGHT
    signs = [{x for c in (c for _, c in q.lines) for x in c} for q in questions]
    assert any(x in seen and -x not in seen for seen in signs for x in seen)  # pure literals


@pytest.mark.parametrize("most", [1, 5, 2**40])
def test_options_bound_the_weights(most):
    for seed in range(40):
        question = fuzz_question(seed, Corners(clauses="long", most_weight=most, is_plain=True))
        assert all(weight is None or 1 <= weight <= most for weight, _ in question.lines)
        assert all(literals for _, literals in question.lines)


def test_files_are_read_back(questions, tmp_path):
    for question in questions[:60]:
        path = tmp_path / "one.wcnf"
        path.write_bytes(question.text)
        assert read_clauses(path) == question.clauses


def test_rc2_is_right_about_all_of_them():
    tried = list(hunt(BuiltInTrial("rc2"), count=120, seed=3, corners=LONG))
    assert {one.judgement.verdict for one in tried} == {RunVerdict.OPTIMAL}


def test_pairs_and_long_clauses_take_turns():
    both = Corners(clauses=None)
    drawn = [instance(5, number, both) for number in range(4)]
    assert [(seed, corners.clauses) for seed, corners in drawn] == [
        (5, "pairs"), (5, "long"), (6, "pairs"), (6, "long"),
    ]  # fmt: skip
    assert instance(5, 3, LONG) == (8, LONG)


@pytest.fixture(scope="module")
def trial():
    return trial_of(f"{sys.executable} {SCRIPT}", Limits(seconds=60))


def test_a_bug_planted_in_a_wrapper_is_found_and_shrunk(trial):
    both = Corners(clauses=None, is_plain=True)
    faults = [
        t for t in hunt(trial, count=12, seed=1, corners=both) if t.judgement.verdict.is_fault
    ]
    assert faults
    assert {fault.corners.clauses for fault in faults} == {"long"}
    smallest = min(faults, key=lambda fault: fault.num_clauses)
    shrunk = shrunk_fault(trial, smallest, "any", 1, smallest.corners, 300.0)
    assert shrunk.is_minimal
    assert len(shrunk.question.lines) <= 3
    assert [len(literals) for _, literals in shrunk.question.lines] == [4]
    assert shrunk.judgement.verdict is RunVerdict.INVALID_MODEL


def test_a_file_that_somebody_brings_is_shrunk(tmp_path, capsys):
    path = tmp_path / "mine.wcnf"
    rows = [f"{k % 5 + 1} {k % 30 + 1} -{(k + 7) % 30 + 1} {(3 * k) % 30 + 1} 0" for k in range(40)]
    path.write_text("\n".join(["h 1 2 3 4 5 0", "h -6 -7 0", *rows]) + "\n")
    solver = shlex.join([sys.executable, str(SCRIPT)])
    words = ["fuzz", "shrink", str(path), "--solver", solver, "-o", str(tmp_path / "faults")]
    assert main([*words, "--time-limit", "60", "--shrink-time-limit", "300", "--json"]) == 1
    fault = json.loads(capsys.readouterr().out)["fault"]
    assert fault["clauses"] <= 3
    assert fault["verdict"] == "invalid model"
    found = read_clauses(fault["file"])
    assert max(map(len, found.hard)) == 4
    assert Path(fault["report"]).read_text().count("This line shows the fault") == 1


def test_a_right_answer_is_nothing_to_shrink(tmp_path, capsys):
    path = tmp_path / "mine.cnf"
    path.write_text("p cnf 3 2\n1 2 3 0\n-1 -2 -3 0\n")
    assert main(["fuzz", "shrink", str(path), "--solver", "rc2"]) == 0
    assert "no fault to shrink: optimal: cost 0" in capsys.readouterr().out
    assert shrunk_file(BuiltInTrial("rc2"), path, 1.0)[0] is None


def test_what_is_no_file_of_clauses_is_refused_in_one_line(tmp_path, capsys):
    path = tmp_path / "mine.wcnf"
    path.write_text("p wcnf 2 1 5\n3 1 2\n")
    assert main(["fuzz", "shrink", str(path), "--solver", "rc2"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
