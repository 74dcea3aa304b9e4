"""The semidefinite relaxation against brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from glasshouse.proofs.relaxation import Outcome, Pair, Parts
from glasshouse.proofs.semidefinite.relaxation import SemidefiniteRelaxation
from glasshouse.proofs.signed_graph import SignedGraph, exact_array

FAR = math.inf


def random_graph(seed: int) -> SignedGraph:
    """A dense graph of 2 to 11 vertices whose weights are small, large or far beyond 64 bits."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 12))
    edges = [pair for pair in itertools.combinations(range(size), 2) if rng.random() < 0.8]
    edges = edges or [(0, 1)]
    largest = [1, 3, 100_000, 2**40, 10**30][seed % 5]
    weights = [round(float(rng.normal()) * largest) or largest for _ in edges]
    return SignedGraph(size, np.array(edges, np.int32), exact_array(weights), int(rng.integers(9)))


def all_states(graph: SignedGraph) -> list[np.ndarray]:
    return [np.array(s, np.int8) for s in itertools.product((-1, 1), repeat=graph.num_vertices)]


def exact_bound(graph: SignedGraph, pairs: list[Pair], parts: Parts) -> Fraction:
    """The bound of parts as the interface defines it, in the plainest way."""
    roots = list(range(graph.num_vertices))
    signs = [1] * graph.num_vertices
    for a, b, sign in pairs:
        old, turn = roots[b], sign * signs[a] * signs[b]
        for v in range(graph.num_vertices):
            if roots[v] == old:
                roots[v], signs[v] = roots[a], signs[v] * turn
    rest: dict[tuple[int, int], int] = {}
    total = graph.constant * parts.denominator
    terms = [
        (a, b, w * parts.denominator)
        for (a, b), w in zip(graph.edges.tolist(), graph.weights.tolist(), strict=True)
    ]
    assert not parts.loops
    for multiplier, vertices, factors in parts.squares:
        assert multiplier > 0
        assert len(set(vertices)) == len(vertices) == len(factors)
        divisor = math.gcd(*factors)
        odd = sum(factors) // divisor % 2
        total -= multiplier * (sum(a * a for a in factors) - divisor * divisor * odd)
        for (u, a), (v, b) in itertools.combinations(zip(vertices, factors, strict=True), 2):
            terms.append((u, v, 2 * multiplier * a * b))
    for u, v, amount in terms:
        key = min(roots[u], roots[v]), max(roots[u], roots[v])
        rest[key] = rest.get(key, 0) + amount * signs[u] * signs[v]
    total -= sum(r if u == v else abs(r) for (u, v), r in rest.items())
    return Fraction(total, parts.denominator)


def nodes_of_tree(graph: SignedGraph, incumbent: int) -> Iterator[tuple[list[Pair], Outcome, int]]:
    """All nodes, depth first, with the incumbent that each was given."""
    relaxation = SemidefiniteRelaxation(graph)
    stack: list[tuple[list[Pair], object]] = [([], None)]
    while stack:
        pairs, warm = stack.pop()
        outcome = relaxation.bound(pairs, incumbent, FAR, warm)
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
    states = all_states(graph)
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
            assert min(agreeing) >= incumbent
        last = min([incumbent, *map(graph.cost, outcome.states)])
    assert last == min(costs)
