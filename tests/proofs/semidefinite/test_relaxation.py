"""The semidefinite relaxation against brute force."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.oracles import all_states
from tests.proofs.fixed_set import random_graph as random_glass
from tests.proofs.semidefinite.dense_graphs import exact_bound, random_graph, step

from glasshouse.certificates.ties import Pair
from glasshouse.planting.methods import wishart
from glasshouse.problems import Ising
from glasshouse.proofs import prove
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.parts import NO_PARTS
from glasshouse.proofs.relaxation import Outcome
from glasshouse.proofs.semidefinite.climb import Climb, Settings
from glasshouse.proofs.semidefinite.relaxation import SemidefiniteRelaxation, is_dense
from glasshouse.proofs.semidefinite.subproblem import Subproblem
from glasshouse.proofs.signed_graph import SignedGraph, exact_array
from glasshouse.stopping import working_time

ROOT = Path(__file__).parents[3]


def nodes_of_tree(graph: SignedGraph, incumbent: int) -> Iterator[tuple[list[Pair], Outcome, int]]:
    """All nodes, depth first, with the incumbent that each was given."""
    relaxation = SemidefiniteRelaxation(graph)
    stack: list[tuple[list[Pair], object]] = [([], None)]
    while stack:
        pairs, warm = stack.pop()
        outcome = relaxation.bound(pairs, incumbent, Budget(), warm)
        yield pairs, outcome, incumbent
        incumbent = min([incumbent, *map(graph.cost, outcome.states)])
        if outcome.branch is not None:
            a, b, sign = outcome.branch
            stack += [([*pairs, (a, b, turn)], outcome.warm) for turn in (-sign, sign)]
        elif not outcome.closed:
            stack.append((pairs, warm))


@pytest.mark.parametrize("seed", range(25))
def test_tree_closes_at_the_optimum_and_every_bound_holds(seed: int) -> None:
    graph = random_graph(seed)
    states = all_states(graph.num_vertices, -1)
    costs = [graph.cost(state) for state in states]
    start = min(costs) if seed % 3 else graph.total + 1
    for pairs, outcome, incumbent in nodes_of_tree(graph, start):
        agreeing = [
            cost
            for state, cost in zip(states, costs, strict=True)
            if all(state[a] == sign * state[b] for a, b, sign in pairs)
        ]
        assert agreeing, "a branch that no state can take"
        bound = exact_bound(graph, pairs, outcome.parts)
        assert bound <= graph.value(min(agreeing))
        if outcome.closed:
            apart = step(graph, pairs)
            known = min([incumbent, *map(graph.cost, outcome.states)])
            value, some = graph.value(known), graph.value(agreeing[0])
            below = value - 1 - (value - 1 - some) % apart if apart else value - 1
            assert max(bound, exact_bound(graph, pairs, NO_PARTS)) > below
            assert min(agreeing) >= known
        last = min([incumbent, *map(graph.cost, outcome.states)])
    assert last == min(costs)


def complete_graph(size: int, seed: int) -> SignedGraph:
    rng = np.random.default_rng(seed)
    edges = np.column_stack(np.triu_indices(size, 1))
    return SignedGraph.of(Ising.from_edges(size, edges, rng.choice([-1, 1], len(edges))))


def graph_of_degree(size: int, degree: int) -> SignedGraph:
    """A circulant graph in which every vertex has `degree` neighbours, with random signs."""
    near = np.arange(size)
    edges = np.concatenate(
        [np.stack([near, (near + 7 * k + 1) % size], 1) for k in range(degree // 2)]
    )
    signs = np.random.default_rng(size).choice([-1, 1], len(edges))
    return SignedGraph(size, np.sort(edges, axis=1).astype(np.int32), exact_array(signs), 0)


@pytest.mark.parametrize(
    ("size", "degree", "dense"),
    [(41, 4, True), (43, 4, False), (101, 8, True), (101, 6, False), (600, 8, True)],
)
def test_graphs_of_eight_neighbours_are_dense(size: int, degree: int, dense: bool) -> None:
    assert is_dense(graph_of_degree(size, degree)) is dense


def test_there_are_limits_on_the_size_of_a_dense_graph() -> None:
    assert not is_dense(graph_of_degree(601, 8))
    assert not is_dense(complete_graph(10, seed=1))  # it has a ghost, too
    assert is_dense(complete_graph(11, seed=1))


def test_a_glass_of_eight_neighbours_is_proven_at_the_root() -> None:
    proof = prove(random_glass(100, 8, seed=0))
    assert proof.optimal
    assert (proof.statistics.method, proof.statistics.nodes) == ("semidefinite", 1)


@pytest.mark.quiet
def test_deadline_is_kept_and_leaves_an_honest_bound() -> None:
    small = complete_graph(20, seed=1)
    SemidefiniteRelaxation(small).bound([], small.total // 2, Budget(), None)  # compiles
    graph = complete_graph(150, seed=1)
    cost = graph.cost(np.ones(151, np.int8))
    begin = working_time()
    outcome = SemidefiniteRelaxation(graph).bound([], cost, Budget(0.5), None)
    assert working_time() < begin + 1.5
    assert not outcome.closed
    bound = exact_bound(graph, [], outcome.parts)
    assert bound > graph.value(0)


def test_exact_squares_lose_next_to_nothing_of_the_climb() -> None:
    graph = complete_graph(60, seed=1)
    problem = Subproblem.of(graph, [])
    highest = problem.highest_below(graph.value(graph.cost(np.ones(61, np.int8))))
    climb = Climb(problem, highest, None, Settings())
    climb.run(Budget(0.5))
    reached = problem.constant + climb.bound * problem.unit
    assert reached - 0.1 < float(climb.rounded().bound(problem)) < reached + 1e-6


def test_pairs_that_contradict_each_other_are_refused() -> None:
    relaxation = SemidefiniteRelaxation(complete_graph(5, seed=1))
    with pytest.raises(ValueError, match="contradict each other"):
        relaxation.bound([(0, 1, 1), (1, 2, 1), (0, 2, -1)], 3, Budget(), None)


def test_the_same_question_has_the_same_answer() -> None:
    graph = complete_graph(30, seed=2)
    cost = graph.cost(np.ones(31, np.int8))
    first, second = (
        SemidefiniteRelaxation(graph).bound([], cost, Budget(), None) for _ in range(2)
    )
    assert first.parts == second.parts
    assert first.branch == second.branch


def test_tight_relaxation_closes_at_the_root_to_the_last_unit() -> None:
    plant = wishart(24, columns=8, weights="normal", rng=1)
    graph = SignedGraph.of(plant.problem)
    cost = graph.cost(np.append(plant.state, 1).astype(np.int8))
    outcome = SemidefiniteRelaxation(graph).bound([], cost, Budget(), None)
    assert outcome.closed
    assert graph.largest > 10**6
    assert graph.value(cost) - 2 < exact_bound(graph, [], outcome.parts) <= graph.value(cost)


def test_scipy_is_loaded_only_for_a_relaxation_and_before_its_threads_are_limited():
    script = (
        "import sys, numpy as np, glasshouse as gh; gh.prove, gh.train, gh.report\n"
        "print('scipy.linalg' in sys.modules)\n"
        "from tests.proofs.semidefinite.dense_graphs import random_graph\n"
        "from threadpoolctl import ThreadpoolController\n"
        "from glasshouse.proofs.semidefinite import SemidefiniteRelaxation\n"
        "limited = SemidefiniteRelaxation(random_graph(1))._threads.info()\n"
        "import scipy.linalg.lapack\n"
        "print(limited == ThreadpoolController().info())"
    )
    said = subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, text=True)
    assert said.split() == ["False", "True"]
