"""Updates, against a slow transcription in NumPy that draws the same random words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.boltzmann.machines import random_machine
from tests.boltzmann.transcription import Transcription

from glasshouse.boltzmann import Trainer, TrainingSettings
from glasshouse.boltzmann.data import shifting_bars

DATA = shifting_bars(5, 2)

CASES: dict[str, dict[str, Any]] = {
    "cd-1": {},
    "cd-3": {"steps": 3},
    "pcd": {"gradient": "pcd", "steps": 2, "chains": 4},
    "pcd, a chain per row": {"gradient": "pcd"},
    "exact": {"gradient": "exact"},
    "sum": {"reduction": "sum", "learning_rate": 0.02},
    "batches": {"batch_size": 2},
    "batches of a sum": {"batch_size": 3, "reduction": "sum"},
    "momentum": {"momentum": 0.9},
    "decay": {"weight_decay": 0.1},
    "decay of a sum": {"weight_decay": 0.1, "reduction": "sum", "batch_size": 2, "momentum": 0.5},
    "no biases": {"biases": False},
    "linear rate": {"learning_rate": (0.5, 0.01)},
    "mode": {"mode_probability": 0.7},
    "mode at full step": {"mode_probability": 0.7, "mode_step": "full", "batch_size": 2},
    "exact and mode": {"mode_probability": 0.5, "gradient": "exact"},
    "chains from the mode": {"mode_probability": 0.7, "mode_use": "restart", "steps": 2},
    "persistent chains from the mode": {
        "mode_probability": 0.7, "mode_use": "restart", "gradient": "pcd",
    },
}  # fmt: skip


def assert_same(trainer: Trainer, slow: Transcription) -> None:
    assert trainer.advance(slow.settings.epochs)
    slow.run()
    assert trainer.machine.weights == pytest.approx(slow.w, abs=1e-9)
    assert trainer.machine.visible_bias == pytest.approx(slow.a, abs=1e-9)
    assert trainer.machine.hidden_bias == pytest.approx(slow.b, abs=1e-9)
    assert np.array_equal(trainer._arrays.back, trainer.machine.weights.T)


@pytest.mark.parametrize("units", ["spin", "binary"])
@pytest.mark.parametrize("name", CASES)
def test_updates_are_those_of_the_transcription(name: str, units: str) -> None:
    options = {"epochs": 12, "learning_rate": 0.3, "mode_slope": 6.0, "mode_offset": 0.0}
    chosen = TrainingSettings(4, units=units, **options | CASES[name])  # type: ignore[arg-type]
    trainer = Trainer(DATA, chosen, start=random_machine(5, 4, units, seed=5), rng=7)
    slow = Transcription.of(trainer)
    assert_same(trainer, slow)
    run = trainer.run()
    assert run.modes == run.modes_proven == slow.modes
    assert bool(slow.modes) == bool(chosen.mode_probability)


@pytest.mark.parametrize("units", ["spin", "binary"])
@pytest.mark.parametrize("options", [{}, {"steps": 2}, {"batch_size": 17}, {"gradient": "pcd"}])
@pytest.mark.parametrize("shape", [(1, 1), (9, 64), (64, 9), (65, 130), (70, 31)])
def test_so_are_those_of_more_rows_and_units_than_a_group_or_a_block_has(
    shape: tuple[int, int], options: dict[str, Any], units: str
) -> None:
    n, m = shape
    rows = np.random.default_rng(n).integers(0, 2, size=(40, n))
    chosen = TrainingSettings(m, 3, units, **options)
    start = random_machine(n, m, units, seed=m, sigma=0.3)
    trainer = Trainer(rows, chosen, start=start, rng=7)
    assert_same(trainer, Transcription.of(trainer))


@pytest.mark.parametrize("units", ["spin", "binary"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("shape", [(5, 4), (70, 131)])
def test_single_precision_differs_by_rounding_alone(
    shape: tuple[int, int], name: str, units: str
) -> None:
    """Random numbers are the same: a unit that is drawn otherwise would change weights by 5e-3."""
    if name in ("exact", "exact and mode") and min(shape) > 16:
        pytest.skip("too large to enumerate")
    n, m = shape
    rows = np.random.default_rng(n).integers(0, 2, size=(20, n))
    options = {"epochs": 2, "learning_rate": 0.1, "mode_slope": 0.0, "mode_offset": 9.0}
    options |= CASES[name] | {"mode_search": "anneal" if n > 16 else "enumerate"}
    start = random_machine(n, m, units, seed=m, sigma=0.3)
    single, double = (
        Trainer(rows, TrainingSettings(m, units=units, precision=kind, **options),  # type: ignore[arg-type]
                start=start, rng=7)
        for kind in ("single", "double")
    )  # fmt: skip
    assert single._arrays.weights.dtype == np.float32
    assert single.engine == "lanes"
    assert single.advance(2)
    assert double.advance(2)
    for part in ("weights", "visible_bias", "hidden_bias"):
        assert getattr(single.machine, part) == pytest.approx(
            getattr(double.machine, part), abs=5e-4
        )
    assert np.array_equal(single._arrays.back, single._arrays.weights.T)
