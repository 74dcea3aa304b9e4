"""Cluster moves: the energy of a pair stays the same exactly, and so does every distribution."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from tests.solvers.lane_runs import lane_states, lane_task
from tests.solvers.test_boltzmann import PROBLEMS, chi_square_p, exact_probabilities

from glasshouse.problems import Ising
from glasshouse.solvers.kernels.lane_ladders import move_clusters


@numba.njit
def moved(chosen, even, turn, ladders, clusters):
    return move_clusters(1, chosen, even, turn, ladders, clusters)


def halves(ladders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Replicas that make moves together."""
    return ladders[: len(ladders) // 2], ladders[len(ladders) // 2 :]


def sparse(size: int, edges: int, rng: np.random.Generator, *, fields: bool) -> Ising:
    pairs = np.unique(np.sort(rng.integers(0, size, (edges, 2)), axis=1), axis=0)
    pairs = np.concatenate([pairs[pairs[:, 0] < pairs[:, 1]], [[size - 2, size - 1]]])
    pairs = np.unique(pairs, axis=0)
    own = rng.integers(-3, 4, size) if fields else None
    return Ising.from_edges(size, pairs, rng.choice([-4, -3, -1, 1, 3], len(pairs)), fields=own)


@pytest.mark.parametrize("fields", [False, True])
@pytest.mark.parametrize("temperatures", [3, 40])
def test_pairs_keep_their_energy_exactly(fields, temperatures):
    rng = np.random.default_rng(temperatures)
    for seed in range(5):
        problem = sparse(40, 60, rng, fields=fields)
        task = lane_task(problem, np.linspace(0.01, 0.5, temperatures), 4, 0, seed)
        task.clusters = lane_task(problem, task.betas, 4, 1, seed).clusters  # room for moves
        ladders, clusters = task.start(0)
        task.advance((ladders, clusters), 0, 4)
        before, states = ladders.energies.copy(), lane_states(task, problem, ladders)
        moved(task.chosen, task.even, 0, ladders, clusters)
        after, turned = ladders.energies, lane_states(task, problem, ladders)
        assert np.array_equal(before + problem.offset, problem.energy(states))
        assert np.array_equal(after + problem.offset, problem.energy(turned))
        first, second = halves(ladders.places)
        assert np.array_equal(before[first] + before[second], after[first] + after[second])
        assert np.array_equal(
            states[first] * states[second], turned[first] * turned[second]
        )  # a flip changes both
        assert (before != after).any()


def test_the_best_that_two_replicas_can_be_put_together_to_is_kept():
    """Two replicas with a bad island each: the state without either is found at once."""
    size = 30
    ring = [(i, (i + 1) % size) for i in range(size)]
    problem = Ising.from_edges(size, ring, np.ones(size, np.int64))
    task = lane_task(problem, [0.1, 0.2, 0.3], 1, 1, 1)
    ladders, clusters = task.start(0)
    task.advance((ladders, clusters), 0, 1)
    place = np.argsort(task.row.order)
    spins = ladders.spins.reshape(-1, 2, 64)
    spins[:-1, 0], spins[:-1, 1] = 0, 255
    for ladder, island in ((0, (3, 4)), (task.ladders // 2, (20, 21, 22))):
        for spin in island:
            spins[place[spin], :, ladders.places[ladder, 1]] = 255, 0
    states = lane_states(task, problem, ladders)
    ladders.energies[:] = problem.energy(states)
    ladders.block.lowest[:] = 0
    moved(np.array([False, True, False]), True, 0, ladders, clusters)
    assert ladders.block.lowest[0] == -size
    assert set(ladders.block.states) in ({0}, {255})


@pytest.mark.parametrize("every", [0, 1, 3])
@pytest.mark.parametrize(
    "name", ["ring of unequal weights", "ring of equal weights", "complete, one unit"]
)
def test_lanes_sample_their_boltzmann_distributions(name, every):
    """States at each temperature, and the energies of pairs, which must be independent.

    Seeds are fixed; with others one of these nine tests would fail about once in 1000 times.
    """
    problem = PROBLEMS[name]
    scale = float(np.abs(problem.weights).mean())
    betas = [0.07 / scale, 0.2 / scale, 0.5 / scale]
    task = lane_task(problem, betas, 30, every, seed=5)
    codes, energies = [], []
    for index in range(160):
        work = task.start(index)
        task.advance(work, 0, 30)
        states = lane_states(task, problem, work[0])[
            work[0].places
        ]  # (ladders, temperatures, spins)
        codes.append((states > 0) @ (1 << np.arange(5)[::-1]))
        energies.append(sum(halves(problem.energy(states.reshape(-1, 5)).reshape(-1, 3))))
    code, energy = np.concatenate(codes), np.concatenate(energies)
    assert len(code) == 3200
    for k, beta in enumerate(betas):
        levels, probabilities = exact_probabilities(problem, beta)
        counts = np.bincount(code[:, k], minlength=32)
        assert chi_square_p(counts, len(code) * probabilities) > 3e-5
        both = (levels[:, None] + levels).ravel()
        chances = np.outer(probabilities, probabilities).ravel()
        sums, where = np.unique(both, return_inverse=True)
        expected = np.bincount(where, chances)
        counts = (energy[:, k, None] == sums).sum(axis=0)
        assert counts.sum() == len(energy) == 1600
        assert chi_square_p(counts, len(energy) * expected) > 3e-5


def test_the_oracle_sees_clusters_of_agreeing_spins_where_there_are_fields():
    """Without fields either sort of clusters may be turned; with fields this would be wrong."""
    problem = PROBLEMS["ring of equal weights"]
    task = lane_task(problem, [0.07, 0.2, 0.5], 30, 1, seed=5)
    task.even = True
    work = task.start(0)
    task.advance(work, 0, 30)
    assert not np.array_equal(work[0].energies, problem.energy(lane_states(task, problem, work[0])))
