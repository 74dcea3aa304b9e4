"""The paper's questions, and proofs, about weights at the ends of int64 and float64."""

from fractions import Fraction

import numpy as np
import pytest
from tests.oracles import energy_by_definition, states_of

from glasshouse.certificates import verify
from glasshouse.problems import Ising
from glasshouse.proofs import prove
from glasshouse.questions import conic_decomposition, frustration_bound, is_gauged
from glasshouse.questions.gauged import ground_state

HARD = np.array([[4, -1, -1, 2], [-1, 4, -1, 2], [-1, -1, 4, 2], [2, 2, 2, -2]])


def test_sums_of_a_matrix_that_leave_int64_are_refused():
    matrix = np.full((2, 2), 2**62)
    for question in (is_gauged, ground_state):
        with pytest.raises(ValueError, match=r"add up to 18446744073709551616, above 2\^63-1"):
            question(matrix)
    with pytest.raises(
        ValueError, match="add up to 6917529027641081856, above 4611686018427387904"
    ):
        ground_state(np.full((2, 2), 2**60 + 2**59))


@pytest.mark.parametrize(
    "matrix", [np.array([[2**64 - 1, 1]], np.uint64), np.array([[-(2**63), 1]])]
)
def test_numbers_that_int64_turns_into_others_are_refused(matrix):
    with pytest.raises(ValueError, match=r"2\^63"):
        is_gauged(matrix)


@pytest.mark.parametrize("unit", [1, 2**58])
def test_gauged_matrices_of_any_size(unit):
    assert is_gauged(np.array([[2, 1], [1, -1]]) * unit)
    assert not is_gauged(np.array([[1, 1], [1, -2]]) * unit)
    answer = conic_decomposition(HARD * unit, max_length=8)
    assert answer.witness is not None
    products = zip((HARD * unit).ravel().tolist(), answer.witness.ravel().tolist(), strict=True)
    assert sum(w * y for w, y in products) < 0


def test_a_matrix_between_enumeration_and_int64_is_proven():
    assert is_gauged([[2**61, 2**60], [2**60, -(2**60)]])


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 1e300, 1e307])
def test_the_bound_of_a_matrix_does_not_depend_on_its_scale(scale):
    assert frustration_bound([[scale, scale], [scale, -scale]]) == pytest.approx(
        0.5 * (1 - 1 / np.sqrt(2))
    )


@pytest.mark.parametrize("tiny", [1e-300, 1e-10, 1.0])
def test_proofs_of_weights_whose_quotients_are_below_all_floats(tiny):
    """Tiny weights are 0 as floats in units of the largest, but keep their signs."""
    rng = np.random.default_rng(3)
    pairs = [(i, j) for j in range(6) for i in range(j)]
    closed = 0
    for _ in range(10):
        weights = rng.choice([1e300, -1e300, tiny, -tiny], size=len(pairs))
        problem = Ising.from_edges(6, pairs, weights)
        proof = prove(problem)
        energies = [energy_by_definition(problem, s, Fraction) for s in states_of(problem)]
        assert verify(problem, proof.certificate).bound <= min(energies)
        energy = energy_by_definition(problem, proof.state, Fraction)
        assert not proof.optimal or energy == min(energies)
        closed += proof.optimal
    assert closed >= 5  # a proof that always gives up is not tested


@pytest.mark.parametrize("loops_only", [False, True])
def test_trees_of_weights_that_are_integers_beyond_all_floats(loops_only):
    """Over the power of two that makes the tiny weight an integer, the others are above 1e308."""
    rng = np.random.default_rng(0)
    pairs = [(i, j) for j in range(20) for i in range(j)]
    weights = rng.normal(size=len(pairs))
    weights[5] = 1e-306
    problem = Ising.from_edges(20, pairs, weights)
    proof = prove(problem, node_limit=2, loops_only=loops_only)
    assert proof.statistics.nodes > 0
    assert verify(problem, proof.certificate).bound <= Fraction(proof.energy)
    assert proof.lower_bound > 1.1 * proof.energy


def test_states_that_only_exact_energies_tell_apart_are_proven():
    """In floats, more states than an enumeration keeps have the energy of the best state."""
    rng = np.random.default_rng(4)
    pairs = [(a, b) for b in range(16) for a in range(b)]
    for _ in range(60):
        chosen = [pair for pair in pairs if rng.random() < 0.4]
        sizes = 10.0 ** rng.choice([297, -303, -3, 2, -8], len(chosen))
        proof = prove(Ising.from_edges(16, chosen, rng.choice([-1, 1], len(chosen)) * sizes))
        assert proof.optimal
