"""Trainings that stop early, call back or resume, and machines that complete images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.boltzmann.machines import Everything, random_machine

from glasshouse.boltzmann import BoltzmannMachine, find_mode, train
from glasshouse.boltzmann.data import shifting_bars
from glasshouse.boltzmann.estimator import RestrictedBoltzmannMachine

BARS = shifting_bars()


def test_a_callback_sees_every_look_and_stops_the_training() -> None:
    seen: list[int] = []

    def look(snapshot: Any) -> bool:
        seen.append(snapshot.epoch)
        return bool(snapshot.epoch >= 30)

    run = train(BARS, 4, epochs=100, monitors=["kl"], rng=1, callback=look)
    assert seen == run.epochs.tolist() == [0, 10, 20, 30]
    assert run.diverged_at is None
    assert run.machine == train(BARS, 4, epochs=100, rng=1, monitors=[], callback=look).machine


def test_patience_returns_the_machine_of_the_best_look() -> None:
    options: dict[str, Any] = {
        "epochs": 400, "monitors": ["kl"], "rng": 1, "learning_rate": 0.5, "every": 5,
    }  # fmt: skip
    run = train(BARS, 4, patience=3, **options)
    curve = run.history["kl"]
    assert len(curve) < 81
    assert curve.argmin() == len(curve) - 4
    assert run.machine.kl(BARS) == pytest.approx(curve.min())
    assert np.array_equal(curve, train(BARS, 4, **options).history["kl"][: len(curve)])


@pytest.mark.parametrize(("options", "message"), [
    ({"patience": 0}, "patience"),
    ({"patience": 2, "monitors": ["frustration"]}, "must start with one of .*, not 'frustration'"),
    ({"patience": 2, "monitors": []}, "must start with one of .*, not None"),
    ({"patience": 2, "checkpoint": "x.npz"}, "cannot be combined"),
])  # fmt: skip
def test_patience_that_cannot_work_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        train(BARS, 4, epochs=10, rng=1, **options)


@pytest.mark.parametrize("units", ["spin", "binary"])
def test_clamped_chains_sample_the_conditional_distribution(units: str) -> None:
    """Chi-square over independent chains: a false alarm in a thousand seeds."""
    machine, count = random_machine(5, 3, units, seed=4, sigma=0.4), 10_000
    truth = Everything(machine)
    start = np.tile(truth.visible_states[13], (count, 1))
    found = machine.sample(count, steps=40, start=start, clamped=[1, 3], rng=1)
    assert (found[:, [1, 3]] == start[:, [1, 3]]).all()
    fits = (truth.visible_states[:, [1, 3]] == start[0, [1, 3]]).all(axis=1)
    chances = np.where(fits, truth.visible_chances, 0.0)[fits]
    counts = np.array([(found == state).all(axis=1).sum() for state in truth.visible_states[fits]])
    expected = count * chances / chances.sum()
    assert expected.min() > 5
    assert stats.chisquare(counts, expected).pvalue > 1e-3


@pytest.mark.parametrize("clamped", [[5], [-1], [0.5], [[0]], "x"])
def test_units_that_are_not_there_cannot_be_clamped(clamped: Any) -> None:
    machine = random_machine(5, 3)
    with pytest.raises(ValueError, match="must be indices of visible units, from 0 to 4"):
        machine.sample(1, start=np.ones((1, 5)), clamped=clamped)
    with pytest.raises(ValueError, match="pass start"):
        machine.sample(1, clamped=[0])


def test_data_of_either_kind_have_the_same_divergence() -> None:
    machine = random_machine(9, 4)
    assert machine.kl(BARS) == machine.kl(2 * BARS - 1)
    assert machine.in_units("binary").kl(2 * BARS - 1) == pytest.approx(machine.kl(BARS))
    with pytest.raises(ValueError, match="columns"):
        machine.kl([[0, 1]])


def test_more_time_finds_no_worse_mode() -> None:
    machine = random_machine(40, 40, seed=3)
    once, longer = find_mode(machine, rng=1), find_mode(machine, time_limit=0.3, rng=1)
    assert longer.energy <= once.energy
    with pytest.raises(ValueError, match="time_limit=0 must be a number of seconds above 0"):
        find_mode(machine, time_limit=0)


def test_parameters_with_gradients_are_taken() -> None:
    class Parameter:
        """A tensor like PyTorch's: it refuses `numpy` before `detach`."""

        is_detached = False

        def detach(self) -> Parameter:
            self.is_detached = True
            return self

        def cpu(self) -> Parameter:
            return self

        def numpy(self) -> Any:
            assert self.is_detached
            return np.ones((2, 3))

    assert BoltzmannMachine.from_arrays(Parameter(), units="spin").num_hidden == 3  # type: ignore[arg-type]


def test_parts_of_a_fit_go_on_from_one_another() -> None:
    model = RestrictedBoltzmannMachine(8, batch_size=None, units="spin", random_state=1)
    divergences = [model.partial_fit(BARS).machine_.kl(BARS) for _ in range(300)]
    assert divergences[-1] < 0.5 * divergences[0]
    again = RestrictedBoltzmannMachine(8, batch_size=None, units="spin", random_state=1)
    for _ in range(5):
        again.partial_fit(BARS)
    assert again.machine_.kl(BARS) == divergences[4]
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(BARS[:, :5])
