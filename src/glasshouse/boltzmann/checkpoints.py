"""Checkpoints: the state of a training run, in a file that is replaced every few seconds."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.data import Units
from glasshouse.boltzmann.kernels.machine import (
    AVERAGED,
    BATCH,
    EPOCH,
    MODE,
    MODES,
    MOST_WEIGHT,
    NONE,
    READY,
    UPDATES,
    WANTED,
    Machine,
)
from glasshouse.boltzmann.model import BoltzmannMachine
from glasshouse.files import FileError, parse_object
from glasshouse.files.text.archive import opened_archive
from glasshouse.files.text.streams import opened, replacing
from glasshouse.problems import FloatArray
from glasshouse.randomness import Seed

SECONDS = 5.0  # the minimum time between two writes
_KIND = "glasshouse training"
_VERSION = 2
_NO_CHECKPOINT = "is not a checkpoint of a training run ({}); choose another file"


def digest(array: npt.NDArray[Any] | None) -> str | None:
    """Return the SHA-256 digest of an array's shape, type and bytes; None if there is no array."""
    if array is None:
        return None
    found = hashlib.sha256(f"{array.shape} {array.dtype.str}".encode())
    found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


@dataclass
class State:
    """The state of a training run, except for the arrays of its RBM.

    Attributes:
        seen: the monitors' values: one row per evaluation, one column per monitor.
        modes_proven: the number of proven modes among those used so far.
        has_diverged: whether a weight or bias exceeded `MOST_WEIGHT`.
    """

    seen: FloatArray
    modes_proven: int = 0
    has_diverged: bool = False

    def is_possible(
        self, progress: npt.NDArray[np.int64], epochs: int, batches: int, has_averages: bool
    ) -> bool:
        """Return whether the counts in a checkpoint are possible for this training run.

        Args:
            progress: the counts, as in `Machine.progress`.
            epochs: the number of epochs of the training.
            batches: the number of batches per epoch.
            has_averages: whether updates may wait for exact averages.
        """
        epoch, batch, mode, modes, number = progress[[EPOCH, BATCH, MODE, MODES, UPDATES]].tolist()
        # A run that diverges stops before it begins the next epoch.
        if not (0 <= epoch <= epochs and 0 <= batch < batches + self.has_diverged):
            return False
        return (
            (mode in (NONE, WANTED, READY) or (mode == AVERAGED and has_averages))
            and number == epoch * batches + batch
            and 0 <= modes <= number
            and 0 <= self.modes_proven <= modes + (mode == READY)
        )


@dataclass
class Checkpoint:
    """A checkpoint file, from which a training run resumes.

    Attributes:
        path: the path of the file.
        identity: everything that the result depends on, as JSON values; a run with a
            different identity cannot resume from the file.
    """

    path: Path
    identity: Mapping[str, Any]
    _written: float = field(default_factory=monotonic)

    def restore(self, arrays: Machine) -> State | None:
        """Restore the arrays from the file, and return the run's state; None if there is no file.

        Raises:
            FileError: the file is not a checkpoint, or belongs to another training run.
        """
        if not self.path.exists():
            return None
        header, kept, seen = _read(self.path, arrays)
        stored = header.get("identity")
        if stored != self.identity:
            raise FileError(self.path, _difference(stored, self.identity))
        _refuse_invalid(self.path, arrays, kept, self.identity.get("units") == "binary")
        proven, diverged = header.get("modes_proven"), header.get("has_diverged")
        if type(proven) is not int or type(diverged) is not bool:
            raise FileError(self.path, "is a corrupt checkpoint: its header is invalid; delete it")
        for name, values in kept.items():
            getattr(arrays, name)[...] = values
        return State(seen, proven, diverged)

    def keep_if_due(self, arrays: Machine, state: State) -> None:
        """Write the checkpoint if at least `SECONDS` have passed since the last write."""
        if monotonic() - self._written >= SECONDS:
            self.keep(arrays, state)

    def keep(self, arrays: Machine, state: State) -> None:
        """Atomically replace the checkpoint file with the current state."""
        header = {
            "format": _KIND, "version": _VERSION, "identity": self.identity,
            "modes_proven": state.modes_proven, "has_diverged": state.has_diverged,
        }  # fmt: skip
        buffer = io.BytesIO()
        parts = arrays._asdict() | {"seen": state.seen, "header": np.array(json.dumps(header))}
        np.savez(buffer, **parts)
        with replacing(self.path, "npz", overwrite=True) as file:
            file.write(buffer.getbuffer())
        self._written = monotonic()


def read_stored(path: Path) -> tuple[BoltzmannMachine, dict[str, Any], State]:
    """Read a checkpoint for display, and check its format but not its values.

    Returns:
        The RBM at the time of the checkpoint; the identity of the training run, as JSON values
        (see `Checkpoint`); and the state of the run.

    Raises:
        FileError: the file is not a checkpoint.
    """
    header, seen = _read(path, None)[::2]
    identity = header.get("identity")
    identity = identity if isinstance(identity, dict) else {}
    units: Units = "binary" if identity.get("units") == "binary" else "spin"
    with opened(path, "npz") as source, opened_archive(source, _NO_CHECKPOINT) as archive:
        machine = BoltzmannMachine(
            archive.numbers("weights", 2), archive.numbers("visible_bias", 1),
            archive.numbers("hidden_bias", 1), units,
        )  # fmt: skip
    proven = header.get("modes_proven")
    state = State(
        seen, proven if isinstance(proven, int) else 0, header.get("has_diverged") is True
    )
    return machine, identity, state


def stored_seed(path: Path) -> Seed | None:
    """Return the seed that a checkpoint file contains, or None if there is no file."""
    if not path.exists():
        return None
    try:
        entropy, key = _read(path, None)[0]["identity"]["seed"]
        return Seed(int(entropy), tuple(map(int, key)))
    except (KeyError, TypeError, ValueError) as fault:
        if isinstance(fault, FileError):
            raise
        raise FileError(path, "is a corrupt checkpoint: it has no valid seed; delete it") from None


def _read(path: Path, like: Machine | None) -> tuple[dict[str, Any], Any, FloatArray]:
    """Read a checkpoint's header, the arrays of its RBM, and the values of its monitors."""
    with opened(path, "npz") as source, opened_archive(source, _NO_CHECKPOINT) as archive:
        header = parse_object(archive.text("header").encode())
        if header is None or header.get("format") != _KIND:
            raise ValueError("its header must be that of a glasshouse training run")
        if header.get("version") != _VERSION:
            raise ValueError(f"its version must be {_VERSION}")
        kept = {} if like is None else {
            name: archive.numbers(name, values.ndim) for name, values in like._asdict().items()
        }  # fmt: skip
        return header, kept, archive.numbers("seen", 2).astype(np.float64)


def _difference(stored: Any, wanted: Mapping[str, Any]) -> str:
    """Return an error message that names the first setting in which two training runs differ."""
    stored = stored if isinstance(stored, dict) else {}
    name = next((n for n in wanted if stored.get(n) != wanted[n]), "format")
    old, new = stored.get(name), wanted.get(name)
    words = f"{name} {old!r:.60}, not {new!r:.60}"
    if name.endswith("sha256"):
        words = f"different {name.removesuffix('_sha256')}"
    return f"is the checkpoint of another training run ({words}); choose another file, or delete it"


def _refuse_invalid(path: Path, arrays: Machine, kept: Mapping[str, Any], is_binary: bool) -> None:
    """Raise if a checkpoint contains invalid arrays, because compiled code would trust them."""
    units = (0, 1) if is_binary else (-1, 1)
    for name, values in kept.items():
        wanted = getattr(arrays, name)
        is_good = values.shape == wanted.shape and values.dtype == wanted.dtype
        if is_good and values.dtype.kind == "f":
            is_good = bool(np.isfinite(values).all())
        if is_good and values.dtype == np.int8:
            is_good = bool(np.isin(values, units).all())
        if not is_good:
            raise FileError(path, f"is a corrupt checkpoint: array {name} is invalid; delete it")
    weights = kept["weights"], kept["visible_bias"], kept["hidden_bias"]
    if max(float(np.abs(part).max(initial=0.0)) for part in weights) > MOST_WEIGHT:
        raise FileError(path, "is a corrupt checkpoint: its weights are too large; delete it")
    if not np.array_equal(kept["back"], kept["weights"].T):
        raise FileError(path, "is a corrupt checkpoint: weights and transpose differ; delete it")
    if not kept["stream"].any():
        raise FileError(path, "is a corrupt checkpoint: its random stream is all 0; delete it")
    if not np.array_equal(np.sort(kept["order"]), np.arange(len(arrays.order))):
        raise FileError(path, "is a corrupt checkpoint: its order of rows is invalid; delete it")
    if (kept["progress"] < 0).any():
        raise FileError(path, "is a corrupt checkpoint: its counts are negative; delete it")
