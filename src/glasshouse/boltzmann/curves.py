"""Trained ensembles, read from a store: curves over epochs, medians, bands, tables.

A store may have been manipulated, so every value that is read is checked.
"""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.data import DataOptions
from glasshouse.boltzmann.ensemble import MOST_NAME, MOST_VALUES, TRAINING, look_epochs
from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.files.text.allowance import Allowance
from glasshouse.files.text.streams import Place
from glasshouse.problems import FloatArray, validation
from glasshouse.statistics.intervals import median_of
from glasshouse.statistics.samples import Estimate
from glasshouse.store.records import short
from glasshouse.store.store import Store, StoredTask
from glasshouse.store.storefile import StoreError, content_size, damaged
from glasshouse.studies.export import Part, write_parts
from glasshouse.summaries import Summarised

Ints = npt.NDArray[np.int64]
BAND = (30.0, 70.0)  # percentiles, as in the paper
_WIDEST = 60  # characters of a label
_FACTS = ("diverged_at", "updates", "modes", "modes_proven", "seconds", "learning_seconds")


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Summarised):
    """Machines that were trained with the same settings.

    Attributes:
        settings: the settings of their training.
        data: the name of what they learn.
        rows: how many rows that has.
        visible: the number of visible units.
        seed: machine k has its child k.
        every: the number of epochs between two records.
        numbers: the numbers of the machines, ascending.
        epochs: the epochs at which they were evaluated.
        curves: per monitor, machines × evaluations; NaN if a monitor had no number, and after a
            machine diverged.
        diverged_at: the epoch per machine; 0 if the machine did not diverge.
        updates: the number of updates per machine.
        modes: the number of updates that used a mode.
        modes_proven: the number of those modes that are proven.
        seconds: the seconds per machine.
        learning_seconds: the seconds of the updates alone, per machine.
        expected: the number of machines in the finished ensemble.
        task_id: the id of the task that trained them.
        data_options: how the data were made, if the store records it.
    """

    settings: TrainingSettings
    data: str
    rows: int
    visible: int
    seed: int
    every: int
    numbers: Ints
    epochs: Ints
    curves: Mapping[str, FloatArray]
    diverged_at: Ints
    updates: Ints
    modes: Ints
    modes_proven: Ints
    seconds: FloatArray
    learning_seconds: FloatArray
    expected: int = 0
    task_id: str = ""
    data_options: DataOptions = field(default_factory=DataOptions)

    @property
    def machines(self) -> int:
        """The number of machines."""
        return len(self.numbers)

    @cached_property
    def diverged(self) -> int:
        """The number of machines that diverged."""
        return int(np.count_nonzero(self.diverged_at))

    def curve(self, monitor: str) -> FloatArray:
        """Return the values of a monitor: machines × evaluations."""
        if monitor not in self.curves:
            raise ValueError(f"monitor={monitor!r} is not one of {', '.join(self.curves)}")
        return self.curves[monitor]

    def percentiles(self, monitor: str, shares: Sequence[float] = BAND) -> FloatArray:
        """Return percentiles over the machines that have not diverged: fractions × evaluations."""
        with warnings.catch_warnings():  # looks that no machine came to are NaN
            warnings.simplefilter("ignore", RuntimeWarning)
            found: FloatArray = np.nanpercentile(self.curve(monitor), shares, axis=0)
        return found

    def median(self, monitor: str) -> FloatArray:
        """Return the median over the machines that have not diverged, per evaluation."""
        return np.asarray(self.percentiles(monitor, [50.0])[0])

    def final(self, monitor: str) -> FloatArray:
        """Return the last value of each machine; NaN if it diverged before the end."""
        return self.curve(monitor)[:, -1]

    def final_median(self, monitor: str) -> Estimate:
        """Return the median of the machines that did not diverge, with its 95 % interval."""
        values = self.final(monitor)
        return median_of(values[np.isfinite(values)])


def read_ensembles(store: Store) -> list[Ensemble]:
    """Read all ensembles in a store, in the order in which they were added.

    Raises:
        StoreError: it holds none, or was damaged.
    """
    tasks = [task for task in store.tasks() if task.kind == TRAINING.name]
    if not tasks:
        raise StoreError(
            f"{store.path} holds no trained machines; run `glasshouse train run` first"
        )
    try:
        return [_ensemble(store, task) for task in tasks]
    except StoreError:
        raise
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as fault:
        raise damaged(store.path, fault) from None


def monitors_of(ensembles: Iterable[Ensemble]) -> list[str]:
    """Return the names of all monitors that any of the ensembles has.

    >>> monitors_of([])
    []
    """
    return list(dict.fromkeys(name for one in ensembles for name in one.curves))


def labels_of(ensembles: Sequence[Ensemble]) -> list[str]:
    """Return what distinguishes the ensembles, in a few words each; empty for a single one.

    >>> labels_of([])
    []
    """
    told = [{**one.settings.plain(), "seed": one.seed, "every": one.every} for one in ensembles]
    differing = [name for name in (told[0] if told else {})
                 if any(one[name] != told[0][name] for one in told)]  # fmt: skip
    return [", ".join(_words(name, one[name]) for name in differing) for one in told]


def _words(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return name if value else f"no {name}"
    if isinstance(value, list):
        value = " to ".join(f"{part:g}" for part in value)
    if isinstance(value, float):
        value = f"{value:g}"
    if value is None:
        value = "all"
    if name in ("units", "gradient", "reduction"):
        return f"{value}"
    return f"{value} hidden" if name == "hidden" else f"{name.replace('_', ' ')} {value}"


def _ensemble(store: Store, task: StoredTask) -> Ensemble:
    asked, looks = task.table("parameters"), task.table("solver")
    settings = TrainingSettings.stored(asked)
    known_of_data = task.realised or {}
    every = validation.count(looks["every"], "every", 1)
    names = [_name(name) for name in looks["monitors"]]
    if len(names) * (settings.epochs // every + 2) > MOST_VALUES + 2 * len(names):
        raise ValueError(f"{settings.epochs} epochs are evaluated every {every}")
    table = store.rows(task)
    epochs = look_epochs(settings.epochs, every)
    texts = table.pop("curves")
    rows = validation.count(asked["rows"], "rows", 1)
    _refuse_impossible(table, settings.epochs, settings.epochs * rows)
    if 8 * len(texts) * len(names) * len(epochs) > Allowance(content_size(store.path)).unpacked:
        raise ValueError("it needs more memory than its size allows")
    curves = np.full((len(names), len(texts), len(epochs)), np.nan)
    for k, text in enumerate(texts):
        _fill(curves[:, k], text, names, epochs, int(table["diverged_at"][k]))
    return Ensemble(
        settings=settings,
        data=_name(known_of_data.get("data", "data")),
        data_options=DataOptions.stored(known_of_data.get("data_options", {})),
        rows=rows,
        visible=validation.count(asked["visible"], "visible", 1),
        seed=validation.count(task.description["seed"], "seed"),
        every=every,
        numbers=table["instance"],
        epochs=epochs,
        curves=dict(zip(names, curves, strict=True)),
        expected=task.stop.instances,
        task_id=task.task_id,
        **{name: table[name] for name in
           ("diverged_at", "updates", "modes", "modes_proven", "seconds", "learning_seconds")},
    )  # fmt: skip


def _refuse_impossible(table: Mapping[str, npt.NDArray[Any]], epochs: int, steps: int) -> None:
    """Refuse impossible counts."""
    counts = [table[name] for name in ("modes_proven", "modes", "updates")]
    ascending = [np.zeros_like(counts[0]), *counts, np.full_like(counts[0], min(steps, 1 << 53))]
    seconds, diverged_at = table["learning_seconds"], table["diverged_at"]
    is_good = ((diverged_at >= 0) & (diverged_at <= epochs) & (seconds >= 0)
               & np.isfinite(seconds))  # fmt: skip
    for low, high in itertools.pairwise(ascending):
        is_good &= low <= high
    if not is_good.all():
        raise ValueError(f"machine {np.argmin(is_good)} has impossible counts or times")


def _fill(into: FloatArray, text: str, names: list[str], epochs: Ints, diverged_at: int) -> None:
    """Fill in the curves of one machine, which end where it diverged."""
    seen = json.loads(text)
    number = int(np.searchsorted(epochs, diverged_at)) if diverged_at else len(epochs)
    if not isinstance(seen, dict) or list(seen) != names:
        raise ValueError(f"curves are {short(text)}, not those of {', '.join(names)}")
    for row, values in zip(into, seen.values(), strict=True):
        if not isinstance(values, list) or len(values) != number:
            raise ValueError(f"a curve does not have {number} numbers: {short(values)}")
        if not {*map(type, values)} <= {float, int, type(None)}:
            raise ValueError(f"a curve has values that are not numbers: {short(values)}")
        row[:number] = values  # None is NaN
        if np.isinf(row).any():
            raise ValueError(f"a curve has numbers that are not finite: {short(values)}")


def _name(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MOST_NAME:
        raise ValueError(f"{short(value)} is not a name")
    return "".join(c if c.isprintable() else "?" for c in value)


def overview(one: Ensemble) -> dict[str, Any]:
    """Return an ensemble as JSON values, with None for missing numbers."""
    finals = {}
    for name in one.curves:
        estimate = one.final_median(name)
        parts = (estimate.value, estimate.low, estimate.high)
        finals[name] = [float(part) if np.isfinite(part) else None for part in parts]
    return {
        "settings": one.settings.plain(), "data": one.data, "rows": one.rows, "seed": one.seed,
        "machines": one.machines, "expected_machines": one.expected, "diverged": one.diverged,
        "final_medians": finals, "modes": int(one.modes.sum()),
        "modes_proven": int(one.modes_proven.sum()), "seconds": float(one.seconds.sum()),
        "learning_seconds": float(one.learning_seconds.sum()),
    }  # fmt: skip


def text_table(ensembles: Sequence[Ensemble]) -> list[str]:
    """Return a human-readable table: one line per ensemble, below a head."""
    monitors = monitors_of(ensembles)
    labels = [label or _usual(one) for label, one in zip(labels_of(ensembles), ensembles,
                                                         strict=True)]  # fmt: skip
    head = ["setting", "machines", "diverged", *(f"{name}, median" for name in monitors),
            "modes", "proven", "seconds each"]  # fmt: skip
    rows = [head]
    for label, one in zip(labels, ensembles, strict=True):
        ends = [one.final_median(name) if name in one.curves else None for name in monitors]
        finals = [*map(_shown, ends)]
        seconds = f"{np.median(one.seconds):.3g}" if one.machines else "-"
        rows.append([label if len(label) <= _WIDEST else label[: _WIDEST - 1] + "…",
                     f"{one.machines:,}/{one.expected:,}", f"{one.diverged:,}", *finals,
                     f"{one.modes.sum():,}", f"{one.modes_proven.sum():,}", seconds])  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows]  # fmt: skip


def export_machines(
    ensembles: Sequence[Ensemble], place: Place, *, curves: bool = False, overwrite: bool = False
) -> int:
    """Write final values, one line per machine, or whole curves, as CSV or Parquet.

    A cell is empty if a machine diverged before, or if its ensemble had no such monitor.

    Args:
        ensembles: what `read_ensembles` returned.
        place: a file that ends in `.csv` or `.parquet`, or a stream that gets CSV.
        curves: one line per machine and look instead of one per machine.
        overwrite: replace an existing file.

    Returns:
        the number of lines.
    """
    monitors = monitors_of(ensembles)
    # Settings that came later have a column where one of them is used.
    named = {name for one in ensembles for name in one.settings.identity()}
    parts = [_part(one, monitors, curves, named) for one in ensembles]
    return write_parts(parts, place, overwrite)


def _part(one: Ensemble, monitors: Sequence[str], curves: bool, named: set[str]) -> Part:
    """Return the settings of an ensemble, and a column for each known value of its machines."""
    settings = one.settings.plain().items()
    shared = {name: _cell(value) for name, value in settings if name in named}
    shared["learning_rate"] = str(shared["learning_rate"])
    looks = range(len(one.epochs)) if curves else [len(one.epochs) - 1]
    each = [(k, look) for k in range(one.machines) for look in looks]
    rows: dict[str, Any] = {
        "machine": [one.numbers[k].item() for k, _ in each],
        "epoch": [int(one.epochs[look]) for _, look in each],
    }
    for name in monitors:
        rows[name] = [_seen(one, name, k, look) for k, look in each]
    for name in () if curves else _FACTS:
        rows[name] = [getattr(one, name)[k].item() for k, _ in each]
    return {**shared, "seed": one.seed}, rows


def _seen(one: Ensemble, monitor: str, machine: int, look: int) -> float | None:
    value = float(one.curves[monitor][machine, look]) if monitor in one.curves else np.nan
    return value if np.isfinite(value) else None


def _shown(end: Estimate | None) -> str:
    """Return a median with its interval, if there are enough machines for one."""
    if end is None or np.isnan(end.value):
        return "-"
    return str(end) if np.isfinite([end.low, end.high]).all() else f"{end.value:.4g}"


def _cell(value: Any) -> Any:
    """Return a setting for a table; learning rates are text, because some are two numbers."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _usual(one: Ensemble) -> str:
    settings = one.settings
    way = settings.gradient.upper() + (f"-{settings.steps}" if settings.gradient != "exact" else "")
    mode = f", mode {settings.mode_probability:g}" if settings.mode_probability else ""
    return f"{way}{mode}, {settings.hidden} hidden, {settings.units}, {settings.reduction}"
