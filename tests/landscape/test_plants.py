"""Statements of the paper and its errata about planted instances, tested by the landscape."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.landscape import (
    components,
    distance,
    ground_state_count,
    is_local_minimum,
    local_minima,
    low_energy_states,
    metastable_state,
)
from glasshouse.planting import block_size
from glasshouse.planting.methods import random_loops, structured_loops


@given(st.integers(0, 2**32), st.fractions(0, Fraction(6, 25), max_denominator=25))
def test_errata_below_the_maximum_only_components_flip(seed, f):
    plant = random_loops(6, 5, frustration=f, loops=6, rng=seed)
    parts = int(components(plant.problem).max()) + 1
    assert ground_state_count(plant.problem) == 2**parts
    assert ground_state_count(plant.problem, unique_up_to_flips=True) == 2**parts
    assert is_local_minimum(plant.problem, plant.state)
    found = low_energy_states(plant.problem, 2)
    assert found.energies[0] == plant.energy
    assert found.copies == 2**parts


def test_errata_at_the_maximum_there_may_be_more():
    plant = random_loops(4, 4, frustration="1/4", loops=1, rng=1)
    assert ground_state_count(plant.problem) == 8 * 2**4  # one loop and four free spins
    assert ground_state_count(plant.problem, unique_up_to_flips=True) == 2**5


@pytest.mark.parametrize("f", ["0.2", "0.24", "1/4"])
def test_errata_the_metastable_state_of_centre_loops_drains(f):
    n, m, loops = 12, 10, 120
    plant = structured_loops(n, m, frustration=f, block="1/3", loops=loops, rng=3)
    rows, columns = block_size(n, m, "1/3")
    found = metastable_state(plant.problem, plant.state, block=(rows, columns))
    alpha = 3 * Fraction(f) / (1 - Fraction(f))
    assert found.gap == 2 * (1 - alpha) * loops * plant.loop_weight
    assert found.is_local_minimum
    assert not found.margins[rows:n].any()
    assert not found.margins[n + columns :].any()
    share = Fraction(rows * columns + (n - rows) * (m - columns), n * m)
    assert found.distance == distance(plant.problem, plant.state, found.state) == share


def test_side_loops_hold_the_metastable_state():
    plant = structured_loops(
        12, 12, frustration="0.24", block="1/2", left="1/6", upper="1/6", loops=600, rng=1
    )
    found = metastable_state(plant.problem, plant.state, block=block_size(12, 12, "1/2"))
    assert found.is_local_minimum
    assert found.margins.min() > 0


def test_structure_makes_traps_where_random_loops_do_not():
    """Dense instances at f = 0.23: the paper's reason for Algorithm 2."""
    options = {"frustration": "0.23", "loop_density": 40}
    random = [local_minima(random_loops(8, 8, **options, rng=k).problem).traps for k in range(8)]
    structured = [
        local_minima(structured_loops(8, 8, **options, block="1/2", rng=k).problem).traps
        for k in range(8)
    ]
    assert np.median(structured) > np.median(random)
