import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array
from tests.landscape.cases import isings, rbms, with_states
from tests.oracles import all_states

from glasshouse.landscape import distance, frustration_index, gauge, switching_subset
from glasshouse.problems import Ising, Qubo, Rbm
from glasshouse.problems.convert import to_ising

spin_problems = isings() | rbms()


@given(with_states(spin_problems, 2))
def test_gauge_moves_energies_with_the_state(case):
    problem, state, other = case
    assert gauge(problem, state).energy(state * other) == problem.energy(other)


@given(with_states(spin_problems, 2))
def test_gauges_form_a_group_of_involutions(case):
    problem, state, other = case
    assert gauge(gauge(problem, state), state) == problem
    assert gauge(gauge(problem, state), other) == gauge(problem, state * other)
    assert gauge(gauge(problem, state), other) == gauge(gauge(problem, other), state)
    assert gauge(problem, np.ones_like(state)) == problem


@given(with_states(rbms(), 1))
def test_sparse_and_dense_rbms_are_gauged_alike(case):
    problem, state = case
    sparse = Rbm(
        csr_array(problem.matrix), problem.visible_bias, problem.hidden_bias, problem.offset
    )
    gauged = gauge(sparse, state)
    assert gauged.is_sparse
    assert gauged == gauge(problem, state)
    assert sparse == problem  # the source is untouched


@given(with_states(spin_problems, 2))
def test_frustration_is_the_unsatisfied_share(case):
    problem, state, _ = case
    form = to_ising(problem)[0]
    gauged = gauge(form, state)
    bonds = np.concatenate([gauged.weights, gauged.fields])
    total = int(np.abs(bonds).sum())
    expected = int(-bonds[bonds < 0].sum())
    assert frustration_index(problem, state) * total == expected


def test_frustration_index_of_other_kinds_and_floats():
    ring = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [4, 4, 4, -3])
    assert frustration_index(ring, [1, 1, 1, 1]) * 5 == 1
    soft = Ising.from_edges(2, [(0, 1)], [-0.5])
    assert frustration_index(soft, [1, 1]) == 1.0
    assert frustration_index(Ising.from_edges(2, [], []), [1, 1]) == 0
    qubo = Qubo.from_matrix([[-1, 2], [0, -1]])  # x0 ≠ x1 is best: one antiferromagnetic bond
    assert frustration_index(qubo, [0, 1]) == 0
    assert frustration_index(qubo, [1, 1]) == 1


def test_errata_frustration_beyond_a_quarter():
    weights = [[1, 1, 2, 2], [1, 2, 1, -2], [2, 1, -2, 1], [2, -2, 1, -1]]
    problem = Rbm(weights)
    states = all_states(8, -1)
    energies = problem.energy(states)
    assert energies.min() == -10
    best = states[energies.argmin()]
    assert frustration_index(problem, best) * 24 == 7
    for large in (3, 4, 10):
        gauged = Rbm([[large, -1, -1, 2], [-1, large, -1, 2], [-1, -1, large, 2], [2, 2, 2, -2]])
        up = np.ones(8, dtype=np.int8)
        assert gauged.energy(up) == gauged.energy(states).min()
        assert frustration_index(gauged, up) * (3 * large + 20) == 8


@given(with_states(spin_problems, 3))
def test_distance_is_a_pseudometric(case):
    problem, first, second, third = case
    assert distance(problem, first, first) == 0
    assert distance(problem, first, second) == distance(problem, second, first)
    assert 0 <= distance(problem, first, second) <= 1
    assert distance(problem, first, third) <= distance(problem, first, second) + distance(
        problem, second, third
    )


@given(with_states(rbms(biases=False), 2))
def test_rbm_distance_is_the_papers(case):
    problem, state, other = case
    n, m = problem.num_visible, problem.num_hidden
    visible, hidden = (state != other)[:n].sum(), (state != other)[n:].sum()
    size = distance(problem, state, other) * n * m
    assert size == visible * m + n * hidden - 2 * visible * hidden
    assert size == switching_subset(problem, state, other).sum()
    same = np.array_equal(state, other) or np.array_equal(state, -other)
    assert (size == 0) == same


@given(with_states(isings(fields=False) | rbms(biases=False), 2))
def test_switching_subset_gives_the_energy_difference(case):
    problem, state, other = case
    gauged = gauge(problem, state)
    subset = switching_subset(problem, state, other)
    difference = problem.energy(other) - problem.energy(state)
    weights = gauged.matrix if isinstance(gauged, Rbm) else gauged.weights
    assert difference == 2 * weights[subset].sum()


def test_bias_makes_the_global_flip_a_move():
    biased = Rbm([[1, 1]], [2], [0, 0])
    up = np.ones(3, dtype=np.int8)
    assert distance(biased, up, -up) * 3 == 1
    assert distance(Rbm([[1, 1]]), up, -up) == 0


def test_bad_input_is_named():
    qubo = Qubo.from_matrix([[1]])
    with pytest.raises(ValueError, match="Qubo has no spins to gauge"):
        gauge(qubo, [1])
    with pytest.raises(ValueError, match="no spin pairs"):
        distance(qubo, [1], [1])
    with pytest.raises(ValueError, match="not a batch"):
        gauge(Rbm([[1]]), [[1, 1]])
    with pytest.raises(ValueError, match="other has shape"):
        distance(Rbm([[1]]), [1, 1], [1, 1, 1])
    wide = Rbm.from_edges(1 << 16, 1 << 16, [(0, 0)], [1])
    up = np.ones(1 << 17, dtype=np.int8)
    with pytest.raises(ValueError, match="use `distance`"):
        switching_subset(wide, up, up)
    assert distance(wide, up, -up) == 0
