"""Landscapes of weights near 2^63: counts, fields and gaps are those of the definition."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from tests.oracles import energy_by_definition, states_of
from tests.strategies import extreme_problems

from glasshouse.landscape import (
    frustration_index,
    gauge,
    is_local_minimum,
    local_fields,
    local_minima,
    low_energy_states,
    overview,
)
from glasshouse.problems import Ising, Max2Sat, Rbm
from glasshouse.problems.convert import to_ising


def flipped(problem, state):
    """All states one flip away."""
    spin = isinstance(problem, (Ising, Rbm))
    for i in range(len(state)):
        other = state.copy()
        other[i] = -other[i] if spin else 1 - other[i]
        yield other


def fits(problem) -> bool:
    """Whether the Ising form, on which landscapes are measured, stays in int64."""
    try:
        to_ising(problem)
    except ValueError:
        return False
    return True


@settings(max_examples=50)
@given(extreme_problems(exact=True))
def test_landscapes_of_large_integers(problem):
    if not fits(problem):
        for refused in (local_minima, low_energy_states):
            with pytest.raises(ValueError, match=r"add up|at most 2\^63-1"):
                refused(problem)
        return
    states = states_of(problem)
    energies = {tuple(s): int(energy_by_definition(problem, s)) for s in states}
    best = min(energies.values())
    is_minimum = [
        all(energies[tuple(t)] >= energies[tuple(s)] for t in flipped(problem, s)) for s in states
    ]
    found = local_minima(problem)
    assert found.count == sum(is_minimum)
    assert found.ground_states == list(energies.values()).count(best)
    assert [is_local_minimum(problem, s) for s in states] == is_minimum

    low = low_energy_states(problem, 8)
    assert low.energies[0] == best
    for energy, state in zip(low.energies.tolist(), low.states, strict=True):
        assert energy == energies[tuple(state)]
    if low.gap is not None:
        assert low.gap == min(e for e in energies.values() if e > best) - best
    assert overview(problem).variables == states.shape[1]


@settings(max_examples=50)
@given(extreme_problems(exact=True))
def test_gauges_fields_and_frustration_of_large_integers(problem):
    if isinstance(problem, Max2Sat) or not isinstance(problem, (Ising, Rbm)):
        return
    states = states_of(problem)
    energies = {tuple(s): energy_by_definition(problem, s) for s in states}
    for state in states[:: max(1, len(states) // 4)]:
        fields = local_fields(problem, state).tolist()
        for other, spin, field in zip(flipped(problem, state), state.tolist(), fields, strict=True):
            assert energies[tuple(other)] - energies[tuple(state)] == 2 * spin * field
        turned = gauge(problem, state)
        for other in states:
            assert energy_by_definition(turned, state * other) == energies[tuple(other)]
        total = problem.total_weight
        if total:
            share = Fraction(total + energies[tuple(state)] - problem.offset, 2 * total)
            assert frustration_index(problem, state) == share


def test_a_gap_above_2_to_63_does_not_wrap():
    assert low_energy_states(Ising.from_edges(2, [(0, 1)], [2**62]), 2).gap == 2**63


def test_a_large_offset_does_not_drown_the_frustration_of_floats():
    triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1.0, 1.0, -1.0], offset=1e300)
    assert frustration_index(triangle, [1, 1, 1]) == 1 / 3
