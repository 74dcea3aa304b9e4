"""Weights at the ends of int64 and float64: the result of the definition, or a one-line error."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from tests.oracles import all_states, energies_of, energy_by_definition, states_of
from tests.strategies import extreme_problems

from glasshouse.problems import Ising, Max2Sat, Problem, Qubo, Rbm
from glasshouse.problems.bipartite import qubo_to_bipartite, rbm_to_ghost
from glasshouse.problems.convert import to_ising, to_max2sat, to_maxcut, to_qubo, to_rbm
from glasshouse.problems.exact import exact_sum

CONVERSIONS = {
    "Ising": to_ising,
    "QUBO": to_qubo,
    "MAX-2-SAT": to_max2sat,
    "RBM": to_rbm,
    "RBM, paper": lambda problem: to_rbm(problem, penalty="paper"),
    "MaxCut": to_maxcut,
    "ghosts": lambda problem: rbm_to_ghost(to_rbm(problem)[0], free=True),
}
# What a refusal may say. Texts of NumPy ("weights[3] is inf") are not among them.
OURS = r"add up|(above|at most) 2\^63-1|at least 2 spins|above all floats"


def exact_energies(problem: Problem) -> list[Fraction]:
    return [energy_by_definition(problem, s, Fraction) for s in states_of(problem)]


def reached(problem: Problem) -> Fraction:
    """The sum of all magnitudes of a problem: the scale of its rounding errors."""
    most = Fraction(problem.total_weight) + abs(Fraction(getattr(problem, "offset", 0)))
    if isinstance(problem, Max2Sat):
        most += problem.num_hard * Fraction(problem.hard_weight)
    return most


def or_refusal(make):
    """The result, or None after a refusal in our own words."""
    try:
        return make()
    except ValueError as error:
        if not re.search(OURS, str(error)):
            raise
        return None


@settings(max_examples=80)
@given(extreme_problems(exact=True))
def test_energies_of_large_integers_are_those_of_the_definition(problem):
    expected = [int(e) for e in exact_energies(problem)]
    for state, energy in zip(states_of(problem), expected, strict=True):
        one = problem.cost if isinstance(problem, Max2Sat) else problem.energy
        found = or_refusal(lambda one=one, state=state: one(state))
        assert found in (energy, None)
        assert found is not None or energy > 2**63 - 1
    found = or_refusal(lambda: energies_of(problem))
    if found is not None:
        assert found.tolist() == expected
    if isinstance(problem, Max2Sat):
        simple = exact_energies(problem.simplified())
        kept = [e < problem.hard_weight for e in expected]
        assert [e for e, k in zip(simple, kept, strict=True) if k] == [
            e for e, k in zip(expected, kept, strict=True) if k
        ]


@settings(max_examples=80)
@given(extreme_problems(exact=True), st.sampled_from(list(CONVERSIONS)), st.randoms())
def test_reductions_of_large_integers_are_exact(problem, name, random):
    made = or_refusal(lambda: CONVERSIONS[name](problem))
    if made is None:
        return
    target, reduction = made
    if name == "ghosts":
        problem = to_rbm(problem)[0]
    expected = exact_energies(problem)
    images = reduction.forward(states_of(problem))
    for image, energy in zip(images, expected, strict=True):
        image_energy = energy_by_definition(target, image, Fraction)
        assert image_energy == energy * reduction.factor + reduction.shift
        assert reduction.source_energy(int(image_energy)) == energy
        assert reduction.target_energy(int(energy)) == image_energy
    back = or_refusal(lambda: reduction.source_energy(
        target.cost(images) if isinstance(target, Max2Sat) else target.energy(images)
    ))  # fmt: skip
    if back is not None:
        assert back.tolist() == expected
    states = states_of(target)
    for state in states[random.sample(range(len(states)), min(16, len(states)))]:
        returned = energy_by_definition(problem, reduction.back(state), Fraction)
        at_most = energy_by_definition(target, state, Fraction)
        assert returned * reduction.factor + reduction.shift <= at_most


@settings(max_examples=80)
@given(extreme_problems(exact=False), st.sampled_from(list(CONVERSIONS)))
def test_reductions_of_tiny_and_huge_floats_are_right_or_refused(problem, name):
    expected = exact_energies(problem)
    found = or_refusal(lambda: energies_of(problem))
    if found is None:
        return
    for energy, exact in zip(found.tolist(), expected, strict=True):
        assert abs(Fraction(energy) - exact) <= reached(problem) / 2**48
    made = or_refusal(lambda: CONVERSIONS[name](problem))
    if made is None:
        return
    target, reduction = made
    if name == "ghosts":
        problem = to_rbm(problem)[0]
        expected = exact_energies(problem)
    images = reduction.forward(states_of(problem))
    assert np.array_equal(reduction.back(images), states_of(problem))
    energies = or_refusal(
        lambda: target.cost(images) if isinstance(target, Max2Sat) else target.energy(images)
    )
    if energies is None:
        return
    rounding = reached(target) / reduction.factor / 2**48
    for energy, exact in zip(reduction.source_energy(energies).tolist(), expected, strict=True):
        assert abs(Fraction(energy) - exact) <= rounding


@pytest.mark.parametrize("weight", [5e-324, -1.5e-323])
def test_the_least_floats_survive_every_conversion_exactly(weight):
    """Dividing them by 4 or 8 would leave nothing; they are multiplied instead."""
    problem = Qubo.from_edges(2, [(0, 1)], [weight], [-weight, weight], weight)
    expected = exact_energies(problem)
    for convert in (to_ising, to_max2sat, to_rbm, to_maxcut):
        target, reduction = convert(problem)
        images = reduction.forward(states_of(problem))
        values = target.cost(images) if isinstance(target, Max2Sat) else target.energy(images)
        assert [Fraction(e) for e in reduction.source_energy(values).tolist()] == expected


def test_repeated_entries_of_a_matrix_do_not_wrap():
    entries = [2**62, 2**62, 2**62], ([0, 0, 0], [0, 0, 0])
    with pytest.raises(ValueError, match="the matrix add up to 13835058055282163712"):
        Qubo.from_matrix(coo_array(entries, shape=(2, 2)))


def test_torn_copies_of_large_variables_merge_at_no_more_cost():
    """2·B + Σ Q x wraps around int64 here, and the slope changed its sign."""
    problem = Qubo.from_edges(2, [(0, 1)], [4], [2**62, -(2**61)])
    doubled, reduction = qubo_to_bipartite(problem)
    for state in all_states(4, 0):
        merged = energy_by_definition(problem, reduction.back(state))
        at_most = Fraction(energy_by_definition(doubled, state)) / reduction.factor
        assert merged <= at_most


def test_energies_beyond_int64_come_back_as_python_integers():
    half = to_max2sat(Ising.from_edges(2, [(0, 1)], [2**61]))[1]
    assert half.source_energy(np.array([2**63 - 1, -1])).tolist() == [
        2 * (2**63 - 1) - 2**61, -2 - 2**61,
    ]  # fmt: skip


def test_costs_of_a_batch_that_breaks_nothing_need_no_room():
    problem = Max2Sat.from_clauses(1, [[1]], [2**63 - 1], [[1]])
    assert problem.hard_weight == 2**63
    assert problem.cost([[1], [1]]).tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"violates 1 hard clauses.*above 2\^63-1"):
        problem.cost([[0]])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([2**63, 5], "magnitudes must be at most"),
        ([2**53 + 1, 0.5], "9007199254740993, which a float cannot hold"),
        ([10**400, 0.5], "integers or floats"),
    ],
)
def test_integers_that_numpy_would_round_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        Ising.from_edges(3, [(0, 1), (1, 2)], weights)
    with pytest.raises(ValueError, match=message):
        Rbm([weights])
    with pytest.raises(ValueError, match=message):
        Qubo.from_matrix([weights, [0, 0]])


def test_integers_beside_floats_are_refused_where_floats_would_round_them():
    with pytest.raises(ValueError, match="a float cannot hold exactly"):
        Ising.from_edges(2, [(0, 1)], [2**60 + 1], fields=[0.5, 0])
    assert Ising.from_edges(2, [(0, 1)], [2**60], fields=[0.5, 0]).weights.tolist() == [2.0**60]


def test_an_offset_of_hundreds_of_digits_is_refused():
    for weight in (1, 1.0):
        with pytest.raises(ValueError, match="offset"):
            Ising.from_edges(2, [(0, 1)], [weight], offset=10**400)


def test_layers_that_32_bits_cannot_number_are_refused():
    with pytest.raises(ValueError, match="2147483648 is above 2147483647"):
        Rbm.from_edges(2**31 - 1, 1, [[0, 0]], [1])
    with pytest.raises(ValueError, match="array of integers, not float64"):
        Rbm.from_edges(2, 2, [[0.5, 1.5]], [1])


@pytest.mark.parametrize("numbers", [[], [1, -2], [2**63 - 1] * 3, [-(2**63)] * 3, [2**61, 2**61]])
def test_sums_of_integers_never_wrap(numbers):
    assert exact_sum(np.array(numbers, dtype=np.int64)) == sum(numbers)
