"""The mode by ways other than enumeration, and the cases in which it is proven."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from tests.boltzmann.machines import random_machine

from glasshouse.boltzmann import BoltzmannMachine, Trainer, TrainingSettings, find_mode, train
from glasshouse.boltzmann.kernels.modes import descend
from glasshouse.boltzmann.modes import Mode, _proven, frustration_of, weakened
from glasshouse.landscape import frustration_index


@pytest.mark.parametrize("units", ["spin", "binary"])
@pytest.mark.parametrize("search", ["anneal", "prove"])
def test_other_searches_find_the_enumerated_mode(search: str, units: str) -> None:
    machine = random_machine(12, 9, units, seed=4)
    truth = find_mode(machine, search="enumerate")
    found = find_mode(machine, search=search, rng=1)  # type: ignore[arg-type]
    assert found.energy == pytest.approx(truth.energy)
    assert found.frustration == pytest.approx(truth.frustration)
    assert found.is_proven == (search == "prove")
    assert found.verdict == ("proven" if search == "prove" else "best found")


def test_layers_beyond_enumeration_are_proven_by_loops() -> None:
    """A gauged ferromagnet with some frustrated loops on 30 × 30 units: the proof closes."""
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 1, (30, 30))
    weights[np.arange(8), np.arange(8)] *= -1
    signs, others = rng.choice([-1, 1], 30), rng.choice([-1, 1], 30)
    machine = BoltzmannMachine(weights * signs[:, None] * others, units="spin").in_units("binary")
    found = find_mode(machine, search="prove", seconds=20, rng=1)
    assert found.is_proven
    state = np.where(np.append(found.visible, found.hidden) == 1, 1, -1)
    assert found.frustration == pytest.approx(frustration_index(machine.to_instance(), state))
    assert abs(state[:30] @ signs) == abs(state[30:] @ others) == 30


def test_a_hard_machine_is_labelled_best_found() -> None:
    found = find_mode(random_machine(40, 40, seed=1), search="prove", seconds=0.05, rng=1)
    assert not found.is_proven
    assert found.verdict == "best found"


def test_a_start_is_never_made_worse() -> None:
    """Next to a good state something as good is found, whatever annealing finds."""
    machine = random_machine(30, 30, seed=2)
    best = find_mode(machine, search="anneal", rng=0)
    again = find_mode(machine, search="anneal", start=best.visible, rng=9)
    assert again.energy <= best.energy + 1e-9
    with pytest.raises(ValueError, match="start has 2 columns; expected 30, one per unit"):
        find_mode(machine, search="anneal", start=[1, -1])


@pytest.mark.parametrize("low", [-1, 0])
def test_a_descent_ends_where_no_unit_can_do_better(low: int) -> None:
    machine = random_machine(8, 6, "spin" if low else "binary", seed=3)
    visible, hidden = np.ones(8, dtype=np.int8), np.empty(6, dtype=np.int8)
    descend(machine.weights, machine.back, machine.visible_bias, machine.hidden_bias, low,
            visible, hidden)  # fmt: skip
    energy = machine.energy(visible, hidden)
    for layer in (visible, hidden):
        for k in range(len(layer)):
            layer[k] = low + 1 - layer[k]
            assert machine.energy(visible, hidden) >= energy
            layer[k] = low + 1 - layer[k]


def test_runs_count_their_modes_and_those_proven() -> None:
    data = np.eye(4, dtype=int)
    options = {"epochs": 40, "mode_probability": 1.0, "mode_offset": 0.0, "rng": 1}
    for search, is_proven in {"anneal": False, "auto": True, "prove": True}.items():
        run = train(data, 3, monitors=("proven",), mode_search=search, **options)
        assert 10 < run.modes <= run.updates == 40
        assert run.modes_proven == run.modes * is_proven
        assert set(run.history["proven"].tolist()) == {float(is_proven)}


def test_annealed_and_enumerated_modes_train_alike() -> None:
    """Annealing draws from its own stream: equal modes give equal machines."""
    data = np.eye(5, dtype=int)
    machines = [
        train(data, 4, epochs=60, mode_probability=0.5, mode_search=search, units="binary",
              batch_size=2, sigma=0.1, rng=2, monitors=()).machine
        for search in ("enumerate", "anneal")
    ]  # fmt: skip
    assert machines[0] == machines[1]


def test_the_last_mode_costs_nothing_and_is_that_of_its_time() -> None:
    """With one update per epoch and a mode in each, the last mode is one epoch old."""
    chosen = TrainingSettings(4, 30, mode_probability=1.0, mode_offset=50.0, sigma=0.5)
    for search in ("auto", "anneal"):
        options = TrainingSettings(**chosen.plain() | {"mode_search": search})
        trainer = Trainer(np.eye(5, dtype=int), options, rng=1)
        assert trainer.snapshot().last_mode is None
        trainer.advance(10)
        before = find_mode(trainer.machine)
        trainer.advance(11)
        last = trainer.snapshot().last_mode
        assert last is not None
        assert last.frustration == pytest.approx(before.frustration, abs=1e-12)
        assert last.visible.tolist() == before.visible.tolist()


def test_where_rounding_could_hide_more_nothing_is_proven() -> None:
    rng = np.random.default_rng(1)
    for size in (1e3, 1e17, 1e290):
        machine = BoltzmannMachine(rng.normal(size=(5, 4)) * size)
        assert find_mode(machine).is_proven == (size < 1e6)


def exact_energies(machine: BoltzmannMachine) -> dict[tuple[int, ...], Fraction]:
    """The energy of every state of ±1, in fractions."""
    n, values = machine.num_visible, (machine.low, 1)
    biases = [*map(Fraction, [*machine.visible_bias, *machine.hidden_bias])]
    weights = [[*map(Fraction, row)] for row in machine.weights]
    found = {}
    for state in itertools.product(values, repeat=len(biases)):
        energy = -sum((b * s for b, s in zip(biases, state, strict=True)), Fraction(0))
        for i, j in itertools.product(range(n), range(machine.num_hidden)):
            energy -= weights[i][j] * state[i] * state[n + j]
        found[tuple(1 if s == 1 else -1 for s in state)] = energy
    return found


def largest_of(*parts: np.ndarray) -> float:
    return float(max(abs(part).max() for part in parts))


@pytest.mark.parametrize("units", ["spin", "binary"])
@pytest.mark.parametrize("seed", range(6))
def test_rounded_weights_never_flatter_the_state(units: str, seed: int) -> None:
    """Every state is at least as far above the state as in the rounded problem."""
    rng = np.random.default_rng(seed)
    digits = [2, 20, 60][seed % 3]  # coarse weights, which need no rounding, and fine weights
    parts = [np.round(rng.normal(0, 3, shape), digits) for shape in ((3, 4), 3, 4)]
    machine = BoltzmannMachine(*parts, units=units)  # type: ignore[arg-type]
    energies = exact_energies(machine)
    state = [*energies][int(rng.integers(len(energies)))]
    problem = weakened(machine, np.array(state, dtype=np.int8))
    assert problem is not None
    largest = largest_of(problem.to_matrix(), problem.visible_bias, problem.hidden_bias)
    assert 2**19 <= largest <= 2**20
    spins = machine.in_units("spin")
    exact = largest_of(spins.weights, spins.visible_bias, spins.hidden_bias)
    scale = Fraction(2) ** round(np.log2(largest / exact))
    base = problem.energy(state)
    for other, energy in energies.items():
        assert scale * (energy - energies[state]) >= problem.energy(other) - base


def test_a_proof_with_rounded_weights_may_start_from_another_state() -> None:
    """Two states differ by 1e-9, which is less than the rounding: the better one is proven."""
    machine = BoltzmannMachine(np.ones((26, 25)), np.full(26, 1e-9))
    down = -np.ones(51, dtype=np.int8)
    up = find_mode(machine, search="prove", seconds=20, start=-down[:26], rng=1)
    worse = Mode(down[:26], down[26:], 0.0, frustration_of(-1.0, 1.0), is_proven=False)
    for mode in (up, _proven(machine, machine.to_instance(), worse, 20.0)):
        assert mode.is_proven
        assert mode.visible.sum() == 26


def test_tiny_weights_are_not_rounded() -> None:
    assert weakened(BoltzmannMachine([[1e-300, 1.0]]), np.ones(3, dtype=np.int8)) is None


def test_sums_of_weights_that_are_rounded_prove_nothing() -> None:
    """In units of 0 and 1, -big/2 + (big + small)/2 is 0 in floats: the small weight is lost."""
    big, small, n = 1e17, 1.0, 25
    weights, i = np.zeros((n, 2 * n)), np.arange(n)
    weights[i, 2 * i], weights[i, 2 * i + 1] = big, small
    biases = np.full(n, -big / 2), np.tile([-big / 2, -small / 2], n)
    machine = BoltzmannMachine(weights, *biases, units="binary")
    found = find_mode(machine, search="prove", seconds=5, rng=0)
    energy = -sum(
        Fraction(weights[a, b])
        for a, b in np.argwhere(weights)
        if found.visible[a] * found.hidden[b]
    ) - sum(
        Fraction(bias) * int(unit)
        for bias, unit in zip(np.concatenate(biases), [*found.visible, *found.hidden], strict=True)
    )
    least = -n * Fraction(small) / 2  # all units are 1
    assert energy >= least
    assert energy == least or not found.is_proven
