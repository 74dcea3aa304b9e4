"""Two good solvers and ten broken ones: every run starts once, and every verdict is right."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.races.field import BROKEN, raced, suite_of
from tests.races.running.test_runner import linux, running

from glasshouse.races.commands.entrants import Entrant, entrants_of
from glasshouse.races.commands.racing import Race
from glasshouse.races.commands.results import Results
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.races.running.command import MEGABYTE, Limits, SolverCommand

# Those that run into the time limit come one after the other, so that others wait for them.
EXPECTED = {
    "never ends": RunVerdict.TIME_OUT,
    "deaf": RunVerdict.TIME_OUT,
    "slow": RunVerdict.OPTIMAL,
    "none": RunVerdict.OPTIMAL,
    "off by one": RunVerdict.WRONG_OPTIMUM,
    "wrong model": RunVerdict.INVALID_MODEL,
    "too early": RunVerdict.WRONG_OPTIMUM,
    "unsatisfiable": RunVerdict.WRONG_OPTIMUM,
    "segfault": RunVerdict.CRASH,
    "half a line": RunVerdict.MALFORMED,
    "no o line": RunVerdict.NO_VALUE,
    "memory": RunVerdict.OUT_OF_MEMORY,
}
GOOD = {"slow", "none"}

# Writes down its name; a slow one works for a share of the time limit first.
COUNTED = """
import runpy, sys, time
defect, seconds, path = sys.argv[1:]
with open({log!r}, "a") as log:
    print(defect, file=log)
if defect == "slow":
    time.sleep(0.3 * float(seconds))
    defect = "none"
sys.argv = [{solver!r}, defect, path]
runpy.run_path({solver!r}, run_name="__main__")
"""


def race_of_twelve(suite: Path, folder: Path, limits: Limits, workers: int, *more: str) -> Results:
    """Race on one instance, with the starts that the solvers have counted themselves."""
    script, log = folder / "counted.py", folder / "log"
    script.write_text(COUNTED.format(log=str(log), solver=str(BROKEN)))
    words = f"{sys.executable} -S {script} '{{}}' {{{{seconds}}}} {{{{file}}}}"
    entrants = [
        Entrant(name, SolverCommand.parse(words.format(name)), "classic", "a fingerprint")
        for name in EXPECTED
    ]
    field = suite_of(suite / "instance-00001.wcnf")
    race = Race([*entrants, *entrants_of(more, limits)] if more else entrants, field, limits)
    results = raced(race, folder / "race.sqlite", workers=workers)
    assert Counter(log.read_text().splitlines()) == Counter([*EXPECTED])
    found = {run.solver: run.verdict for run in results.runs}
    assert {name: found[name] for name in EXPECTED} == EXPECTED
    assert not {run.solver for run in results.faults} & {*GOOD, *more}
    assert not running(str(script))
    return results


@linux
@pytest.mark.parametrize("workers", [1, 2])
def test_every_run_starts_once_and_every_verdict_is_right(workers, suite, tmp_path, monkeypatch):
    """Two time-outs in a row take longer than one run may."""
    monkeypatch.setattr("glasshouse.races.commands.racing.HANGING", 4.0)
    limits = Limits(seconds=5, grace=1, memory=200 * MEGABYTE)
    race_of_twelve(suite, tmp_path, limits, workers)


@linux
@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_long_limit_with_cold_and_warm_caches(workers, suite, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cold"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    limits = Limits(seconds=70, grace=1, memory=2048 * MEGABYTE)
    for state in ("cold", "warm"):
        folder = tmp_path / f"race-{state}"
        folder.mkdir()
        results = race_of_twelve(suite, folder, limits, workers, "prove")
        (built_in,) = [run for run in results.runs if run.solver == "prove"]
        assert built_in.verdict is RunVerdict.OPTIMAL
