"""The values of monitors, compared with independent computations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.boltzmann.machines import Everything, random_machine

from glasshouse.boltzmann import (
    MONITORS,
    BoltzmannMachine,
    Snapshot,
    Trainer,
    TrainingSettings,
    annealed_importance,
    train,
)
from glasshouse.boltzmann.data import in_units, shifting_bars
from glasshouse.randomness import Seed

DATA = shifting_bars(5, 2)
HELD_OUT = np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 0]])


def snapshot(machine: BoltzmannMachine) -> Snapshot:
    settings = TrainingSettings(machine.num_hidden, units=machine.units)
    rows, others = in_units(DATA, machine.units), in_units(HELD_OUT, machine.units)
    return Snapshot(machine, rows, others, settings, 0, Seed(1))


def look(name: str, machine: BoltzmannMachine) -> float:
    return MONITORS[name].look(snapshot(machine))


@pytest.fixture(params=["spin", "binary"])
def machine(request: pytest.FixtureRequest) -> BoltzmannMachine:
    return random_machine(5, 4, request.param, seed=8, sigma=0.6)


# All numbers are of the distribution, not of the units it is written in. Chains are of the units.
SAMPLED = {"ais", "ais_error", "held_out_ais"}


@pytest.mark.parametrize("name", sorted(set(MONITORS) - SAMPLED - {"last_frustration"}))
def test_the_same_machine_in_other_units_looks_the_same(
    name: str, machine: BoltzmannMachine
) -> None:
    other = machine.in_units("binary" if machine.units == "spin" else "spin")
    assert look(name, other) == pytest.approx(look(name, machine), rel=1e-11)


def test_likelihoods_equal_brute_force(machine: BoltzmannMachine) -> None:
    truth, seen = Everything(machine), snapshot(machine)
    for name, rows in {"log_likelihood": seen.data, "held_out": seen.unlearnt}.items():
        expected = np.log(truth.chance_of(rows)).mean()
        assert look(name, machine) == pytest.approx(expected, abs=1e-12)
    expected = -math.log(5) - np.log(truth.chance_of(seen.data)).mean()  # five different rows
    assert look("kl", machine) == pytest.approx(expected, abs=1e-12)


def test_annealed_likelihoods_are_near_the_exact_ones(machine: BoltzmannMachine) -> None:
    """Three errors: one seed in 370 is beyond."""
    error = look("ais_error", machine)
    assert 0 < error < 0.1
    for name, exact in {"ais": "log_likelihood", "held_out_ais": "held_out"}.items():
        assert abs(look(name, machine) - look(exact, machine)) < 3 * error


def test_pseudo_likelihood_equals_brute_force(machine: BoltzmannMachine) -> None:
    truth, total = Everything(machine), 0.0
    rows = in_units(DATA, machine.units)
    for row in rows:
        for i in range(5):
            other = row.copy()
            other[i] = machine.low + 1 - row[i]
            here, there = truth.chance_of([row, other])
            total += math.log(here / (here + there))
    assert look("pseudo_likelihood", machine) == pytest.approx(total / len(rows), abs=1e-12)


def test_pseudo_likelihood_is_what_scikit_learn_estimates() -> None:
    """Its `score_samples` draws one unit per row: the mean over many rows, within 4 errors."""
    network = pytest.importorskip("sklearn.neural_network")
    machine = random_machine(5, 4, "binary", seed=2)
    theirs = network.BernoulliRBM(n_components=4, random_state=1)
    theirs.fit(DATA)
    theirs.components_ = machine.weights.T
    theirs.intercept_hidden_, theirs.intercept_visible_ = machine.hidden_bias, machine.visible_bias
    scores = theirs.score_samples(np.tile(DATA, (4000, 1)))
    error = scores.std() / math.sqrt(len(scores))
    assert scores.mean() == pytest.approx(look("pseudo_likelihood", machine), abs=4 * error)


def test_reconstruction_and_activation_by_hand() -> None:
    """One visible and one hidden unit, 0 and 1: all means are logistic functions."""

    def logistic(x: float) -> float:
        return 1 / (1 + math.exp(-x))

    machine = BoltzmannMachine([[2.0]], [-0.5], [0.25], "binary")
    seen = Snapshot(machine, np.array([[1], [0]], np.int8), None, TrainingSettings(1), 0, Seed(1))
    hidden = [logistic(2.25), logistic(0.25)]
    visible = [logistic(2 * h - 0.5) for h in hidden]
    errors = ((1 - visible[0]) ** 2 + visible[1] ** 2) / 2
    assert MONITORS["reconstruction"].look(seen) == pytest.approx(errors)
    expected = (abs(2 * hidden[0] - 1) + abs(2 * hidden[1] - 1)) / 2
    assert MONITORS["activation"].look(seen) == pytest.approx(expected)


def test_all_monitors_of_one_training() -> None:
    run = train(DATA, 3, epochs=20, every=10, monitors=MONITORS, held_out=HELD_OUT, rng=1,
                mode_probability=0.5, mode_offset=50)  # fmt: skip
    assert run.epochs.tolist() == [0, 10, 20]
    assert list(run.history) == list(MONITORS)
    for name, values in run.history.items():
        assert math.isnan(values[0]) == (name == "last_frustration")
        assert np.isfinite(values[1:]).all()


def test_looking_changes_nothing() -> None:
    """Monitors draw from their own seeds, so random monitors can be repeated."""
    machines, seen = [], []
    for every in (5, 20):
        run = train(DATA, 3, epochs=20, every=every, monitors=("ais", "frustration"), rng=1)
        machines.append(run.machine)
        seen.append(run.history["ais"][-1])
    assert machines[0] == machines[1]
    assert seen[0] == seen[1]
    assert train(DATA, 3, epochs=20, monitors=(), rng=1).machine == machines[0]


def test_large_machines_are_looked_at_without_exact_sums() -> None:
    rng = np.random.default_rng(1)
    data = rng.integers(0, 2, (20, 30))
    run = train(data, 26, epochs=1, monitors=("ais", "ais_error", "frustration", "proven"), rng=1)
    assert run.history["proven"].tolist() == [0, 0]
    assert run.history["ais"] == pytest.approx([-30 * math.log(2)] * 2, rel=0.05)
    for name in ("kl", "log_likelihood"):
        with pytest.raises(ValueError, match=r"too large for exact sums.*annealed_importance"):
            train(data, 26, epochs=1, monitors=(name,), rng=1)


def test_the_base_machine_is_fitted_to_the_data() -> None:
    """Biased data, weights that matter: fitted biases start nearer than the machine's own."""
    data = (np.random.default_rng(1).random((50, 12)) < 0.1).astype(int)
    machine = train(data, 8, epochs=400, units="binary", monitors=(), rng=1).machine
    errors = [
        annealed_importance(machine, data=given, temperatures=20, rng=1).error
        for given in (data, None)
    ]
    assert errors[0] < errors[1]


def test_refusals() -> None:
    with pytest.raises(ValueError, match="monitor='held_out' needs held-out rows"):
        train(DATA, 3, monitors=("held_out",))
    with pytest.raises(ValueError, match=r"monitors='kl' is one string; .* names: \['kl'\]"):
        train(DATA, 3, monitors="kl")
    with pytest.raises(ValueError, match="monitor='loss' is not one of kl, "):
        train(DATA, 3, monitors=("loss",))
    with pytest.raises(ValueError, match="held_out has 3 columns, but data has 5"):
        train(DATA, 3, held_out=[[0, 1, 1]])


def test_entropy_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from glasshouse.boltzmann import monitors

    calls = []
    monkeypatch.setattr(monitors, "entropy", lambda rows: calls.append(rows) or math.log(5))
    trainer = Trainer(DATA, TrainingSettings(3, epochs=30), rng=1)
    assert len(trainer.run(("kl",)).history["kl"]) == 4
    assert len(calls) == 1
