from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from tests.landscape.cases import flip_costs, isings, rbms, with_states
from tests.oracles import all_states

from glasshouse.landscape import (
    components,
    free_spins,
    ground_state_count,
    is_local_minimum,
    local_fields,
    local_minima,
    low_energy_states,
)
from glasshouse.landscape.metric import distance, least_distance
from glasshouse.problems import Ising, Qubo, Rbm
from glasshouse.problems.convert import to_ising

spin_problems = isings() | rbms()


def ring(length: int, positive: int = 1, negative: int = -1) -> Ising:
    edges = [(k, (k + 1) % length) for k in range(length)]
    return Ising.from_edges(length, edges, [positive] * (length - 1) + [negative])


@given(with_states(spin_problems, 1))
def test_local_fields_are_half_the_cost_of_a_flip(case):
    problem, state = case
    costs = flip_costs(problem, state[None])[0]
    assert np.array_equal(2 * state * local_fields(problem, state), costs)
    assert is_local_minimum(problem, state) == (costs >= 0).all()


@given(spin_problems)
def test_counts_equal_brute_force(problem):
    states = all_states(problem.num_variables, -1)
    costs = flip_costs(problem, states)
    energies = problem.energy(states)
    found = local_minima(problem)
    assert found.count == (costs >= 0).all(axis=1).sum()
    assert found.strict == (costs > 0).all(axis=1).sum()
    assert found.ground_states == (energies == energies.min()).sum()
    assert found.traps == found.count - found.ground_states
    assert ground_state_count(problem) == found.ground_states


@given(isings())
def test_floats_are_counted_like_the_integers_they_are(problem):
    # Tenths are not exact in binary, so equal energies differ by rounding.
    tenths = Ising.from_edges(
        problem.num_variables, problem.edges, problem.weights * 0.1, problem.fields * 0.1
    )
    assert local_minima(tenths) == local_minima(problem)
    exact, rounded = low_energy_states(problem, 4), low_energy_states(tenths, 4)
    assert np.allclose(rounded.energies * 10, exact.energies - problem.offset)
    assert (rounded.gap is None) == (exact.gap is None)


@given(spin_problems)
def test_low_energy_states_equal_brute_force(problem):
    k = 5
    states = all_states(problem.num_variables, -1)
    energies = np.sort(problem.energy(states))
    found = low_energy_states(problem, k)
    assert np.array_equal(problem.energy(found.states), found.energies)
    expected = energies[:: found.copies][: len(found.energies)]
    assert np.array_equal(found.energies, expected)
    assert len(found.energies) == min(k, len(states) // found.copies)
    assert len(np.unique(found.states, axis=0)) == len(found.states)
    levels = np.unique(found.energies)
    if len(levels) > 1:
        assert found.gap == levels[1] - levels[0]
        grounds = found.states[found.energies == levels[0]]
        excited = found.states[found.energies == levels[1]]
        assert found.distance == min(distance(problem, s, t) for s in grounds for t in excited)
    else:
        assert found.gap is None
        assert found.distance is None


def test_many_states_of_one_energy_are_compared_at_once():
    # One bond of 20 is violated, then three: 20 × 1140 pairs of states, two bonds apart.
    found = low_energy_states(ring(20), 2048)
    assert np.unique(found.energies, return_counts=True)[1].tolist()[:2] == [20, 1140]
    assert found.distance == Fraction(2, 20)


@given(with_states(spin_problems, 5))
def test_the_least_distance_is_that_of_the_nearest_pair(case):
    problem, *states = case
    mine, others = np.array(states[:2]), np.array(states[2:])
    nearest = min(distance(problem, s, t) for s in mine for t in others)
    assert least_distance(problem, mine, others) == nearest


def test_low_energy_states_of_a_qubo_are_in_its_own_values():
    qubo = Qubo.from_matrix([[-1, 3, 0], [0, -2, 1], [0, 0, 1]])
    found = low_energy_states(qubo, 2)
    assert found.energies.tolist() == [-2, -1]
    assert np.array_equal(qubo.energy(found.states), found.energies)
    assert found.states[0].tolist() == [0, 1, 0]
    assert found.gap == 1


@pytest.mark.parametrize(("length", "states"), [(4, 8), (6, 12), (8, 16)])
def test_errata_single_loops_have_two_ground_states_an_edge(length, states):
    assert ground_state_count(ring(length)) == states


@pytest.mark.parametrize("length", [3, 4, 5, 6])
def test_a_loop_below_its_maximum_has_one_pair_of_ground_states(length):
    loop = ring(length, 5, -4)
    assert ground_state_count(loop) == 2
    assert ground_state_count(loop, unique_up_to_flips=True) == 2


def test_components_multiply():
    two = Ising.from_edges(
        9, [(0, 1), (1, 2), (0, 2), (4, 5), (5, 6), (6, 7), (4, 7)], [1, 1, -1, 1, 1, 1, -1]
    )
    assert components(two).tolist() == [0, 0, 0, 1, 2, 2, 2, 2, 3]
    assert free_spins(two).tolist() == [3, 8]
    assert ground_state_count(two) == 6 * 8 * 2 * 2
    assert ground_state_count(two, unique_up_to_flips=True) == 2**4


def test_fields_join_components_and_hold_them():
    problem = Ising.from_edges(5, [(0, 1), (2, 3)], [2, 2], [1, 0, 1, 0, 0])
    assert components(problem).tolist() == [0, 0, 0, 0, 1]
    assert free_spins(problem).tolist() == [4]
    assert ground_state_count(problem) == 2
    assert ground_state_count(problem, unique_up_to_flips=True) == 2


def test_fields_alone_join_nothing_that_must_be_enumerated():
    fields = np.arange(1, 41)
    alone = Ising.from_edges(40, [], [], fields)
    assert local_minima(alone).count == ground_state_count(alone) == 1
    found = low_energy_states(alone, 3)
    assert found.energies.tolist() == [-820, -818, -816]
    assert found.copies == 1
    assert found.distance == Fraction(1, 40)


@given(isings())
def test_components_are_those_of_networkx(problem):
    import networkx

    graph = networkx.Graph(problem.edges.tolist())
    graph.add_nodes_from(range(problem.num_variables))
    biased = np.flatnonzero(problem.fields)
    graph.add_edges_from(("ghost", int(i)) for i in biased)
    parts = [sorted(set(c) - {"ghost"}) for c in networkx.connected_components(graph)]
    labels = components(problem)
    mine = [np.flatnonzero(labels == k).tolist() for k in range(labels.max() + 1)]
    assert mine == sorted(parts)


def test_the_ground_state_of_a_large_plant_is_counted_from_components():
    size = 300
    loops = [(3 * k + a, 3 * k + b) for k in range(50) for a, b in ((0, 1), (1, 2), (0, 2))]
    problem = Ising.from_edges(size, loops, [3, 3, -2] * 50)
    assert ground_state_count(problem, unique_up_to_flips=True) == 2 ** (50 + 150)
    assert ground_state_count(problem) == 2 ** (50 + 150)  # every component is small
    assert local_minima(problem).strict == 0


def test_what_cannot_be_enumerated_is_refused():
    with pytest.raises(ValueError, match="largest connected component has 40 spins"):
        local_minima(ring(40))
    with pytest.raises(ValueError, match="k=0"):
        low_energy_states(ring(4), 0)


def test_empty_problems():
    nothing = Ising.from_edges(0, [], [])
    assert local_minima(nothing).count == 1
    assert ground_state_count(nothing, unique_up_to_flips=True) == 1
    assert components(nothing).tolist() == []
    free = Ising.from_edges(3, [], [])
    assert local_minima(free).count == 8
    assert low_energy_states(free).copies == 8


def test_large_weights_stay_exact():
    big = 2**60
    problem = Rbm([[big, big], [big, -big + 1]])
    assert low_energy_states(problem, 2).energies.tolist() == [-2 * big - 1, -2 * big + 1]
    form = to_ising(problem)[0]
    assert local_fields(form, [1, 1, 1, 1]).tolist() == [2 * big, 1, 2 * big, 1]
