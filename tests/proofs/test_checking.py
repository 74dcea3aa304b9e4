"""verify() and Certificate agree, also where the gap is open and numbers are large."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests import strategies
from tests.oracles import optimum
from tests.proofs.instances import spin_glass

from glasshouse.planting import Certificate, CertificateError
from glasshouse.problems import Ising, Max2Sat
from glasshouse.proofs import prove, verify

SQUARE = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [4, 4, 4, -3])


@given(strategies.isings(max_spins=7))
@settings(max_examples=80)
def test_bounds_of_certificate_and_verify_are_the_same(problem):
    certificate = prove(problem).certificate
    verdict = verify(problem, certificate)
    assert verdict.bound == certificate.bound(problem)
    if certificate.gap(problem) == 0:
        assert verdict.optimal
    assert verdict.lower_bound <= optimum(problem)[0]


def test_loops_with_three_violated_edges_bound_all_energies():
    triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-1, -1, -1])
    up = Certificate([1, 1, 1], [0, 1, 2], [0, 3], [1], violated=[True, True, True])
    assert up.bound(triangle) == -1  # the triangle itself, so its own minimum
    assert up.gap(triangle) == 4
    verdict = verify(triangle, up)
    assert (verdict.lower_bound, verdict.energy, verdict.optimal, verdict.gap) == (-1, 3, False, 4)
    with pytest.raises(CertificateError, match="not shown optimal"):
        up.check(triangle)
    assert up != Certificate([1, 1, 1], [0, 1, 2], [0, 3], [1])


def test_marks_of_violated_edges_are_checked():
    for marks in ([True, False, True], [False, True, False], [True]):
        with pytest.raises(ValueError, match="violated"):
            Certificate([1, 1, 1], [0, 1, 2], [0, 3], [1], violated=marks)
    plain = Certificate([1, 1, 1], [0, 1, 2], [0, 3], [1], violated=[False, False, True])
    assert plain.violated is None
    assert plain == Certificate([1, 1, 1], [0, 1, 2], [0, 3], [1])


def test_multipliers_may_be_larger_than_64_bits():
    big = 3 * 2**70
    certificate = Certificate(
        [1, 1, 1, 1], [0, 1, 2, 3], [0, 4], np.array([big], dtype=object), 2**70
    )
    assert certificate.check(SQUARE) == -9
    assert verify(SQUARE, certificate).optimal


def test_too_much_is_as_bad_as_too_little():
    assert verify(SQUARE, Certificate([1] * 4, [0, 1, 2, 3], [0, 4], [2])).lower_bound == -11
    assert verify(SQUARE, Certificate([1] * 4, [0, 1, 2, 3], [0, 4], [6])).lower_bound < -9
    assert verify(SQUARE, Certificate([1] * 4, [], [0], [])).lower_bound == -15


def test_certificates_of_other_problems_are_refused():
    certificate = Certificate([1] * 4, [0, 1, 2, 3], [0, 4], [3])
    with pytest.raises(CertificateError, match="for 4 variables, the problem has 5"):
        verify(Ising.from_edges(5, [(0, 1)], [1]), certificate)
    with pytest.raises(CertificateError, match="a loop visits node 9"):
        verify(SQUARE, Certificate([1] * 4, [0, 1, 2, 9], [0, 4], [3]))
    clauses = Max2Sat.from_clauses(4, [[1, 2]], [1], hard=[[-1, -2]])
    with pytest.raises(CertificateError, match="breaks 1 hard clauses"):
        verify(clauses, certificate)


def test_a_small_gap_of_a_float_problem_is_a_gap():
    problem = Ising.from_edges(4, [(0, 1), (2, 3)], [1.0, 1e10])
    verdict = verify(problem, Certificate([1, -1, 1, 1], [], [0], []))
    assert not verdict.optimal
    assert verdict.lower_bound == -1e10 - 1 < verdict.energy == -1e10 + 1
    assert verify(problem, Certificate([1, 1, 1, 1], [], [0], [])).optimal
    # Here not even the rounded energies differ, but the exact ones do.
    problem = Ising.from_edges(4, [(0, 1), (2, 3)], [1e-9, 1e10])
    verdict = verify(problem, Certificate([1, -1, 1, 1], [], [0], []))
    assert not verdict.optimal
    assert verdict.gap > 0


def test_float_problems_are_proven_without_tolerance():
    rng = np.random.default_rng(3)
    for size in (8, 12):
        edges = np.argwhere(np.triu(rng.random((size, size)) < 3 / size, 1))
        problem = Ising.from_edges(size, edges, rng.normal(size=len(edges)))
        proof = prove(problem)
        assert proof.optimal
        assert proof.energy == pytest.approx(optimum(problem)[0])
    problem = Ising.from_edges(4, SQUARE.edges, [0.4, 0.4, 0.4, -0.3])
    proof = prove(problem)
    assert proof.optimal
    assert proof.energy == pytest.approx(-0.9)
    assert proof.lower_bound <= proof.energy
    assert isinstance(proof.lower_bound, float)


def test_without_time_for_an_lp_the_packing_is_still_a_bound():
    problem = spin_glass(60, 0.8, np.random.default_rng(3), gaussian=True)
    proof = prove(problem, time_limit=1e-6)
    assert -problem.total_weight <= proof.lower_bound <= proof.energy
    assert not proof.statistics.converged
