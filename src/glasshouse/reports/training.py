"""The report section on trained ensembles: monitors over the epochs, and final values per RBM."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from glasshouse.boltzmann.curves import (
    Ensemble,
    labels_of,
    monitors_of,
    overview,
    read_ensembles,
)
from glasshouse.boltzmann.figures import finals_chart, monitor_chart, monitor_label
from glasshouse.boltzmann.settings import TrainingSettings, option_of
from glasshouse.reports.page import (
    Fact,
    Figure,
    Listing,
    Part,
    Section,
    Table,
    charted,
    counted,
    cut,
    number,
    seen_seconds,
    text,
    versions_of,
)
from glasshouse.store.store import Store


def training_section(store: Store) -> Section:
    """Return the report section on a store of trained ensembles, even if training is unfinished."""
    ensembles = read_ensembles(store)
    machines = sum(one.machines for one in ensembles)
    wanted = sum(one.expected for one in ensembles)
    first = ensembles[0]
    lead = (
        f"{machines:,} of {wanted:,} machines, trained on {first.data}: "
        f"{counted(first.rows, 'row')} of {counted(first.visible, 'unit')}, in "
        f"{counted(len(ensembles), 'setting')}."
    )
    names = [label or "all machines" for label in labels_of(ensembles)]
    parts: list[Part] = []
    if machines:
        parts += [charted(monitor_chart(ensembles, monitor, "epochs", names))
                  for monitor in monitors_of(ensembles)]  # fmt: skip
        parts += _finals(ensembles, names)
    parts += [_settings(ensembles, names), *_machines(ensembles, names)]
    commands = "\n".join(train_command(one, store.path) for one in ensembles)
    parts.append(Listing("The commands that repeat the training", commands))
    facts = _facts(store, ensembles)
    result = Fact("trained", f"{machines:,} of {counted(wanted, 'machine')}")
    return Section(store.path.name, "Trained ensembles", lead, facts, parts, result=result)


def _facts(store: Store, ensembles: Sequence[Ensemble]) -> list[Fact]:
    modes = sum(int(one.modes.sum()) for one in ensembles)
    proven = sum(int(one.modes_proven.sum()) for one in ensembles)
    seconds = sum(float(one.seconds.sum()) for one in ensembles)
    learning = sum(float(one.learning_seconds.sum()) for one in ensembles)
    return [
        Fact("data", ensembles[0].data, "stated"),
        Fact("machines", f"{sum(one.machines for one in ensembles):,} of "
             f"{sum(one.expected for one in ensembles):,}"),
        Fact("diverged", f"{sum(one.diverged for one in ensembles):,}", "stated"),
        Fact("modes used", f"{modes:,}, of which {proven:,} were proven", "stated"),
        Fact("seeds", ", ".join(dict.fromkeys(str(one.seed) for one in ensembles)), "stated"),
        Fact("computing time", f"{seen_seconds(seconds)}, of which {seen_seconds(learning)} for "
             "updates", "stated"),
        Fact("glasshouse", versions_of(store), "stated"),
    ]  # fmt: skip


def _finals(ensembles: Sequence[Ensemble], names: Sequence[str]) -> list[Figure]:
    """Return a chart of frustration against a monitor's final value, with one dot per RBM."""
    x = next((name for name in ("kl", "log_likelihood", "ais", "pseudo_likelihood")
              if any(name in one.curves for one in ensembles)), None)  # fmt: skip
    having = [(one, name) for one, name in zip(ensembles, names, strict=True)
              if {x, "frustration"} <= {*one.curves} and one.machines > 1]  # fmt: skip
    if x is None or not having:
        return []
    chosen, labels = zip(*having, strict=True)
    return [charted(finals_chart(chosen, x, "frustration", labels), 380)]


def _settings(ensembles: Sequence[Ensemble], names: Sequence[str]) -> Table:
    tables = [overview(one) for one in ensembles]
    monitors = monitors_of(ensembles)
    differing = list(tables[0]["settings"])
    rows = []
    for name, one, table in zip(names, ensembles, tables, strict=True):
        finals = [str(one.final_median(m)) if m in one.curves and one.machines else None
                  for m in monitors]  # fmt: skip
        settings = [_word(table["settings"][key]) for key in differing]
        counts = [table[key] for key in ("machines", "expected_machines", "diverged")]
        rows.append([name, *counts, *finals, *settings, table["seed"]])
    return Table(
        "Settings and final medians",
        [text("setting"), number("machines"), number("expected"), number("diverged"),
         *(number(f"m{k}", f"{monitor_label(m)}, final median") for k, m in enumerate(monitors)),
         *(text(f"s{k}", key.replace("_", " ")) for k, key in enumerate(differing)),
         number("seed")],
        cut(rows)[0], "Medians of the machines that did not diverge, with 95 % intervals.",
    )  # fmt: skip


def _machines(ensembles: Sequence[Ensemble], names: Sequence[str]) -> list[Part]:
    monitors = monitors_of(ensembles)
    rows = (
        [name, int(one.numbers[k]),
         *(one.final(m)[k] if m in one.curves else None for m in monitors),
         int(one.diverged_at[k]) or None, int(one.updates[k]), int(one.modes[k]),
         int(one.modes_proven[k]), float(one.seconds[k])]
        for name, one in zip(names, ensembles, strict=True) for k in range(one.machines)
    )  # fmt: skip
    kept, count = cut(rows)
    if not count:
        return []
    note = f"The first {len(kept):,} of {count:,} machines; `glasshouse store export` lists all."
    return [Table(
        "Machines",
        [text("setting"), number("machine"),
         *(number(f"m{k}", f"final {monitor_label(m)}") for k, m in enumerate(monitors)),
         number("diverged", "diverged in epoch"), number("updates"), number("modes"),
         number("proven", "modes proven"), number("seconds")],
        kept, note if count > len(kept) else "",
    )]  # fmt: skip


def _word(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return " to ".join(f"{part:g}" for part in value)
    return value if value is None or isinstance(value, str) else f"{value}"


def setting_words(settings: TrainingSettings) -> list[str]:
    """Return the settings that differ from their defaults, as `glasshouse train run` options."""
    words = []
    for field in fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, bool):
            words += [] if value == field.default else [option_of(field)]
        elif field.default is MISSING or value != field.default:
            told = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
            words += [option_of(field), told]
    return words


def train_command(one: Ensemble, path: Path) -> str:
    """Return the `glasshouse train run` command that trains an ensemble."""
    data, held_out = one.data_options.in_name(one.data), one.data_options.held_out
    words = ["glasshouse", "train", "run", data, *setting_words(one.settings)]
    words += [] if held_out is None else ["--held-out", str(held_out)]
    words += ["--monitor", ",".join(one.curves), "--every", str(one.every), "--seed", str(one.seed),
              "--count", str(one.expected), "-o", path.name]  # fmt: skip
    return shlex.join(words)
