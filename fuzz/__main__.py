"""`python -m fuzz [--seconds N] [--executions N] [TARGET ...]`: fuzz one target after the other.

What runs learn stays in `.fuzz/TARGET/inputs` and helps the next one. Ends with exit code 1 and the
paths of the inputs in `.fuzz/TARGET/findings` if a promise was broken.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

from fuzz.targets import TARGETS

_STATISTICS = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_WORK = Path(".fuzz")


def main() -> int:
    """Run the targets that were asked for, or all."""
    arguments = _arguments()
    failing: list[Path] = []
    print(
        f"{'target':<10} {'executions':>12} {'seconds':>8} {'per second':>11}  outcome", flush=True
    )
    for name in arguments.targets or TARGETS:
        found = fuzz(name, _WORK / name, arguments.seconds, arguments.executions)
        failing += found
    for path in failing:
        print(path)
    if failing:
        print(f"{len(failing)} inputs break a promise; replay one: python -m fuzz.replay PATH")
    return 1 if failing else 0


def fuzz(name: str, place: Path, seconds: int, executions: int) -> list[Path]:
    """Fuzz one target; returns the inputs that fail, all of this run or of earlier ones."""
    place.mkdir(parents=True, exist_ok=True)
    log = place / "log.txt"
    command = [
        sys.executable, "-m", "fuzz.engine", name, str(place), f"-max_total_time={seconds}",
        f"-runs={executions}",
    ]  # fmt: skip
    told = place / "executed"
    told.write_text("0")
    before = _failing(place)
    start = time.perf_counter()
    with log.open("wb") as output:
        code = subprocess.run(command, stdout=output, stderr=output, check=False).returncode
    taken = time.perf_counter() - start
    counted = _STATISTICS.search(log.read_text(errors="replace"))
    count = int(counted[1] if counted else told.read_text())
    new = sorted(path for path, when in _failing(place).items() if before.get(path) != when)
    outcome = f"{len(new)} failing" if new else "good"
    if code and not new:  # it did not even start, or was killed
        outcome, new = f"ended with exit code {code}", [log]
    print(f"{name:<10} {count:>12,} {taken:>8.0f} {count / taken:>11,.0f}  {outcome}", flush=True)
    return new


def _failing(place: Path) -> dict[Path, int]:
    """Inputs that broke a promise, and those that ended the process, hung or filled the memory."""
    folder = place / "findings"
    patterns = ("*.input", "crash-*", "timeout-*", "oom-*")
    paths = [path for pattern in patterns for path in folder.glob(pattern)]
    return {path: path.stat().st_mtime_ns for path in paths}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz", description="Fuzz every reader with atheris.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=900, help="at most, for each target")
    parser.add_argument("--executions", type=int, default=10**6, help="at most, for each target")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.targets if name not in TARGETS]
    if unknown:
        parser.error(f"no target {unknown[0]!r}; expected some of {', '.join(TARGETS)}")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
