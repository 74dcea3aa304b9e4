"""Export of incumbents over time in QOBLIB's format, `INSTANCE_objective_time_series.json`.

A file contains a list of runs. Each run is a list of `{"Time": seconds, "Incumbent": value}`, with
values that never rise. QOBLIB is the Quantum Optimization Benchmarking Library.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from glasshouse.files.text.streams import replacing
from glasshouse.files.writing import make_folder
from glasshouse.races.commands.results import Results, Run


def objective_time_series(runs: list[Run]) -> list[list[dict[str, Any]]]:
    """Return the confirmed incumbents over time, for each run that has a valid model.

    `o` lines alone are only claims. A series contains the values above the cost of the run's own
    valid model, and that cost; the last entry is the end of the run.
    """
    series = []
    for run in runs:
        if run.shown is None:
            continue
        entries: list[dict[str, Any]] = []
        for seconds, value in run.incumbents:
            if value >= run.shown and (not entries or value < entries[-1]["Incumbent"]):
                entries.append({"Time": seconds, "Incumbent": value})
        if not entries or entries[-1]["Incumbent"] > run.shown or entries[-1]["Time"] < run.seconds:
            entries.append({"Time": max(run.seconds, *(e["Time"] for e in entries), 0.0),
                            "Incumbent": run.shown})  # fmt: skip
        series.append(entries)
    return series


def export_time_series(
    results: Results, folder: str | os.PathLike[str], *, overwrite: bool = False
) -> list[Path]:
    """Write one file per solver and instance, `SOLVER/INSTANCE_objective_time_series.json`.

    Runs without a valid model are left out, and so are files without runs.

    Args:
        results: the results of a race.
        folder: the target folder; created if it does not exist.
        overwrite: whether to replace existing files.
    """
    written = []
    for solver, instances in results.by_solver.items():
        for instance, runs in instances.items():
            series = objective_time_series(runs)
            if not series:
                continue
            stem = _plain_name(instance).partition(".wcnf")[0].partition(".cnf")[0]
            home = Path(folder) / _plain_name(solver)
            path = home / f"{stem}_objective_time_series.json"
            if path in written:  # a.wcnf and a.cnf, for example, keep their suffixes
                path = home / f"{_plain_name(instance)}_objective_time_series.json"
            make_folder(home)
            with replacing(path, overwrite=overwrite) as file:
                file.write(json.dumps(series).encode())
            written.append(path)
    return written


def _plain_name(name: str) -> str:
    """Make a name safe for use in a path, because a store may come from an untrusted source.

    >>> _plain_name("peak n=100 f=1/20"), _plain_name("../a")
    ('peak-n=100-f=1-20', '-a')
    """
    return re.sub(r"[^A-Za-z0-9_.=+-]+", "-", name).lstrip(".") or "-"
