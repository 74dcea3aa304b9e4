"""Long evaluations of a machine: signals are handled within them, without changing results."""

from __future__ import annotations

import itertools
import signal
import time

import numpy as np
import pytest

from glasshouse import stopping
from glasshouse.boltzmann import (
    BoltzmannMachine,
    annealed_importance,
    find_mode,
    importance,
    model,
    modes,
    slices,
)
from glasshouse.boltzmann.kernels.modes import CLOSED, rounding
from glasshouse.boltzmann.monitors import MONITORS, Snapshot
from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.boltzmann.training import Trainer, train
from glasshouse.randomness import Seed

BEATS = 3  # signals that must be handled in the middle of a long look
LOOKS = {  # visible and hidden units and data, enough for half a second or more
    "kl": (22, 60, 2),
    "held_out": (22, 60, 2),
    "ais": (100, 100, 2),
    "log_weights": (300, 300, 20_000),
    "pseudo_likelihood": (100, 100, 10_000),
    "reconstruction": (300, 300, 10_000),
    "activation": (300, 300, 20_000),
    "frustration": (24, 30, 2),
    "exact update": (21, 30, 2),
}


def snapshot(visible: int, hidden: int, rows: int) -> Snapshot:
    draws = np.random.default_rng(1)
    machine = BoltzmannMachine(draws.normal(size=(visible, hidden)) / 10)
    data = (2 * draws.integers(0, 2, (rows, visible)) - 1).astype(np.int8)
    settings = TrainingSettings(hidden, mode_search="enumerate")
    return Snapshot(machine, data, data, settings, 0, Seed.of(1))


def look(name: str, at: Snapshot) -> float:
    if name == "log_weights":
        return at.mean_log_weight(at.data)
    if name == "exact update":
        settings = TrainingSettings(at.machine.num_hidden, epochs=1, gradient="exact")
        trainer = Trainer(at.data, settings, start=at.machine, rng=1)
        return trainer.advance(1)
    return MONITORS[name].look(at)


@pytest.mark.parametrize("name", LOOKS)
def test_signals_are_handled_in_the_middle_of_a_look(name):
    """Signals come as processor time passes, so that a busy computer does not matter."""
    look(name, snapshot(4, 4, 2))  # compiles
    at, beats = snapshot(*LOOKS[name]), []
    before = signal.signal(signal.SIGPROF, lambda *_: beats.append(time.process_time()))
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 0.02, 0.02)
    try:
        look(name, at)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    ended = time.process_time()
    moments = [began, *beats, ended]
    longest = max(b - a for a, b in itertools.pairwise(moments))
    assert len(beats) > BEATS
    assert longest < 1.0


def numbers() -> list[float]:
    at = snapshot(13, 12, 40)
    machine = at.machine
    mode = find_mode(machine, search="enumerate")
    return [
        machine.log_partition,
        annealed_importance(machine, chains=3, temperatures=9, rng=1).value,
        machine.log_weights(at.data).tolist(),
        machine.pseudo_log_likelihood(at.data).tolist(),
        machine.hidden_means(at.data).tolist(),
        machine.visible_means([mode.hidden]).tolist(),
        machine.sample(5, steps=5, rng=1).tolist(),
        look("reconstruction", at),
        mode.energy,
        mode.visible.tolist(),
    ]


def test_slices_change_no_number(monkeypatch):
    def one_by_one(work, count):
        for k in range(count):
            work(k, k + 1)

    found = []
    for cut in (lambda work, count: work(0, count), one_by_one):
        for module in (importance, model, modes, slices):
            monkeypatch.setattr(module, "in_slices", cut)
        found.append(numbers())
    assert found[0] == found[1]


def test_slices_grow_with_their_speed_and_shrink(monkeypatch):
    now, cuts = [0.0], []
    monkeypatch.setattr(stopping, "working_time", lambda: now[0])

    def work(first, last):
        cuts.append(last - first)
        now[0] += 0.02 * (last - first) if first < 20 else 0.2 * (last - first)

    stopping.in_slices(work, 40)
    assert cuts == [1, 2, 4, 4, 4, 4, 4, 4, 2, *[1] * 11]


def test_ctrl_c_ends_work_in_slices_after_the_slice():
    done = []

    def work(first, last):
        signal.raise_signal(signal.SIGINT)
        done.append(last)

    with pytest.raises(KeyboardInterrupt):
        stopping.in_slices(work, 100)
    assert done == [1]


@pytest.mark.parametrize("units", ["spin", "binary"])
def test_modes_of_weights_too_large_for_floats_are_not_counted_as_proven(units):
    """The compiled enumeration of a training follows the rule of `find_mode`."""
    draws = np.random.default_rng(1)
    data = draws.integers(0, 2, (3, 300))
    counts = []
    for size in (1.0, 900.0):
        start = BoltzmannMachine(size * np.sign(draws.normal(size=(300, 10))), units=units)
        run = train(data, 10, epochs=4, units=units, start=start, learning_rate=1e-9, rng=1,
                    mode_probability=1.0, mode_offset=50.0, mode_slope=100.0)  # fmt: skip
        proven = find_mode(run.machine).is_proven
        assert run.modes == 4
        assert run.modes_proven == 4 * proven
        counts.append(run.modes_proven)
    assert counts == [4, 0]
    big = BoltzmannMachine(np.full((300, 10), 900.0))
    assert rounding(big.weights, big.visible_bias, big.hidden_bias) > CLOSED


def test_modes_of_larger_layers_are_enumerated_outside_compiled_updates():
    """One such update could take many seconds, in which no signal is handled."""
    data = np.random.default_rng(1).integers(0, 2, (3, 17))
    settings = TrainingSettings(17, epochs=2, mode_search="enumerate", mode_probability=1.0,
                                mode_offset=50.0, mode_slope=100.0)  # fmt: skip
    trainer = Trainer(data, settings, rng=1)
    assert not trainer._plan.enumerates
    run = trainer.run()
    assert run.modes == run.modes_proven == 2
