"""Annealed importance sampling, against exact sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.boltzmann.machines import Everything, random_machine

from glasshouse.boltzmann import (
    BoltzmannMachine,
    annealed_importance,
    reverse_importance,
    shifting_bars,
    train,
)
from glasshouse.boltzmann.importance import log_mean

# Of a normal error 0.27 % are beyond three sigma: of 50 models 0.135. More than two are beyond with
# a probability of 4e-4, more than none with one of 0.13. So many may be.
MOST_BEYOND = 2


def test_fifty_small_models_are_within_three_errors() -> None:
    errors = []
    for seed in range(50):
        units = ("spin", "binary")[seed % 2]
        n, m = 4 + seed % 7, 3 + seed % 5
        machine = random_machine(n, m, units, seed=seed, sigma=(0.3, 0.6, 1.0)[seed % 3])
        found = annealed_importance(machine, chains=100, temperatures=200, rng=seed)
        assert found.effective_chains > 10
        errors.append((found.value - machine.log_partition) / found.error)
    beyond = sum(abs(error) > 3 for error in errors)
    assert beyond <= MOST_BEYOND
    # Errors that are stated too large would hide anything: their square is 1 in the mean,
    # with a standard deviation of 0.2 over 50 models.
    assert 0.4 < np.mean(np.square(errors)) < 2


@pytest.mark.parametrize("units", ["spin", "binary"])
def test_reverse_chains_from_exact_samples_are_within_three_errors(units: str) -> None:
    """Twenty-five models: more than two are beyond three errors with a probability of 5e-5."""
    errors = []
    for seed in range(25):
        machine = random_machine(4 + seed % 7, 3 + seed % 5, units, seed=seed, sigma=0.8)
        truth = Everything(machine)
        drawn = np.random.default_rng(seed).choice(
            len(truth.visible_states), 100, p=truth.visible_chances
        )
        start = truth.visible_states[drawn]
        found = reverse_importance(machine, start, temperatures=100, rng=seed)
        errors.append((found.value - machine.log_partition) / found.error)
    assert sum(abs(error) > 3 for error in errors) <= 2
    assert 0.3 < np.mean(np.square(errors)) < 2.4


def test_hasty_chains_of_both_directions_bracket_the_truth() -> None:
    """Chains of one step have a bias; means over 200 estimates show it beyond three errors."""
    machine = random_machine(6, 5, seed=3, sigma=1.0)
    truth, rng = Everything(machine), np.random.default_rng(1)
    found = []
    for seed in range(200):
        drawn = rng.choice(len(truth.visible_states), 5, p=truth.visible_chances)
        start = truth.visible_states[drawn]
        below = annealed_importance(machine, chains=5, temperatures=1, rng=seed)
        above = reverse_importance(machine, start, temperatures=1, rng=seed)
        found.append((below.value, above.value))
        assert (below.chains, above.chains, above.temperatures) == (5, 5, 1)
    (low, high), spread = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(200)
    assert low + 3 * spread[0] < machine.log_partition < high - 3 * spread[1]


def test_a_trained_model_is_within_its_interval() -> None:
    """The base machine is fitted to the data; many modes make it hard without temperatures."""
    data = shifting_bars()
    machine = train(data, 12, units="binary", reduction="sum", monitors=(), rng=3).machine
    found = annealed_importance(machine, data=data, chains=200, rng=1)
    assert found.low < machine.log_partition < found.high
    assert found.high - found.low == pytest.approx(2 * 1.959964 * found.error)
    hasty = annealed_importance(machine, data=data, chains=200, temperatures=5, rng=1)
    assert hasty.error > 3 * found.error


def test_machines_without_weights_are_exact() -> None:
    """All chains of independent units have the same weight if they start with their biases."""
    for units in ("spin", "binary"):
        machine = BoltzmannMachine(np.zeros((3, 4)), [1.0, -2.0, 0.5], None, units)  # type: ignore[arg-type]
        found = annealed_importance(machine, chains=5, temperatures=3, rng=1)
        assert found.value == pytest.approx(machine.log_partition, rel=1e-13)
        assert found.error < 1e-12
        assert found.effective_chains == pytest.approx(5)
        assert found.summary().endswith(", 5 effective chains of 5")


def test_a_chain_does_not_depend_on_how_many_there_are() -> None:
    machine = random_machine(5, 4, seed=1)
    two = annealed_importance(machine, chains=2, temperatures=10, rng=4)
    assert annealed_importance(machine, chains=2, temperatures=10, rng=4) == two
    assert annealed_importance(machine, chains=2, temperatures=10, rng=5) != two


def test_the_error_of_a_logarithm_of_a_mean() -> None:
    """Against its spread over many draws, where that is small; without limit, where one rules."""
    rng = np.random.default_rng(1)
    draws = [log_mean(rng.normal(5, 0.5, 100)) for _ in range(2000)]
    values, errors = np.array(draws).T[:2]
    truth = 5 + 0.5**2 / 2
    assert values.mean() == pytest.approx(truth, abs=0.01)
    assert np.sqrt(np.square(values - truth).mean()) == pytest.approx(errors.mean(), rel=0.1)
    value, error, effective = log_mean(np.array([0.0, 0.0, 800.0]))
    assert value == pytest.approx(800 - math.log(3))
    assert error > 500
    assert effective == 1


def test_bad_input() -> None:
    machine = random_machine(3, 2)
    with pytest.raises(ValueError, match="chains=1 is below 2"):
        annealed_importance(machine, chains=1)
    with pytest.raises(ValueError, match="temperatures=0 is below 1"):
        annealed_importance(machine, temperatures=0)
    with pytest.raises(ValueError, match="confidence=1 must be above 0 and below 1"):
        annealed_importance(machine, confidence=1)
    with pytest.raises(ValueError, match="start has 1 rows"):
        reverse_importance(machine, [[1, 1, -1]])
    with pytest.raises(ValueError, match="start has 2 columns"):
        reverse_importance(machine, [[1, 1]])
    with pytest.raises(ValueError, match="data has 2 columns; expected 3, one per unit"):
        annealed_importance(machine, data=[[1, 1]])
