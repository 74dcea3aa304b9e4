"""Rounds of growing effort."""

from __future__ import annotations

import time

import pytest

import glasshouse as gh
from glasshouse.solvers.doubling import iter_rounds

PLANT = gh.random_loops(20, 20, frustration="1/5", loop_density=0.4, rng=1)


@pytest.mark.parametrize("solve", [gh.anneal, gh.temper])
def test_rounds_double_and_depend_on_the_seed_alone(solve):
    def energies() -> list[list[int]]:
        rounds = iter_rounds(solve, PLANT, sweeps=100, runs=8, target=None, rng=3)
        return [result.energies.tolist() for result in rounds]

    assert energies() == energies()
    sweeps = [r.sweeps for r in iter_rounds(solve, PLANT, sweeps=100, runs=8, target=None, rng=3)]
    assert sweeps == [16, 32, 64, 100]


def test_they_end_at_the_target_and_at_the_time_limit():
    (*_, last) = iter_rounds(gh.anneal, PLANT, runs=8, rng=1)
    assert last.best_energy == PLANT.energy
    began = time.monotonic()
    assert list(iter_rounds(gh.anneal, PLANT, runs=8, rng=1, target=None, time_limit=0.3))
    assert 0.2 < time.monotonic() - began < 20


def test_bad_arguments():
    with pytest.raises(ValueError, match="sweeps"):
        next(iter_rounds(gh.anneal, PLANT, sweeps=0))
    with pytest.raises(ValueError, match="time_limit"):
        next(iter_rounds(gh.anneal, PLANT, time_limit=-1))
