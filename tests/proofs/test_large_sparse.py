"""Proofs of large sparse graphs: clusters, mixed states, the step of costs, whole tori."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.proofs.instances import torus_edges

from glasshouse.problems import Ising
from glasshouse.proofs import prove, prover
from glasshouse.proofs.lp import root, rounds
from glasshouse.proofs.lp.separation import HOP, Separation
from glasshouse.proofs.matching.surface import Surface
from glasshouse.proofs.signed_graph import SignedGraph
from glasshouse.proofs.states import mean_violation, mix


def torus(length: int, rng: np.random.Generator, *, gaussian: bool) -> Ising:
    edges = torus_edges((length, length))
    size = len(edges)
    values = np.rint(1e5 * rng.normal(size=size)) if gaussian else rng.choice([-1, 1], size)
    return Ising.from_edges(length**2, edges, values.astype(np.int64))


def is_odd_cycle(graph: SignedGraph, cycle: np.ndarray) -> bool:
    degrees = np.bincount(graph.edges[cycle].ravel())
    return (
        len(set(cycle.tolist())) == len(cycle)
        and set(degrees[degrees > 0].tolist()) == {2}
        and int((graph.weights[cycle] < 0).sum()) % 2 == 1
    )


@pytest.mark.parametrize("seed", range(8))
def test_clusters_miss_no_violated_cycle(seed):
    rng = np.random.default_rng(seed)
    graph = SignedGraph.of(torus(8, rng, gaussian=False))
    separation = Separation(graph)
    # Mostly zeros, from many violated cycles to none.
    lengths = np.where(rng.random(graph.num_edges) < 0.5 + seed / 16, rng.random(), 0.0)
    plain = separation.short(lengths, 1 - 1e-6, HOP, 10**6)
    exact = separation.exact(lengths, 1 - 1e-6, 10**6, np.inf)
    assert bool(plain) == bool(exact)
    for cut in exact:
        assert is_odd_cycle(graph, cut.edges)
        assert lengths[cut.edges].sum() < 1 - 1e-6
    if plain:
        assert min(lengths[cut.edges].sum() for cut in exact) == pytest.approx(
            min(lengths[cut.edges].sum() for cut in plain)
        )


def test_mixing_never_makes_a_state_worse_than_its_partner():
    rng = np.random.default_rng(3)
    graph = SignedGraph.of(torus(10, rng, gaussian=True))
    for _ in range(20):
        states = rng.choice([-1, 1], (2, graph.num_vertices)).astype(np.int8)
        best = min(map(graph.cost, states))
        mix(graph, states, 4)
        assert min(map(graph.cost, states)) <= best


def test_a_mean_of_states_violates_no_cycle():
    rng = np.random.default_rng(4)
    graph = SignedGraph.of(torus(8, rng, gaussian=False))
    states = rng.choice([-1, 1], (5, graph.num_vertices)).astype(np.int8)
    centre = mean_violation(graph, states)
    assert not Separation(graph).exact(centre, 1 - 1e-6, 6, np.inf)


@pytest.mark.parametrize("seed", range(20))
def test_costs_differ_by_multiples_of_the_unit(seed):
    rng = np.random.default_rng(seed)
    edges = [pair for pair in itertools.combinations(range(6), 2) if rng.random() < 0.6]
    weights = rng.choice([-6, -4, -2, 2, 4, 6] if seed % 2 else [-3, -1, 1, 3], len(edges))
    graph = SignedGraph.of(Ising.from_edges(6, edges, weights))
    costs = {
        graph.cost(np.array([*s, 1], dtype=np.int8)) for s in itertools.product((-1, 1), repeat=6)
    }
    least = min(costs)
    assert all((cost - least) % graph.unit == 0 for cost in costs)


@pytest.mark.parametrize("gaussian", [False, True])
def test_a_torus_without_a_plant_is_proven(gaussian):
    proof = prove(torus(46, np.random.default_rng(5), gaussian=gaussian))
    assert proof.optimal


@pytest.mark.parametrize("seed", range(6))
def test_centred_rounds_prove_what_greedy_ones_prove(seed, monkeypatch):
    """Graphs of all sizes; as a rule, only large ones get centred rounds, and tori are matched."""
    monkeypatch.setattr(Surface, "of", lambda *arguments: None)
    rng = np.random.default_rng(seed)
    problem = torus(10 + seed, rng, gaussian=True)
    greedy = prove(problem)
    monkeypatch.setattr(prover.Prover, "exact_methods", lambda self: (None, None))
    monkeypatch.setattr(root, "LARGE", 0)
    methods: list[str] = []
    was_asked = rounds.CentredRounds.cuts

    def cuts(rounds, violation):
        methods.append("interior" if rounds.interior else "centred")
        return was_asked(rounds, violation)

    monkeypatch.setattr(rounds.CentredRounds, "cuts", cuts)
    centred = prove(problem)
    assert greedy.optimal
    assert centred.optimal
    assert centred.energy == greedy.energy
    assert "centred" in methods
