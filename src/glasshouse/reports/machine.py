"""The report section on one RBM: its weights, its mode, and the record of its training."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from glasshouse.boltzmann import MONITORS, BoltzmannMachine, find_mode
from glasshouse.boltzmann.checkpoints import read_stored
from glasshouse.boltzmann.ensemble import look_epochs
from glasshouse.boltzmann.figures import monitor_axis, monitor_title
from glasshouse.boltzmann.model_files import load_machine, load_notes
from glasshouse.charts import Axis, Chart, Mark, Series
from glasshouse.reports.matrix import matrix_figure
from glasshouse.reports.page import (
    Fact,
    Figure,
    Listing,
    Part,
    Section,
    Table,
    charted,
    command,
    cut,
    text,
    typeset,
)

_LONGEST = 300
_MOST_MONITORS = 12


def machine_section(path: Path) -> Section:
    """Return the report section on a file with a trained RBM."""
    machine, notes = load_machine(path), load_notes(path)
    facts, parts, index = _looked_at(machine)
    told = "unchecked statements" if notes else "no statements"
    lead = f"A trained RBM: {machine!r}. The file contains {told} about its training."
    settings = notes.get("settings")
    for name in ("seed", "updates", "modes", "modes_proven", "diverged_at", "learning_seconds"):
        if notes.get(name) is not None:
            value = notes[name]
            told = f"{value:.4g}" if isinstance(value, float) else _short(value)
            facts.append(Fact(name.replace("_", " "), told, "stated"))
    history = notes.get("history")
    parts += _history(notes.get("epochs"), history if isinstance(history, dict) else {})
    parts += _settings(settings)
    show = Listing("The command that shows the RBM", command("train", "show", path.name))
    return Section(path.name, "Trained RBM", lead, facts, [*parts, show], result=index)


def checkpoint_section(path: Path) -> Section:
    """Return the report section on a checkpoint, which contains an unfinished training run."""
    machine, asked, state = read_stored(path)
    facts, parts, index = _looked_at(machine)
    names = asked.get("monitors")
    monitors = [str(name)[:60] for name in names] if isinstance(names, list) else []
    epochs, every = asked.get("epochs"), asked.get("every")
    looks: list[int] = []
    if isinstance(epochs, int) and isinstance(every, int) and every > 0 and epochs // every < 10**6:
        looks = look_epochs(epochs, every)[: len(state.seen)].tolist()
    done = f"{looks[-1] if looks else 0:,} of {epochs} epochs"
    facts += [Fact("last monitored", f"after {done}", "stated"),
              Fact("diverged", "yes" if state.has_diverged else "no", "stated"),
              Fact("seed", _short(asked.get("seed")), "stated")]  # fmt: skip
    history = {name: state.seen[:, k].tolist() for k, name in enumerate(monitors)
               if k < state.seen.shape[1]}  # fmt: skip
    parts += _history(looks, history)
    parts += _settings({k: v for k, v in asked.items() if not str(k).endswith("sha256")})
    lead = (f"A stopped training run: {machine!r}. The same command, or `train` with the same "
            "checkpoint, resumes the run.")  # fmt: skip
    return Section(path.name, "Checkpoint of a training run", lead, facts, parts, result=index)


def _looked_at(machine: BoltzmannMachine) -> tuple[list[Fact], list[Part], Fact]:
    """Return facts and figures that follow from an RBM's weights, and the main fact."""
    mode = find_mode(machine, rng=1)
    spins = np.where(np.concatenate([mode.visible, mode.hidden]) == 1, 1, -1).astype(np.int8)
    what = "the mode, its most likely state," if mode.is_proven else "the most likely state found"
    where = "at the mode" if mode.is_proven else "at the most likely state found"
    facts = [
        Fact("units", f"{machine.num_visible} visible × {machine.num_hidden} hidden, "
             f"{'±1' if machine.units == 'spin' else '0 and 1'}"),
        Fact("largest weight", f"{float(np.abs(machine.weights).max()):.4g}"),
        Fact("energy of the mode" if mode.is_proven else "least energy found",
             typeset(f"{mode.energy:.6g}"), "verified" if mode.is_proven else "read"),
        Fact("frustration index there", f"{mode.frustration:.4g}",
             "verified" if mode.is_proven else "read"),
    ]  # fmt: skip
    index = Fact("frustration index", f"{facts[-1].value} {where}", facts[-1].trust)
    return facts, [matrix_figure(machine.to_instance(), spins, what)], index


def _history(epochs: Any, history: Mapping[str, Any]) -> list[Part]:
    """Return charts of the monitors in a file's history, except for malformed monitors."""
    if not isinstance(epochs, list) or not all(type(e) is int and e >= 0 for e in epochs):
        return []
    parts: list[Part] = []
    for name, values in list(history.items())[:_MOST_MONITORS]:
        numbers = _numbers(values)
        if numbers is None or len(numbers) != len(epochs):
            continue
        parts += _curve(str(name)[:60], epochs, numbers)
    return parts


def _numbers(values: Any) -> list[float] | None:
    if not isinstance(values, list):
        return None
    if not all(v is None or (isinstance(v, (int, float)) and type(v) is not bool) for v in values):
        return None
    return [math.nan if v is None else float(v) for v in values]


def _curve(name: str, epochs: Sequence[int], values: Sequence[float]) -> list[Figure]:
    meaning = MONITORS[name].meaning if name in MONITORS else name
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return []
    return [charted(Chart(
        monitor_title(name), f"{meaning[:1].upper()}{meaning[1:]}, as the file states.",
        Axis("epoch", low=0), monitor_axis(name, finite),
        [Series(name, [Mark("seen", ("line", "dots"), epochs, values)])], "monitor",
    ), 260)]  # fmt: skip


def _settings(settings: Any) -> list[Part]:
    if not isinstance(settings, dict) or not settings:
        return []
    rows = [[str(name)[:60], _short(value)] for name, value in list(settings.items())[:200]]
    return [Table("Settings of the training run", [text("setting"), text("value")], cut(rows)[0],
                  "As the file states them.")]  # fmt: skip


def _short(value: Any) -> str:
    return str(value)[:_LONGEST]
