"""Noise margins: no noise within the margin makes another state better, by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.oracles import all_states

import glasshouse as gh
from glasshouse.problems import Ising
from glasshouse.proofs.margin import noise_margin

_PERTURBATIONS = 10_000


def planted(seed, large=False):
    """A plant of up to 12 spins, or of up to 20 spins."""
    rng = np.random.default_rng(seed)
    graphs = ["torus:3x3", "lattice:3x4", "complete:6", "chimera:1x1x4", "chimera:1x1x4 without 3",
              "zephyr:1x1", "layers:2x3x3"]  # fmt: skip
    if large:
        graphs = ["torus:4x4", "lattice:3x6", "chimera:1x2x4", "lattice:4x5"]
    graph = str(rng.choice(graphs))
    f = str(rng.choice(["1/13", "1/10", "1/7", "2/11", "1/5"]))
    loops = int(rng.integers(2, 9))
    match seed % 4:
        case 0:
            return gh.classic_loops(graph, frustration=f, length=4, loops=loops, rng=seed)
        case 1:
            size = 8 if large else 5
            return gh.bias_loops(size, size, frustration=f, loops=loops, rng=seed)
        case _:
            return gh.graph_loops(graph, frustration=f, length=4, loops=loops, rng=seed)


def flips(problem, state):
    """For all states, the couplings and fields that they violate and the state does not, or vice
    versa: +1 and -1, in units of half the energy.
    """
    others = all_states(problem.num_variables, -1)
    pairs = problem.edges
    there = np.flatnonzero(problem.fields)
    terms = np.concatenate([others[:, pairs[:, 0]] * others[:, pairs[:, 1]], others[:, there]], 1)
    mine = np.concatenate([state[pairs[:, 0]] * state[pairs[:, 1]], state[there]])
    weights = np.concatenate([problem.weights, problem.fields[there]])
    return np.unique(((mine - terms) // 2).astype(np.int8), axis=0), weights


def true_margin(changes, weights):
    """The least cost of a set of flips over the number of couplings that it changes."""
    numbers = np.abs(changes.astype(np.int64)).sum(axis=1)
    costs = changes.astype(np.int64) @ weights
    changed = numbers > 0
    return min(Fraction(int(c), int(n)) for c, n in zip(costs[changed], numbers[changed],
                                                        strict=True))  # fmt: skip


def assert_safe(plant, seed):
    """Return the margin and the true one; noise within the first must do no harm."""
    found, problem = noise_margin(plant), plant.ising
    changes, weights = flips(problem, plant.state.astype(np.int64))
    true = true_margin(changes, weights)
    assert 0 <= found.margin <= true
    rng, table = np.random.default_rng(seed), changes.astype(np.float64)
    slacks = np.array([float(slack) for slack in found.slacks.values()])
    for first in range(0, _PERTURBATIONS, 1000):
        noise = rng.uniform(-1, 1, (len(weights), 1000))
        noise[:, : 1000 // 2] = np.sign(noise[:, : 1000 // 2])  # the corners are the worst
        # Slacks come edge by edge, fields last, as `flips` has them only for problems without
        # fields; the uniform margin needs no order.
        size = slacks[:, None] if first % 2000 and not problem.fields.any() else float(found.margin)
        costs = table @ (weights[:, None] + size * noise)
        assert costs.min() > -1e-9
    return found.margin, true


def test_noise_within_the_margin_is_harmless():
    for seed in range(12):
        assert_safe(planted(seed), seed)


@pytest.mark.slow
def test_noise_within_the_margins_of_200_plants_is_harmless(capsys):
    found = [assert_safe(planted(seed), seed) for seed in range(200)]
    sure = [(mine, true) for mine, true in found if true > 0]
    ratios = sorted(float(mine / true) for mine, true in sure)
    assert len(sure) > 100
    assert all(mine == 0 for mine, true in found if true == 0)
    middle = ratios[len(ratios) // 2]
    with capsys.disabled():
        print(f"\n{len(sure)} of 200 plants have a true margin above 0; stated over true: least "
              f"{ratios[0]:.2f}, median {middle:.2f}, "
              f"{sum(r == 1 for r in ratios)} exact")  # fmt: skip
    assert middle > 0.5


@pytest.mark.slow
def test_noise_within_the_margin_is_harmless_on_twenty_spins():
    for seed in range(8):
        assert_safe(planted(seed, large=True), seed)


def test_slack_is_named_by_the_labels_of_the_couplings():
    problem = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [3, 3, -1], labels=["a", "b", "c"])
    margin = noise_margin(gh.prove(problem))
    assert set(margin.slacks) == {("a", "b"), ("b", "c"), ("a", "c")}
    assert margin.margin == 1
    assert math.isclose(margin.relative, 1 / 3)
    assert "at most 1, 33.33% of the largest" in margin.summary()


def test_a_margin_needs_loops_and_a_proof():
    assert noise_margin(gh.wishart(8, alpha="1/2", rng=1)).margin == 0
    clauses = gh.to_max2sat(gh.random_loops(3, 3, frustration="1/5", loops=2, rng=1))[0]
    with pytest.raises(ValueError, match="convert it with to_ising"):
        noise_margin(gh.prove(clauses))
    ring = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [5, 4, -2])
    unproven = gh.Proven(ring, gh.Certificate([1, 1, 1], [], [0], []))
    with pytest.raises(ValueError, match="must be proven optimal"):
        noise_margin(unproven)
    with pytest.raises(ValueError, match="plant, Proof or Proven"):
        noise_margin(ring)
