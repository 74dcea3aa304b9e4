"""Training pauses for signals: whatever the pauses, the result is the same, and so is its file."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.boltzmann.training import Trainer

DATA = np.random.default_rng(1).integers(0, 2, (20, 8)) * 2 - 1
SETTINGS = {
    "batches": TrainingSettings(4, epochs=30, batch_size=3),
    "whole epochs": TrainingSettings(4, epochs=30),
    "persistent": TrainingSettings(4, epochs=30, batch_size=7, gradient="pcd"),
    "modes": TrainingSettings(
        4, epochs=30, batch_size=7, mode_probability=0.5, mode_search="anneal"
    ),
    "enumerated modes": TrainingSettings(4, epochs=30, batch_size=7, mode_probability=0.5),
}


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
    assert again._go_on(again._checkpoint(checkpoint, (), 2_000_000), 0, [0, 2_000_000, 4_000_000])
    assert np.array_equal(again.machine.weights, trainer.machine.weights)
