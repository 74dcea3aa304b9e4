"""The race in docs/races: built-in and third-party solvers on four suites.

`python -m benchmarks races` runs the whole race, which takes hours, or resumes it. A shorter race:
`python -m benchmarks.races --seconds 1 --count 1 --suite peak --folder build/try`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from benchmarks.race_page import write_page
from glasshouse.races.commands.builtin import version_of
from glasshouse.races.commands.entrants import Entrant, built_in_names, entrants_of
from glasshouse.races.commands.racing import Race, iter_race
from glasshouse.races.commands.results import Results, read_results
from glasshouse.races.running.command import Limits
from glasshouse.store.store import Store
from glasshouse.suites.folder import iter_build_suite
from glasshouse.suites.loading import Suite, load_suite

ROOT = Path(__file__).parents[1]
SUITES = ("peak", "structured", "dialled", "open")
BUILT_IN = (
    "prove", "rc2", "rc2-stratified", "rc2-stratified-edge", "toulbar2", "cpsat", "highs", "scip",
    "dwave-tree", "dwave-anneal", "dwave-tabu", "openjij", "anneal", "temper",
)  # fmt: skip
Z3 = ROOT / "tests" / "races" / "z3_solver.py"
COMMANDS = {
    "clasp": "clasp=clasp --quiet=1 --verbose=0 {file}",
    "z3": f"z3={sys.executable} -S {Z3} {{file}}",
}
OURS = ("prove", "anneal", "temper")
STORES = ROOT / "build" / "races"


def field(limits: Limits) -> tuple[list[Entrant], list[str]]:
    """Return all installed solvers, and the names of missing solvers."""
    assert set(BUILT_IN) <= set(built_in_names())
    missing = [name for name in BUILT_IN if name not in OURS and version_of(name) is None]
    missing += [name for name in COMMANDS if shutil.which(name) is None]
    words = [name for name in BUILT_IN if name not in missing]
    words += [command for name, command in COMMANDS.items() if name not in missing]
    return entrants_of(words, limits, "classic"), missing


def grown(name: str, folder: Path, count: int | None) -> Suite:
    """Return a ready-made suite, with `count` instances per family if given."""
    place = folder / f"{name}-{'all' if count is None else count}"
    for number, _ in enumerate(iter_build_suite(name, place, count=count), 1):
        print(f"\r{name}: {number} instances grown", end="", flush=True)
    print()
    return load_suite(place, folder)


def raced(race: Race, store: Path, workers: int) -> Results:
    """Run the race on a suite, and print its progress line by line."""
    for at in iter_race(race, store, workers=workers):
        left = "" if at.remaining_seconds is None else f", {at.remaining_seconds / 60:.0f} min left"
        print(f"\r{race.suite.name}: {at.rows} of {at.goal} runs{left}   ", end="", flush=True)
    print()
    with Store(store) as opened:
        return read_results(opened)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.races", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="time limit of each run")
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: all four")
    parser.add_argument("--count", type=int, help="instances per family, instead of the suite's")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time")
    parser.add_argument("--folder", type=Path, default=ROOT / "docs" / "races")
    parser.add_argument("--stores", type=Path, default=STORES)
    given = parser.parse_args([] if arguments is None else arguments)
    limits = Limits(seconds=given.seconds)
    entrants, missing = field(limits)
    given.stores.mkdir(parents=True, exist_ok=True)
    results = {}
    for name in given.suite or SUITES:
        suite = grown(name, given.stores, given.count)
        part = "" if given.count is None else f"-{given.count}"
        store = given.stores / f"{name}{part}-{given.seconds:g}s.sqlite"
        results[name] = raced(Race(entrants, suite, limits), store, given.workers)
    for path in write_page(given.folder, results, limits, given.workers, missing, given.count):
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
