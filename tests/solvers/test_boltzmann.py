"""One statistical oracle for every kernel: at fixed β it must sample the Boltzmann distribution.

Each run gives one state, after enough sweeps to forget the start; the runs are
independent. Seeds are fixed; a correct kernel would fail one of these tests with other seeds with a
probability of about 1 in 1000 a test.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.oracles import all_states
from tests.solvers.block_runs import MAKERS, final_states, make_engine

from glasshouse.problems import Ising

RING = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
LAYERS = [(i, j) for i in range(2) for j in range(2, 5)]
COMPLETE = [(i, j) for i in range(5) for j in range(i + 1, 5)]
PROBLEMS = {
    # The field is needed: flips that cost nothing are always accepted, and on this ring alone
    # sweeps in a fixed order then never mix four classes of states.
    "ring of equal weights": Ising.from_edges(5, RING, [1, 1, -1, 1, -1], fields=[1, 0, 0, 0, 0]),
    "ring of unequal weights": Ising.from_edges(5, RING, [4, -3, 4, 4, 3]),
    "fields and an isolated spin": Ising.from_edges(
        5, [(0, 1), (1, 3)], [2, -1], fields=[1, 0, 0, -3, 2]
    ),
    "complete, one unit": Ising.from_edges(5, COMPLETE, [1, -2, 1, 3, -1, 1, 2, 1, -1, 1]),
    "complete, no common unit": Ising.from_edges(
        5, COMPLETE, [101, -97, 89, 101, -101, 53, 97, 89, -53, 97], fields=[0, 53, 0, 0, 89]
    ),
    "two layers": Ising.from_edges(5, LAYERS, [3, -2, 1, 4, 1, -2], fields=[0, 1, 0, 0, -2]),
    "two layers of floats": Ising.from_edges(
        5, LAYERS, np.linspace(-1.3, 1.7, 6), fields=[0.1, 0, 0, -0.3, 0.7]
    ),
    "floats": Ising.from_edges(5, COMPLETE, np.linspace(-1.3, 1.7, 10), fields=[0.1, 0, 0, 0, 0.7]),
}
RUNS, SWEEPS = 6400, 40


def exact_probabilities(problem: Ising, beta: float) -> tuple[np.ndarray, np.ndarray]:
    energies = problem.energy(all_states(problem.num_variables, -1)).astype(float)
    weights = np.exp(-beta * (energies - energies.min()))
    return energies, weights / weights.sum()


@pytest.mark.parametrize("temperature", ["hot", "cold"])
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("kernel", MAKERS)
def test_fixed_beta_gives_the_boltzmann_distribution(kernel, name, temperature):
    problem = PROBLEMS[name]
    made = make_engine(kernel, problem)
    if made is None:
        pytest.skip(f"the {kernel} kernel does not take this problem")
    scale = float(np.abs(problem.weights).mean())
    beta = (0.15 if temperature == "hot" else 0.4) / scale
    states = final_states(made, problem, np.full(SWEEPS, beta), RUNS, seed=7)
    kept = np.zeros(problem.num_variables, bool)
    kept[made.order] = True  # isolated spins do not move
    codes = (states[:, kept] > 0) @ (1 << np.arange(kept.sum())[::-1])
    energies, probabilities = exact_probabilities(problem, beta)
    expected = np.zeros(2 ** kept.sum())
    full = all_states(problem.num_variables, -1)
    np.add.at(expected, (full[:, kept] > 0) @ (1 << np.arange(kept.sum())[::-1]), probabilities)
    counts = np.bincount(codes, minlength=len(expected))
    assert chi_square_p(counts, RUNS * expected) > 1e-4
    assert ks_p(problem.energy(states), energies, probabilities) > 1e-4


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("kernel", MAKERS)
def test_three_sweeps_give_the_distribution_of_the_transition_matrices(kernel, name):
    """Stricter than equilibrium: the process itself, sweep order included, out of equilibrium."""
    problem = PROBLEMS[name]
    made = make_engine(kernel, problem)
    if made is None:
        pytest.skip(f"the {kernel} kernel does not take this problem")
    betas = np.array([0.1, 0.3, 0.7]) / float(np.abs(problem.weights).mean())
    states = final_states(made, problem, betas, RUNS, seed=8)
    states[:, np.setdiff1d(np.arange(5), made.order)] = 1
    expected = np.full(32, 1 / 32)
    for beta in betas:
        for spin in made.order:
            expected = expected @ flip_matrix(problem, spin, beta)
    for spin in np.setdiff1d(np.arange(5), made.order):  # isolated spins are put back as up
        up = all_states(5, -1)[:, spin] > 0
        expected[up] += expected[~up][:]
        expected[~up] = 0
    counts = np.bincount((states > 0) @ (1 << np.arange(5)[::-1]), minlength=32)
    assert chi_square_p(counts, RUNS * expected) > 1e-4


def flip_matrix(problem: Ising, spin: int, beta: float) -> np.ndarray:
    """Probabilities of going from state to state when one spin is proposed."""
    states = all_states(problem.num_variables, -1)
    energies = problem.energy(states).astype(float)
    flipped = np.arange(len(states)) ^ (1 << (problem.num_variables - 1 - spin))
    accepted = np.minimum(1, np.exp(-beta * (energies[flipped] - energies)))
    matrix = np.diag(1 - accepted)
    matrix[np.arange(len(states)), flipped] += accepted
    return matrix


def chi_square_p(counts: np.ndarray, expected: np.ndarray) -> float:
    """P-value; states expected less than ten times are counted together."""
    rare = expected < 10
    counts = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] == 0:
        assert counts[-1] == 0
        counts, expected = counts[:-1], expected[:-1]
    return stats.chisquare(counts, expected).pvalue


def ks_p(sample: np.ndarray, energies: np.ndarray, probabilities: np.ndarray) -> float:
    """Kolmogorov–Smirnov, conservative for a discrete distribution."""
    levels = np.unique(energies)
    exact = np.array([probabilities[energies <= e + 1e-9].sum() for e in levels])
    seen = np.array([(sample <= e + 1e-9).mean() for e in levels])
    return float(stats.kstwo.sf(np.abs(exact - seen).max(), len(sample)))


def test_the_oracle_sees_a_wrong_temperature():
    problem = PROBLEMS["ring of unequal weights"]
    made = make_engine("scalar", problem)
    states = final_states(made, problem, np.full(SWEEPS, 0.18), RUNS, seed=7)
    codes = (states > 0) @ (1 << np.arange(5)[::-1])
    _, probabilities = exact_probabilities(problem, 0.21)
    assert chi_square_p(np.bincount(codes, minlength=32), RUNS * probabilities) < 1e-4
