"""Ensembles in tables: for people, for scripts, and for other people's tools."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from glasshouse.boltzmann.curves import Ensemble, labels_of, monitors_of
from glasshouse.files.text.streams import Place, is_stream, writing
from glasshouse.statistics.samples import Estimate

_WIDEST = 60  # characters of a label


def overview(one: Ensemble) -> dict[str, Any]:
    """An ensemble in JSON's values; numbers that are not there are None."""
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
    """Lines for people: one per ensemble, below a head."""
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


def export_csv(
    ensembles: Sequence[Ensemble], place: Place, *, curves: bool = False, overwrite: bool = False
) -> int:
    """Write final values, one line per machine, or all that was seen; returns how many lines.

    A cell is empty where a machine diverged before, or where its ensemble had no such monitor.

    Args:
        ensembles: which.
        place: a file or a stream.
        curves: one line per machine and look instead of one per machine.
        overwrite: replace a file that is there.
    """
    monitors = monitors_of(ensembles)
    shared = [*ensembles[0].settings.plain(), "seed"] if ensembles else []
    facts = [] if curves else ["diverged_at", "updates", "modes", "modes_proven", "seconds",
                               "learning_seconds"]  # fmt: skip
    lines = 0
    with writing(place, "csv" if is_stream(place) else None, overwrite=overwrite) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        table = csv.writer(text, lineterminator="\n")
        table.writerow([*shared, "machine", "epoch", *monitors, *facts])
        for one in ensembles:
            constants = [_cell(one.settings.plain().get(name, one.seed)) for name in shared]
            looks = range(len(one.epochs)) if curves else [len(one.epochs) - 1]
            for k, number in enumerate(one.numbers.tolist()):
                told = [getattr(one, name)[k].item() for name in facts]
                for look in looks:
                    seen = [_seen(one, name, k, look) for name in monitors]
                    table.writerow([*constants, number, int(one.epochs[look]), *seen, *told])
                    lines += 1
        text.detach()
    return lines


def _seen(one: Ensemble, monitor: str, machine: int, look: int) -> float | None:
    value = float(one.curves[monitor][machine, look]) if monitor in one.curves else np.nan
    return value if np.isfinite(value) else None


def _shown(end: Estimate | None) -> str:
    """A median with its interval, where there are enough machines for one."""
    if end is None or np.isnan(end.value):
        return "-"
    return str(end) if np.isfinite([end.low, end.high]).all() else f"{end.value:.4g}"


def _cell(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _usual(one: Ensemble) -> str:
    settings = one.settings
    way = settings.gradient.upper() + (f"-{settings.steps}" if settings.gradient != "exact" else "")
    mode = f", mode {settings.mode_probability:g}" if settings.mode_probability else ""
    return f"{way}{mode}, {settings.hidden} hidden, {settings.units}, {settings.reduction}"
