"""Machines with real visible units, against sums over hidden states and integrals on a grid."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.boltzmann import GaussianMachine, train_gaussian


def machine_of(seed: int, n: int = 3, m: int = 4, scale: float = 0.6) -> GaussianMachine:
    rng = np.random.default_rng(seed)
    return GaussianMachine(*(rng.normal(0, scale, shape) for shape in ((n, m), n, m)))


def hidden_states(machine: GaussianMachine) -> np.ndarray:
    return np.array([*itertools.product([0.0, 1.0], repeat=machine.num_hidden)])


def chances_of_hidden(machine: GaussianMachine) -> np.ndarray:
    """Probabilities of hidden states: the Gaussian integral over v has a closed form."""
    states = hidden_states(machine)
    means = machine.visible_bias + states @ machine.weights.T
    logs = states @ machine.hidden_bias + (means**2 - machine.visible_bias**2).sum(1) / 2
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def test_log_weights_are_sums_over_hidden_states() -> None:
    machine, rows = machine_of(1), np.random.default_rng(2).normal(0, 2, (5, 3))
    for row, found in zip(rows, machine.log_weight(rows), strict=True):
        energies = [
            ((row - machine.visible_bias) ** 2).sum() / 2
            - row @ machine.weights @ h - h @ machine.hidden_bias
            for h in hidden_states(machine)
        ]  # fmt: skip
        assert found == pytest.approx(math.log(sum(math.exp(-one) for one in energies)))


def test_the_density_integrates_to_one() -> None:
    machine = machine_of(3, n=1, m=5)
    grid = np.linspace(-15, 15, 20_001)
    density = np.exp(machine.log_weight(grid[:, None]) - machine.log_partition)
    assert density.sum() * (grid[1] - grid[0]) == pytest.approx(1, abs=1e-9)


def test_importance_is_within_its_errors() -> None:
    """Twenty machines: more than two are beyond three errors with a probability of 2e-5."""
    errors = []
    for seed in range(20):
        machine = machine_of(seed)
        found = machine.importance(chains=100, temperatures=50, rng=seed)
        errors.append((found.value - machine.log_partition) / found.error)
    assert sum(abs(error) > 3 for error in errors) <= 2
    assert np.mean(np.square(errors)) > 0.2


def test_samples_have_the_exact_means() -> None:
    """Five standard errors of three means: a false alarm in 500,000 seeds."""
    machine, count = machine_of(5), 20_000
    states, chances = hidden_states(machine), chances_of_hidden(machine)
    means = machine.visible_bias + states @ machine.weights.T
    exact = chances @ means
    spread = np.sqrt(chances @ (means - exact) ** 2 + 1)
    found = machine.sample(count, steps=60, rng=1).mean(axis=0)
    assert (abs(found - exact) < 5 * spread / math.sqrt(count)).all()


def test_the_most_likely_hidden_state_is_a_proven_ground_state() -> None:
    machine = machine_of(6, n=8, m=7)
    problem = machine.to_instance()
    best = hidden_states(machine)[chances_of_hidden(machine).argmax()]
    proof = gh.prove(problem)
    assert proof.optimal
    assert problem.energy(best.astype(int)) == pytest.approx(proof.energy)


@pytest.mark.parametrize("gradient", ["cd", "pcd"])
def test_two_clusters_are_learnt(gradient: Any) -> None:
    """A machine of one hidden unit is a mixture of two Gaussians; these data are one."""
    rng = np.random.default_rng(1)
    signs = rng.choice([-1, 1], 1000)
    rows = 2.0 * signs[:, None] + rng.normal(0, 1, (1000, 2))
    squares = [((rows - shift) ** 2).sum(axis=1) / 2 for shift in (2, -2)]
    truth = float(np.logaddexp(*(-one for one in squares)).mean()) - math.log(4 * math.pi)
    machine = train_gaussian(rows, 1, epochs=100, gradient=gradient, learning_rate=0.05, rng=1)
    assert machine.log_likelihood(rows) == pytest.approx(truth, abs=0.05)
    start = train_gaussian(rows, 1, epochs=0, rng=1)
    assert start.log_likelihood(rows) < truth - 0.5
    again = train_gaussian(rows, 1, epochs=100, gradient=gradient, learning_rate=0.05, rng=1)
    assert np.array_equal(again.weights, machine.weights)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: GaussianMachine([1.0]), "one row per visible"),
    (lambda: GaussianMachine([[math.nan]]), "NaN or infinity"),
    (lambda: machine_of(1).log_weight([[1.0]]), "visible has 1 columns; expected 3, one per unit"),
    (lambda: machine_of(1).sample(2, start=[[0, 0, 0]]), r"start has shape \(1, 3\)"),
    (lambda: machine_of(1, m=21).log_partition, "use the method `importance`"),
    (lambda: machine_of(1).importance(chains=1), "chains=1 is below 2"),
    (lambda: train_gaussian([[1.0]], 1, gradient="exact"), "gradient='exact' is not one of"),  # type: ignore[arg-type]
    (lambda: train_gaussian([[1.0]], 0), "hidden=0 is below 1"),
    (lambda: train_gaussian([[1.0]], 1, learning_rate=-1), "learning_rate=-1"),
    (lambda: train_gaussian([1.0, 2.0], 1), "expected a non-empty table"),
    (lambda: train_gaussian([[9.0], [-9.0]] * 50, 2, learning_rate=1e6, rng=1), "scale the data"),
])  # fmt: skip
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
