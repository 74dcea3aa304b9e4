"""Instances of a seed: the same bytes everywhere, proven, and in every corner."""

from __future__ import annotations

import hashlib
import re

import pytest

import glasshouse as gh
from glasshouse.certificates import checker
from glasshouse.files.clause_file import read_clauses
from glasshouse.files.known import known_file
from glasshouse.fuzzing.deciding import MOST_ENUMERATED, enumerated_optimum
from glasshouse.fuzzing.drawing import Corners, fuzz_question, fuzz_specimen
from glasshouse.fuzzing.hunting import write_question
from glasshouse.fuzzing.question import MOST_CLASSIC_TOTAL, MOST_TOTAL, MOST_WEIGHT
from glasshouse.planting.method import METHODS

SEEDS = range(150)


@pytest.fixture(scope="module")
def questions():
    return [fuzz_question(seed) for seed in SEEDS]


BEYOND = Corners(beyond_rules=True)


@pytest.fixture(scope="module")
def wild():
    return [fuzz_question(seed, BEYOND) for seed in SEEDS]


def total(question) -> int:
    return sum(weight for weight, _ in question.clauses.soft)


def test_a_seed_means_the_same_bytes_for_ever(questions, wild):
    text = b"".join(question.text for question in questions[:50])
    assert text == b"".join(fuzz_question(seed).text for seed in SEEDS[:50])
    assert hashlib.sha256(text).hexdigest()[:16] == "8d1e5b503a649c58"
    text = b"".join(question.text for question in wild[:50])
    assert hashlib.sha256(text).hexdigest()[:16] == "01365ca054f9658d"


def test_instances_stay_within_the_rules_unless_asked_otherwise(questions, wild):
    weights = [w for question in questions for w, _ in question.clauses.soft]
    assert (min(weights), max(weights)) == (1, MOST_WEIGHT)
    classic = [q for q in questions if q.layout.dialect == "classic"]
    assert max(map(total, questions)) == MOST_TOTAL
    assert max(map(total, classic)) == MOST_CLASSIC_TOTAL
    assert all(int(q.text.split()[4]) <= MOST_WEIGHT for q in classic)
    weights = [w for question in wild for w, _ in question.clauses.soft]
    assert min(weights) == 0
    assert max(weights) > MOST_WEIGHT


@pytest.mark.parametrize("most", [1, 2, 1000])
def test_weights_are_bounded_and_instances_stay_small(most):
    drawn = [fuzz_question(seed, Corners(most_weight=most)) for seed in SEEDS]
    assert {w for q in drawn for w, _ in q.clauses.soft} >= {1, most}
    assert max(w for q in drawn for w, _ in q.clauses.soft) == most
    assert max(len(q.lines) for q in drawn) < 300
    assert sum(q.optimum > 0 for q in drawn) > 50
    for question in drawn[:40]:
        if len({abs(x) for _, c in question.lines for x in c}) <= 12:
            assert enumerated_optimum(question.clauses) == question.optimum


def test_optima_are_those_of_enumeration(questions):
    small = [q for q in questions if len({abs(x) for _, c in q.lines for x in c}) <= 12]
    assert len(small) > 100
    for question in small:
        assert enumerated_optimum(question.clauses) == question.optimum


def test_files_hold_what_is_judged_and_both_checkers_verify_them(questions, tmp_path):
    verified = 0
    for number, question in enumerate(questions):
        path = tmp_path / f"{number}.wcnf"
        beside = write_question(path, question)
        assert path.read_bytes() == question.text
        assert read_clauses(path) == question.clauses
        if total(question) < 2**63:
            assert gh.verify_file(path).proven
            text, proof = question.text.decode(), beside.read_text()
            assert checker.check(text, proof) == (question.optimum, question.optimum)
            verified += 1
        else:
            with pytest.raises(ValueError, match=r"2\^63-1"):
                gh.read(path)
            assert known_file(path).optimum == question.optimum
    assert 100 < verified < len(questions)


def test_all_corners_are_drawn(wild):
    questions = wild
    clauses = [(w, c) for q in questions for w, c in q.lines]
    assert {q.layout.dialect for q in questions} == {"classic", "mse22"}
    assert {total(q) for q in questions} >= {0, 2**31 - 1, 2**53 + 1, 2**63, MOST_TOTAL}
    assert max(map(total, questions)) == MOST_TOTAL
    assert any(w is None for w, _ in clauses)
    assert any(w == 0 for w, _ in clauses)
    assert any(w and not c for w, c in clauses)
    assert any(len(c) == 2 and c[0] == c[1] for _, c in clauses)
    assert any(len(c) == 2 and c[0] == -c[1] for _, c in clauses)
    assert any(not q.lines for q in questions)
    assert any(q.num_variables == 1 for q in questions)
    assert any(q.num_variables > len({abs(x) for _, c in q.lines for x in c}) for q in questions)
    assert any(not q.text.endswith(b"\n") for q in questions)
    assert all(b" 0" in q.text or not q.lines for q in questions)
    for question in questions:
        assert len({abs(x) for _, c in question.lines for x in c}) <= MOST_ENUMERATED


def test_all_methods_of_frustrated_loops_are_drawn(monkeypatch):
    from glasshouse.fuzzing import drawing

    seen = set()
    for method, plant in drawing._PLANTS.items():
        monkeypatch.setitem(
            drawing._PLANTS, method, lambda *a, m=method, p=plant: seen.add(m) or p(*a)
        )
    for seed in SEEDS:
        fuzz_specimen(seed)
    loops = {
        name for name, one in METHODS.items() if {"frustration", "loop_density"} & {*one.knobs}
    }
    assert loops <= seen <= set(METHODS)
    assert seen == set(drawing._PLANTS)


def test_plain_instances_have_no_corners():
    corners = Corners("mse22", is_plain=True, most_total=2**31)
    for seed in SEEDS:
        question = fuzz_question(seed, corners)
        assert total(question) <= 2**31
        assert question.lines
        assert b"p wcnf" not in question.text
        for weight, literals in question.lines:
            assert weight is None or weight > 0
            assert len({abs(x) for x in literals}) == len(literals) > 0
        assert re.fullmatch(rb"(c num-\S+ \d+\n){2}((h|\d+)( -?\d+)+\n)+", question.text)


def test_wrong_corners_are_refused():
    with pytest.raises(ValueError, match="most_weight=0 is below"):
        Corners(most_weight=0)
    with pytest.raises(ValueError, match="most_total=7 is below"):
        Corners(most_total=7)
    with pytest.raises(ValueError, match=r"above 2\^63-1, the largest weight in the rules"):
        Corners(most_weight=2**63)
    with pytest.raises(ValueError, match="dialect='cnf' must be"):
        Corners("cnf")
    with pytest.raises(ValueError, match="negative"):
        fuzz_question(-1)


def test_nothing_is_overwritten_unasked(tmp_path):
    path = tmp_path / "a.wcnf"
    write_question(path, fuzz_question(1))
    for there in (path, path.with_name("a.wcnf.cert")):
        with pytest.raises(gh.FileError, match="already exists"):
            write_question(path, fuzz_question(2))
        assert path.read_bytes() == fuzz_question(1).text
        there.unlink()
        write_question(path, fuzz_question(1), overwrite=True)
