"""Odd cliques hold for all states, are violated at the given point, and are sums of parts."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
from tests.oracles import all_states
from tests.proofs.lp.test_node import bound_by_definition, random_graph

from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp import separation
from glasshouse.proofs.lp.cuts import parts_of
from glasshouse.proofs.lp.node_lp import NodeLp
from glasshouse.proofs.lp.rounding import exact_bound
from glasshouse.proofs.lp.separation import HOP, CliqueSeparator, Separation, arc_lengths
from glasshouse.proofs.lp.tied_graph import TiedGraph
from glasshouse.proofs.signed_graph import SignedGraph, exact_array


def mostly_negative(rng):
    return int(rng.choice([-1, -1, -1, -1, 1]))


def glass(seed):
    """A graph with walks that are longer than an edge, and cycles that leave a gap."""
    return random_graph(12, 0.7, mostly_negative, seed)


def separators(graph):
    cycles = Separation(graph, flipped=True)
    return cycles, CliqueSeparator(cycles)


def violated_cycles(separation, violation, tolerance):
    return separation.short(arc_lengths(violation), 1 - tolerance, HOP, 4)


def after_cycles(graph):
    """The solved LP of all cycle inequalities."""
    lp, (cycles, _) = NodeLp(np.abs(graph.couplings)), separators(graph)
    while True:
        lp.solve(np.inf)
        cuts = violated_cycles(cycles, lp.violation, 1e-6)
        if not cuts:
            return lp
        lp.add(cuts)


def violated(graph, state):
    """Which edges a state violates."""
    products = state[graph.edges[:, 0]] * state[graph.edges[:, 1]]
    return (products < 0) != (graph.weights < 0).astype(bool)


def complete(size):
    """A graph whose couplings all favour opposite spins."""
    pairs = np.stack(np.triu_indices(size, 1), axis=1).astype(np.int32)
    return SignedGraph(size, pairs, exact_array([-1] * len(pairs)))


@pytest.mark.parametrize("size", [5, 7])
def test_a_complete_graph_is_one_clique(size):
    graph = complete(size)
    lp = after_cycles(graph)
    assert lp.value == pytest.approx(size * (size - 1) / 6)  # all u are 1/3
    _, cliques = separators(graph)
    lp.add(cliques.cuts(arc_lengths(lp.violation), 0.02))
    lp.solve(np.inf)
    assert lp.value == pytest.approx((size - 1) ** 2 / 4)  # the least cost of a state


def test_a_pair_may_be_a_walk():
    """K5 with a vertex on each edge is not a clique, but its walks form one."""
    five = complete(5)
    edges = [
        pair for k, (a, b) in enumerate(five.edges.tolist()) for pair in ((a, 5 + k), (b, 5 + k))
    ]
    weights = [w for k in range(10) for w in (-1, 1)]
    graph = SignedGraph(15, np.array(edges, dtype=np.int32), exact_array(weights))
    lp = after_cycles(graph)
    assert lp.value == pytest.approx(10 / 3)
    _, cliques = separators(graph)
    lp.add(cliques.cuts(arc_lengths(lp.violation), 0.02))
    lp.solve(np.inf)
    assert lp.value == pytest.approx(4)


@pytest.mark.parametrize("seed", range(12))
def test_cuts_are_true_violated_and_sums_of_parts(seed):
    graph = glass(seed)
    lp = after_cycles(graph)
    _, cliques = separators(graph)
    cuts = cliques.cuts(arc_lengths(lp.violation), 0.02)
    states = all_states(graph.num_vertices, -1)
    everyone = np.array([violated(graph, state) for state in states])
    ties = TiedGraph.of(graph, [(0, 1, -1), (2, 3, 1)])
    both = [TiedGraph.of(graph, []), ties]
    for cut in cuts:
        rows = everyone[:, cut.edges] @ cut.coefficients
        assert rows.min() >= cut.right_side
        assert lp.violation[cut.edges] @ cut.coefficients < cut.right_side - 0.01
        for node in both:
            one = exact_bound(node, 3, np.array([2]), [cut])
            parts = parts_of(graph, [cut], np.array([2]), 3)
            proven = bound_by_definition(graph, node.signs, node.classes, parts)
            assert proven >= one.bound / 3 - 1e-12
            if node is both[0]:
                assert proven * 3 == one.bound


def test_random_graphs_have_violated_cliques():
    """The test above compares at least one value."""
    found = 0
    for seed in range(12):
        graph = glass(seed)
        lp = after_cycles(graph)
        found += len(separators(graph)[1].cuts(arc_lengths(lp.violation), 0.02))
    assert found > 20


def test_a_large_graph_has_none(monkeypatch):
    monkeypatch.setattr(separation, "_MOST_VERTICES", 4)
    graph = complete(5)
    _, cliques = separators(graph)
    assert cliques.cuts(np.full(20, 1 / 3), 0.02) == []


def test_walks_that_end_nowhere_are_left_out():
    """Two parts of a graph have no walks between them."""
    one = complete(5)
    edges = np.concatenate([one.edges, one.edges + 5])
    graph = SignedGraph(10, edges, exact_array([-1] * 20))
    _, cliques = separators(graph)
    cuts = cliques.cuts(arc_lengths(np.full(20, 1 / 3)), 0.02)
    assert sorted(tuple(sorted(cut.clique.vertices.tolist())) for cut in cuts) == [
        (0, 1, 2, 3, 4), (5, 6, 7, 8, 9),
    ]  # fmt: skip


def test_paths_past_a_ghost_with_many_neighbours_end_in_time():
    """Every odd edge is closed by a path past the ghost, whose search visits all spins."""
    size = 40_000
    spins = np.arange(size)
    ring = np.column_stack([spins[:-1], spins[1:]])
    fields = np.column_stack([spins, np.full(size, size)])
    edges = np.concatenate([ring, fields]).astype(np.int32)
    weights = np.where(np.arange(len(edges)) < len(ring), -1, 1)
    search = Separation(SignedGraph(size + 1, edges, exact_array(weights.tolist())))
    lengths = np.where(weights < 0, 0.5, 0.0)
    search.budget = Budget(0.0)
    search.exact(lengths, 1.0, 6, np.inf)  # loads the kernels
    search.budget, began = Budget(0.2), process_time()
    cuts = search.exact(lengths, 1.0, 6, np.inf)
    assert process_time() - began < 1.0
    assert cuts
    assert all(len(cut.edges) == 3 for cut in cuts)
