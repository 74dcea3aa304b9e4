"""Shrinking: the smallest instance still fails, loses no clause, and has its own proof."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from dataclasses import replace

import pytest

from glasshouse.certificates import Certificate, CertificateError, verify
from glasshouse.files.clause_file import as_problem
from glasshouse.files.known import known_by
from glasshouse.fuzzing.deciding import Decision, decide, enumerated_optimum
from glasshouse.fuzzing.drawing import DEFAULT, Corners, fuzz_specimen
from glasshouse.fuzzing.question import Question, clauses_of
from glasshouse.fuzzing.shrinking import Shrinker
from glasshouse.races.commands.builtin import built_in
from glasshouse.races.judging.clauses import judge


def meets_thrice(question: Question) -> bool:
    pairs = Counter(frozenset(map(abs, literals)) for _, literals in question.lines)
    return any(count >= 3 and len(pair) == 2 for pair, count in pairs.items())


def rc2_fails(question: Question) -> bool:
    """RC2 with a planted bug: its cost is one too much where a pair meets in three clauses."""
    answer = built_in("rc2")(question.clauses, 10.0)
    bug = tuple((at, value + meets_thrice(question)) for at, value in answer.incumbents)
    judgement = judge(question.clauses, replace(answer, incumbents=bug), question.known)
    return judgement.verdict.is_fault


def failing(fails, count, seeds=range(200), corners=DEFAULT):
    drawn = (fuzz_specimen(seed, corners) for seed in seeds)
    found = (s for s in drawn if fails(s.question()))
    some = list(itertools.islice(found, count))
    assert len(some) == count
    return some


def shrink(specimen, fails):
    return Shrinker(specimen.question(), fails, seconds=60.0).run(specimen)


def losing_one_line(question: Question):
    for place in range(len(question.lines)):
        lines = question.lines[:place] + question.lines[place + 1 :]
        decision = decide(clauses_of(question.num_variables, lines))
        yield Question(question.num_variables, lines, decision.optimum, question.layout)


def assert_shrunk(question: Question, fails) -> None:
    assert fails(question)
    assert not any(map(fails, losing_one_line(question)))
    assert enumerated_optimum(question.clauses) == question.optimum
    assert {abs(x) for _, c in question.lines for x in c} <= set(range(question.num_variables + 1))


def test_the_planted_bug_is_shrunk_to_three_clauses():
    for specimen in failing(rc2_fails, 6):
        question = shrink(specimen, rc2_fails)
        assert_shrunk(question, rc2_fails)
        assert len(question.lines) == 3
        assert question.num_variables == 2
        assert all(weight in (None, 0, 1) for weight, _ in question.lines)
        assert verify(as_problem(question.clauses), question.certificate).optimal


DEFECTS = {
    "two falsified clauses": lambda q: q.optimum >= 2,
    "a hard clause and cost": lambda q: bool(q.clauses.hard) and q.optimum > 0,
    "weights beyond 63 bits": lambda q: sum(w for w, _ in q.clauses.soft) >= 2**63,
    "an even optimum": lambda q: len(q.lines) > 4 and q.optimum % 2 == 0,
    "the newer dialect": lambda q: q.layout.dialect == "mse22" and len(q.lines) > 1,
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_shrunk_instances_fail_and_cannot_lose_a_clause(defect):
    fails = DEFECTS[defect]
    for specimen in failing(fails, 4):
        question = shrink(specimen, fails)
        assert_shrunk(question, fails)
        if question.certificate is not None:
            truth = known_by(question.clauses, question.certificate)
            assert truth.optimum == question.optimum


def test_weights_are_as_low_as_they_can_be():
    fails = DEFECTS["weights beyond 63 bits"]
    specimen = failing(fails, 1, corners=Corners(beyond_rules=True))[0]
    shrinker = Shrinker(specimen.question(), fails, 60.0, heaviest=2**64)
    assert [weight for weight, _ in shrinker.run(specimen).lines] == [2**63]


def test_no_weight_leaves_the_rules_by_shrinking():
    fails = DEFECTS["weights beyond 63 bits"]
    for specimen in failing(fails, 3):
        weights = [weight for weight, _ in shrink(specimen, fails).lines]
        assert sum(weights) == 2**63
        assert len(weights) == 2


def test_parts_go_first_and_keep_their_proof():
    specimen = next(s for s in map(fuzz_specimen, range(200)) if len(s.parts) > 6)
    seen = []
    shrinker = Shrinker(specimen.question(), lambda q: seen.append(q) or len(q.lines) > 20, 60)
    shrinker.run(specimen)
    assert all(question.certificate is not None for question in seen[:3])
    assert len(shrinker.best.lines) == 21
    assert shrinker.is_minimal


def test_time_ends_it_with_the_smallest_so_far():
    specimen = failing(rc2_fails, 1)[0]

    def slowly(question):
        time.sleep(0.05)
        return len(question.lines) > 10

    start = time.monotonic()
    shrinker = Shrinker(specimen.question(), slowly, 0.3)
    shrinker.run(specimen)
    assert time.monotonic() - start < 5
    assert not shrinker.is_minimal
    assert len(shrinker.best.lines) <= len(specimen.lines)
    assert shrinker.best.certificate is not None


def test_two_proofs_that_disagree_are_an_error_and_no_assertion(monkeypatch):
    """`python -O` removes assertions, and a false optimum would be written."""
    question = Question(1, ((1, (1,)), (2, (-1,))), 1)
    wrong = Decision(2, Certificate([1], [], [0], []))
    monkeypatch.setattr("glasshouse.fuzzing.shrinking.proven_optimum", lambda _: wrong)
    with pytest.raises(CertificateError, match="two exact methods disagree"):
        Shrinker(question, lambda _: True, 1.0).finished()
