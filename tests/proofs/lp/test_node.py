"""A tree of cycle LPs closes at the optimum, and every leaf is true of all its states."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.proofs.instances import listed, torus_edges

from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp.node import CliqueRelaxation, CycleRelaxation
from glasshouse.proofs.lp.tied_graph import TiedGraph
from glasshouse.proofs.signed_graph import SignedGraph, exact_array
from glasshouse.proofs.states import good_state
from glasshouse.stopping import working_time

NEVER = Budget()


def depth_first(graph, state, relaxation):
    """The leaves (pairs and parts) of a tree, the least cost known at its end, and its nodes."""
    best, leaves, nodes = graph.cost(state), [], 0
    waiting = [([], None)]
    while waiting:
        pairs, warm = waiting.pop()
        nodes += 1
        outcome = relaxation.bound(pairs, best, NEVER, warm)
        best = min([best, *(graph.cost(found) for found in outcome.states)])
        if outcome.closed:
            leaves.append((pairs, outcome.parts))
        else:
            a, b, sign = outcome.branch
            waiting += [([*pairs, (a, b, side)], outcome.warm) for side in (-sign, sign)]
    return leaves, best, nodes


def values(graph):
    """All states with their values, term by term in Python integers."""
    for state in itertools.product((-1, 1), repeat=graph.num_vertices):
        pairs = zip(graph.edges.tolist(), graph.weights, strict=True)
        yield state, graph.constant - sum(w * state[a] * state[b] for (a, b), w in pairs)


def bound_by_definition(graph, signs, classes, parts):
    """The bound of loops and squares, computed with dictionaries and fractions."""
    rest = {tuple(e): Fraction(w) for e, w in zip(graph.edges.tolist(), graph.weights, strict=True)}
    bound = Fraction(graph.constant)
    loops, squares = listed(parts)
    for number, vertices, wanted in loops:
        multiplier = Fraction(number, parts.denominator)
        assert multiplier > 0
        assert math.prod(wanted) == -1
        assert len(set(vertices)) == len(vertices) >= 3
        bound -= multiplier * (len(vertices) - 2)
        for a, b, sign in zip(vertices, vertices[1:] + vertices[:1], wanted, strict=True):
            pair = min(a, b), max(a, b)
            rest[pair] = rest.get(pair, 0) - multiplier * sign
    for number, vertices, factors in squares:
        multiplier = Fraction(number, parts.denominator)
        assert multiplier > 0
        bound += multiplier * (least_square(signs, classes, vertices, factors)
                               - sum(a * a for a in factors))  # fmt: skip
        for (a, of_a), (b, of_b) in itertools.combinations(zip(vertices, factors, strict=True), 2):
            pair = min(a, b), max(a, b)
            rest[pair] = rest.get(pair, 0) + 2 * multiplier * of_a * of_b
    between = {}
    for (a, b), weight in rest.items():
        product = weight * int(signs[a]) * int(signs[b])
        if classes[a] == classes[b]:
            bound -= product
        else:
            pair = frozenset((int(classes[a]), int(classes[b])))
            between[pair] = between.get(pair, 0) + product
    return bound - sum(map(abs, between.values()))


def proven_bound(graph, pairs, parts):
    """The bound on the states that agree with some pairs."""
    ties = TiedGraph.of(graph, pairs)
    return bound_by_definition(graph, ties.signs, ties.classes, parts)


def least_square(signs, classes, vertices, factors):
    """The least (Σ factor · s)² of all states that keep the ties."""
    sums = {}
    for vertex, factor in zip(vertices, factors, strict=True):
        name = int(classes[vertex])
        sums[name] = sums.get(name, 0) + factor * int(signs[vertex])
    turns = itertools.product((-1, 1), repeat=len(sums))
    return min(sum(t * x for t, x in zip(turn, sums.values(), strict=True)) ** 2 for turn in turns)


def check_tree(graph, make=CycleRelaxation):
    everything = list(values(graph))
    optimum = min(value for _, value in everything)
    start = np.ones(graph.num_vertices, dtype=np.int8)
    leaves, best, nodes = depth_first(graph, start, make(graph))
    assert graph.value(best) == optimum
    seen = 0
    for pairs, parts in leaves:
        ties = TiedGraph.of(graph, pairs)
        bound = proven_bound(graph, pairs, parts)
        inside = [v for s, v in everything if all(s[a] == t * s[b] for a, b, t in pairs)]
        seen += len(inside)
        assert bound <= min(inside)
        step = math.gcd(*(value - inside[0] for value in inside))
        assert step % ties.step == 0 if ties.step else step == 0
        if step:
            assert bound > optimum - 1 - (optimum - 1 - inside[0]) % step
    assert seen == len(everything)
    return nodes


def random_graph(size, density, weight, seed):
    """The last vertex is the ghost: its edges are fields."""
    rng = np.random.default_rng(seed)
    edges = np.argwhere(np.triu(rng.random((size, size)) < density, 1)).astype(np.int32)
    weights = [weight(rng) for _ in edges]
    kept = [k for k, w in enumerate(weights) if w]
    constant = weight(rng)
    return SignedGraph(size, edges[kept], exact_array([weights[k] for k in kept]), constant)


WEIGHTS = {
    "signs": lambda rng: int(rng.choice([-1, 1])),
    "small": lambda rng: int(rng.integers(-4, 5)),
    "large": lambda rng: int(rng.integers(-(10**5), 10**5)),
    "huge": lambda rng: int(rng.integers(-(10**9), 10**9)) * 3**60 + int(rng.integers(0, 10)),
    # Floats are integers over one power of two.
    "floats": lambda rng: int(Fraction(float(rng.normal())) * 2**70),
    "wide": lambda rng: int(rng.choice([-1, 1])) << int(rng.integers(0, 90)),
}


RELAXATIONS = [CycleRelaxation, CliqueRelaxation]


@pytest.mark.parametrize("kind", WEIGHTS)
@given(
    st.integers(2, 9),
    st.sampled_from([0.3, 0.6, 1.0]),
    st.integers(0, 2**32),
    st.sampled_from(RELAXATIONS),
)
@settings(max_examples=40, deadline=None)
def test_trees_equal_brute_force(kind, size, density, seed, make):
    check_tree(random_graph(size, density, WEIGHTS[kind], seed), make)


@pytest.mark.parametrize("make", RELAXATIONS)
@pytest.mark.parametrize("kind", ["signs", "large", "floats"])
def test_trees_of_complete_graphs(kind, make):
    check_tree(random_graph(12, 1.0, WEIGHTS[kind], 0), make)


def lattice(length, seed):
    rng = np.random.default_rng(seed)
    edges = np.sort(torus_edges((length,) * 3), axis=1).astype(np.int32)
    return SignedGraph(length**3, edges, exact_array(rng.choice([-1, 1], len(edges)).tolist()))


@pytest.mark.parametrize("make", RELAXATIONS)
def test_a_lattice_is_proven_by_branching(make):
    graph = lattice(6, 2)
    state = good_state(graph, NEVER)
    leaves, best, _ = depth_first(graph, state, make(graph))
    assert best == graph.cost(state)
    assert len(leaves) > 1 or make is CliqueRelaxation  # which may close the root without a branch
    for pairs, parts in leaves:
        ties = TiedGraph.of(graph, pairs)
        assert proven_bound(graph, pairs, parts) > graph.value(best) - ties.step


def test_an_order_of_nodes_that_jumps_gives_the_same_bounds(monkeypatch):
    graph = lattice(4, 1)
    # Too much for anything to be closed, as long as no better state is found.
    incumbent = graph.cost(good_state(graph, NEVER)) + 6
    monkeypatch.setattr(CycleRelaxation, "consider", lambda self, state: None)
    monkeypatch.setattr(CycleRelaxation, "stall_of_node", CycleRelaxation.stall_of_root)
    relaxation = CycleRelaxation(graph)
    root = relaxation.bound([], incumbent, NEVER)
    a, b, sign = root.branch
    sides = [[(a, b, sign)], [(a, b, -sign)]]
    there = [relaxation.bound(side, incumbent, NEVER, root.warm) for side in sides]
    elsewhere = next(pair for pair in graph.edges.tolist() if not {a, b} & set(pair))
    relaxation.bound([*sides[0], (*elsewhere, 1)], incumbent, NEVER, there[0].warm)
    again = relaxation.bound(sides[1], incumbent, NEVER, root.warm)
    alone = CycleRelaxation(graph).bound(sides[1], incumbent, NEVER)
    bounds = [float(proven_bound(graph, sides[1], one.parts)) for one in (there[1], again, alone)]
    assert bounds == pytest.approx([bounds[0]] * 3, abs=0.2)


@pytest.mark.quiet
def test_it_stops_in_time_with_an_honest_bound():
    small = lattice(3, 1)
    CycleRelaxation(small).bound([], small.cost(good_state(small, NEVER)), NEVER)  # compiles
    graph = lattice(6, 1)
    state = good_state(graph, NEVER)
    start = working_time()
    outcome = CycleRelaxation(graph).bound([], graph.cost(state), Budget(0.1))
    assert working_time() - start < 2.0
    assert not outcome.closed
    assert proven_bound(graph, [], outcome.parts) <= graph.value(graph.cost(state))


def test_pairs_that_contradict_each_other_are_refused():
    graph = lattice(3, 0)
    with pytest.raises(ValueError, match="contradict"):
        TiedGraph.of(graph, [(0, 1, 1), (1, 2, 1), (0, 2, -1)])
