"""`glasshouse train` for one RBM: train it into a model file, and show such a file."""

from __future__ import annotations

import warnings
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.output import show_json

if TYPE_CHECKING:
    from glasshouse.boltzmann.ensemble import TrainingTask

_LONGEST = 1000  # characters of a text in a file
_NOT_SHOWN = ("epochs", "spawn_key")


def train_one(task: TrainingTask, path: Path, json: bool, force: bool) -> None:
    """Train a single RBM and write it to a file; if it diverged, write its last valid state.

    Checkpoints are written next to the model, so that a stopped training resumes.
    """
    from glasshouse.boltzmann import DivergenceWarning, save_machine
    from glasshouse.files.text.streams import refuse_existing

    if task.count != 1:
        raise ValueError(f"{path} can hold only one RBM, not {task.count}; use -o NAME.sqlite")
    refuse_existing(path, overwrite=force)
    task.try_out()
    checkpoint = path.with_suffix(".checkpoint.npz")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DivergenceWarning)  # printed below
            done = task.run(checkpoint=checkpoint)
    except KeyboardInterrupt:
        kept = f"the same command resumes from {checkpoint}" if checkpoint.exists() else ""
        raise KeyboardInterrupt(kept) from None
    save_machine(path, done.machine, run=done, overwrite=force)
    checkpoint.unlink(missing_ok=True)
    finals = {
        name: float(values[-1]) if isfinite(values[-1]) else None
        for name, values in done.history.items() if len(values)
    }  # fmt: skip
    if json:
        show_json({"model": path, **finals, "modes": done.modes, "seed": task.seed,
                   "modes_proven": done.modes_proven, "diverged_at": done.diverged_at})  # fmt: skip
    else:
        said = ", ".join(
            f"{name} {'-' if value is None else f'{value:.4g}'}" for name, value in finals.items()
        )
        print(f"{path}: {done.machine!r}; {said}")
    if done.diverged_at is not None:
        raise CheckFailedError(
            f"{path}: the training diverged in epoch {done.diverged_at}, and the file has the "
            "RBM of the epoch before; use a smaller --learning-rate"
        )


def show_machine(path: Path, json: bool) -> None:
    """Show the contents of a model file, including unverified statements about its training."""
    from glasshouse.boltzmann.model_files import load_machine, load_notes

    machine, notes = load_machine(path), load_notes(path)
    if json:
        show_json({"model": path, "visible": machine.num_visible, "hidden": machine.num_hidden,
                   "units": machine.units, "training": notes})  # fmt: skip
        return
    print(f"{path}: {machine!r}")
    if not notes:
        print("the file states nothing about its training")
    for name, value in notes.items():
        if name not in _NOT_SHOWN and value is not None:
            said = _words(value, last=name == "history")
            print(f"{_text(name).replace('_', ' ')}: {_text(said)}")


def _words(value: Any, *, last: bool) -> Any:
    """Format a table as text; `last` keeps only the last entry of each list."""
    if not isinstance(value, dict):
        return f"{value:.4g}" if isinstance(value, float) else value
    if last:
        value = {key: one[-1] if isinstance(one, list) and one else one
                 for key, one in value.items()}  # fmt: skip
    words = {key: _words(one, last=False) for key, one in value.items() if one is not None}
    return ", ".join(f"{key} {word}" for key, word in words.items())


def _text(value: Any) -> str:
    """Return one line of limited length, without control characters for terminals."""
    from glasshouse.store.records import without_codes

    text = str(value)
    return without_codes(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
