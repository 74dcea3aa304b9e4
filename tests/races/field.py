"""A field for races: a suite's folder, solvers with a defect, and a race of them."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from glasshouse.races.commands.entrants import Entrant
from glasshouse.races.commands.racing import Race, iter_race
from glasshouse.races.commands.results import read_results
from glasshouse.races.running.command import SolverCommand
from glasshouse.store.store import Store
from glasshouse.suites.loading import Suite, load_suite


def suite_of(place: Path) -> Suite:
    return load_suite(place, place)  # nothing is grown from a path


BROKEN = Path(__file__).with_name("broken_solver.py")


def broken(defect: str, name: str | None = None, script: Path = BROKEN) -> Entrant:
    command = SolverCommand.parse(f"{sys.executable} -S {script} '{defect}'")
    return Entrant(name or defect, command, "classic", "a fingerprint")


def raced(race: Race, store: Path, workers: int | None = None):
    """Race in workers, or, faster to start, in a thread of this process."""
    with ThreadPoolExecutor(1) as thread:
        how = {"executor": thread} if workers is None else {"workers": workers}
        for progress in iter_race(race, store, **how):
            last = progress
    assert last.is_complete
    with Store(store) as opened:
        assert not opened.check()
        return read_results(opened)
