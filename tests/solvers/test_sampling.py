"""Samples at temperatures, compared with enumeration and with transfer matrices.

Each comparison of a mean is Student's test over 64 independent runs at the 10^-5 level. There are
fewer than 100 of them in this file, so fewer than 1 in 1000 correct samplers fails with a new seed.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.randomness import Seed
from glasshouse.solvers import sampling
from glasshouse.statistics.intervals import student_reach
from glasshouse.studies.glasses import lattice

CONFIDENCE = 1 - 1e-5
BETAS = (0.2, 0.5, 1.0)
RUNS = 64


def all_states(size: int) -> np.ndarray:
    return 1 - 2 * ((np.arange(1 << size)[:, None] >> np.arange(size)) & 1).astype(np.int8)


class Exact:
    """Mean energy, specific heat, ⟨q²⟩ at a temperature from the weights of layers of spins.

    The layers are those of a periodic lattice: `side` layers of `width` spins each, coupled to the
    next one. Matrices hold Boltzmann weights and their first two derivatives by β.
    """

    def __init__(self, problem, side: int, beta: float) -> None:
        self.side, self.width = side, problem.num_variables // side
        self.states = all_states(self.width).astype(float)
        self.beta, self.size = beta, problem.num_variables
        weight = np.zeros((self.size, self.size))
        for (i, j), value in zip(problem.edges, problem.weights, strict=True):
            weight[i, j] = weight[j, i] = value
        self.layers = []
        for layer in range(side):
            here = slice(layer * self.width, (layer + 1) * self.width)
            after = (layer + 1) % side
            there = slice(after * self.width, (after + 1) * self.width)
            inside = -0.5 * np.einsum("si,ij,sj->s", self.states, weight[here, here], self.states)
            between = -self.states @ weight[here, there] @ self.states.T
            energies = inside[:, None] + between
            self.layers.append((np.exp(-beta * energies), energies))

    def moments(self) -> tuple[float, float]:
        total = (np.eye(len(self.states)), 0.0, 0.0)
        for weights, energies in self.layers:
            first, second = weights * energies, weights * energies**2
            z, e, s = total
            total = (
                z @ weights,
                z @ first + e @ weights if np.ndim(e) else z @ first,
                z @ second + (2 * e @ first if np.ndim(e) else 0)
                + (s @ weights if np.ndim(s) else 0),
            )  # fmt: skip
        z, e, s = (float(np.trace(one)) for one in total)
        return e / z, s / z

    @property
    def energy(self) -> float:
        return self.moments()[0]

    @property
    def specific_heat(self) -> float:
        mean, square = self.moments()
        return self.beta**2 * (square - mean**2) / self.size

    @property
    def q2(self) -> float:
        """Mean of q²: the mean of all squared correlations."""
        around = [weights for weights, _ in self.layers]
        z = np.trace(self._product(around))
        total = 0.0
        for a, b in itertools.combinations_with_replacement(range(self.side), 2):
            between, rest = self._product(around[a:b]), self._product(around[b:] + around[:a])
            # trace(S_i between S_j rest) for all spins i of layer a and j of layer b
            joint = between * rest.T
            correlations = self.states.T @ joint @ self.states / z
            if a == b:
                joint = np.diag(np.diag(rest))
                correlations = self.states.T @ joint @ self.states / z
            total += (1 if a == b else 2) * float((correlations**2).sum())
        return total / self.size**2

    def _product(self, matrices):
        product = np.eye(len(self.states))
        for one in matrices:
            product = product @ one
        return product


def test_the_transfer_matrix_is_enumeration():
    problem = lattice(3, seed=Seed(4))
    states = all_states(9)
    energies = problem.energy(states).astype(float)
    weights = np.exp(-0.7 * energies)
    weights /= weights.sum()
    exact = Exact(problem, 3, 0.7)
    assert exact.energy == pytest.approx(weights @ energies)
    variance = weights @ energies**2 - (weights @ energies) ** 2
    assert exact.specific_heat == pytest.approx(0.49 * variance / 9)
    correlations = (states.T * weights) @ states.astype(float)
    assert exact.q2 == pytest.approx((correlations**2).mean())


def compare(problem, side: int, found) -> None:
    energies, heats = found.energy(CONFIDENCE), found.specific_heat(CONFIDENCE)
    for k, beta in enumerate(found.betas):
        exact = Exact(problem, side, beta)
        assert energies[k].low <= exact.energy <= energies[k].high
        assert heats[k].low <= exact.specific_heat <= heats[k].high
        squares = (found.overlaps[k] ** 2).mean(axis=(1, 2))
        reach = student_reach(RUNS - 1, CONFIDENCE) * squares.std(ddof=1) / math.sqrt(RUNS)
        assert abs(squares.mean() - exact.q2) <= reach


@pytest.mark.parametrize(
    ("side", "geometry"), [(4, "square"), (6, "square"), (3, "cubic")], ids=["2D-4", "2D-6", "3D-3"]
)
def test_energy_heat_and_overlap_are_exact(side, geometry):
    problem = lattice(side, geometry=geometry, seed=Seed(11))
    found = gh.sample(problem, BETAS, sweeps=2000, runs=RUNS, rng=side)
    assert found.equilibrated.all()
    compare(problem, side, found)


def test_normal_couplings_on_a_kernel_for_floats():
    problem = lattice(4, couplings="normal", seed=Seed(5))
    found = gh.sample(problem, BETAS, sweeps=1000, runs=RUNS, rng=1)
    compare(problem, 4, found)


def _matrix(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 1, shape)


PROBLEMS = {
    "three spins": gh.Polynomial.from_terms(4, [(0, 1, 2), (1, 2, 3), (0,)], [1, -1, 2]),
    "three bits": gh.Polynomial.from_terms(
        4, [(0, 1, 2), (1, 2, 3), (0,)], [1.5, -1, 2], units="binary"
    ),
    "three literals": gh.MaxSat(4, [[1, 2, 3], [-1, -2, 4], [2, -3, -4]], [1, 2, 3]),
    "two literals": gh.Max2Sat(4, [[1, 2], [-1, 3], [-3, -4], [2, 4]], [1, 2, 3, 1]),
    "bits": gh.Qubo.from_matrix(np.triu(_matrix(1, 5, 5))),
    "layers": gh.Rbm(_matrix(2, 3, 2), _matrix(3, 3), _matrix(4, 2)),
    "huge integers": gh.Ising.from_edges(3, [(0, 1), (1, 2)], [2**60, -(2**59)]),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_kind_of_problem_has_its_own_distribution(name):
    """Ancillas would change it: a polynomial must not be sampled as pairs."""
    problem, scale = PROBLEMS[name], 2.0**-60 if name == "huge integers" else 1.0
    states = all_states(problem.num_variables)
    if problem.space.low == 0:
        states = (1 + states) // 2
    energies = scale * np.asarray(problem.energy(states)).astype(float)
    betas = np.array([0.0, 0.3, 1.0])
    found = gh.sample(problem, scale * betas, sweeps=1000, runs=RUNS, rng=2)
    for beta, estimate in zip(betas, found.energy(CONFIDENCE), strict=True):
        weights = np.exp(-beta * energies)
        exact = weights @ energies / weights.sum()
        assert scale * estimate.low <= exact <= scale * estimate.high


def test_high_temperatures_mix():
    """At β = 0 Metropolis flips all spins in every sweep, so that it never mixes by itself."""
    problem = lattice(4, seed=Seed(1))
    found = gh.sample(problem, [0.0, 1e-300, 0.01, 0.5], sweeps=400, draws=20, runs=RUNS, rng=1)
    assert found.equilibrated.all()
    assert (found.autocorrelation[:3] < 2 * found.every).all()
    assert abs(found.states[0].mean(axis=(0, 1, 2))).max() < 0.05
    compare(problem, 4, found)


def test_the_distribution_of_overlaps_is_exact():
    problem = lattice(4, seed=Seed(7))
    beta = 0.6
    found = gh.sample(problem, beta, sweeps=4000, runs=RUNS, rng=3)
    weights = np.exp(-beta * problem.energy(all_states(16)).astype(float))
    weights /= weights.sum()
    spectrum = weights.copy()
    for bit in range(16):  # Walsh and Hadamard: overlaps are sums over pairs of states
        pairs = spectrum.reshape(-1, 2, 1 << bit)
        spectrum = np.stack([pairs.sum(axis=1), pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
    spectrum = spectrum**2
    for bit in range(16):
        pairs = spectrum.reshape(-1, 2, 1 << bit)
        spectrum = np.stack([pairs.sum(axis=1), pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
    differing = np.array([code.bit_count() for code in range(1 << 16)])
    exact = np.bincount(differing, spectrum / (1 << 16), 17)[::-1]
    assert exact.sum() == pytest.approx(1)
    for agreeing in range(17):
        hits = np.rint((found.overlaps[0] + 1) * 8) == agreeing
        shares = hits.mean(axis=(1, 2))
        reach = student_reach(RUNS - 1, CONFIDENCE) * shares.std(ddof=1) / math.sqrt(RUNS) + 1e-4
        assert abs(shares.mean() - exact[agreeing]) <= reach
    assert found.overlap_counts().sum() == found.overlaps.size


def test_a_summary_computes_each_statistic_once(monkeypatch):
    found = gh.sample(lattice(4, seed=Seed(1)), np.linspace(0.1, 1, 8), sweeps=40, runs=2, rng=1)
    calls, compute = [], sampling._autocorrelation
    monkeypatch.setattr(sampling, "_autocorrelation", lambda s: calls.append(1) or compute(s))
    assert [line.split()[0] for line in found.summary().splitlines()] == [
        f"{beta:.4g}" for beta in found.betas
    ]
    assert len(calls) == 2 * len(found.betas)  # of the energies and of q²
