"""Checkpoints: the whole state of a training, in a file that is replaced every few seconds."""

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
from glasshouse.files.text.archive import opened_archive
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.plain_json import parse_object
from glasshouse.files.text.streams import opened, replacing
from glasshouse.problems import FloatArray
from glasshouse.randomness import Seed

SECONDS = 5.0  # least time between two writes
_KIND = "glasshouse training"
_VERSION = 2
_NO_CHECKPOINT = "is not a checkpoint of a training ({}); choose another name"


def digest(array: npt.NDArray[Any] | None) -> str | None:
    """Return the SHA-256 of an array: its shape, its type and its bytes."""
    if array is None:
        return None
    found = hashlib.sha256(f"{array.shape} {array.dtype.str}".encode())
    found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


@dataclass
class State:
    """The state of a training, without its arrays.

    Attributes:
        seen: the monitors' values: one row per evaluation, one column per monitor.
        modes_proven: how many of the modes used so far are proven.
        has_diverged: whether weights grew beyond all use.
    """

    seen: FloatArray
    modes_proven: int = 0
    has_diverged: bool = False

    def is_possible(
        self, progress: npt.NDArray[np.int64], epochs: int, batches: int, has_averages: bool
    ) -> bool:
        """Whether counts can be those of a training.

        Args:
            progress: the counts.
            epochs: the epochs of the training.
            batches: the batches of an epoch.
            has_averages: whether updates may wait for exact averages.
        """
        epoch, batch, mode, modes, number = progress[[EPOCH, BATCH, MODE, MODES, UPDATES]].tolist()
        # A training that diverges stops before it begins the next epoch.
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
    """A file from which a training resumes.

    Attributes:
        path: the file.
        identity: all that the result depends on, in JSON's values; a training with another one
            does not continue from the file.
    """

    path: Path
    identity: Mapping[str, Any]
    _written: float = field(default_factory=monotonic)

    def restore(self, arrays: Machine) -> State | None:
        """Fill the arrays of a training from the file; return None if there is no file.

        Raises:
            FileError: the file is not a checkpoint, or belongs to another training.
        """
        if not self.path.exists():
            return None
        header, kept, seen = _read(self.path, arrays)
        stored = header.get("identity")
        if stored != self.identity:
            raise FileError(self.path, _difference(stored, self.identity))
        _refuse_unsound(self.path, arrays, kept, self.identity.get("units") == "binary")
        proven, diverged = header.get("modes_proven"), header.get("has_diverged")
        if type(proven) is not int or type(diverged) is not bool:
            raise FileError(self.path, "is a checkpoint with an invalid header; delete it")
        for name, values in kept.items():
            getattr(arrays, name)[...] = values
        return State(seen, proven, diverged)

    def keep_now_and_then(self, arrays: Machine, state: State) -> None:
        """Write the file, unless the last write was less than `SECONDS` ago."""
        if monotonic() - self._written >= SECONDS:
            self.keep(arrays, state)

    def keep(self, arrays: Machine, state: State) -> None:
        """Write the file; the previous one stays until the new one is complete."""
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
    """Read a checkpoint for a human reader; only its form is checked.

    Returns:
        The machine with the weights of that moment; in JSON's values, the settings and all else
        that the training's result depends on; and what the training knew.

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
    """Return the seed of the training that a file belongs to; None if there is no file."""
    if not path.exists():
        return None
    try:
        entropy, key = _read(path, None)[0]["identity"]["seed"]
        return Seed(int(entropy), tuple(map(int, key)))
    except (KeyError, TypeError, ValueError) as fault:
        if isinstance(fault, FileError):
            raise
        raise FileError(path, "is a checkpoint without a valid seed; delete it") from None


def _read(path: Path, like: Machine | None) -> tuple[dict[str, Any], Any, FloatArray]:
    """Read the header, the arrays of a machine, and the values of the monitors."""
    with opened(path, "npz") as source, opened_archive(source, _NO_CHECKPOINT) as archive:
        header = parse_object(archive.text("header").encode())
        if header is None or header.get("format") != _KIND:
            raise ValueError("its header is not that of a checkpoint")
        if header.get("version") != _VERSION:
            raise ValueError(f"its version is not {_VERSION}")
        kept = {} if like is None else {
            name: archive.numbers(name, values.ndim) for name, values in like._asdict().items()
        }  # fmt: skip
        return header, kept, archive.numbers("seen", 2).astype(np.float64)


def _difference(stored: Any, wanted: Mapping[str, Any]) -> str:
    """Describe how the training in a file differs from the requested one."""
    stored = stored if isinstance(stored, dict) else {}
    name = next((n for n in wanted if stored.get(n) != wanted[n]), "format")
    old, new = stored.get(name), wanted.get(name)
    words = f"{name} {old!r:.60}, not {new!r:.60}"
    if name.endswith("sha256"):
        words = f"other {name.removesuffix('_sha256')}"
    return f"is the checkpoint of another training, with {words}; give another name, or delete it"


def _refuse_unsound(path: Path, arrays: Machine, kept: Mapping[str, Any], is_binary: bool) -> None:
    """Refuse invalid arrays, because compiled code trusts shapes, indices and units."""
    units = (0, 1) if is_binary else (-1, 1)
    for name, values in kept.items():
        wanted = getattr(arrays, name)
        is_good = values.shape == wanted.shape and values.dtype == wanted.dtype
        if is_good and values.dtype.kind == "f":
            is_good = bool(np.isfinite(values).all())
        if is_good and values.dtype == np.int8:
            is_good = bool(np.isin(values, units).all())
        if not is_good:
            raise FileError(path, f"is a checkpoint with invalid {name}; delete it")
    weights = kept["weights"], kept["visible_bias"], kept["hidden_bias"]
    if max(float(np.abs(part).max(initial=0.0)) for part in weights) > MOST_WEIGHT:
        raise FileError(path, "is a checkpoint with invalid weights; delete it")
    if not np.array_equal(kept["back"], kept["weights"].T):
        raise FileError(path, "is a checkpoint whose two copies of the weights differ; delete it")
    if not kept["stream"].any():
        raise FileError(path, "is a checkpoint with an invalid stream; delete it")
    if not np.array_equal(np.sort(kept["order"]), np.arange(len(arrays.order))):
        raise FileError(path, "is a checkpoint with an invalid order; delete it")
    if (kept["progress"] < 0).any():
        raise FileError(path, "is a checkpoint with an invalid progress; delete it")
