"""Training by matrix products: the updates of compiled code, and more kinds of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.boltzmann.machines import Everything, random_machine

from glasshouse.boltzmann import BoltzmannMachine, Trainer, TrainingSettings, train
from glasshouse.boltzmann.data import shifting_bars
from glasshouse.boltzmann.matrices import Matrices

# With whole groups of eight units and at most 16 chains, both engines draw the same numbers.
ROWS = np.random.default_rng(1).integers(0, 2, (40, 16))
SAME: dict[str, dict[str, Any]] = {
    "cd-1": {},
    "cd-3": {"steps": 3},
    "batches": {"batch_size": 13},
    "momentum and decay": {"momentum": 0.5, "weight_decay": 0.1},
    "a sum": {"reduction": "sum", "weight_decay": 0.1, "learning_rate": 0.01},
    "no biases": {"biases": False},
    "modes": {"mode_probability": 0.5, "mode_slope": 0, "mode_offset": 9, "mode_search": "prove"},
    "modes at full step": {
        "mode_probability": 0.5, "mode_slope": 0, "mode_offset": 9, "mode_step": "full",
    },
    "first biases": {"first_biases": "data"},
}  # fmt: skip


@pytest.mark.parametrize("units", ["spin", "binary"])
@pytest.mark.parametrize("name", SAME)
def test_both_engines_do_the_same(name: str, units: str) -> None:
    options = {"epochs": 5, "learning_rate": 0.1, "batch_size": 16, "units": units} | SAME[name]
    start = None if "first_biases" in options else random_machine(16, 8, units, seed=3, sigma=0.3)
    lanes, matrices = (
        Trainer(ROWS, TrainingSettings(8, engine=engine, **options), start=start, rng=1)  # type: ignore[arg-type]
        for engine in ("lanes", "matrices")
    )
    assert lanes.advance(5)
    assert matrices.advance(5)
    for name in ("weights", "visible_bias", "hidden_bias"):
        found, expected = getattr(matrices.machine, name), getattr(lanes.machine, name)
        assert found == pytest.approx(expected, abs=1e-9)
    assert np.array_equal(matrices._arrays.mode_visible, lanes._arrays.mode_visible)


def slopes(machine: BoltzmannMachine, rows: Any, **options: Any) -> BoltzmannMachine:
    """The change by one update, divided by the learning rate; weights of zero do not change."""
    settings = TrainingSettings(
        machine.num_hidden, 1, machine.units, learning_rate=1e-3, engine="matrices", **options
    )
    trainer = Trainer(rows, settings, start=machine, rng=1)
    assert trainer.advance(1)
    after = trainer.machine
    return BoltzmannMachine(
        (after.weights - machine.weights) / 1e-3,
        (after.visible_bias - machine.visible_bias) / 1e-3,
        (after.hidden_bias - machine.hidden_bias) / 1e-3, machine.units,
    )  # fmt: skip


@pytest.mark.parametrize("units", ["spin", "binary"])
@pytest.mark.parametrize("temperatures", [1, 4])
def test_many_chains_estimate_the_exact_slopes(units: str, temperatures: int) -> None:
    """Five standard errors of 600 numbers: a false alarm in 3,000 seeds."""
    machine, chains = random_machine(5, 4, units, seed=2, sigma=0.4), 20_000
    rows = ROWS[:, :5]
    found = slopes(machine, rows, gradient="pcd", chains=chains, steps=30,
                   temperatures=temperatures)  # fmt: skip
    exact = Trainer(rows, TrainingSettings(4, 1, units, learning_rate=1e-3, gradient="exact"),
                    start=machine, rng=1)  # type: ignore[arg-type]  # fmt: skip
    assert exact.advance(1)
    spread = 5 * (2.0 if units == "spin" else 1.0) / np.sqrt(chains) / 2
    difference = (exact.machine.weights - machine.weights) / 1e-3 - found.weights
    assert abs(difference).max() < spread
    assert (
        abs((exact.machine.visible_bias - machine.visible_bias) / 1e-3 - found.visible_bias).max()
        < spread
    )


@pytest.mark.parametrize("units", ["spin", "binary"])
def test_chains_at_all_temperatures_have_their_own_distribution(units: str) -> None:
    """Means of hidden units at each temperature, against enumeration; five standard errors."""
    machine, chains, ladder = random_machine(5, 4, units, seed=2, sigma=0.5), 10_000, 4
    settings = TrainingSettings(4, 20, units, learning_rate=0.0, gradient="pcd", chains=chains,
                                temperatures=ladder, engine="matrices")  # type: ignore[arg-type]  # fmt: skip
    trainer = Trainer(ROWS[:, :5], settings, start=machine, rng=1)
    assert trainer.advance(20)
    found = trainer._arrays.chains.reshape(ladder, chains, 4).mean(axis=1)
    for means, beta in zip(found, np.linspace(1, 0, ladder), strict=True):
        parts = machine.weights, machine.visible_bias, machine.hidden_bias
        scaled = BoltzmannMachine(*(beta * part for part in parts), machine.units)
        truth = Everything(scaled)
        exact = truth.visible_chances @ scaled.hidden_means(truth.visible_states)
        assert means == pytest.approx(exact, abs=5 / np.sqrt(chains))


@pytest.mark.parametrize("units", ["spin", "binary"])
def test_the_centred_gradient_does_not_depend_on_what_up_means(units: str) -> None:
    """All units turned upside down: the slopes of the turned machine are the turned slopes."""
    machine = random_machine(5, 4, units, seed=2, sigma=0.4).in_units("spin")
    rows = (2 * ROWS[:, :5] - 1).astype(np.int8)
    turned = BoltzmannMachine(machine.weights, -machine.visible_bias, -machine.hidden_bias)
    options = {"gradient": "pcd", "chains": 20_000, "steps": 30, "centred": True}
    one, other = slopes(machine, rows, **options), slopes(turned, -rows, **options)
    assert one.weights == pytest.approx(other.weights, abs=0.05)
    assert one.visible_bias == pytest.approx(-other.visible_bias, abs=0.05)


def test_centred_slopes_are_those_of_centred_units() -> None:
    machine = random_machine(5, 4, "binary", seed=2, sigma=0.4)
    rows = ROWS[:, :5]
    plain, centred = slopes(machine, rows), slopes(machine, rows, centred=True)
    seen, hidden = rows.mean(0), machine.hidden_means(rows).mean(0)
    weights = (plain.weights - np.outer(seen, plain.hidden_bias)
               - np.outer(plain.visible_bias, hidden))  # fmt: skip
    assert centred.weights == pytest.approx(weights, abs=1e-9)
    assert centred.visible_bias == pytest.approx(plain.visible_bias - weights @ hidden, abs=1e-9)
    assert centred.hidden_bias == pytest.approx(plain.hidden_bias - seen @ weights, abs=1e-9)


def test_adam_takes_the_steps_of_its_authors() -> None:
    """The first step of each parameter is the learning rate, whatever its slope."""
    machine = random_machine(5, 4, "binary", seed=2, sigma=0.4)
    plain, adam = (slopes(machine, ROWS[:, :5], optimizer=name) for name in ("sgd", "adam"))
    assert adam.weights == pytest.approx(np.sign(plain.weights), abs=1e-4)


def test_a_long_update_in_pieces_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces draw other numbers: with weights that decide everything there is nothing to draw."""
    start = BoltzmannMachine(300.0 * np.eye(16)[:, :8])
    settings = TrainingSettings(8, 3, engine="matrices", learning_rate=0.5)
    rows = 2 * ROWS - 1
    rows[:, 8:] = 1
    whole = Trainer(rows, settings, start=start, rng=1)
    monkeypatch.setattr("glasshouse.boltzmann.matrices._PRODUCTS", 1)
    pieces = Trainer(rows, settings, start=start, rng=1)
    assert isinstance(pieces._matrices, Matrices)
    assert pieces._matrices.chunk == 16
    assert whole.advance(1)
    assert pieces.advance(1)
    close = pytest.approx(whole.machine.weights[:8], abs=1e-9)
    assert pieces.machine.weights[:8] == close


@pytest.mark.parametrize("precision", ["double", "single"])
def test_large_machines_learn(precision: str) -> None:
    run = train(shifting_bars(16, 5), 8, epochs=300, engine="auto", precision=precision,
                optimizer="adam", schedule="cosine", learning_rate=(0.02, 0.001), batch_size=4,
                monitors=["kl"], every=300, rng=1, first_biases="data", gradient="pcd",
                chains=50)  # fmt: skip
    assert run.history["kl"][-1] < 0.5 * run.history["kl"][0]


def test_weights_that_grow_beyond_all_use_are_undone() -> None:
    settings = TrainingSettings(4, 50, engine="matrices", learning_rate=1e6, reduction="sum")
    trainer = Trainer(ROWS, settings, rng=1)
    assert not trainer.advance(50)
    assert abs(trainer.machine.weights).max() < 1000


@pytest.mark.parametrize(("options", "message"), [
    ({"optimizer": "adam"}, "set engine='matrices'"),
    ({"centred": True}, "set engine='matrices'"),
    ({"temperatures": 3, "gradient": "pcd"}, "set engine='matrices'"),
    ({"temperatures": 3, "engine": "matrices"}, "needs gradient='pcd'"),
    ({"engine": "matrices", "gradient": "exact"}, "needs engine='lanes'"),
    ({"engine": "matrices", "optimizer": "adam", "momentum": 0.5}, "remove momentum"),
    ({"schedule": "exponential", "learning_rate": (0.1, 0.0)}, "above 0"),
    ({"first_biases": "data", "biases": False}, "needs biases"),
    ({"engine": "gpu"}, "not one of lanes, matrices, auto"),
])  # fmt: skip
def test_settings_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TrainingSettings(4, **options)
