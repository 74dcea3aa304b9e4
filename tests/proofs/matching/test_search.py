"""Bounds and states of planar graphs and tori by matching, against brute force and the LP."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.interrupts import compiled_ctrl_c
from tests.proofs.instances import torus_edges
from tests.proofs.matching.surfaces import problem_of, random_planar, torus_lattice

import glasshouse as gh
from glasshouse.certificates import Proven, checker, verify
from glasshouse.files import write_if_better
from glasshouse.problems import Ising
from glasshouse.proofs import prove
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp import blocks
from glasshouse.proofs.lp.cuts import cycle_cuts
from glasshouse.proofs.lp.root import CycleLp
from glasshouse.proofs.matching.kernels import faces as face_kernels
from glasshouse.proofs.matching.packing import Packing
from glasshouse.proofs.matching.search import SurfaceSearch
from glasshouse.proofs.matching.surface import Surface
from glasshouse.proofs.signed_graph import SignedGraph
from glasshouse.solvers import brute_force

WEIGHTS = ("pm", "few", "normal")


@pytest.fixture(autouse=True)
def _small_graphs_are_matched(monkeypatch):
    monkeypatch.setattr(blocks, "_LEAST_TO_MATCH", 0)
    monkeypatch.setattr(blocks, "_LEAST_PER_VERTEX", 0.0)


def lattice(shape: tuple[int, ...], seed: int, weights: tuple[int, ...] = (-1, 1)) -> Ising:
    edges = torus_edges(shape)
    values = np.random.default_rng(seed).choice(weights, len(edges))
    return Ising.from_edges(int(np.prod(shape)), edges, values)


def search_of(graph: SignedGraph) -> SurfaceSearch:
    surface = Surface.of(graph)
    assert surface is not None
    return SurfaceSearch(surface, Budget())


def assert_packed(packing: Packing, graph: SignedGraph) -> None:
    """The cycles are simple and odd, and no edge is used above its weight."""
    for cut in cycle_cuts(packing.edges, packing.begins):
        cycle = cut.edges
        degrees = np.bincount(graph.edges[cycle].ravel())
        assert set(degrees[degrees > 0].tolist()) == {2}
        assert len(set(cycle.tolist())) == len(cycle)
        assert int((graph.weights[cycle] < 0).sum()) % 2 == 1
    assert (packing.widths > 0).all()
    most = np.abs(graph.weights) * packing.denominator
    assert (packing.load(graph.num_edges) <= most).all()


@pytest.mark.parametrize("group", range(21))
def test_small_planar_graphs_equal_brute_force(group):
    for seed in range(100 * group, 100 * group + 100):
        weights = WEIGHTS[seed % 3] if group < 20 else "huge"
        graph = random_planar(4 + seed % 8, seed, weights)
        search = search_of(graph)
        state = search.begin()
        assert_packed(search.packing, graph)
        best = brute_force(problem_of(graph)).energy
        assert graph.value(graph.cost(state)) == best
        assert search.packing.total == graph.cost(state)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_small_tori_equal_brute_force(weights):
    for seed in range(100):
        graph = torus_lattice("triangular", (4, 4), seed, weights)
        assert Surface.of(graph) is not None
        problem = problem_of(graph)
        proof = prove(problem)
        assert proof.optimal
        assert proof.energy == brute_force(problem).energy


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("size", [12, 60, 300])
def test_planar_graphs_are_proven_without_an_lp(size, weights):
    problem = problem_of(random_planar(size, size, weights))
    proof = prove(problem)
    assert proof.optimal
    assert proof.statistics.rounds <= 1
    assert proof.statistics.nodes == 0


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_stand_alone_checker_verifies_planar_graphs_and_tori(weights, tmp_path):
    for graph in (random_planar(40, 3, weights), torus_lattice("square", (8, 9), 1, weights)):
        problem, file = problem_of(graph), tmp_path / "glass.mc"
        gh.write(file, problem, overwrite=True)
        proven = Proven(problem, prove(problem).certificate)
        write_if_better(tmp_path / "glass.mc.cert", proven, overwrite=True)
        texts = [path.read_text() for path in (file, tmp_path / "glass.mc.cert")]
        value, bound = checker.check(*texts, is_graph=True)
        assert value == bound


@pytest.mark.parametrize("kind", ["square", "triangular", "hexagonal"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_cylinders_raise_the_bound_and_discs_improve_the_state(kind, weights):
    is_raised = is_improved = False
    for seed in range(12):
        graph = torus_lattice(kind, (8, 10), seed, weights)
        search = search_of(graph)
        states = [search.begin()]
        first, crossed = search.packing, search.crossed
        assert_packed(first, graph)
        assert first.total == search.surface.lengths[crossed].sum()
        best = min(states, key=graph.cost)
        for _ in range(8):
            states.append(search.on_cylinder(best))
            assert_packed(search.latest, graph)
            states.append(search.on_disc(best))
            assert graph.cost(states[-1]) <= graph.cost(best)
            best = min(states, key=graph.cost)
            assert search.packing.total <= graph.cost(best)
        is_raised |= search.packing.total > first.total
        is_improved |= graph.cost(best) < graph.cost(states[0])
    assert is_raised
    assert is_improved


@pytest.mark.parametrize("weights", ["pm", "normal"])
@pytest.mark.parametrize("kind", ["square", "triangular", "hexagonal"])
def test_tori_have_the_bounds_and_states_of_the_lp(kind, weights):
    for seed in range(4):
        graph = torus_lattice(kind, (10, 8), seed, weights)
        by_lp = CycleLp(graph, Fraction(graph.unit, 2), Budget()).solve()
        surface = Surface.of(graph)
        found = CycleLp(graph, Fraction(graph.unit, 2), Budget(), surface=surface).solve()
        assert found.cost == by_lp.cost
        assert found.packing.total <= found.cost
        if by_lp.cost - by_lp.packing.total < graph.unit:
            assert found.cost - found.packing.total < graph.unit


@pytest.mark.parametrize("shape", [(5, 5), (5, 7), (6, 6), (10, 10), (20, 17), (8, 100)])
@pytest.mark.parametrize("weights", [(-1, 1), (-3, 3), (1,), (-1, 1, 1, 1, 1), (-2, -1, 1, 3)])
def test_tori_are_proven(shape, weights):
    for seed in range(3):
        proof = prove(lattice(shape, seed, weights))
        assert proof.optimal


def test_ctrl_c_while_bounds_are_raised_leaves_the_bound_of_the_matching(monkeypatch):
    problem = lattice((12, 13), 3)

    def interrupted(*arguments):
        raise compiled_ctrl_c()

    monkeypatch.setattr(face_kernels, "loops", interrupted)
    proof = prove(problem)
    assert proof.statistics.stopped == "Ctrl-C"
    assert not proof.optimal
    assert verify(problem, proof.certificate).lower_bound == proof.lower_bound
    assert proof.lower_bound > -problem.num_edges
