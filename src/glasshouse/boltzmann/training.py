"""Training of one RBM: epochs of updates, with monitors evaluated between them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann import data as data_sets
from glasshouse.boltzmann.beginning import first_arrays
from glasshouse.boltzmann.checkpoints import Checkpoint, State, digest, stored_seed
from glasshouse.boltzmann.kernels import updates
from glasshouse.boltzmann.kernels.gradient import new_gradient
from glasshouse.boltzmann.kernels.groups import new_group
from glasshouse.boltzmann.kernels.machine import (
    BEGUN,
    EPOCH,
    MODE,
    MODES,
    MOST_WEIGHT,
    PLACES,
    READY,
    SHUFFLED,
    UPDATES,
    Cut,
)
from glasshouse.boltzmann.kernels.modes import spin_weights
from glasshouse.boltzmann.matrices import Matrices
from glasshouse.boltzmann.model import BoltzmannMachine
from glasshouse.boltzmann.modes import find_mode, frustration_of
from glasshouse.boltzmann.monitors import Best, LastMode, Snapshot, chosen
from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.boltzmann.slices import find_averages, new_averages
from glasshouse.compiled import announces
from glasshouse.files.text.errors import FileError
from glasshouse.problems import FloatArray, SpinArray, validation
from glasshouse.randomness import RngLike, Seed
from glasshouse.stopping import deferred
from glasshouse.summaries import Summarised

# Child seeds by purpose, after those of `beginning`.
_MODES, _MONITORS = 2, 3
# The shortest piece of training after which a checkpoint may be written.
_PIECE_SECONDS = 0.2
# Seconds between two moments at which signals are handled; the most steps of single chains between
# them; and the number of products before the first moment, which take a few milliseconds.
_PAUSE_SECONDS, _MOST_AT_ONCE, _FIRST_PRODUCTS = 0.1, 1 << 40, 1 << 22


class DivergenceWarning(UserWarning):
    """Warning that a training run was stopped because its weights diverged."""


@dataclass(frozen=True, eq=False, repr=False)
class TrainingRun(Summarised):
    """A trained RBM, and a record of its training.

    Attributes:
        machine: the trained machine; after a divergence, that of the last good epoch.
        settings: the settings of the training.
        seed: the seed, which reproduces the training when passed as `rng`: an integer, or a `Seed`
            if the machine is one of many.
        epochs: the epochs of the evaluations; 0 is before the first update.
        history: the values of each monitor at these epochs.
        updates: the number of updates.
        modes: the number of updates that used a mode.
        modes_proven: the number of used modes that are proven.
        diverged_at: the epoch that was undone because the weights diverged; None if they did not.
        learning_seconds: the time of the updates alone, without evaluations.
    """

    machine: BoltzmannMachine
    settings: TrainingSettings
    seed: int | Seed
    epochs: npt.NDArray[np.int64]
    history: Mapping[str, FloatArray] = field(default_factory=dict)
    updates: int = 0
    modes: int = 0
    modes_proven: int = 0
    diverged_at: int | None = None
    learning_seconds: float = 0.0


def train(
    data: npt.ArrayLike,
    hidden: int,
    *,
    monitors: Iterable[str] = ("kl", "frustration"),
    every: int = 10,
    held_out: npt.ArrayLike | None = None,
    start: BoltzmannMachine | None = None,
    rng: RngLike = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callable[[Snapshot], object] | None = None,
    patience: int | None = None,
    **settings: Any,
) -> TrainingRun:
    """Train an RBM on rows of 0 and 1, or of -1 and 1.

    Args:
        data: one row per example.
        hidden: the number of hidden units.
        monitors: the monitors to record, by their names in `MONITORS`.
        every: the number of epochs between two records; epoch 0 and the last are recorded, too.
        held_out: rows that are not used for training, for monitors of held-out data.
        start: a machine to continue from, instead of random weights.
        rng: a seed, or anything that `numpy.random.default_rng` takes.
        checkpoint: an `.npz` file to which the whole state is written every few seconds. If it
            exists, the same training resumes from it, with the result of an uninterrupted training;
            a different training raises an error.
        callback: called at each evaluation with a `Snapshot`; a true result stops the training.
        patience: stop after `patience` records in which the first monitor did not improve, and
            return the machine of the best record; not allowed with `checkpoint`.
        settings: the fields of `TrainingSettings`, by name.

    >>> run = train([[1, 0], [0, 1]], 2, epochs=200, learning_rate=0.1, rng=1)
    >>> [round(float(value), 2) for value in run.history["kl"][[0, -1]]]
    [0.69, 0.02]
    """
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None and rng is None:
        rng = stored_seed(path)
    trainer = Trainer(
        data, TrainingSettings(hidden, **settings), held_out=held_out, start=start, rng=rng
    )
    return trainer.run(monitors, every, path, callback, patience)


class Trainer(Summarised):
    """An RBM in training, which can stop and resume at any epoch.

    Attributes:
        settings: the settings of the training.
        data: the training rows, in the machine's units.
        held_out: the held-out rows; None if there are none.
        engine: the engine of the training: "lanes" or "matrices".
        seed: the seed of all random numbers.
        modes_proven: the number of proven modes among those used so far.
        learning_seconds: the time that `advance` has taken so far.
        has_diverged: whether the weights diverged; the machine is then that of the last good epoch,
            and cannot be trained further.
    """

    @announces("training")  # the first `_epochs` compiles
    def __init__(
        self,
        data: npt.ArrayLike,
        settings: TrainingSettings,
        *,
        held_out: npt.ArrayLike | None = None,
        start: BoltzmannMachine | None = None,
        rng: RngLike = None,
    ) -> None:
        self.settings = settings
        self.data = data_sets.in_units(data, settings.units)
        self.held_out: SpinArray | None = None
        if held_out is not None:
            self.held_out = data_sets.in_units(held_out, settings.units, "held_out")
            widths = self.held_out.shape[1], self.data.shape[1]
            if widths[0] != widths[1]:
                raise ValueError(f"held_out has {widths[0]} columns, but data has {widths[1]}")
        self.seed = Seed.of(rng)
        self.modes_proven = 0
        self.learning_seconds = 0.0
        self.has_diverged = False
        self._constants: dict[str, float] = {}
        self._proven = np.zeros(1, dtype=np.int64)  # proven modes of the last compiled updates
        self.engine = settings.engine_for(self.data.shape[1], len(self.data))
        self._plan = settings.plan(self.data.shape[1], len(self.data))
        self._rates, self._chances = settings.learning_rates(), settings.mode_chances()
        self._arrays = first_arrays(settings, self.engine, self.data, start, self.seed)
        sizes = self._arrays.weights.shape if settings.gradient == "exact" else (0, 0)
        self._averages = new_averages(*sizes)
        self._matrices: Matrices | None = None
        if self.engine == "matrices":
            self._matrices = Matrices(self._arrays, self._plan, settings, self.data)
        self._at_once = _FIRST_PRODUCTS // self._arrays.weights.size + 1
        (n, m), kind = self._arrays.weights.shape, self._arrays.weights.dtype
        self._sums, self._group = new_gradient(n, m, kind), new_group(n, m, kind)
        self._cut = Cut(
            np.zeros(PLACES, dtype=np.int64),
            *(getattr(self._arrays, name).copy() for name in Cut._fields[1:]),
        )
        self._epochs(0)  # compiles before the clock runs
        if self._plan.averages_apart:
            find_averages(self.machine.smaller_first, settings.low, self._averages, blocks=0)

    def __repr__(self) -> str:
        size = f"{self.data.shape[1]} visible × {self.settings.hidden} hidden"
        return f"Trainer({size}, epoch {self.epoch} of {self.settings.epochs})"

    @property
    def epoch(self) -> int:
        """The number of finished epochs."""
        return int(self._arrays.progress[EPOCH])

    @property
    def machine(self) -> BoltzmannMachine:
        """A copy of the current machine."""
        parts = self._arrays.weights, self._arrays.visible_bias, self._arrays.hidden_bias
        weights, visible, hidden = (part.astype(np.float64, copy=False) for part in parts)
        return BoltzmannMachine.unchecked(weights, visible, hidden, self.settings.units)

    def advance(self, epoch: int) -> bool:
        """Train until `epoch` epochs are done; return False if the weights diverged."""
        begin = perf_counter()
        code = updates.PAUSED
        while not self.has_diverged and code != updates.DONE:
            started = perf_counter()
            with deferred():  # the arrays and their record must change together
                code = self._epochs(epoch)
                self.has_diverged = code == updates.DIVERGED
                self.modes_proven += int(self._proven[0])
                self._proven[0] = 0
            if code == updates.NEEDS_MODE:
                self._find_mode()
            elif code == updates.NEEDS_AVERAGES:
                find_averages(self.machine.smaller_first, self.settings.low, self._averages)
            elif code == updates.PAUSED:
                self._pace(perf_counter() - started)
        self.learning_seconds += perf_counter() - begin
        return not self.has_diverged

    def _epochs(self, last: int) -> int:
        if self._matrices is not None:
            return self._matrices.run(last, self._at_once)
        return updates.run_epochs(  # type: ignore[no-any-return]
            self._arrays, self._plan, self.data, self._rates, self._chances, last, self._at_once,
            self._proven, self._averages, self._sums, self._group, self._cut,
        )  # fmt: skip

    def _undo(self) -> None:
        """Undo an unfinished update, because checkpoints contain only whole updates."""
        with deferred():
            if self._cut.place[BEGUN]:
                names = "stream", "lanes", "chains", "order"
                for name in names if self._cut.place[SHUFFLED] else names[:3]:
                    getattr(self._arrays, name)[...] = getattr(self._cut, name)
                self._cut.place[:] = 0

    def _pace(self, seconds: float) -> None:
        """Adapt the number of steps after which signals are handled, without changing results.

        Args:
            seconds: the time that the last steps took.
        """
        if seconds < _PAUSE_SECONDS / 2:
            self._at_once = min(2 * self._at_once, _MOST_AT_ONCE)
        elif seconds > 2 * _PAUSE_SECONDS:
            self._at_once = max(self._at_once // 2, 1)

    def run(
        self,
        monitors: Iterable[str] = (),
        every: int = 10,
        checkpoint: Path | None = None,
        callback: Callable[[Snapshot], object] | None = None,
        patience: int | None = None,
    ) -> TrainingRun:
        """Train to the end, and evaluate the monitors, as `train` does."""
        looks = chosen(monitors, self.held_out)
        best = None if patience is None else Best(looks, patience)
        if best is not None and checkpoint is not None:
            raise ValueError("patience and checkpoint cannot be combined; remove one of them")
        every = validation.count(every, "every", 1)
        places = [*range(self.epoch, self.settings.epochs, every), self.settings.epochs]
        kept = None if checkpoint is None else self._checkpoint(checkpoint, looks, every)
        seen = self._resumed(kept, len(looks), places)
        try:
            for place in places[len(seen) :]:
                if not self._advance_kept(place, kept, seen):
                    break
                snapshot = self.snapshot()
                seen.append([look.look(snapshot) for look in looks.values()])
                is_over = best is not None and best.is_over(seen[-1][0], snapshot)
                if (callback is not None and callback(snapshot)) or is_over:
                    break
        except KeyboardInterrupt:
            self._undo()
            if kept is not None and self._arrays.progress[UPDATES]:
                kept.keep(self._arrays, self._state(_table(seen, len(looks))))
            raise
        values = _table(seen, len(looks))
        if kept is not None:
            kept.keep(self._arrays, self._state(values))
        history = {name: values[:, k] for k, name in enumerate(looks)}
        machine = self.machine if best is None else best.machine or self.machine
        return self._result(machine, np.array(places[: len(seen)], dtype=np.int64), history)

    def _checkpoint(self, path: Path, looks: Iterable[str], every: int) -> Checkpoint:
        start = self._arrays  # before the first update
        first = np.concatenate([start.weights.ravel(), start.visible_bias, start.hidden_bias])
        identity = self.settings.identity() | {
            "seed": [str(self.seed.entropy), [*self.seed.spawn_key]], "monitors": [*looks],
            "every": every, "data_sha256": digest(self.data),
            "held_out_sha256": digest(self.held_out), "first_weights_sha256": digest(first),
        }  # fmt: skip
        return Checkpoint(path, identity)

    def _resumed(self, kept: Checkpoint | None, width: int, places: list[int]) -> list[list[float]]:
        """Resume from a checkpoint, if there is one, and return the monitors' values so far."""
        state = None if kept is None else kept.restore(self._arrays)
        if kept is None or state is None:
            return []
        # The evaluation at the epoch itself may be missing.
        looks = [sum(place < limit for place in places) for limit in (self.epoch, self.epoch + 1)]
        is_sound = state.seen.shape[1] == width and len(state.seen) in looks
        batches = -(-len(self.data) // self._plan.batch_size)
        if not is_sound or not state.is_possible(
            self._arrays.progress, self.settings.epochs, batches, self._plan.averages_apart
        ):
            raise FileError(kept.path, "is a corrupt checkpoint: its counts disagree; delete it")
        self.modes_proven, self.has_diverged = state.modes_proven, state.has_diverged
        return [*state.seen.tolist()]

    def _advance_kept(self, epoch: int, kept: Checkpoint | None, seen: list[list[float]]) -> bool:
        """Train to an epoch, as `advance` does, and write the checkpoint every few seconds."""
        if kept is None:
            return self.advance(epoch)
        piece = 1
        while self.epoch < epoch:
            begin = monotonic()
            if not self.advance(min(self.epoch + piece, epoch)):
                return False
            if monotonic() - begin < _PIECE_SECONDS:
                piece *= 2
            width = len(seen[0]) if seen else len(kept.identity["monitors"])
            kept.keep_if_due(self._arrays, self._state(_table(seen, width)))
        return not self.has_diverged

    def _state(self, seen: FloatArray) -> State:
        return State(seen, self.modes_proven, self.has_diverged)

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the training run, from which monitors compute their values."""
        seed = self.seed.child(_MONITORS).child(self.epoch)
        arrays, last = self._arrays, None
        if arrays.progress[MODES]:
            energy, total = arrays.mode_energy.tolist()
            last = LastMode(arrays.mode_visible.copy(), frustration_of(-energy, total))
        return Snapshot(
            self.machine, self.data, self.held_out, self.settings, self.epoch, seed, last,
            self._constants,
        )  # fmt: skip

    def _find_mode(self) -> None:
        """Find the mode that the engine is waiting for, and store it in the run's arrays."""
        arrays, machine = self._arrays, self.machine
        number = int(arrays.progress[UPDATES])
        seed = self.seed.child(_MODES).child(number)
        start = arrays.mode_visible if arrays.progress[MODES] else None
        mode = find_mode(
            machine, search=self.settings.mode_search, start=start,
            seconds=self.settings.mode_seconds, rng=seed,
        )  # fmt: skip
        signed, total = spin_weights(
            machine.weights, machine.visible_bias, machine.hidden_bias, machine.low,
            mode.visible, mode.hidden,
        )  # fmt: skip
        with deferred():  # a checkpoint must not contain a part of a mode
            arrays.mode_visible[:], arrays.mode_hidden[:] = mode.visible, mode.hidden
            arrays.mode_energy[:] = -signed, total
            arrays.progress[MODE] = READY
            self.modes_proven += mode.is_proven

    def _result(
        self, machine: BoltzmannMachine, epochs: npt.NDArray[np.int64],
        history: Mapping[str, FloatArray],
    ) -> TrainingRun:  # fmt: skip
        progress = self._arrays.progress
        modes = int(progress[MODES])
        diverged = None
        if self.has_diverged:
            diverged = self.epoch + 1
            warnings.warn(
                f"weights grew beyond {MOST_WEIGHT:g} in epoch {diverged}, so the result "
                "is the RBM of the previous epoch; use a smaller learning_rate",
                DivergenceWarning,
                stacklevel=3,
            )
        return TrainingRun(
            machine, self.settings, self.seed if self.seed.spawn_key else self.seed.entropy,
            epochs, history,
            int(progress[UPDATES]), modes, self.modes_proven, diverged, self.learning_seconds,
        )  # fmt: skip


def _table(seen: list[list[float]], width: int) -> FloatArray:
    return np.array(seen, dtype=np.float64).reshape(len(seen), width)
