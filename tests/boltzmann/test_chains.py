"""Gibbs chains sample the exact distribution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.boltzmann.machines import Everything, random_machine

from glasshouse.boltzmann.kernels.draws import fill_normal
from glasshouse.randomness import Seed

# Each chi-square test of chains that are right fails for one seed in a thousand.
FALSE_ALARM = 1e-3


@pytest.mark.parametrize(("n", "m"), [(3, 5), (5, 2)])
@pytest.mark.parametrize("units", ["spin", "binary"])
def test_chains_sample_the_exact_distribution(units: str, n: int, m: int) -> None:
    """Independent chains, one sample each: the counts are multinomial."""
    machine = random_machine(n, m, units, seed=n, sigma=0.4)
    truth, count = Everything(machine), 10_000
    samples = machine.sample(count, steps=40, rng=1)
    codes = (samples == 1) @ (1 << np.arange(n))
    states = (truth.visible_states == 1) @ (1 << np.arange(n))
    counts = np.bincount(codes, minlength=1 << n)[states]
    assert (truth.visible_chances * count).min() > 5  # so that chi-square is valid
    test = stats.chisquare(counts, truth.visible_chances * count)
    assert test.pvalue > FALSE_ALARM


def test_a_chain_that_has_not_moved_is_where_it_was() -> None:
    machine = random_machine(3, 2)
    start = [[1, -1, 1], [-1, -1, 1]]
    assert machine.sample(2, steps=0, start=start, rng=1).tolist() == start


def test_first_weights_are_normal() -> None:
    values = np.empty(50_000)
    fill_normal(Seed.of(3).streams(1)[0].copy(), 0.01, values)
    assert stats.kstest(values / 0.01, "norm").pvalue > FALSE_ALARM
