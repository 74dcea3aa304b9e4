"""Exhaustive search against enumeration in Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.oracles import optimum
from tests.strategies import isings, problems

import glasshouse as gh
from glasshouse.solvers.exhaustive import Enumeration, brute_force, small_cover


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
    pairs = [(i, j) for i in range(40) for j in range(i)]
    with pytest.raises(ValueError, match=r"40 spins, and at least 2\^38 states"):
        brute_force(gh.Ising.from_edges(40, pairs, [1] * len(pairs)))
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


@given(isings())
def test_every_coupling_has_an_end_in_the_cover(problem):
    cover = small_cover(problem)
    assert cover[problem.edges].any(axis=1).all()


@pytest.mark.parametrize("shape", [(64, 16), (16, 64), (784, 10)])
@pytest.mark.parametrize("kind", [int, float])
def test_of_an_rbm_only_the_smaller_layer_is_enumerated(shape, kind):
    rng = np.random.default_rng(1)
    parts = [rng.normal(0, 9, size).astype(kind) for size in (shape, shape[0], shape[1])]
    problem = gh.Rbm(*parts)
    assert Enumeration(problem).work <= (max(shape) + 1) << min(shape)
    found = brute_force(problem)
    # Once more, by the closed form of the larger layer in NumPy.
    weights, large, small = parts if shape[0] > shape[1] else (parts[0].T, parts[2], parts[1])
    states = 2 * ((np.arange(1 << len(small))[:, None] >> np.arange(len(small))) & 1) - 1
    energies = -states @ small - np.abs(states @ weights.T + large).sum(axis=1)
    assert found.energy == pytest.approx(energies.min(), rel=0 if kind is int else 1e-12)
    assert problem.energy(found.states[0]) == found.energy


@given(isings(min_spins=2))
def test_the_smaller_layer_of_doubled_spins_tells_the_same(problem):
    rbm, reduction = gh.to_rbm(problem)
    energy = optimum(problem)[0]
    found = brute_force(rbm)
    assert reduction.source_energy(found.energy) == pytest.approx(energy, rel=1e-9, abs=1e-9)


def test_free_spins_are_counted_and_listed_beyond_64():
    # A spin that is held, and 70 that another one leaves free by halves.
    edges = [(k, 70) for k in range(70)] + [(k, 71) for k in range(70)]
    problem = gh.Ising.from_edges(72, edges, [1] * 70 + [-1] * 70, fields=[0] * 70 + [1, 1])
    found = brute_force(problem, keep=5)
    states, energies = found.states, problem.energy(found.states)
    assert found.energy == -140
    assert found.count == 2
    weaker = gh.Ising.from_edges(72, edges, [1] * 70 + [-1] * 70, fields=[0] * 70 + [200, 200])
    found = brute_force(weaker, keep=5)
    assert (found.energy, found.count, len(found.states)) == (-400, 2**70, 5)
    assert (weaker.energy(found.states) == -400).all()
    assert len(np.unique(found.states, axis=0)) == 5
    assert len(states) == 2
    assert (energies == -140).all()


def test_a_star_of_the_largest_weights_does_not_wrap_around():
    leaf = (2**63 - 1) // 9
    for sign in (1, -1):
        star = gh.Ising.from_edges(5, [(k, 4) for k in range(4)], [sign * leaf] * 4, [leaf] * 5)
        assert brute_force(star).energy == optimum(star)[0]
