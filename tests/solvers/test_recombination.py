"""Recombined states, held against all combinations of clusters."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest

import glasshouse as gh
from glasshouse.solvers.engines import make_ready
from glasshouse.solvers.methods import Cooler, Population
from glasshouse.solvers.spin_form import SpinForm

KEY = np.arange(1, 5, dtype=np.uint64)


def cooler_of(problem: gh.Ising) -> Cooler:
    return Cooler(make_ready(SpinForm(problem)), KEY, lambda: 0.0)


def sparse(seed: int, *, has_fields: bool, is_integer: bool) -> gh.Ising:
    rng = np.random.default_rng(seed)
    edges = np.array(nx.gnm_random_graph(24, 26, seed=seed).edges)
    draw = (lambda n: rng.integers(-3, 4, n)) if is_integer else (lambda n: rng.normal(size=n))
    return gh.Ising.from_edges(24, edges, draw(len(edges)), draw(24) if has_fields else None)


def combinations(problem: gh.Ising, state: np.ndarray, other: np.ndarray) -> list[np.ndarray]:
    """The state with each choice of the clusters in which the other one differs."""
    graph = nx.Graph(problem.edges[problem.weights != 0].tolist())
    graph.add_nodes_from(range(problem.num_variables))
    apart = graph.subgraph(np.flatnonzero(state != other).tolist())
    clusters = [list(one) for one in nx.connected_components(apart)]
    found = []
    for choice in product([False, True], repeat=len(clusters)):
        one = state.copy()
        for cluster, is_flipped in zip(clusters, choice, strict=True):
            one[cluster] *= -1 if is_flipped else 1
        found.append(one)
    return found


@pytest.mark.parametrize("has_fields", [False, True])
@pytest.mark.parametrize("is_integer", [False, True])
def test_the_best_combination_of_two_states_is_found(has_fields, is_integer):
    for seed in range(8):
        problem = sparse(seed, has_fields=has_fields, is_integer=is_integer)
        cooler = cooler_of(problem)
        spins = np.random.default_rng(seed).choice(np.array([-1, 1], np.int8), (2, 24))
        if not has_fields and np.count_nonzero(spins[0] != spins[1]) > 12:
            spins[1] *= -1
        order = cooler.engine.order
        rows = (spins[:, order] < 0).astype(np.uint8) * np.uint8(255)
        energies = np.atleast_1d(problem.energy(spins[:1])).astype(problem.weights.dtype)
        one = Population(rows[:1].copy(), energies)
        for _ in cooler.recombine(one, rows[1:]):
            pass
        best = min(problem.energy(each) for each in combinations(problem, *spins))
        state = np.ones(24, np.int8)
        state[order] = np.where(one.states[0], -1, 1)
        assert one.energies[0] == pytest.approx(problem.energy(state), abs=1e-9)
        if has_fields or np.count_nonzero(spins[0] != spins[1]) < 12:
            assert one.energies[0] == pytest.approx(best, abs=1e-9)


def test_a_state_and_its_mirror_image_have_nothing_to_exchange():
    problem = sparse(1, has_fields=False, is_integer=True)
    cooler = cooler_of(problem)
    rows = np.random.default_rng(1).choice(
        np.array([0, 255], np.uint8), (1, len(cooler.engine.order))
    )
    one = Population(rows.copy(), np.zeros(1, np.int64))
    for _ in cooler.recombine(one, ~rows):
        pass
    assert (one.states == rows).all()
    assert one.energies[0] == 0


def lattice(weights) -> gh.Ising:
    sites = np.arange(36).reshape(6, 6)
    edges = np.concatenate(
        [np.stack([sites, np.roll(sites, -1, axis)], -1).reshape(-1, 2) for axis in (0, 1)]
    )
    return gh.Ising.from_edges(36, edges, weights(len(edges)), weights(36))


RNG = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("weights", "kernel"),
    [
        (lambda n: RNG.choice([-1, 1], n), "byte lanes"),
        (lambda n: RNG.normal(size=n), "float32 lanes"),
        (lambda n: RNG.normal(size=n) * 10.0 ** RNG.integers(-12, 12, n), "float64 lanes"),
        (lambda n: RNG.integers(2**54, 2**55, n), "scalar"),
    ],
)
def test_annealing_starts_from_given_states(weights, kernel):
    problem = lattice(weights)
    cooler = cooler_of(problem)
    assert cooler.kernel == kernel
    lanes, order = cooler.engine.lanes, cooler.engine.order
    spins = RNG.choice(np.array([-1, 1], np.int8), (3 * lanes, 36))
    start = Population(
        (spins[:, order] < 0).astype(np.uint8) * np.uint8(255), problem.energy(spins)
    )
    finish(cooler.cool(cooler.hot, 1, lanes))
    cooler.block.lowest[:] = -(cooler.block.never + 1)
    cooler.engine.load(cooler.block, start.states[:lanes], start.energies[:lanes])
    loaded = cooler.seen_so_far()
    assert (loaded.states == start.states[:lanes]).all()
    assert loaded.energies == pytest.approx(start.energies[:lanes], rel=1e-6)
    found = finish(cooler.cool(cooler.last, 20, 3 * lanes, start))
    assert found.states.shape == start.states.shape
    spins[:, order] = np.where(found.states, -1, 1)
    assert found.energies == pytest.approx(problem.energy(spins), rel=1e-6)
    assert (found.energies <= start.energies).all()


def finish(steps):
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def test_dense_kernels_refuse_states():
    pairs = np.argwhere(np.triu(np.ones((60, 60)), 1))
    cooler = cooler_of(gh.Ising.from_edges(60, pairs, RNG.choice([-1, 1], len(pairs))))
    assert cooler.engine.spread is None
    with pytest.raises(ValueError, match="cannot start from given states"):
        cooler.engine.load(cooler.block, np.zeros((1, 60), np.uint8), 0)


@pytest.mark.parametrize("sweeps", [1, 2, 15, 16, 17, 200])
def test_every_sweep_has_its_temperature(sweeps):
    for problem in (
        lattice(lambda n: RNG.choice([-1, 1], n)),
        lattice(lambda n: RNG.normal(size=n)),
    ):
        cooler = cooler_of(problem)
        betas = cooler.schedule(cooler.hot, sweeps)
        assert len(betas) == sweeps
        assert (np.diff(betas) >= 0).all()
        assert betas[-1] == pytest.approx(cooler.last)
