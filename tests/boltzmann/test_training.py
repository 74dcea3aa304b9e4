"""Whole trainings: the same again, in pieces, with threads, diverging, and with bad input."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glasshouse.boltzmann import (
    BoltzmannMachine,
    DivergenceWarning,
    Trainer,
    TrainingSettings,
    modes,
    shifting_bars,
    train,
)
from glasshouse.boltzmann.kernels.machine import MOST_WEIGHT
from glasshouse.solvers import anneal

DATA = shifting_bars(5, 2)
OPTIONS: dict[str, Any] = {
    "epochs": 30, "batch_size": 2, "gradient": "pcd", "momentum": 0.5, "mode_probability": 0.4,
    "mode_offset": 50.0, "learning_rate": (0.3, 0.05),
}  # fmt: skip


def weights_of(seed: int) -> list[float]:
    run = train(DATA, 4, monitors=(), rng=seed, **OPTIONS)
    return run.machine.weights.ravel().tolist()


def test_a_seed_means_the_same_in_other_threads_and_processes() -> None:
    here = [weights_of(seed) for seed in (1, 2, 3)]
    assert here[0] != here[1]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(weights_of, (1, 2, 3))) == here
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(weights_of, 1).result() == here[0]


FIRST = """
from glasshouse.boltzmann import train
run = train([[1, 0], [0, 1]], 2, epochs=2, monitors=(), rng=1)
print(run.learning_seconds < 1)
"""


@pytest.mark.slow
def test_the_first_compilation_is_told_once_and_not_taken_for_learning(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    words = [
        "compiling the training kernels for this kind of problem; "
        "this is done once and takes a few seconds\n",
        "",
    ]
    for said in words:
        done = subprocess.run([sys.executable, "-c", FIRST], env=environment, text=True, check=True,
                              capture_output=True)  # fmt: skip
        assert (done.stdout, done.stderr) == ("True\n", said)


@pytest.mark.parametrize("search", ["enumerate", "anneal"])
def test_a_training_in_pieces_is_the_whole(search: str) -> None:
    options = OPTIONS | {"mode_search": search}
    whole = train(DATA, 4, rng=1, **options)
    trainer = Trainer(DATA, TrainingSettings(4, **options), rng=1)
    for epoch in (1, 2, 7, 7, 20):
        assert trainer.advance(epoch)
        assert trainer.epoch == epoch
    rest = trainer.run()
    assert rest.machine == whole.machine
    assert (rest.updates, rest.modes, rest.modes_proven) == (
        whole.updates, whole.modes, whole.modes_proven,
    )  # fmt: skip
    assert rest.epochs.tolist() == [20, 30]
    assert whole.updates == 30 * 3
    assert (whole.modes_proven == whole.modes > 0) == (search == "enumerate")


def test_a_training_goes_on_from_a_machine() -> None:
    start = BoltzmannMachine(np.full((5, 4), 0.5), units="binary")
    run = train(DATA, 4, epochs=1, learning_rate=0.0, start=start, monitors=())
    assert run.machine == start.in_units("spin")
    with pytest.raises(ValueError, match=r"data and hidden require 5 × 3 units"):
        train(DATA, 3, start=start)


def test_an_interrupted_training_goes_on_as_if_it_had_not_been(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C during the search for a mode: annealing returns its best state, training raises."""
    options = OPTIONS | {"mode_search": "anneal"}
    whole = train(DATA, 4, rng=1, monitors=(), **options)
    trainer = Trainer(DATA, TrainingSettings(4, **options), rng=1)

    def interrupted(*args: Any, **words: Any) -> Any:
        return replace(anneal(*args, **words), stopped="interrupted")

    with monkeypatch.context() as patch:
        patch.setattr(modes, "anneal", interrupted)
        with pytest.raises(KeyboardInterrupt):
            trainer.run()
    assert trainer.run().machine == whole.machine


@pytest.mark.parametrize("search", ["enumerate", "anneal"])
@pytest.mark.parametrize("batch_size", [None, 2])
def test_a_divergence_keeps_the_last_good_weights(search: str, batch_size: int | None) -> None:
    """The same in the middle of an epoch, just before the search for a mode."""
    options: dict[str, Any] = {
        "epochs": 50, "learning_rate": 100.0, "reduction": "sum", "mode_search": search,
        "batch_size": batch_size, "mode_probability": 0.6, "mode_offset": 50.0,
        "mode_step": "full", "momentum": 0.9,
    }  # fmt: skip
    with pytest.warns(DivergenceWarning, match=r"in epoch \d+, .*smaller learning_rate"):
        run = train(DATA, 4, rng=1, every=1, monitors=("kl",), **options)
    assert run.diverged_at is not None
    assert run.epochs.tolist() == list(range(run.diverged_at))
    assert np.isfinite(run.history["kl"]).all()
    assert abs(run.machine.weights).max() <= MOST_WEIGHT
    good = Trainer(DATA, TrainingSettings(4, **options), rng=1)
    assert good.advance(run.diverged_at - 1)
    assert run.machine == good.machine
    assert not good.advance(50)
    assert not good.advance(50)  # it does not continue by itself
    assert good.machine == run.machine


BAD_DATA = {
    "numbers": ([[0, 1], [0, 2]], "values other than 0 and 1, or -1 and 1, such as 2"),
    "three values": ([[0, 1], [-1, 1]], "mixes 0 and -1"),
    "shares": ([[0.5, 1.0]], "such as 0.5; threshold it first"),
    "NaN": ([[0.0, math.nan]], "NaN or infinity"),
    "words": ([["a", "b"]], "expected numbers 0 and 1"),
    "a row": ([0, 1], "expected a non-empty table"),
    "nothing": (np.empty((0, 3)), "expected a non-empty table"),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data(name: str) -> None:
    rows, words = BAD_DATA[name]
    with pytest.raises(ValueError, match=words):
        train(rows, 3)
    with pytest.raises(ValueError, match="held_out"):
        train([[0, 1]], 3, held_out=rows)


BAD_SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"hidden": 0}, "hidden=0 is below 1"),
    ({"hidden": 2.0}, "hidden=2.0 is not an integer"),
    ({"epochs": 0}, "epochs=0 is below 1"),
    ({"steps": 0}, "steps=0 is below 1"),
    ({"batch_size": 0}, "batch_size=0 is below 1"),
    ({"gradient": "pcd", "chains": 0}, "chains=0 is below 1"),
    ({"chains": 3}, 'needs gradient="pcd"'),
    ({"units": "ternary"}, "units='ternary' is not one of spin, binary"),
    ({"gradient": "sgd"}, "gradient='sgd' is not one of cd, pcd, exact"),
    ({"reduction": "max"}, "reduction='max' is not one of mean, sum"),
    ({"mode_use": "never"}, "mode_use='never' is not one of update, restart"),
    ({"mode_step": "half"}, "mode_step='half' is not one of energy, full"),
    ({"mode_search": "guess"}, "mode_search='guess' is not one of auto, enumerate, anneal, prove"),
    ({"mode_seconds": 0}, "mode_seconds=0 must be a finite time above 0"),
    ({"mode_seconds": math.nan}, "mode_seconds=nan must be a finite time above 0"),
    ({"learning_rate": -1}, "learning_rate=-1 must be one or two finite numbers"),
    ({"learning_rate": math.nan}, "learning_rate=nan must be one or two finite numbers"),
    ({"learning_rate": (0.1, 0.2, 0.3)}, "learning_rate=.* must be one or two finite numbers"),
    ({"learning_rate": (0.1, math.inf)}, "learning_rate=.* must be one or two finite numbers"),
    ({"learning_rate": "fast"}, "learning_rate='fast' must be one or two finite numbers"),
    ({"momentum": 1.0}, r"momentum=1.0 must be a number in \[0, 1\)"),
    ({"momentum": -0.1}, "momentum=-0.1 must be a number"),
    ({"weight_decay": -1}, "weight_decay=-1 must be a number in "),
    ({"sigma": math.inf}, "sigma=inf must be a number in "),
    ({"sigma": True}, "sigma=True must be a number"),
    ({"biases": 1}, "biases=1 must be True or False"),
    ({"mode_probability": 1.5}, r"mode_probability=1.5 must be a number in \[0, 1\]"),
    ({"mode_slope": math.nan}, "mode_slope=nan must be a finite number"),
    ({"mode_offset": math.inf}, "mode_offset=inf must be a finite number"),
    (
        {"gradient": "exact", "mode_use": "restart", "mode_probability": 0.1},
        'mode_use="restart" needs chains',
    ),
]


@pytest.mark.parametrize(("options", "words"), BAD_SETTINGS)
def test_bad_settings(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TrainingSettings(**{"hidden": 3} | options)


def test_what_is_too_large_for_exact_sums_is_refused_before_it_trains() -> None:
    data = np.eye(30, dtype=int)
    with pytest.raises(ValueError, match=r"gradient='exact' enumerates .* at most 24 units, not"):
        train(data, 25, gradient="exact")
    with pytest.raises(ValueError, match=r"mode_search='enumerate' enumerates .* use 'anneal'"):
        train(data, 25, mode_search="enumerate", mode_probability=0.1)


def test_bad_looks() -> None:
    with pytest.raises(ValueError, match="every=0 is below 1"):
        train(DATA, 3, every=0)


def test_chances_of_a_mode_follow_the_published_sigmoid() -> None:
    """P_max · logistic(20·epoch/epochs - 6): 0.00025 at first, half of P_max at 30 %."""
    chances = TrainingSettings(3, 1000, mode_probability=0.1).mode_chances()
    assert chances[0] == pytest.approx(0.1 / (1 + math.exp(6)), rel=1e-6)
    assert chances[300] == pytest.approx(0.05)
    assert chances[-1] == pytest.approx(0.1, rel=1e-5)
    assert (np.diff(chances) >= 0).all()
    assert TrainingSettings(3).mode_chances().max() == 0
