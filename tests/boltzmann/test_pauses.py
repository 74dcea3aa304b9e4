"""Training pauses for signals: whatever the pauses, the result is the same, and so is its file."""

from __future__ import annotations

import os
import signal
import threading
from time import process_time

import numpy as np
import pytest

from glasshouse.boltzmann import settings as training_settings
from glasshouse.boltzmann import training
from glasshouse.boltzmann.kernels.machine import UPDATES
from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.boltzmann.training import Trainer
from glasshouse.compiled import kernel_counts
from glasshouse.files.text.errors import FileError

DATA = np.random.default_rng(1).integers(0, 2, (20, 8)) * 2 - 1
SETTINGS = {
    "batches": TrainingSettings(4, epochs=30, batch_size=3),
    "whole epochs": TrainingSettings(4, epochs=30),
    "persistent": TrainingSettings(4, epochs=30, batch_size=7, gradient="pcd"),
    "modes": TrainingSettings(
        4, epochs=30, batch_size=7, mode_probability=0.5, mode_search="anneal"
    ),
    "enumerated modes": TrainingSettings(4, epochs=30, batch_size=7, mode_probability=0.5),
    "exact": TrainingSettings(4, epochs=30, batch_size=7, gradient="exact"),
    "many steps": TrainingSettings(4, epochs=30, batch_size=19, steps=5),
    "chains from the mode": TrainingSettings(
        4, epochs=30, batch_size=7, mode_probability=0.5, mode_use="restart", steps=2
    ),
    "matrices": TrainingSettings(
        4, epochs=30, batch_size=7, gradient="pcd", chains=5, temperatures=3, engine="matrices"
    ),
    "matrices and modes": TrainingSettings(
        4, epochs=30, batch_size=7, mode_probability=0.5, engine="matrices"
    ),
}
# With these, some updates use a mode, and the others exact averages.
EXACT = {
    "none": TrainingSettings(4, epochs=9, batch_size=7, gradient="exact"),
    "searched": TrainingSettings(
        4, epochs=9, batch_size=7, gradient="exact", mode_probability=0.5, mode_search="anneal",
        mode_slope=0, mode_offset=5,
    ),
    "enumerated": TrainingSettings(
        11, epochs=9, batch_size=7, gradient="exact", mode_probability=0.5, units="binary",
        mode_slope=0, mode_offset=5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_pauses_change_nothing(name, at_once, monkeypatch):
    whole, parts = (Trainer(DATA, SETTINGS[name], rng=1) for _ in range(2))
    whole._at_once = 1 << 30
    parts._at_once = at_once
    monkeypatch.setattr(parts, "_pace", lambda seconds: None)
    assert whole.advance(30)
    assert parts.advance(30)
    assert np.array_equal(whole.machine.weights, parts.machine.weights)
    assert whole.modes_proven == parts.modes_proven


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("at_once", [1, 3])
def test_a_training_stopped_at_any_pause_goes_on_from_its_file(
    name, at_once, tmp_path, monkeypatch
):
    """A pause cuts an update in two: the file has the machine before it."""
    expected = Trainer(DATA, SETTINGS[name], rng=1).run((), 10)
    stops = np.random.default_rng(1).integers(1, 40, 1000).tolist()

    def pace(seconds):
        stops[-1] -= 1
        if stops[-1] <= 0:
            stops.pop()
            raise KeyboardInterrupt

    while True:
        trainer = Trainer(DATA, SETTINGS[name], rng=1)
        trainer._at_once = at_once
        monkeypatch.setattr(trainer, "_pace", pace)
        try:
            found = trainer.run((), 10, tmp_path / "x.checkpoint.npz")
            break
        except KeyboardInterrupt:
            assert np.array_equal(trainer._arrays.weights.T, trainer._arrays.back)
    assert len(stops) < 1000
    assert np.array_equal(found.machine.weights, expected.machine.weights)
    assert found.modes_proven == expected.modes_proven


@pytest.mark.parametrize("options", [{}, {"gradient": "pcd"}, {"engine": "matrices"}])
def test_one_long_update_hears_signals(options):
    """All data at once: a clock rings all through the update, and each ring is handled in time."""
    rows = np.random.default_rng(1).integers(0, 2, (20_000, 784), dtype=np.int8)
    trainer = Trainer(rows, TrainingSettings(128, epochs=1, steps=2, **options), rng=1)
    beats = []
    before = signal.signal(signal.SIGPROF, lambda *_: beats.append(process_time()))
    signal.setitimer(signal.ITIMER_PROF, 0.02, 0.02)
    try:
        beats.append(process_time())
        assert trainer.advance(1)
        beats.append(process_time())
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert trainer._arrays.progress[UPDATES] == 1
    # An update that handles no signal is a single pause, on any computer.
    assert max(np.diff(beats)) < min(0.5, (beats[-1] - beats[0]) / 4)


def test_a_training_that_would_take_days_is_stopped_and_goes_on(tmp_path):
    """The signal comes from another thread, while the kernel is at work."""
    settings = TrainingSettings(4, epochs=4_000_000, batch_size=3)
    trainer = Trainer(DATA, settings, rng=1)
    checkpoint = tmp_path / "x.checkpoint.npz"
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            trainer.run((), 2_000_000, checkpoint)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    again = Trainer(DATA, settings, rng=1)
    kept = again._checkpoint(checkpoint, (), 2_000_000)
    assert again._resumed(kept, 0, [0, 2_000_000, 4_000_000])
    assert np.array_equal(again.machine.weights, trainer.machine.weights)


@pytest.mark.parametrize("modes", EXACT)
def test_averages_in_slices_are_the_same(modes, monkeypatch):
    whole = Trainer(DATA, EXACT[modes], rng=1)
    monkeypatch.setattr(training_settings, "_MOST_SUMMED", 0)
    sliced = Trainer(DATA, EXACT[modes], rng=1)
    assert (whole._plan.averages_apart, sliced._plan.averages_apart) == (False, True)
    assert whole.advance(9)
    assert sliced.advance(9)
    assert np.array_equal(whole.machine.weights, sliced.machine.weights)
    assert whole.modes_proven == sliced.modes_proven


@pytest.mark.parametrize("modes", EXACT)
def test_a_training_stopped_within_any_update_goes_on_as_if_it_had_not_been(
    modes, tmp_path, monkeypatch
):
    monkeypatch.setattr(training_settings, "_MOST_SUMMED", 0)
    expected = Trainer(DATA, EXACT[modes], rng=1).run((), 3).machine.weights
    find, calls = training.find_averages, []

    def find_or_stop(*arguments, blocks=None):
        if blocks is None:
            calls.append(1)
            if len(calls) % 2:
                raise KeyboardInterrupt
        find(*arguments, blocks)

    monkeypatch.setattr(training, "find_averages", find_or_stop)
    for _ in range(100):
        try:
            found = Trainer(DATA, EXACT[modes], rng=1).run((), 3, tmp_path / "x.checkpoint.npz")
            break
        except KeyboardInterrupt:
            pass
    assert len(calls) > 10
    assert np.array_equal(found.machine.weights, expected)


def test_a_checkpoint_that_waits_for_averages_belongs_to_a_training_that_uses_them(
    tmp_path, monkeypatch
):
    path, find = tmp_path / "x.checkpoint.npz", training.find_averages

    def stop_later(*arguments, blocks=None):
        if blocks is None and trainer.epoch == 1:
            raise KeyboardInterrupt
        find(*arguments, blocks)

    with monkeypatch.context() as patched:
        patched.setattr(training_settings, "_MOST_SUMMED", 0)
        patched.setattr(training, "find_averages", stop_later)
        trainer = Trainer(DATA, EXACT["none"], rng=1)
        with pytest.raises(KeyboardInterrupt):
            trainer.run((), 3, path)
    with pytest.raises(FileError, match="counts disagree"):
        Trainer(DATA, EXACT["none"], rng=1).run((), 3, path)


def test_sums_in_slices_are_compiled_before_the_training(monkeypatch):
    monkeypatch.setattr(training_settings, "_MOST_SUMMED", 0)
    trainer = Trainer(DATA, EXACT["none"], rng=1)
    before = kernel_counts()
    assert trainer.advance(1)
    assert kernel_counts() == before
