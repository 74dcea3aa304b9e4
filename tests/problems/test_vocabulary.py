"""One set of names in all problems, and plants wherever a problem is taken."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given
from tests import strategies as some
from tests.oracles import energies_of, states_of

import glasshouse as gh
from glasshouse.problems import Ising, Max2Sat, Qubo, Rbm
from glasshouse.problems.convert import to_ising

ANY = some.isings(max_spins=5) | some.rbms() | some.qubos() | some.max2sats()


@given(ANY)
def test_every_problem_answers_to_the_same_names(problem):
    size = problem.num_variables
    assert problem.space.size == size == states_of(problem).shape[1]
    edges = problem.edges
    assert edges.shape == (problem.num_edges, 2)
    assert edges.dtype == np.int32
    assert (edges[:, 0] < edges[:, 1]).all()
    assert (edges < size).all()
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert problem.weights.ndim == 1
    assert np.array_equal(problem.energy(states_of(problem)), energies_of(problem))
    if not isinstance(problem, Max2Sat):
        assert len(problem.weights) == problem.num_edges


@given(some.rbms())
def test_an_rbm_lists_its_couplings_as_its_ising_form_does(problem):
    ising = to_ising(problem)[0]
    assert np.array_equal(problem.edges, ising.edges)
    assert np.array_equal(problem.weights, ising.weights)
    assert np.array_equal(problem.fields, ising.fields)


def test_the_old_names_are_gone():
    for kind in (Ising, Max2Sat, Qubo, Rbm):
        assert not {"num_spins", "num_pairs"} & set(dir(kind))


@pytest.fixture(scope="module")
def plant() -> gh.Planted:
    return gh.random_loops(4, 4, frustration="1/5", loops=3, rng=1)


def assert_same(mine: object, theirs: object) -> None:
    """Equal, part by part; only clocks and functions may differ."""
    assert type(mine) is type(theirs)
    if isinstance(mine, tuple):
        for one, other in zip(mine, theirs, strict=True):
            assert_same(one, other)
    elif isinstance(mine, np.ndarray):
        assert np.array_equal(mine, theirs)
    elif is_dataclass(mine):
        for field in fields(mine):
            if field.name not in ("seconds", "statistics"):
                assert_same(getattr(mine, field.name), getattr(theirs, field.name))
    elif not callable(mine):
        assert mine == theirs


@pytest.mark.parametrize(
    "function",
    [
        gh.to_ising, gh.to_qubo, gh.to_max2sat, gh.to_rbm, gh.to_maxcut, gh.overview, gh.components,
        gh.free_spins, gh.local_minima, gh.ground_state_count, gh.low_energy_states, gh.anneal,
        gh.temper, gh.brute_force, gh.prove,
    ],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_a_plant_is_taken_wherever_a_problem_is(function, plant):
    seed = {"rng": 1} if "rng" in inspect.signature(function).parameters else {}
    target = {"target": None} if "runs" in inspect.signature(function).parameters else {}
    mine, theirs = function(plant, **seed, **target), function(plant.problem, **seed)
    assert_same(mine, theirs)


@pytest.mark.parametrize(
    "function",
    [gh.frustration_index, gh.gauge, gh.local_fields, gh.is_local_minimum, gh.descend],
    ids=lambda function: function.__name__,
)
def test_a_plant_and_a_state(function, plant):
    state = -plant.state
    assert_same(function(plant, state), function(plant.problem, state))


def test_plants_in_metrics_and_certificates(plant):
    other = -plant.state
    assert gh.distance(plant, plant.state, other) == 0
    assert not gh.switching_subset(plant, plant.state, other).any()
    assert gh.verify(plant, plant.certificate).optimal


def test_the_plant_is_the_target(plant):
    result = gh.anneal(plant, runs=16, rng=1)
    assert result.target == plant.energy
    assert result.success_probability > 0
    assert gh.anneal(plant, runs=16, target=None, rng=1).target is None
    assert gh.anneal(plant.problem, runs=16, rng=1).target is None
    assert gh.temper(plant, runs=4, rng=1).target == plant.energy
    with pytest.raises(ValueError, match="must be an energy"):
        gh.anneal(plant, target="best")
