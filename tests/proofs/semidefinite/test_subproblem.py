"""Ties by dominating edges: the least value stays, and triangles prove it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles import all_states
from tests.proofs.semidefinite.dense_graphs import exact_bound, random_graph, step

from glasshouse.certificates.ties import Pair
from glasshouse.problems import Qubo
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.semidefinite.relaxation import SemidefiniteRelaxation
from glasshouse.proofs.semidefinite.rounding import no_squares
from glasshouse.proofs.semidefinite.subproblem import Subproblem
from glasshouse.proofs.signed_graph import SignedGraph


def positive_qubo(seed: int, size: int) -> SignedGraph:
    """A QUBO of positive terms and negative diagonal, whose ghost is heavy."""
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.integers(0, 101, (size, size)), 1)
    return SignedGraph.of(Qubo.from_matrix(matrix - np.diag(rng.integers(1, 64, size))))


def some_pairs(graph: SignedGraph, rng: np.random.Generator) -> list[Pair]:
    """Up to two pairs that do not contradict each other."""
    last = graph.num_vertices - 1
    count = int(rng.integers(0, 1 + min(2, last)))
    return [(last, int(v), int(rng.choice([-1, 1]))) for v in rng.permutation(last)[:count]]


def check(graph: SignedGraph, pairs: list[Pair]) -> int:
    """Compare a subproblem with all states; return how many vertices were dominated."""
    problem = Subproblem.of(graph, pairs)
    states = all_states(graph.num_vertices, -1)
    kept = [s for s in states if all(s[a] == sign * s[b] for a, b, sign in pairs)]
    values = {graph.value(graph.cost(state)) for state in kept}
    small = all_states(problem.size, -1).astype(float) if problem.size else np.ones((1, 0))
    assert min(map(problem.value, small)) == min(values)
    for spins in small[:20]:
        state = problem.spread(spins)
        assert graph.value(graph.cost(state)) == problem.value(spins)
        assert all(state[a] == sign * state[b] for a, b, sign in pairs)
    for value in values:
        below = problem.highest_below(value)
        assert below is None or not any(below < other < value for other in values)
    parts = no_squares(problem).parts(problem)
    assert exact_bound(graph, pairs, parts) * 2 == 2 * problem.constant - abs(problem.weights).sum()
    return len(set(map(int, problem.dominating.vertices[:, 0])))


@pytest.mark.parametrize("seed", range(40))
def test_least_value_stays_and_triangles_prove_it(seed: int) -> None:
    graph = random_graph(seed)
    check(graph, some_pairs(graph, np.random.default_rng(seed)))


def test_an_unknown_that_is_1_dominates_most_others() -> None:
    graph = positive_qubo(seed=1, size=10)
    assert check(graph, []) == 0
    assert check(graph, [(10, 0, 1)]) >= 5


def searched(graph: SignedGraph) -> int:
    """The least cost that a tree of the relaxation finds and closes, from no good state."""
    relaxation, incumbent = SemidefiniteRelaxation(graph), graph.total + 1
    stack: list[tuple[list[Pair], object]] = [([], None)]
    while stack:
        pairs, warm = stack.pop()
        outcome = relaxation.bound(pairs, incumbent, Budget(), warm)
        incumbent = min([incumbent, *map(graph.cost, outcome.states)])
        if outcome.closed:
            apart, bound = step(graph, pairs), exact_bound(graph, pairs, outcome.parts)
            assert apart == 0 or bound > graph.value(incumbent) - apart
        elif outcome.branch is not None:
            a, b, sign = outcome.branch
            stack += [([*pairs, (a, b, turn)], outcome.warm) for turn in (-sign, sign)]
        else:
            stack.append((pairs, warm))
    return incumbent


def least_cost(graph: SignedGraph) -> int:
    """The least cost of all states."""
    states = all_states(graph.num_vertices, -1).astype(np.int8)
    first, second = graph.edges.T
    differs = states[:, first] != states[:, second]
    kind = np.int64 if graph.total < 2**62 else object
    return int(min((differs != graph.negative) @ np.abs(graph.weights).astype(kind)))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_trees_of_2000_small_problems_equal_brute_force(block: int) -> None:
    for seed in range(200 * block, 200 * block + 200):
        graph = positive_qubo(seed, 4 + seed % 6) if seed % 2 else random_graph(seed)
        assert searched(graph) == least_cost(graph)
