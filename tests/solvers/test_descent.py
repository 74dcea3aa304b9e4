"""Descent ends in local minima, at or below where it began."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.oracles import energies_of, states_of
from tests.strategies import problems

import glasshouse as gh
from glasshouse.problems import Max2Sat
from glasshouse.solvers.descent import descend


@given(problems)
def test_every_state_comes_down_to_a_local_minimum(problem):
    states, before = states_of(problem), energies_of(problem)
    found = descend(problem, states)
    assert (found.energies <= before).all()
    energy = problem.cost if isinstance(problem, Max2Sat) else problem.energy
    assert (energy(found.states) == found.energies).all()
    assert all(gh.is_local_minimum(problem, state) for state in found.states[:40])
    still = found.flips == 0
    assert (found.states[still] == states[still]).all()
    assert (found.energies[~still] < before[~still]).all()


def test_the_steepest_way_is_taken():
    # Flipping spin 1 gains 8, spin 0 only 2.
    problem = gh.Ising(2, [], [], [1, 4])
    assert descend(problem, [-1, -1]).flips.tolist() == [2]
    pair = gh.Ising.from_edges(2, [(0, 1)], [5], fields=[1, 4])
    assert descend(pair, [1, -1]).states.tolist() == [[1, 1]]


def test_what_is_no_state_is_refused():
    problem = gh.Ising(2, [], [], [1, 4])
    for bad in ([0, 1], [1], [[1, 1, 1]], np.ones((0, 2)), 3):
        with pytest.raises(ValueError, match="state"):
            descend(problem, bad)


def test_no_variables():
    found = descend(gh.Ising(0, [], [], []), np.zeros((1, 0)))
    assert found.states.shape == (1, 0)
