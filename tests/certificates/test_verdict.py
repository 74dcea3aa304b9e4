"""The one bound: equal to its definition, never above the minimum, for numbers of any size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies
from tests.oracles import energies_of, energy_by_definition, optimum, states_of
from tests.proofs.instances import spin_glass

from glasshouse.certificates import Certificate, CertificateError, verify
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.problems import Ising, Max2Sat
from glasshouse.proofs import prove

SQUARE = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [4, 4, 4, -3])


def bound_by_definition(problem: Ising, certificate: Certificate) -> Fraction:
    """B of `docs/certificate.md`, written out in fractions; no loops at all where that is more."""
    ghost = problem.num_variables
    spins = [*certificate.state.tolist(), 1]
    edges = map(tuple, problem.edges.tolist())
    weights = {e: Fraction(w) for e, w in zip(edges, problem.weights.tolist(), strict=True)}
    weights |= {(i, ghost): Fraction(h) for i, h in enumerate(problem.fields.tolist())}
    trivial = problem.offset - sum(map(abs, weights.values()))
    bound = Fraction(problem.offset)
    for k, multiplier in enumerate(certificate.multipliers.tolist()):
        part = slice(certificate.starts[k], certificate.starts[k + 1])
        cycle, negative = certificate.nodes[part].tolist(), certificate.negative_edges[part]
        share = Fraction(multiplier, certificate.denominator)
        bound -= share * (len(cycle) - 2)
        for a, b, is_negative in zip(cycle, cycle[1:] + cycle[:1], negative, strict=True):
            edge = min(a, b), max(a, b)
            sign = -1 if is_negative else 1
            weights[edge] = weights.get(edge, 0) - sign * share * spins[a] * spins[b]
    return max(trivial, bound - sum(map(abs, weights.values())))


@st.composite
def certificates(draw: st.DrawFn, size: int, largest: int = 9) -> Certificate:
    """Any loops through some of the spins and the ghost, with any marks."""
    cycles = draw(
        st.lists(
            st.lists(st.integers(0, size), min_size=3, max_size=6, unique=True), max_size=6
        )
    ) if size >= 2 else []  # fmt: skip
    state = draw(st.lists(st.sampled_from([-1, 1]), min_size=size, max_size=size))
    starts = np.cumsum([0, *map(len, cycles)])
    nodes = np.array([node for cycle in cycles for node in cycle], dtype=np.int64)
    count = len(cycles)
    multipliers = draw(st.lists(st.integers(1, largest), min_size=count, max_size=count))
    whole = np.array([*multipliers, None], dtype=object)[:-1]
    denominator = draw(st.integers(1, min(4, largest)) | st.integers(1, largest))
    violated = None
    if count and draw(st.booleans()):
        violated = np.array([draw(st.booleans()) for _ in nodes])
        violated[starts[1:] - 1] = True
        even = np.add.reduceat(violated.astype(int), starts[:-1]) % 2 == 0
        violated[starts[:-1][even]] ^= True
    return Certificate(state, nodes, starts, whole, denominator, violated)


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_a_bound_is_its_definition_and_never_above_the_minimum(data):
    problem = data.draw(strategies.isings(max_spins=6, min_spins=2))
    certificate = data.draw(certificates(problem.num_variables))
    verdict = verify(problem, certificate)
    least = energies_of(problem).min()
    assert verdict.bound == bound_by_definition(problem, certificate)
    assert verdict.bound <= verdict.lower_bound <= least <= verdict.energy
    assert verdict.energy == problem.energy(certificate.state)
    if verdict.optimal:
        assert verdict.energy == least


LARGE = [2**31, 2**32, 2**53, 2**61, 2**62, 2**63, 2**64, 10**30, 10**400]


@given(st.data(), st.sampled_from(LARGE))
@settings(deadline=None, max_examples=300)
def test_numbers_of_any_size_are_exact(data, largest):
    problem = data.draw(strategies.isings(max_spins=5, min_spins=2))
    factor = (2**62 // max(1, problem.total_weight + abs(problem.offset))) or 1
    huge = Ising(
        problem.num_variables, problem.edges, problem.weights * factor, problem.fields * factor,
        problem.offset * factor,
    )  # fmt: skip
    certificate = data.draw(certificates(problem.num_variables, largest))
    for form in (problem, huge):
        verdict = verify(form, certificate)
        assert verdict.bound == bound_by_definition(form, certificate)
        least = min(energy_by_definition(form, state) for state in states_of(form))
        assert verdict.bound <= least
        assert not verdict.optimal or verdict.energy == least


def test_a_gap_below_the_least_difference_of_energies_still_proves():
    square = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [2, 2, 2, -2])
    almost = verify(square, Certificate([1] * 4, [0, 1, 2, 3], [0, 4], [5], denominator=3))
    assert almost.bound == -4 - Fraction(2, 3)
    assert (almost.lower_bound, almost.optimal) == (-4, True)
    # Every flip changes the energy by a multiple of 8, so -8 is not one.
    assert verify(square, Certificate([1] * 4, [], [0], [])).optimal
    tail = Ising.from_edges(5, [*square.edges.tolist(), (3, 4)], [*square.weights.tolist(), 2])
    assert not verify(tail, Certificate([1] * 5, [], [0], [])).optimal


@given(strategies.isings(max_spins=6))
def test_all_values_differ_by_multiples_of_the_step(problem):
    form = ExactForm.of(problem)
    values = {form.value(np.array(state)) for state in states_of(problem)}
    least = min(values)
    assert all((value - least) % form.step == 0 if form.step else value == least
               for value in values)  # fmt: skip


def test_multipliers_must_fit_their_loops():
    with pytest.raises(ValueError, match="1 loops need 1 multipliers, not 2"):
        Certificate([1] * 3, [0, 1, 2], [0, 3], [1, 1])
    with pytest.raises(ValueError, match="above 0"):
        Certificate([1] * 3, [0, 1, 2], [0, 3], [0])


def test_forged_multipliers_that_wrap_around_prove_nothing():
    # Two loops of 2^62 on a triangle: in int64 the rest of each edge came out right.
    triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1, 1, 1])
    marks = [True, True, True] * 2
    forged = Certificate([-1, 1, 1], [0, 1, 2] * 2, [0, 3, 6], [2**62] * 2, violated=marks)
    verdict = verify(triangle, forged)
    assert (verdict.bound, verdict.energy, verdict.optimal) == (-3, 1, False)


def test_starts_whose_differences_wrap_around_are_refused():
    starts = np.array([0, 2**62, 2**63 - 1, -(2**62), 3], dtype=np.int64)
    with pytest.raises(ValueError, match="non-decreasing order"):
        Certificate([1] * 3, [0, 1, 2], starts, [1] * 4)


def test_a_far_node_takes_no_memory():
    Certificate([1] * 3, [0, 1, 2**31 - 3], [0, 3], [1])
    with pytest.raises(ValueError, match="visits a node twice"):
        Certificate([1] * 3, [2**31 - 3, 1, 2**31 - 3], [0, 3], [1])


def test_problems_whose_states_all_cost_the_same_are_optimal_in_every_state():
    nothing = Ising(
        3, np.empty((0, 2)), np.empty(0, dtype=np.int64), np.zeros(3, dtype=np.int64), 7
    )
    for multiplier, denominator in ((1, 1), (10**30, 1), (1, 10**30)):
        certificate = Certificate([1, -1, 1], [0, 1, 2], [0, 3], [multiplier], denominator)
        assert verify(nothing, certificate).optimal
    assert verify(nothing, Certificate([1, -1, 1], [], [0], [], 10**30)).lower_bound == 7


def test_an_antiferromagnetic_clique_of_huge_weights_is_proven():
    pairs = [(i, j) for i in range(6) for j in range(i)]
    clique = Ising.from_edges(6, pairs, [-(2**57) + k for k in range(15)])
    proof = prove(clique)
    verdict = verify(clique, proof.certificate)
    assert verdict.lower_bound == proof.lower_bound <= optimum(clique)[0]


@given(strategies.isings(max_spins=7))
@settings(max_examples=80)
def test_bounds_of_certificate_and_verify_are_the_same(problem):
    certificate = prove(problem).certificate
    verdict = verify(problem, certificate)
    assert verdict.bound == bound_by_definition(problem, certificate)
    if verdict.bound == verdict.exact_energy:
        assert verdict.optimal
    assert verdict.lower_bound <= optimum(problem)[0]


def test_loops_with_three_violated_edges_bound_all_energies():
    triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-1, -1, -1])
    up = Certificate([1, 1, 1], [0, 1, 2], [0, 3], [1], violated=[True, True, True])
    verdict = verify(triangle, up)
    assert verdict.bound == -1  # the triangle itself, so its own minimum
    assert (verdict.lower_bound, verdict.energy, verdict.optimal, verdict.gap) == (-1, 3, False, 4)
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
    assert verify(SQUARE, certificate).optimal


def test_too_much_is_as_bad_as_too_little():
    assert verify(SQUARE, Certificate([1] * 4, [0, 1, 2, 3], [0, 4], [2])).lower_bound == -11
    assert verify(SQUARE, Certificate([1] * 4, [0, 1, 2, 3], [0, 4], [6])).lower_bound < -9
    assert verify(SQUARE, Certificate([1] * 4, [], [0], [])).lower_bound == -15


def test_certificates_of_other_problems_are_refused():
    certificate = Certificate([1] * 4, [0, 1, 2, 3], [0, 4], [3])
    with pytest.raises(CertificateError, match="for 4 variables, but the problem has 5"):
        verify(Ising.from_edges(5, [(0, 1)], [1]), certificate)
    with pytest.raises(CertificateError, match="a loop names node 9"):
        verify(SQUARE, Certificate([1] * 4, [0, 1, 2, 9], [0, 4], [3]))
    clauses = Max2Sat.from_clauses(4, [[1, 2]], [1], hard=[[-1, -2]])
    with pytest.raises(CertificateError, match="violates 1 hard clauses"):
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
