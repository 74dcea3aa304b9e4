"""The record of every benchmark: date, computer and versions (JSON and Markdown)."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def cpu_name() -> str:
    """Return the name of the processor, from Linux or else from Python."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def setting(*packages: str) -> dict[str, Any]:
    """Return the date, the computer, and the versions of packages."""
    found = {}
    for package in ("glasshouse", "numpy", "numba", *packages):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": found,
    }


def store(
    name: str,
    title: str,
    rows: list[dict[str, Any]],
    packages: tuple[str, ...] = (),
    notes: str = "",
) -> None:
    """Print a table, and store it as `results/NAME.json` and `results/NAME.md`."""
    where = setting(*packages)
    shown = table(rows)
    versions = ", ".join(f"{k} {v}" for k, v in where["versions"].items())
    head = f"# {title}\n\n{where['date']}, {where['cpu']}, {where['cores']} cores, "
    head += f"Python {where['python']}; {versions}.\n\n"
    tail = f"\n{notes.strip()}\n" if notes else ""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(head + shown + tail)
    text = json.dumps({"title": title, "setting": where, "rows": rows, "notes": notes}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n")
    print(f"\n{title}\n\n{shown}{tail}")


def table(rows: list[dict[str, Any]]) -> str:
    """Return rows as a Markdown table, with columns in the order of their first appearance."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [columns, ["---"] * len(columns)]
    lines += [[_cell(row.get(column, "")) for column in columns] for row in rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
