"""Time and memory of reading, writing and converting a million clauses, compared with PySAT."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import store
from glasshouse.files import read, write
from glasshouse.problems import Max2Sat
from glasshouse.problems.convert import to_ising

MILLION = 1_000_000

# This script runs in its own process, so that the peak is that of reading the file alone. It reads
# VmHWM, because a child process inherits the peak of getrusage from its parent.
_READ_ALONE = """
import sys
from pathlib import Path
from glasshouse.files import read
read(sys.argv[1])
status = Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) / 2**20)
"""


def best_of(repeats: int, work: Callable[[], Any]) -> float:
    """Return the shortest time of `repeats` runs, because other work can only add time."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def random_clauses(count: int) -> Max2Sat:
    rng = np.random.default_rng(1)
    size = count // 10
    literals = rng.integers(1, size + 1, (count, 2)) * rng.choice([-1, 1], (count, 2))
    return Max2Sat(size, literals, rng.integers(1, 1000, count))


def peak_of_reading(path: Path) -> float:
    """Return the peak memory, in GiB, of a process that reads one file (Linux)."""
    command = [sys.executable, "-c", _READ_ALONE, str(path)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def formats(folder: Path, problem: Max2Sat) -> list[dict[str, Any]]:
    rows = []
    for what, name, options in (
        ("WCNF", "a.wcnf", {}),
        ("WCNF, 2022 form", "b.wcnf", {"dialect": "mse22"}),
        ("WCNF, gzip", "a.wcnf.gz", {}),
        ("OPB", "a.opb", {}),
        ("native", "a.npz", {}),
        ("QUBO, converted", "a.qubo", {}),
        ("COO, converted", "a.coo", {}),
        ("MaxCut, converted", "a.mc", {}),
    ):
        path = folder / name
        row: dict[str, Any] = {
            "what": f"10^6 clauses, {what}",
            "write, seconds": best_of(
                2, lambda p=path, o=options: write(p, problem, overwrite=True, **o)
            ),
        }
        if path.suffix != ".opb":
            row["read, seconds"] = best_of(2, lambda p=path: read(p))
            row["peak GiB"] = peak_of_reading(path)
        rows.append(row | {"MB": path.stat().st_size / 1e6})
    return rows


def beside_pysat(path: Path) -> dict[str, Any]:
    from pysat.formula import WCNF

    formula = WCNF(from_file=str(path))
    return {
        "what": "10^6 clauses, WCNF, by PySAT",
        "read, seconds": best_of(1, lambda: WCNF(from_file=str(path))),
        "write, seconds": best_of(1, lambda: formula.to_file(str(path.with_suffix(".other")))),
    }


def hundred_megabytes(folder: Path) -> dict[str, Any]:
    path = folder / "large.wcnf"
    count = 5 * MILLION
    write(path, random_clauses(count))
    return {
        "what": "5·10^6 clauses, WCNF", "read, seconds": best_of(1, lambda: read(path)),
        "MB": path.stat().st_size / 1e6, "peak GiB": peak_of_reading(path),
    }  # fmt: skip


def main() -> None:
    problem = random_clauses(MILLION)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "warm.wcnf", random_clauses(100))  # compile before the clock runs
        read(folder / "warm.wcnf")
        rows = formats(folder, problem)
        rows.append(beside_pysat(folder / "a.wcnf"))
        rows.append(hundred_megabytes(folder))
    rows.append({
        "what": "10^6 clauses to Ising", "convert, seconds": best_of(3, lambda: to_ising(problem)),
    })  # fmt: skip
    notes = (
        "One core; least time of several runs. Peaks are those of a process that reads the file."
    )
    store("files", "Files of a million clauses", rows, ("python-sat",), notes)


if __name__ == "__main__":
    main()
