"""Model files: `.npz` archives of weights, visible_bias, hidden_bias and units.

A model file is also an instance: `glasshouse solve`, `prove`, `info` and `convert` read it as the
problem of finding the machine's mode, with real weights (see `files.matrices`). For integer
weights, write `machine.to_instance(resolution=1000)` with `glasshouse.write`.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.boltzmann.data import Units
from glasshouse.boltzmann.model import BoltzmannMachine
from glasshouse.files import FileError, parse_object
from glasshouse.files.formats.matrices import machine_parts
from glasshouse.files.text.archive import opened_archive
from glasshouse.files.text.streams import Place, format_suffix, name_of, opened, replacing
from glasshouse.randomness import Seed

if TYPE_CHECKING:
    from glasshouse.boltzmann.training import TrainingRun

_NO_MACHINE = "is not an .npz file that contains an RBM ({})"


def save_machine(
    path: str | Path,
    machine: BoltzmannMachine,
    *,
    run: TrainingRun | None = None,
    overwrite: bool = False,
) -> None:
    """Write an RBM to an `.npz` file atomically.

    Args:
        path: the path of the file, which must end in `.npz`.
        machine: the machine to write.
        run: the training of the machine, to be recorded next to the weights (see `load_notes`).
        overwrite: replace an existing file.
    """
    path = Path(path)
    if format_suffix(path) != ".npz":
        raise FileError(path, "is not a name for a model file; use a name that ends in .npz")
    buffer = io.BytesIO()
    texts: dict[str, Any] = {"units": np.array(machine.units)}
    if run is not None:
        texts["training"] = np.array(json.dumps(_notes(run), allow_nan=False))
    np.savez(buffer, weights=machine.weights, visible_bias=machine.visible_bias,
             hidden_bias=machine.hidden_bias, **texts)  # fmt: skip
    with replacing(path, overwrite=overwrite) as file:
        file.write(buffer.getbuffer())


def _notes(run: TrainingRun) -> dict[str, Any]:
    """Return the record of a training run as JSON values."""
    seed = run.seed if isinstance(run.seed, Seed) else Seed(run.seed)
    history = {
        name: [float(x) if np.isfinite(x) else None for x in values]
        for name, values in run.history.items()
    }
    return {
        "settings": run.settings.plain(), "seed": str(seed.entropy),
        "spawn_key": [*seed.spawn_key], "epochs": run.epochs.tolist(), "history": history,
        "updates": run.updates, "modes": run.modes, "modes_proven": run.modes_proven,
        "diverged_at": run.diverged_at, "learning_seconds": run.learning_seconds,
    }  # fmt: skip


def load_notes(place: Place) -> dict[str, Any]:
    """Return a model file's record of the training run, or {} if it has no record.

    The settings, the seed, the history and the modes are as the file states them, unchecked.
    """
    with opened(place) as source, opened_archive(source, _NO_MACHINE) as archive:
        text = archive.text("training") if "training" in archive else "{}"
        return parse_object(text.encode()) or {}


def is_machine(path: Path) -> bool:
    """Return whether a file is an `.npz` archive without the header of an instance."""
    if format_suffix(path) != ".npz" or not path.is_file():
        return False
    with opened(path) as source, opened_archive(source, _NO_MACHINE) as archive:
        return "header" not in archive.names


def load_machine(place: Place, *, units: Units | None = None) -> BoltzmannMachine:
    """Read an RBM from an `.npz` file whose arrays have glasshouse's or other common names.

    Args:
        place: the path of the file, or an open stream of its bytes.
        units: "spin" or "binary", only if the file does not state its units.

    Raises:
        FileError: the file is not a machine, or does not state its units.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_machine(Path(folder) / "m.npz", BoltzmannMachine([[0.5, 1.0]], units="binary"))
    ...     load_machine(Path(folder) / "m.npz")
    BoltzmannMachine(1 visible × 2 hidden, binary units)
    """
    suffix = "npz" if format_suffix(name_of(place)) == "" else None
    with opened(place, suffix, units) as source, opened_archive(source, _NO_MACHINE) as archive:
        return BoltzmannMachine(*machine_parts(source, archive))
