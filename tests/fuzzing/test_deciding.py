"""The least cost without a solver: all ways agree with brute force, for weights of any size."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import max2sats

import glasshouse as gh
from glasshouse.certificates import Certificate, CertificateError
from glasshouse.files.clause_file import ClauseFile, as_problem
from glasshouse.files.known import known_by
from glasshouse.fuzzing.deciding import decide, enumerated_optimum, proven_optimum

LARGE = st.sampled_from([0, 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63, 2**64 - 2])


def brute_force(clauses: ClauseFile) -> int | None:
    """The least cost by definition, in Python integers."""
    models = itertools.product((0, 1), repeat=clauses.num_variables)
    return min((clauses.cost(m) for m in models if not clauses.broken(m)), default=None)


@st.composite
def clause_files(draw: st.DrawFn, weights: st.SearchStrategy[int] = LARGE) -> ClauseFile:
    size = draw(st.integers(1, 5))
    literal = st.integers(1, size).flatmap(lambda v: st.sampled_from([v, -v]))
    clause, some = (st.lists(literal, min_size=k, max_size=2).map(tuple) for k in (0, 1))
    soft = draw(st.lists(st.tuples(weights, clause), max_size=8))
    hard = draw(st.lists(some, max_size=3))
    return ClauseFile(size, tuple(soft), tuple(hard))


@given(clause_files())
def test_enumeration_is_brute_force_for_weights_of_any_size(clauses):
    assert enumerated_optimum(clauses) == brute_force(clauses)


@settings(max_examples=40)
@given(clause_files(st.integers(0, 9)))
def test_proofs_agree_with_enumeration(clauses):
    if brute_force(clauses) is None:
        assert decide(clauses).optimum is None
        return
    decision = proven_optimum(clauses)
    assert decision is None or decision.optimum == brute_force(clauses)


def test_more_variables_than_are_looked_at_together():
    chain = tuple((1 + k % 3, (-k, k + 1)) for k in range(1, 18))
    clauses = ClauseFile(18, (*chain, (9, (1,)), (4, (-18,))), ((2, 5),))
    assert enumerated_optimum(clauses) == 1
    assert decide(clauses).optimum == gh.brute_force(as_problem(clauses)).energy == 1


def test_too_many_variables_are_refused_or_proven():
    chain = tuple((2, (-k, k + 1)) for k in range(1, 30))
    clauses = ClauseFile(30, (*chain, (9, (1,)), (5, (-30,))), ())
    with pytest.raises(ValueError, match="cannot enumerate 30 variables; use at most 24"):
        enumerated_optimum(clauses)
    assert decide(clauses).optimum == 2
    assert decide(ClauseFile(30, ((2**64, (30,)), *clauses.soft), ())) is None


@settings(max_examples=40)
@given(max2sats(max_variables=4))
def test_a_certificate_proves_the_same_of_clauses_as_of_a_problem(problem):
    soft = zip(problem.weights.tolist(), problem.clauses.tolist(), strict=True)
    clauses = ClauseFile(
        problem.num_variables,
        tuple((w, tuple(x for x in c if x)) for w, c in soft),
        tuple(tuple(x for x in c if x) for c in problem.hard.tolist()),
    )
    try:
        proof = gh.prove(problem)
    except ValueError:
        assert brute_force(clauses) is None
        return
    truth = known_by(clauses, proof.certificate)
    assert (truth.bound, truth.best) == (proof.lower_bound, proof.energy)


def test_a_certificate_that_does_not_fit_is_refused():
    clauses = ClauseFile(2, ((1, (1, 2)),), ((1,),))
    with pytest.raises(CertificateError, match="for 3 variables, but the problem has 2"):
        known_by(clauses, Certificate([1, 1, 1], [], [0], []))
    with pytest.raises(CertificateError, match="violates 1 hard clause"):
        known_by(clauses, Certificate([-1, 1], [], [0], []))
    with pytest.raises(ValueError, match="3 literals"):
        known_by(ClauseFile(3, ((1, (1, 2, 3)),), ()), Certificate([1, 1, 1], [], [0], []))


def test_a_proof_of_half_a_weight_is_an_error_and_no_assertion(monkeypatch):
    """`python -O` leaves out assertions, and costs would be rounded."""
    clauses = ClauseFile(1, ((1, (1,)),), ())
    monkeypatch.setattr(
        "glasshouse.files.known.examined", lambda form, _: (form.scale // 2, 0, form.scale // 2)
    )
    with pytest.raises(CertificateError, match="bound is a fraction"):
        known_by(clauses, Certificate([1], [], [0], []))
