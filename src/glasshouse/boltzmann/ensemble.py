"""Ensembles of RBMs: many machines per setting, in a crash-safe store.

Each setting is a task, and each machine is a row. Machine k uses child k of the seed, so machines
with the same number start with the same weights, whatever the gradient. Rows are collected as in
studies: a machine that is in the store is not trained again.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann import data as data_sets
from glasshouse.boltzmann.data import DataOptions
from glasshouse.boltzmann.monitors import chosen, distinct
from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.boltzmann.training import DivergenceWarning, Trainer, TrainingRun
from glasshouse.problems import SpinArray, validation
from glasshouse.randomness import Seed
from glasshouse.store import Store, StoreError, StudyProgress, iter_collect, purpose
from glasshouse.store.row_types import LONGEST_TEXT, Column, Columns, Identified, Kind, Stop
from glasshouse.summaries import Summarised

TRAINING = Kind(
    "training",
    (
        Column("completed", "integer", "1 where the training went to its end, 0 where it diverged"),
        Column("diverged_at", "integer", "the epoch that was undone as it diverged; 0 if none"),
        Column("updates", "integer", "steps made"),
        Column("modes", "integer", "how many of these used a mode"),
        Column("modes_proven", "integer", "how many of those modes are proven"),
        Column("curves", "text", "JSON: per monitor, what was seen at each look, to 7 digits"),
        Column("learning_seconds", "real", "time of the updates alone, without looks"),
    ),
    counted="completed",
)
# A number of 7 digits in JSON has at most 15 characters: -1.234567e-100 and a comma.
MOST_VALUES = (LONGEST_TEXT - 2048) // 15
MOST_NAME = 200
_HANGING = 86_400.0  # seconds after which a machine on a worker counts as hanging


@dataclass(frozen=True, eq=False, repr=False)
class TrainingTask(Identified, Summarised):
    """A task of a store: `count` RBMs to be trained with the same settings.

    Attributes:
        data: rows of 0 and 1, or of -1 and 1.
        settings: the settings of the training.
        monitors: the monitors to record, by their names in `MONITORS`.
        every: the number of epochs between two records; epoch 0 and the last are recorded, too.
        seed: the seed of the task; machine k uses child k of this seed.
        count: the number of machines; not part of the task's identity.
        held_out: rows that are not used for training, for monitors of held-out data.
        name: the data's name for readers, at most 200 characters; not part of the task's identity.
        options: the options that select the data, from which reports rebuild the command; not part
            of the task's identity.

    >>> task = TrainingTask([[1, 0], [0, 1]], TrainingSettings(2, epochs=20), count=3)
    >>> task.run(2).machine
    BoltzmannMachine(2 visible × 2 hidden, spin units)
    """

    data: npt.ArrayLike
    settings: TrainingSettings
    monitors: Sequence[str] = ("kl", "frustration")
    every: int = 10
    seed: int = 1
    count: int = 1
    held_out: npt.ArrayLike | None = None
    name: str = "data"
    options: DataOptions = field(default_factory=DataOptions)

    def __post_init__(self) -> None:
        for name, least in {"every": 1, "seed": 0, "count": 1}.items():
            object.__setattr__(self, name, validation.count(getattr(self, name), name, least))
        object.__setattr__(self, "data", data_sets.in_units(self.data, "binary"))
        if self.held_out is not None:
            rows = data_sets.in_units(self.held_out, "binary", "held_out")
            object.__setattr__(self, "held_out", rows)
        object.__setattr__(self, "name", str(self.name)[:MOST_NAME] or "data")
        object.__setattr__(self, "monitors", distinct(self.monitors))
        looks = len(look_epochs(self.settings.epochs, self.every))
        if looks * len(self.monitors) > MOST_VALUES:
            every = math.ceil(self.settings.epochs / (MOST_VALUES // len(self.monitors) - 1))
            raise ValueError(
                f"every={self.every} gives {looks} evaluations of {len(self.monitors)} monitors, "
                f"but a store keeps at most {MOST_VALUES} numbers per RBM; use "
                f"every={every} or more"
            )

    @property
    def kind(self) -> Kind:
        """The type of the task's rows, which is `TRAINING`."""
        return TRAINING

    @property
    def stop(self) -> Stop:
        """The number of rows after which the task is complete."""
        return Stop(self.count)

    @cached_property
    def digests(self) -> dict[str, str]:
        """The SHA-256 digests of the training rows and of the held-out rows, if any."""
        parts = {"sha256": self.data, "held_out_sha256": self.held_out}
        return {name: _digest(rows) for name, rows in parts.items() if rows is not None}

    def canonical(self) -> str:
        """Return one line of JSON with everything that the results depend on."""
        rows, visible = np.shape(self.data)
        asked = {**self.settings.identity(), **self.digests, "rows": rows, "visible": visible}
        looks = {"monitors": list(self.monitors), "every": self.every}
        described = {"measures": "training", "method": "train", "parameters": asked,
                     "solver": looks, "seed": self.seed}  # fmt: skip
        return json.dumps(described, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def realise(self) -> dict[str, Any]:
        """Return the name and the options of the data set, as JSON values."""
        return {"data": self.name, "data_options": self.options.given()}

    def trainer(self, number: int = 0) -> Trainer:
        """Return the trainer of RBM `number`, before its first update."""
        seed = Seed.of(self.seed).child(number)
        return Trainer(self.data, self.settings, held_out=self.held_out, rng=seed)

    def run(self, number: int = 0, checkpoint: Path | None = None) -> TrainingRun:
        """Train RBM `number` to the end, with an optional checkpoint file as in `train`."""
        return self.trainer(number).run(self.monitors, self.every, checkpoint)

    def try_out(self) -> None:
        """Evaluate the monitors on the first RBM before training, to report errors early."""
        trainer = self.trainer()
        for look in chosen(self.monitors, trainer.held_out).values():
            look.look(trainer.snapshot())

    def measure(self, first: int, count: int) -> Columns:
        """Train RBMs `first` to `first + count - 1`, and return their results by column."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DivergenceWarning)  # counted instead
            return TRAINING.columns_of(map(self._row, range(first, first + count)))

    def _row(self, number: int) -> dict[str, Any]:
        begin = time.perf_counter()
        run = self.run(number)
        # Computers differ only after the seventh digit. JSON has no NaN.
        curves = {
            name: [float(f"{value:.7g}") if math.isfinite(value) else None for value in values]
            for name, values in run.history.items()
        }
        return {
            "completed": int(run.diverged_at is None),
            "diverged_at": run.diverged_at or 0,
            "updates": run.updates,
            "modes": run.modes,
            "modes_proven": run.modes_proven,
            "curves": json.dumps(curves, separators=(",", ":"), allow_nan=False),
            "learning_seconds": run.learning_seconds,
            "seconds": time.perf_counter() - begin,
        }


def look_epochs(epochs: int, every: int) -> npt.NDArray[np.int64]:
    """Return the epochs at which a machine is evaluated.

    >>> look_epochs(25, 10).tolist()
    [0, 10, 20, 25]
    """
    return np.append(np.arange(0, epochs, every, dtype=np.int64), np.int64(epochs))


def reserve(store: Store, tasks: Iterable[TrainingTask]) -> None:
    """Raise if a store is not for training results, or contains RBMs trained on other data."""
    store.reserve(purpose.TRAINING)
    held = [purpose.digests_of(task.table("parameters")) for task in store.tasks()]
    for task in tasks:
        held.append(task.digests)
        if held[-1] != held[0]:
            raise StoreError(
                f"{store.path} contains RBMs that were trained on other data; use another store"
            )


def iter_train(
    tasks: Sequence[TrainingTask],
    store: str | Path,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Iterator[StudyProgress]:
    """Train ensembles and store them, or resume the training; yield progress every few RBMs.

    Args:
        tasks: tasks of one data set, with any settings.
        store: the store's file; created if it does not exist.
        workers: the number of processes; None uses the current process.
        executor: any executor instead of worker processes, for example that of a Dask cluster.
    """
    for task in tasks:
        task.try_out()
    with Store(store, write=True) as opened:
        reserve(opened, tasks)
    yield from iter_collect(tasks, store, executor=executor, workers=workers, timeout=_HANGING)


def _digest(rows: npt.ArrayLike) -> str:
    """Return a digest of data rows, which is the same for 0/1 values as for ±1 values."""
    array: SpinArray = np.asarray(rows)
    head = "×".join(map(str, array.shape)).encode() + b"\n"
    return hashlib.sha256(head + np.packbits(array == 1).tobytes()).hexdigest()
