"""Results of trained ensembles in a store: curves, medians, percentile bands, tables.

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
_WIDEST = 60  # characters, the maximum width of a label
_FACTS = ("diverged_at", "updates", "modes", "modes_proven", "seconds", "learning_seconds")


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Summarised):
    """Results of RBMs that were trained with the same settings, read from a store.

    Attributes:
        settings: the settings of the training runs.
        data: the name of the data set.
        rows: the number of training rows.
        visible: the number of visible units.
        seed: the seed of the ensemble; machine k uses child k of this seed.
        every: the number of epochs between two records.
        numbers: the numbers of the machines, in ascending order.
        epochs: the epochs at which the machines were evaluated.
        curves: the values of each monitor, machines × evaluations; NaN if a monitor gave no number,
            and after a machine diverged.
        diverged_at: the epoch at which each machine diverged; 0 if it did not.
        updates: the number of updates of each machine.
        modes: the number of updates that used a mode, for each machine.
        modes_proven: the number of used modes that are proven, for each machine.
        seconds: the total time of each machine, in seconds.
        learning_seconds: the time of each machine's updates, in seconds.
        expected: the number of machines in the finished ensemble.
        task_id: the id of the task that trained the machines.
        data_options: the options that selected the data, if the store records them.
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
        """The number of RBMs in the ensemble."""
        return len(self.numbers)

    @cached_property
    def diverged(self) -> int:
        """The number of RBMs that diverged."""
        return int(np.count_nonzero(self.diverged_at))

    def curve(self, monitor: str) -> FloatArray:
        """Return the values of a monitor: one row per RBM, one column per evaluation."""
        if monitor not in self.curves:
            raise ValueError(f"monitor={monitor!r} is not one of {', '.join(self.curves)}")
        return self.curves[monitor]

    def percentiles(self, monitor: str, shares: Sequence[float] = BAND) -> FloatArray:
        """Return a monitor's percentiles at each evaluation, over RBMs that have not diverged."""
        with warnings.catch_warnings():  # evaluations that no machine reached are NaN
            warnings.simplefilter("ignore", RuntimeWarning)
            found: FloatArray = np.nanpercentile(self.curve(monitor), shares, axis=0)
        return found

    def median(self, monitor: str) -> FloatArray:
        """Return a monitor's median at each evaluation, over RBMs that have not diverged."""
        return np.asarray(self.percentiles(monitor, [50.0])[0])

    def final(self, monitor: str) -> FloatArray:
        """Return the final value of a monitor for each RBM, or NaN if the RBM diverged."""
        return self.curve(monitor)[:, -1]

    def final_median(self, monitor: str) -> Estimate:
        """Return the median final value of a monitor, with its 95 % interval."""
        values = self.final(monitor)
        return median_of(values[np.isfinite(values)])


def read_ensembles(store: Store) -> list[Ensemble]:
    """Read all ensembles in a store, in the order in which they were added.

    Raises:
        StoreError: the store contains no trained machines, or is damaged.
    """
    tasks = [task for task in store.tasks() if task.kind == TRAINING.name]
    if not tasks:
        raise StoreError(
            f"{store.path} contains no trained machines; run `glasshouse train run` first"
        )
    try:
        return [_ensemble(store, task) for task in tasks]
    except StoreError:
        raise
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as fault:
        raise damaged(store.path, fault) from None


def monitors_of(ensembles: Iterable[Ensemble]) -> list[str]:
    """Return the names of all monitors that at least one ensemble has recorded.

    >>> monitors_of([])
    []
    """
    return list(dict.fromkeys(name for one in ensembles for name in one.curves))


def labels_of(ensembles: Sequence[Ensemble]) -> list[str]:
    """Return a label for each ensemble: its values of the settings that differ between ensembles.

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
        value = "one per row" if name == "chains" else "all"
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
        raise ValueError(
            f"every={every} gives more values in {len(names)} curves than the limit {MOST_VALUES}"
        )
    table = store.rows(task)
    epochs = look_epochs(settings.epochs, every)
    texts = table.pop("curves")
    rows = validation.count(asked["rows"], "rows", 1)
    _refuse_impossible(table, settings.epochs, settings.epochs * rows)
    if 8 * len(texts) * len(names) * len(epochs) > Allowance(content_size(store.path)).unpacked:
        raise ValueError("the curves need more memory than the file's size allows")
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
        **{name: table[name] for name in _FACTS},
    )


def _refuse_impossible(table: Mapping[str, npt.NDArray[Any]], epochs: int, steps: int) -> None:
    """Raise if the stored counts or times of an RBM are impossible."""
    counts = [table[name] for name in ("modes_proven", "modes", "updates")]
    ascending = [np.zeros_like(counts[0]), *counts, np.full_like(counts[0], min(steps, 1 << 53))]
    seconds, diverged_at = table["learning_seconds"], table["diverged_at"]
    is_good = ((diverged_at >= 0) & (diverged_at <= epochs) & (seconds >= 0)
               & np.isfinite(seconds))  # fmt: skip
    for low, high in itertools.pairwise(ascending):
        is_good &= low <= high
    if not is_good.all():
        raise ValueError(f"row {np.argmin(is_good)} has impossible counts or times")


def _fill(into: FloatArray, text: str, names: list[str], epochs: Ints, diverged_at: int) -> None:
    """Parse and check the JSON text of one RBM's curves."""
    seen = json.loads(text)
    number = int(np.searchsorted(epochs, diverged_at)) if diverged_at else len(epochs)
    if not isinstance(seen, dict) or list(seen) != names:
        raise ValueError(f"curves are {short(text)}; expected curves of {', '.join(names)}")
    for row, values in zip(into, seen.values(), strict=True):
        if not isinstance(values, list) or len(values) != number:
            raise ValueError(f"a curve must have {number} numbers, but is {short(values)}")
        if not {*map(type, values)} <= {float, int, type(None)}:
            raise ValueError(f"a curve must contain only numbers, but is {short(values)}")
        row[:number] = values  # None is NaN
        if np.isinf(row).any():
            raise ValueError(f"a curve must contain only finite numbers, but is {short(values)}")


def _name(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MOST_NAME:
        raise ValueError(f"{short(value)} is not a valid name of a monitor or data set")
    return "".join(c if c.isprintable() else "?" for c in value)


def overview(one: Ensemble) -> dict[str, Any]:
    """Return a summary of an ensemble as JSON values; missing numbers are None."""
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
    """Return the lines of a text table: a header, then one line per ensemble."""
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
    """Write the final values or the whole curves of all RBMs as CSV or Parquet.

    A cell is empty if the machine had diverged, or if its ensemble did not record the monitor.

    Args:
        ensembles: the ensembles that `read_ensembles` returned.
        place: a path that ends in `.csv` or `.parquet`, or a stream, which receives CSV.
        curves: write one line per machine and evaluation, instead of one line per machine.
        overwrite: replace an existing file.

    Returns:
        The number of lines.
    """
    monitors = monitors_of(ensembles)
    # Settings of later versions have a column only if an ensemble uses them.
    named = {name for one in ensembles for name in one.settings.identity()}
    parts = [_part(one, monitors, curves, named) for one in ensembles]
    return write_parts(parts, place, overwrite)


def _part(one: Ensemble, monitors: Sequence[str], curves: bool, named: set[str]) -> Part:
    """Return an ensemble's part of a table: its settings, and one column per recorded value."""
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
    """Format a median as text, with its interval if there are enough RBMs."""
    if end is None or np.isnan(end.value):
        return "-"
    return str(end) if np.isfinite([end.low, end.high]).all() else f"{end.value:.4g}"


def _cell(value: Any) -> Any:
    """Convert a setting to a table cell; a list of numbers becomes text."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _usual(one: Ensemble) -> str:
    settings = one.settings
    way = settings.gradient.upper() + (f"-{settings.steps}" if settings.gradient != "exact" else "")
    mode = f", mode {settings.mode_probability:g}" if settings.mode_probability else ""
    return f"{way}{mode}, {settings.hidden} hidden, {settings.units}, {settings.reduction}"
