"""Exhaustive search against enumeration in Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.oracles import optimum
from tests.strategies import isings, problems

import glasshouse as gh
from glasshouse.solvers.exhaustive import brute_force


@given(problems)
def test_all_ground_states(problem):
    energy, states = optimum(problem)
    found = brute_force(problem)
    assert found.energy == energy
    assert found.count == len(states)
    assert found.is_complete
    assert {tuple(map(int, state)) for state in found.states} == states


@given(isings())
def test_the_count_is_exact_whatever_is_kept(problem):
    found = brute_force(problem, keep=1)
    assert found.count == len(optimum(problem)[1])
    assert len(found.states) == 1
    assert problem.energy(found.states[0]) == found.energy


def test_parts_are_enumerated_apart():
    plant = gh.random_loops(60, 60, frustration="1/5", loops=12, rng=1)
    found = brute_force(plant)
    assert found.energy == plant.energy
    assert found.count == 2 ** (plant.summary().components)
    assert len(found.states) == 1024


def test_too_many_states_and_bad_arguments_are_refused():
    ring = gh.Ising.from_edges(40, [(i, (i + 1) % 40) for i in range(40)], [1] * 40)
    with pytest.raises(ValueError, match="40 spins, too many"):
        brute_force(ring)
    with pytest.raises(ValueError, match="keep=0"):
        brute_force(gh.Ising(1, [], [], [1]), keep=0)


def test_no_variables():
    found = brute_force(gh.Ising(0, [], [], [], offset=3))
    assert (found.energy, found.count, found.states.shape) == (3, 1, (1, 0))


def test_float_weights_do_not_drift():
    rng = np.random.default_rng(1)
    problem = gh.Ising.from_matrix(np.triu(rng.normal(size=(18, 18)), 1))
    energies = problem.energy(2 * ((np.arange(2**18)[:, None] >> np.arange(18)) & 1) - 1)
    found = brute_force(problem)
    assert found.energy == pytest.approx(energies.min(), rel=1e-12)
    assert found.count == 2


@pytest.mark.parametrize("weight", [-(2**62 + 1), 2**62, 2**63 - 1, -(2**63 - 1)])
def test_the_largest_weights_do_not_wrap_around(weight):
    bond = gh.Ising.from_edges(2, [(0, 1)], [weight])
    assert brute_force(bond).energy == -abs(weight)
    assert gh.low_energy_states(bond, 1).energies[0] == -abs(weight)
    field = gh.Ising(1, [], [], [weight])
    assert brute_force(field).energy == -abs(weight)


def test_many_calls_are_one_search(monkeypatch):
    monkeypatch.setattr("glasshouse.solvers.exhaustive._CHUNK", 7)
    plant = gh.random_loops(6, 6, frustration="1/4", loops=9, rng=3)
    found = brute_force(plant)
    assert found.energy == plant.energy
    assert found.count == gh.ground_state_count(plant.problem)
