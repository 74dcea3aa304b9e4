"""`python -m fuzz [--seconds N] [--executions N] [TARGET ...]`: fuzz targets one by one.

Useful inputs stay in `.fuzz/TARGET/inputs` for later runs. If a promise was broken, the command
prints the paths of the inputs in `.fuzz/TARGET/findings` and ends with exit code 1.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fuzz.last_input import last_input
from fuzz.targets import TARGETS

_STATISTICS = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_WORK = Path(".fuzz")
# Seconds for the start, compilation and the longest input, in addition to the requested time.
_GRACE = 180


def main() -> int:
    """Fuzz the requested targets, or all targets."""
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
    """Fuzz one target, and return inputs that fail in a new way or are shorter than before."""
    place.mkdir(parents=True, exist_ok=True)
    told = place / "executed"
    told.write_text("0")
    (place / "last").unlink(missing_ok=True)
    before, start = _failing(place), time.perf_counter()
    code = _run_engine(name, place, seconds, executions)
    taken = time.perf_counter() - start
    counted = _STATISTICS.search((place / "log.txt").read_text(errors="replace"))
    count = int(counted[1] if counted else told.read_text())
    if code:
        _keep_last_input(place, before, code)
    new = _new(place, before)
    outcome = f"{len(new)} failing" if new else "good"
    if code:
        outcome += f"; the process ended with code {code}, see {place / 'log.txt'}"
    print(f"{name:<10} {count:>12,} {taken:>8.0f} {count / taken:>11,.0f}  {outcome}", flush=True)
    return new


def _run_engine(name: str, place: Path, seconds: int, executions: int) -> int:
    """Run libFuzzer in its own process, which it ends, and return the exit code."""
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-", dir=_fast_folder()) as scratch,
        (place / "log.txt").open("wb") as log,
    ):
        command = [
            sys.executable, "-m", "fuzz.engine", name, str(place), scratch,
            f"-max_total_time={seconds}", f"-runs={executions}",
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, stdout=log, stderr=log, timeout=seconds + _GRACE, check=False
            )
        except subprocess.TimeoutExpired:  # the process did not end in time, and was killed
            return -9
    return done.returncode


def _fast_folder() -> str | None:
    """Return the path of a file system in memory, or None if there is none."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _keep_last_input(place: Path, before: dict[Path, int], code: int) -> None:
    """Save the input that ended the process, if libFuzzer could not save it."""
    if any(path.suffix != ".input" for path in _new(place, before)):
        return
    (place / "findings").mkdir(exist_ok=True)
    died = place / "findings" / f"process-ended-with-{code}.input"
    last = place / "last"
    died.write_bytes(last_input(last) if last.exists() else b"")


def _new(place: Path, before: dict[Path, int]) -> list[Path]:
    return sorted(path for path, when in _failing(place).items() if before.get(path) != when)


def _failing(place: Path) -> dict[Path, int]:
    """Return all failing inputs of a target, with their modification times."""
    folder = place / "findings"
    patterns = ("*.input", "crash-*", "timeout-*", "oom-*")
    paths = [path for pattern in patterns for path in folder.glob(pattern)]
    return {path: path.stat().st_mtime_ns for path in paths}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz", description="Fuzz every reader with atheris.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=900, help="time limit per target")
    parser.add_argument("--executions", type=int, default=10**6, help="limit per target")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.targets if name not in TARGETS]
    if unknown:
        parser.error(f"{unknown[0]!r} is not a target; use some of {', '.join(TARGETS)}")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
