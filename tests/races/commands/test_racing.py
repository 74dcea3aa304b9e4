"""Races: every defect gets its verdict, and other rules are another race."""

from __future__ import annotations

import json
import pickle
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from tests.races.field import BROKEN, broken, raced, suite_of
from tests.races.running.test_runner import cgroups, linux, none_stays, running

from glasshouse.races.commands.entrants import Entrant, entrants_of
from glasshouse.races.commands.racing import NOTE, Race, iter_race
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.races.running.command import MEGABYTE, Limits, SolverCommand
from glasshouse.races.running.meters import METERS, best_meter, why_not
from glasshouse.store.store import Store
from glasshouse.suites.loading import Suite, load_suite

EXPECTED = {
    "none": RunVerdict.OPTIMAL,
    "off by one": RunVerdict.WRONG_OPTIMUM,
    "wrong model": RunVerdict.INVALID_MODEL,
    "too early": RunVerdict.WRONG_OPTIMUM,
    "never ends": RunVerdict.TIME_OUT,
    "children": RunVerdict.OPTIMAL,
    "a gigabyte": RunVerdict.TOO_MUCH_OUTPUT,
    "segfault": RunVerdict.CRASH,
    "deaf": RunVerdict.TIME_OUT,
    "exit code": RunVerdict.OPTIMAL,
    "half a line": RunVerdict.MALFORMED,
    "no o line": RunVerdict.NO_VALUE,
    "two s lines": RunVerdict.MALFORMED,
    "memory": RunVerdict.OUT_OF_MEMORY,
    "no v line": RunVerdict.INVALID_MODEL,
    "unsatisfiable": RunVerdict.WRONG_OPTIMUM,
    "gives up": RunVerdict.NO_ANSWER,
    "polite": RunVerdict.FOUND,
}


@linux
@pytest.mark.parametrize("meter", METERS)
def test_every_defect_gets_its_verdict_and_the_race_goes_on(meter, suite, tmp_path):
    if why := why_not(meter):
        pytest.skip(f"NOT TESTED with {meter}: {why}")
    limits = Limits(seconds=2.0, memory=200 * MEGABYTE, output=MEGABYTE)
    field = suite_of(suite / "instance-00001.wcnf")
    script = Path(shutil.copy(BROKEN, tmp_path))  # whose processes are this test's own
    entrants = [broken(defect, script=script) for defect in EXPECTED]
    race = Race(entrants, field, limits, meter=meter)
    store, cores = tmp_path / "race.sqlite", set(Path("/tmp").glob("core*"))
    results = raced(race, store, workers=2)
    assert {run.solver: run.verdict for run in results.runs} == EXPECTED
    assert not running(str(script))
    none_stays(cgroups)
    assert set(Path("/tmp").glob("core*")) <= cores
    with Store(store) as opened:
        assert results.best_known["instance-00001.wcnf"] == 9
        rows = {task.table("solver")["name"]: opened.rows(task) for task in opened.tasks()}
    assert {row["meter"][0] for row in rows.values()} == {meter}
    assert rows["none"]["cost"][0] == rows["none"]["stated"][0] == "9"
    assert [v for _, v in json.loads(rows["none"]["incumbents"][0])] == ["12", "9"]
    assert "all is well" in rows["none"]["output"][0]
    assert rows["segfault"]["exit_code"][0] == -signal.SIGSEGV
    assert "exit code 1" in rows["exit code"]["remarks"][0]
    assert rows["never ends"]["stopped"][0] == "time"
    assert rows["polite"]["cost"][0] == "9"
    assert rows["polite"]["solved"][0] == 0
    assert all(len(row["output"][0]) <= 2000 for row in rows.values())


def test_strict_makes_a_wrong_exit_code_a_fault(suite, tmp_path):
    field = suite_of(suite / "instance-00000.wcnf")
    race = Race([broken("exit code")], field, Limits(seconds=20), strict=True)
    (run,) = raced(race, tmp_path / "race.sqlite").runs
    assert run.verdict is RunVerdict.WRONG_EXIT_CODE


def test_more_solvers_and_more_runs_are_the_same_race_and_other_rules_are_not(suite, tmp_path):
    store, limits, field = tmp_path / "race.sqlite", Limits(seconds=30), suite_of(suite)
    raced(Race([broken("none")], field, limits), store)
    results = raced(Race([broken("none"), broken("gives up")], field, limits, repeat=2), store)
    assert len(results.runs) == 8
    before = store.read_bytes()
    other = suite_of(suite / "instance-00000.wcnf")
    for race, said in (
        (
            Race([broken("none")], other, limits),
            "with other instances than those of 'instance-00000.wcnf'",
        ),
        (Race([broken("none")], field, Limits(seconds=31)), "with time_limit=30, not 31; use the"),
        (Race([broken("no v line", "none")], field, limits), "another none .its command differs"),
    ):
        with pytest.raises(ValueError, match=said):
            next(iter_race(race, store))
    assert store.read_bytes() == before


def test_a_race_with_other_proofs_is_another_race(suite, tmp_path):
    folder, store = tmp_path / "field", tmp_path / "race.sqlite"
    folder.mkdir()
    for name in ("instance-00000.wcnf", "instance-00000.wcnf.cert"):
        shutil.copy(suite / name, folder)
    raced(Race([broken("none")], suite_of(folder), Limits(seconds=30)), store)
    (folder / "instance-00000.wcnf.cert").unlink()
    before = store.read_bytes()
    with pytest.raises(ValueError, match=r"with another proof .* of instance-00000\.wcnf"):
        next(iter_race(Race([broken("none")], suite_of(folder), Limits(seconds=30)), store))
    assert store.read_bytes() == before


def test_a_right_claim_that_nothing_satisfies_is_solved(tmp_path):
    path, store = tmp_path / "a.wcnf", tmp_path / "race.sqlite"
    path.write_text("h 1 0\nh -1 0\n3 1 2 0\n")
    command = SolverCommand.parse("sh -c 'echo s UNSATISFIABLE; exit 20' {file}")
    field = [Entrant("honest", command, "classic", "a fingerprint")]
    (run,) = raced(Race(field, suite_of(path), Limits(seconds=30)), store).runs
    assert (run.solved, run.verdict, run.cost) == (True, RunVerdict.OPTIMAL, None)


@pytest.mark.quiet
@linux
def test_the_harness_costs_little_beside_the_run(suite, tmp_path, record_property):
    """20 ms is what a quiet machine must keep; a test compares with a plain start of a process."""
    entrant = Entrant("true", SolverCommand.parse("true"), "classic", "")
    field = suite_of(suite / "instance-00000.wcnf")
    (task,) = Race([entrant], field, Limits(seconds=10)).tasks()
    assert task.meter == "process-group"
    task.measure(0, 1)
    begin = time.perf_counter()
    rows = task.measure(0, 20)
    overhead = (time.perf_counter() - begin - rows["seconds"].sum()) / 20
    record_property("overhead_ms", float(1000 * overhead))
    begin = time.perf_counter()
    for _ in range(20):
        subprocess.run(["true"], capture_output=True, check=True)
    bare = (time.perf_counter() - begin) / 20
    print(f"harness overhead: {1000 * overhead:.1f} ms per run, a bare start {1000 * bare:.1f} ms")
    assert overhead < 12 * bare


@pytest.mark.quiet
def test_what_comes_in_the_grace_time_counts_as_of_the_limit(suite, tmp_path):
    script = tmp_path / "late.py"
    script.write_text(
        "import signal, sys, time\n"
        "def end(*_):\n"
        "    time.sleep(.4)\n"
        "    print('o 9', 's SATISFIABLE', 'v ' + '1' * 60, sep=chr(10), flush=True)\n"
        "    sys.exit(10)\n"
        "signal.signal(signal.SIGTERM, end)\nprint('o 12', flush=True)\ntime.sleep(1000)"
    )
    limits = Limits(seconds=1.0, grace=20)
    entrants = entrants_of([f"late={sys.executable} -S {script}"], limits, "classic")
    one = suite_of(suite / "instance-00000.wcnf")
    (run,) = raced(Race(entrants, one, limits), tmp_path / "race.sqlite").runs
    assert [value for _, value in run.incumbents] == [12, 9]
    assert run.incumbents[-1][0] == pytest.approx(run.seconds, abs=1e-5)
    assert run.seconds < 1.0 + 0.5


def test_growing_a_suite_tells_how_far_it_is(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\ncount = 3\n[[family]]\nmethod = "random_loops"\n'
        'parameters = { n = 4, frustration = "1/5", loops = 2 }\n'
    )
    told = []
    load_suite(tmp_path / "mine.toml", tmp_path / "c", lambda *at: told.append(at))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_tasks_travel_to_workers_whatever_holds_their_parameters(suite):
    """Suites hold theirs in a read-only view, which cannot be pickled."""
    (whole, *_) = suite_of(suite).instances
    view = replace(whole, parameters=MappingProxyType({"n": 3, "frustration": "1/5"}))
    field = Suite("views", "a digest", (view,))
    (task,) = Race([broken("none")], field, Limits()).tasks()
    assert pickle.loads(pickle.dumps(task)).task_id == task.task_id


def test_a_store_keeps_the_meter_that_it_was_begun_with(suite, tmp_path, monkeypatch):
    store, field = tmp_path / "race.sqlite", suite_of(suite / "instance-00000.wcnf")
    race = Race([broken("none")], field, Limits(seconds=20), meter="process-group")
    raced(race, store)
    with pytest.raises(ValueError, match="with meter='process-group', not 'benchexec'; use the"):
        next(iter_race(replace(race, meter="benchexec"), store))
    monkeypatch.setattr("glasshouse.races.commands.racing.best_meter", lambda: "benchexec")
    results = raced(replace(race, meter=None, repeat=2), store)  # goes on with the old one
    assert len(results.runs) == 2
    with Store(store, write=True) as opened:  # as stores were before there was a choice
        noted = json.loads(opened.noted(NOTE))
        del noted["meter"]
        opened.note(NOTE, json.dumps(noted))
    assert len(raced(replace(race, meter=None, repeat=3), store).runs) == 3


def test_a_meter_that_cannot_be_used_is_one_clear_line(suite, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "benchexec", None)
    monkeypatch.setitem(sys.modules, "benchexec.cgroups", None)
    why_not.cache_clear(), best_meter.cache_clear()
    race = Race([broken("none")], suite_of(suite), Limits(), meter="benchexec")
    with pytest.raises(ValueError, match=r"meter='benchexec' needs benchexec.*glasshouse\[meter"):
        next(iter_race(race, tmp_path / "race.sqlite"))
    assert best_meter() == "process-group"
    why_not.cache_clear(), best_meter.cache_clear()
    with pytest.raises(ValueError, match="meter='scales' is unknown; expected one of"):
        next(iter_race(replace(race, meter="scales"), tmp_path / "other.sqlite"))
