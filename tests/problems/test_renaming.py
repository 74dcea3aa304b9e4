"""Renamed variables: every state keeps its energy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import isings, max2sats, qubos, rbms

from glasshouse.problems.renaming import renamed


@given(
    st.one_of(isings(), qubos(), max2sats(), rbms()),
    st.randoms(use_true_random=False),
)
def test_every_state_keeps_its_energy_and_finds_back(problem, random):
    size = problem.num_variables
    names = np.array(random.sample(range(size), size), dtype=np.int64)
    new, reduction = renamed(problem, names)
    state = problem.space.from_bits(np.array([random.randint(0, 1) for _ in range(size)]))
    moved = reduction.forward(state)
    assert new.energy(moved) == pytest.approx(problem.energy(state), rel=1e-12)
    assert np.array_equal(reduction.back(moved), state)
    assert all(moved[names[k]] == state[k] for k in range(size))
