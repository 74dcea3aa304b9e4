"""The points at which cuts are searched for."""

import numpy as np
import pytest
from tests.proofs.instances import spin_glass
from tests.proofs.lp.test_separation import glass, separators, violated_cycles

from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp.centre import Aim, centre_of, contracted, states_of
from glasshouse.proofs.lp.tied_graph import TiedGraph
from glasshouse.proofs.signed_graph import SignedGraph
from glasshouse.proofs.states import mean_violation


def test_the_point_ends_at_the_solution():
    aim, solution = Aim(np.zeros(3), 0.7, 0.95), np.ones(3)
    points = []
    while not aim.is_there:
        points.append(aim.point(solution)[0])
        aim.come_nearer()
    assert points == sorted(points)
    assert points[0] < points[-1] < 1
    assert (aim.point(solution) == solution).all()


def test_without_a_centre_the_point_is_the_solution():
    assert Aim(None, 0.7, 0.95).is_there


@pytest.mark.parametrize("pairs", [[], [(0, 5, 1)], [(0, 5, -1), (5, 7, 1), (2, 3, -1)]])
def test_states_agree_with_the_pairs_and_the_best_comes_first(pairs):
    graph = SignedGraph.of(spin_glass(300, 0.02, np.random.default_rng(0), gaussian=True))
    ties = TiedGraph.of(graph, pairs)
    states = states_of(ties, Budget())
    for a, b, sign in pairs:
        assert (states[:, a] * states[:, b] == sign).all()
    costs = [graph.cost(state) for state in states]
    assert costs == sorted(costs)
    assert len(set(costs)) > 1


@pytest.mark.parametrize("pairs", [[], [(0, 5, 1), (1, 2, -1)]])
def test_no_cycle_is_violated_at_the_centre(pairs):
    graph = glass(2)
    ties = TiedGraph.of(graph, pairs)
    centre = centre_of(ties, states_of(ties, Budget()))
    assert not violated_cycles(separators(graph)[0], centre, 1e-9)
    inside = ties.inside
    assert (centre[inside] == ties.violated[inside]).all()


def test_a_contracted_graph_costs_the_same_up_to_a_constant():
    graph = glass(3)
    ties = TiedGraph.of(graph, [(0, 5, -1), (5, 7, 1)])
    small = contracted(ties)
    rng = np.random.default_rng(0)
    apart = set()
    for _ in range(20):
        spins = rng.choice([-1, 1], small.num_vertices).astype(np.int8)
        apart.add(graph.cost(spins[ties.classes] * ties.signs) - small.cost(spins))
    assert len(apart) == 1


def test_the_centre_is_the_mean_of_the_better_half():
    graph = glass(1)
    ties = TiedGraph.of(graph, [])
    states = states_of(ties, Budget())
    half = states[: (len(states) + 1) // 2]
    assert (centre_of(ties, states) == mean_violation(graph, half)).all()
    assert centre_of(ties, states[:0]) is None
