"""Built-in solvers compile before their clock starts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.races.field import BROKEN, raced, suite_of
from tests.races.running.test_runner import linux

from glasshouse.races.commands.entrants import Entrant, entrants_of, start_of
from glasshouse.races.commands.racing import Race
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.races.running import compiling
from glasshouse.races.running.command import Limits, SolverCommand
from glasshouse.races.running.compiling import COMPILED, COMPILED_WITHIN, is_compiling, run_compiled
from glasshouse.races.running.runner import run

# Compiles for longer than the time limit, caches what it compiled only at the end of that, and then
# solves. Each start is written down, with the seconds that were given.
COMPILES = """
import os, runpy, sys, time
with open({log!r}, "a") as log:
    print(sys.argv[2], file=log)
if not os.path.exists({cache!r}):
    print("compiling the toy kernels for this kind of problem; done once", file=sys.stderr,
          flush=True)
    time.sleep({seconds})
    if {can_cache}:
        open({cache!r}, "w").close()
sys.argv = [{solver!r}, "none", sys.argv[1]]
runpy.run_path({solver!r}, run_name="__main__")
"""


def toy(folder: Path, seconds: float, can_cache: bool = True) -> Entrant:
    script = folder / "toy.py"
    places = {"log": str(folder / "log"), "cache": str(folder / "cache"), "solver": str(BROKEN)}
    script.write_text(COMPILES.format(seconds=seconds, can_cache=can_cache, **places))
    command = SolverCommand.parse(f"{sys.executable} -S {script} {{file}} {{seconds}}")
    return Entrant("toy", command, "classic", "a fingerprint", is_built_in=True)


@pytest.fixture(autouse=True)
def fresh_memory(monkeypatch):
    monkeypatch.setattr(compiling, "_never_cached", set())


def test_a_solver_that_compiles_longer_than_the_limit_is_measured_without_it(
    suite, tmp_path, caplog
):
    limits = Limits(seconds=6, grace=0.2)
    entrant = toy(tmp_path, seconds=8)
    race = Race([entrant], suite_of(suite), limits, repeat=2)
    results = raced(race, tmp_path / "race.sqlite")
    assert [run.verdict for run in results.runs] == [RunVerdict.OPTIMAL] * 4
    assert all(run.seconds < 6 for run in results.runs)
    assert results.starts["toy"] < 6
    # It was stopped at once when it announced that it compiles, and then given the time for it:
    # all of that before the race, when its start was measured.
    first, _, *others = (tmp_path / "log").read_text().split()
    assert (first, others) == ("6", ["6"] * 5)
    assert [line for line in caplog.messages if "toy" in line] == [
        "compiling the kernels of toy; its time does not include this"
    ]


def test_a_run_that_has_to_compile_says_so_in_its_remarks(suite, tmp_path):
    entrant = toy(tmp_path, seconds=2)
    (tmp_path / "cache").touch()
    race = Race([entrant], suite_of(suite / "instance-00000.wcnf"), Limits(seconds=20))
    (one, *_) = race.tasks()
    assert one.measure(0, 1)["remarks"][0] == ""
    (tmp_path / "cache").unlink()  # another instance needs another kernel
    rows = one.measure(0, 2)
    assert rows["remarks"].tolist() == [COMPILED, ""]
    assert rows["verdict"].tolist() == ["optimal", "optimal"]


def test_a_cache_that_cannot_be_written_is_given_up_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "_SEARCHES", (0.1, 0.2))
    entrant = toy(tmp_path, seconds=0.0, can_cache=False)
    file = tmp_path / "a.wcnf"
    file.write_text("p wcnf 1 1 2\n1 1 0\n")
    for tries in (5, 6):  # not again and again by the same process
        outcome, remark = run_compiled(
            "toy", lambda seconds: entrant.command.arguments(file, 1, seconds), Limits(seconds=20)
        )
        assert (outcome.exit_code, outcome.stopped) == (30, None)
        assert remark == COMPILED_WITHIN
        assert len((tmp_path / "log").read_text().split()) == tries


@linux
@pytest.mark.parametrize("name", ["anneal", "prove"])
def test_what_built_ins_announce_is_understood(name, suite, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cold"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    (entrant,) = entrants_of([name], Limits())
    words = entrant.command.arguments(suite / "instance-00000.wcnf", 1, 60)
    assert run(words, Limits(seconds=300), void=is_compiling).stopped == "void"


@linux
@pytest.mark.slow
@pytest.mark.parametrize("name", ["anneal", "temper", "prove"])
def test_built_ins_race_with_a_cold_cache_and_a_short_limit(name, suite, tmp_path, monkeypatch):
    """The first run ever counts like any other; kernels are compiled outside of its time."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cold"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    limits = Limits(seconds=8, grace=3)
    (entrant,) = entrants_of([name], limits)
    assert 0 < start_of(entrant, limits) < 8
    results = raced(Race([entrant], suite_of(suite), limits), tmp_path / "race.sqlite")
    expected = RunVerdict.OPTIMAL if name == "prove" else RunVerdict.FOUND
    assert [(run.verdict, run.cost) for run in results.runs] == [(expected, 9)] * 2
