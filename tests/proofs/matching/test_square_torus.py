"""±J square lattices on a torus: matchings of odd faces, their moats, and states from discs."""

from __future__ import annotations

import itertools
import sys

import networkx as nx
import numpy as np
import pytest
from tests.interrupts import assert_heard, compiled_ctrl_c
from tests.proofs.instances import torus_edges

from glasshouse.certificates import verify
from glasshouse.problems import Ising
from glasshouse.proofs import prove
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp.cuts import cycle_cuts
from glasshouse.proofs.matching.kernels import faces as face_kernels
from glasshouse.proofs.matching.kernels import matching
from glasshouse.proofs.matching.square_torus import SquareTorus
from glasshouse.proofs.signed_graph import SignedGraph


def lattice(shape: tuple[int, ...], seed: int, weights: tuple[int, ...] = (-1, 1)) -> Ising:
    edges = torus_edges(shape)
    values = np.random.default_rng(seed).choice(weights, len(edges))
    return Ising.from_edges(int(np.prod(shape)), edges, values)


def core(problem: Ising) -> SignedGraph:
    """The graph without its ghost, which no field needs."""
    graph = SignedGraph.of(problem)
    return SignedGraph(graph.num_vertices - 1, graph.edges, graph.weights)


def distances(points: np.ndarray, side: int) -> np.ndarray:
    apart = np.abs(points[:, None] - points[None])
    return np.minimum(apart, side - apart).sum(-1)


@pytest.mark.parametrize("seed", range(60))
def test_a_matching_is_minimal_and_its_duals_prove_it(seed):
    rng = np.random.default_rng(seed)
    size, side = 2 * int(rng.integers(1, 16)), int(rng.integers(3, 25))
    weights = 2 * distances(rng.integers(0, side, (size, 2)), side).astype(np.int32)
    others = np.array([[j for j in range(size) if j != i] for i in range(size)], np.int32)
    rows = np.arange(size + 1) * (size - 1)
    listed = np.take_along_axis(weights, others.astype(np.int64), 1).ravel()
    is_done, forest = matching.match(rows, others.ravel(), listed, 10**6)
    mate = forest.mate
    assert is_done
    assert (mate[mate] == np.arange(size)).all()
    assert (mate != np.arange(size)).all()
    total = weights[np.arange(size), mate].sum() // 2
    graph = nx.Graph()
    for a, b in itertools.combinations(range(size), 2):
        graph.add_edge(a, b, weight=-int(weights[a, b]))
    best = nx.max_weight_matching(graph, maxcardinality=True)
    assert total == sum(weights[a, b] for a, b in best)
    assert forest.width.sum() == total
    assert (forest.width >= 0).all()


def test_a_matching_gives_up_where_points_are_too_far_apart():
    starts, others = np.array([0, 1, 2]), np.array([1, 0], np.int32)
    weights = np.array([20, 20], np.int32)
    assert not matching.match(starts, others, weights, 9)[0]
    assert matching.match(starts, others, weights, 10)[0]


@pytest.mark.parametrize("shape", [(5, 5), (6, 9), (12, 12), (31, 20)])
@pytest.mark.parametrize("seed", range(4))
def test_moats_are_odd_cycles_packed_as_tightly_as_can_be(shape, seed):
    graph = core(lattice(shape, seed))
    torus = SquareTorus.of(graph)
    assert torus is not None
    moats = torus.moats(Budget())
    load = np.zeros(graph.num_edges)
    for cut, dual in zip(cycle_cuts(moats.edges, moats.begins), moats.duals, strict=True):
        cycle = cut.edges
        degrees = np.bincount(graph.edges[cycle].ravel())
        assert set(degrees[degrees > 0].tolist()) == {2}
        assert len(set(cycle.tolist())) == len(cycle)
        assert int((graph.weights[cycle] < 0).sum()) % 2 == 1
        load[cycle] += dual
    assert load.max() <= 1.0
    assert moats.duals.sum() == moats.crossed.sum()
    # Each odd face has an odd number of crossed edges, and each other face an even one.
    assert (moats.crossed[torus.faces.edges].sum(axis=1) % 2 == torus.odd).all()


@pytest.mark.parametrize("seed", range(5))
def test_seams_leave_a_disc(seed):
    graph = core(lattice((7, 10), seed))
    torus = SquareTorus.of(graph)
    assert torus is not None
    seams = face_kernels.seams(torus.faces, tuple(graph.rows), graph.edges, 11 * seed)
    assert len(seams) == 2
    for seam in seams:
        degrees = np.bincount(graph.edges[seam].ravel())
        assert set(degrees[degrees > 0].tolist()) == {2}
    # Without the seams, the faces are connected, and χ = vertices - edges + faces of a disc is 1.
    cut = seams.any(axis=0)
    joined = nx.Graph(torus.faces.sides[~cut].tolist())
    assert nx.is_connected(joined)
    assert len(joined) == len(torus.faces.edges)
    on_seams = np.unique(graph.edges[cut])
    assert (graph.num_vertices - len(on_seams)) - int((~cut).sum()) + len(joined) == 1


def test_states_from_discs_become_better_and_reach_the_optimum():
    problem = lattice((8, 9), 3)
    graph = core(problem)
    torus = SquareTorus.of(graph)
    assert torus is not None
    state = np.ones(graph.num_vertices, dtype=np.int8)
    for _ in range(40):
        new = torus.improved(state, Budget())
        if graph.cost(new) <= graph.cost(state):
            state = new
    assert problem.energy(state) == prove(problem, loops_only=True).energy


@pytest.mark.parametrize(
    "problem",
    [
        lattice((4, 6), 0),  # more squares than faces
        lattice((5, 5, 5), 0),
        lattice((8, 8), 0, (-2, -1, 1, 2)),
        Ising.from_edges(5, list(itertools.combinations(range(5), 2)), [1, -1] * 5),  # no squares
    ],
)
def test_other_graphs_are_not_taken_for_tori(problem):
    assert SquareTorus.of(core(problem)) is None


@pytest.mark.parametrize("shape", [(5, 5), (5, 7), (6, 6), (10, 10), (20, 17), (8, 100)])
@pytest.mark.parametrize("weights", [(-1, 1), (-3, 3), (1,), (-1, 1, 1, 1, 1)])
def test_tori_are_proven(shape, weights):
    for seed in range(3):
        proof = prove(lattice(shape, seed, weights))
        assert proof.optimal


def test_a_torus_whose_paths_wind_the_wrong_way_needs_the_lp_and_no_tree():
    proofs = [prove(lattice((20, 20), seed)) for seed in range(12)]
    assert all(proof.optimal and proof.statistics.nodes == 0 for proof in proofs)
    assert {proof.statistics.rounds > 0 for proof in proofs} == {False, True}


MATCHING_WITH_CTRL_C = """
import os, signal, threading
import numpy as np
from glasshouse.proofs.matching.kernels import matching

def line(size):  # points in pairs, ever farther apart
    others = np.arange(size, dtype=np.int32) ^ 1
    return np.arange(size + 1), others, np.repeat(np.arange(size // 2, dtype=np.int32), 2) * 2

matching.match(*line(4), 100)
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        matching.match(*line(6000), 10**6)
except KeyboardInterrupt:
    print("heard")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_ctrl_c_within_a_matching_is_heard():
    """Compiled code must not return named tuples, because Ctrl-C would then crash the process."""
    assert_heard(MATCHING_WITH_CTRL_C)


def test_ctrl_c_while_cuts_are_made_leaves_the_bound_of_the_matching(monkeypatch):
    problem = lattice((12, 13), 3)

    def interrupted(*arguments):
        raise compiled_ctrl_c()

    monkeypatch.setattr(face_kernels, "seams", interrupted)
    proof = prove(problem)
    assert proof.statistics.stopped == "Ctrl-C"
    assert not proof.optimal
    assert verify(problem, proof.certificate).lower_bound == proof.lower_bound
    assert proof.lower_bound > -problem.num_edges
