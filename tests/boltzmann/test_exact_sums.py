"""Exact sums over one layer, against sums over both; conversions; the problem of the mode."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.boltzmann.machines import Everything, machines, random_machine
from tests.entries import entry

from glasshouse.boltzmann import BoltzmannMachine, find_mode
from glasshouse.boltzmann.kernels import enumeration
from glasshouse.boltzmann.kernels.machine import Averages
from glasshouse.landscape import frustration_index

find_averages = entry(enumeration.find_averages)


def spins_of(*layers: np.ndarray) -> np.ndarray:
    return np.where(np.concatenate(layers) == 1, 1, -1)


@given(machines())
def test_log_partition_and_probabilities_equal_brute_force(machine: BoltzmannMachine) -> None:
    truth = Everything(machine)
    assert machine.log_partition == pytest.approx(truth.log_partition, rel=1e-13, abs=1e-13)
    logs = machine.log_weight(truth.visible_states) - machine.log_partition
    assert np.exp(logs) == pytest.approx(truth.visible_chances, rel=1e-12)


@given(machines())
def test_moments_equal_brute_force(machine: BoltzmannMachine) -> None:
    truth = Everything(machine)
    first, a, b = machine.smaller_first
    averages = Averages(
        np.ones_like(first), np.ones_like(a), np.ones_like(b), np.zeros(1, np.bool_)
    )
    find_averages(first, a, b, machine.low, averages)
    products, means, others, _ = averages
    if machine.num_visible > machine.num_hidden:
        products, means, others = products.T, others, means
    assert products == pytest.approx(truth.products, abs=1e-12)
    assert means == pytest.approx(truth.visible_means, abs=1e-12)
    assert others == pytest.approx(truth.hidden_means, abs=1e-12)


@given(machines())
def test_mode_has_the_least_energy_and_its_frustration(machine: BoltzmannMachine) -> None:
    truth, mode = Everything(machine), find_mode(machine)
    assert mode.is_proven
    assert mode.verdict == "proven"
    assert mode.energy == pytest.approx(truth.energies.min(), abs=1e-12)
    assert mode.energy == pytest.approx(machine.energy(mode.visible, mode.hidden), abs=1e-12)
    state = spins_of(mode.visible, mode.hidden)
    index = frustration_index(machine.to_instance(), state)
    assert mode.frustration == pytest.approx(float(index), abs=1e-12)


@given(machines(), st.integers(0, 2**32))
def test_kl_equals_brute_force(machine: BoltzmannMachine, seed: int) -> None:
    truth, rng = Everything(machine), np.random.default_rng(seed)
    rows = rng.choice(truth.visible_states, 7)  # some of them more than once
    states, counts = np.unique(rows, axis=0, return_counts=True)
    shares = counts / 7
    expected = (shares * np.log(shares / truth.chance_of(states))).sum()
    assert machine.kl(rows) == pytest.approx(expected, abs=1e-12)


@given(machines())
def test_other_units_keep_all_probabilities(machine: BoltzmannMachine) -> None:
    other = machine.in_units("binary" if machine.units == "spin" else "spin")
    truth, converted = Everything(machine), Everything(other)
    assert converted.chances == pytest.approx(truth.chances, rel=1e-11)
    assert other.kl(converted.visible_states) == pytest.approx(machine.kl(truth.visible_states))
    again = other.in_units(machine.units)
    assert again.weights == pytest.approx(machine.weights, abs=1e-12)
    assert again.visible_bias == pytest.approx(machine.visible_bias, abs=1e-12)
    assert again.hidden_bias == pytest.approx(machine.hidden_bias, abs=1e-12)


@given(machines())
def test_an_instance_has_the_energies_of_the_machine(machine: BoltzmannMachine) -> None:
    truth, problem = Everything(machine), machine.to_instance()
    for k, visible in enumerate(truth.visible_states):
        states = np.array([spins_of(visible, hidden) for hidden in truth.hidden_states])
        assert problem.energy(states) == pytest.approx(truth.energies[k], abs=1e-11)


@pytest.mark.parametrize("units", ["spin", "binary"])
def test_more_than_one_block_of_states(units: str) -> None:
    """2^11 states are visited in two blocks; both orientations agree with brute force."""
    machine = random_machine(12, 11, units, seed=3, sigma=0.3)  # type: ignore[arg-type]
    turned = BoltzmannMachine(
        machine.weights.T, machine.hidden_bias, machine.visible_bias, machine.units
    )
    energies = Everything(machine).energies
    expected = -energies.min() + np.log(np.exp(energies.min() - energies).sum())
    for one in (machine, turned):
        assert one.log_partition == pytest.approx(expected, rel=1e-13)
        assert find_mode(one).energy == pytest.approx(energies.min(), rel=1e-13)


def test_layers_of_more_units_than_one_product_holds() -> None:
    """The factors of 512 hidden units are multiplied at a time; 1100 take three products."""
    machine = BoltzmannMachine(np.zeros((2, 1100)), hidden_bias=np.full(1100, 1e-3))
    expected = 1100 * np.log(2 * np.cosh(1e-3)) + 2 * np.log(2)
    assert machine.log_partition == pytest.approx(expected, rel=1e-13)


def test_large_weights_do_not_overflow() -> None:
    machine = BoltzmannMachine(np.full((3, 4), 1000.0))
    assert machine.log_partition == pytest.approx(12_000 + np.log(2), rel=1e-13)


@pytest.mark.parametrize("units", ["spin", "binary"])
@pytest.mark.parametrize("largest", [1e307, 1e308])
def test_weights_whose_sums_would_overflow_are_refused(units: str, largest: float) -> None:
    """Rather than energies that are infinite, and numpy's warnings."""
    with pytest.raises(ValueError, match=r"weights and biases add up to .* divide all of them"):
        BoltzmannMachine([[largest, largest], [-largest, largest]], units=units)  # type: ignore[arg-type]


def test_the_largest_weights_overflow_nowhere() -> None:
    machine = BoltzmannMachine([[5e306, 5e306]], units="spin")
    assert machine.energy([1], [1, 1]) == find_mode(machine).energy == -1e307
    assert machine.to_instance().energy([1, 1, 1]) == -1e307
    with pytest.raises(ValueError, match=r"resolution=10 gives weights of 2\^52 or more"):
        machine.to_instance(10)
    with pytest.raises(ValueError, match="weights and biases add up to"):
        machine.in_units("binary")  # eight times as large
    quarter = BoltzmannMachine([[5e306, 5e306]], units="binary").in_units("spin")
    assert quarter.weights.tolist() == [[1.25e306, 1.25e306]]
