"""Races: every defect gets its verdict, and other rules are another race."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from tests.races.field import BROKEN, broken, raced, suite_of
from tests.races.running.test_runner import cgroups, linux, none_stays, running

from glasshouse.races.commands.entrants import Entrant, entrants_of
from glasshouse.races.commands.racing import NOTE, Race, iter_race
from glasshouse.races.commands.results import read_results
from glasshouse.races.commands.scores import score
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.races.running.command import MEGABYTE, Limits, SolverCommand
from glasshouse.races.running.meters import METERS, best_meter, why_not
from glasshouse.store.store import Store
from glasshouse.studies.merging import merge
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
    script = Path(shutil.copy(BROKEN, tmp_path))  # so that its processes belong to this test
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
            "whose instances differ from those of 'instance-00000.wcnf'",
        ),
        (Race([broken("none")], field, Limits(seconds=31)), "with time_limit=30, not 31; use the"),
        (Race([broken("no v line", "none")], field, limits), "none that differs in its command"),
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
    with pytest.raises(ValueError, match=r"with a different proof .* for instance-00000\.wcnf"):
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
    """Suites hold parameters in a read-only view, which cannot be pickled."""
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
    results = raced(replace(race, meter=None, repeat=2), store)  # continues with the old one
    assert len(results.runs) == 2
    with Store(store, write=True) as opened:  # as stores were before there was a choice
        noted = json.loads(opened.noted(NOTE))
        del noted["meter"]
        opened.note(NOTE, json.dumps(noted))
    assert len(raced(replace(race, meter=None, repeat=3), store).runs) == 3


@linux
def test_a_limit_on_processor_time_is_kept_stored_and_named(suite, tmp_path):
    """Two processes burn at once; a claim that is printed beyond the limit is not solved."""
    store, field = tmp_path / "race.sqlite", suite_of(suite / "instance-00001.wcnf")
    limits = Limits(seconds=60, cpu_seconds=0.5)
    burn = "import os\nos.fork()\nwhile True: pass"
    late = (
        "import signal, sys\n"
        "def end(*_):\n    print('s UNKNOWN', flush=True)\n    sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\nwhile True: pass"
    )
    entrants = [broken("none")]
    for name, code in (("burns", burn), ("late", late)):
        (tmp_path / f"{name}.py").write_text(code)
        command = SolverCommand.parse(f"{sys.executable} -S {tmp_path / name}.py {{file}}")
        entrants.append(Entrant(name, command, "classic", "a fingerprint"))
    race = Race(entrants, field, limits, meter="process-group")
    none, burns, late = raced(race, store).runs
    assert none.solved
    assert none.cpu_seconds <= 0.5
    assert burns.verdict is RunVerdict.CPU_TIME_OUT
    assert burns.reason == "stopped at the CPU time limit"
    assert burns.cpu_seconds > 0.5
    assert burns.memory > MEGABYTE
    assert burns.seconds < 50
    assert (late.verdict, late.remarks) == (RunVerdict.NO_ANSWER, "stopped at the CPU time limit")
    assert burns.cpu_limit == 0.5
    assert score(read_back(store), "burns").par2_cpu == 1.0
    assert score(read_back(store), "burns").par2 == 120.0
    with pytest.raises(ValueError, match=r"with cpu_limit=0\.5, not without it; use the same"):
        next(iter_race(replace(race, limits=Limits(seconds=60)), store))
    assert len(raced(replace(race, repeat=2), store).runs) == 6


def read_back(store):
    with Store(store) as opened:
        return read_results(opened)


TIMED = """
import os, sys, time
begin, stop = time.monotonic(), time.process_time() + 0.2
while time.process_time() < stop: pass
with open({log!r}, "a") as log:
    print(begin, time.monotonic(), *sorted(os.sched_getaffinity(0)), file=log, flush=True)
print("s UNKNOWN")
"""


@linux
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="NOT TESTED: one core")
def test_no_two_runs_share_a_core(suite, tmp_path):
    log, script, store = tmp_path / "log", tmp_path / "timed.py", tmp_path / "race.sqlite"
    script.write_text(TIMED.format(log=str(log)))
    command = SolverCommand.parse(f"{sys.executable} -S {script} {{file}}")
    race = Race([Entrant("timed", command, "classic", "")], suite_of(suite), Limits(seconds=60),
                repeat=3, meter="process-group", cores=1)  # fmt: skip
    raced(race, store, workers=2)
    rows = [line.split() for line in log.read_text().splitlines()]
    runs = sorted((float(begin), float(end), cpus) for begin, end, *cpus in rows)
    assert len(runs) == 6
    assert len({tuple(cpus) for _, _, cpus in runs}) == 2
    overlaps = 0
    for k, (_, end, mine) in enumerate(runs):
        for begin, _, theirs in runs[k + 1 :]:
            overlaps += begin < end
            assert begin >= end or not set(mine) & set(theirs)
    assert overlaps  # otherwise nothing was tested
    with Store(store) as opened:
        assert json.loads(opened.noted(NOTE))["cores"] == 1
    with pytest.raises(ValueError, match="with cores=1, not without it; use the same rules"):
        next(iter_race(replace(race, cores=None), store))
    raced(replace(race, repeat=4), store, workers=1)  # the cores of a run are the same


def test_cores_that_are_not_there_are_one_clear_line_before_a_store_is_made(
    suite, tmp_path, monkeypatch
):
    store = tmp_path / "race.sqlite"
    race = Race([broken("none")], suite_of(suite), Limits(), cores=1000)
    with pytest.raises(ValueError, match="workers=2 and cores=1000 need 2000 cores, but "):
        next(iter_race(race, store, workers=2))
    with ThreadPoolExecutor(1) as executor, pytest.raises(ValueError, match="remove cores or"):
        next(iter_race(race, store, executor=executor))
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    with pytest.raises(ValueError, match="cores=1000: this system cannot pin processes"):
        next(iter_race(race, store))
    assert not store.exists()
    with pytest.raises(ValueError, match="cores"):
        replace(race, cores=0)


def test_old_stores_without_the_newer_rules_go_on(suite, tmp_path):
    store, field = tmp_path / "race.sqlite", suite_of(suite / "instance-00000.wcnf")
    race = Race([broken("none")], field, Limits(seconds=20), meter="process-group")
    raced(race, store)
    with Store(store, write=True) as opened:
        noted = json.loads(opened.noted(NOTE))
        del noted["cores"], noted["cpu_seconds"]
        opened.note(NOTE, json.dumps(noted))
    shutil.copy(store, tmp_path / "old.sqlite")
    assert len(raced(replace(race, repeat=2), store).runs) == 2
    merge(store, [tmp_path / "old.sqlite"])
    assert len(read_back(store).runs) == 2
    with pytest.raises(ValueError, match="contains a race without cores; use the same rules"):
        next(iter_race(replace(race, cores=1), tmp_path / "old.sqlite"))


def test_a_meter_that_cannot_be_used_is_one_clear_line(suite, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "benchexec", None)
    monkeypatch.setitem(sys.modules, "benchexec.cgroups", None)
    why_not.cache_clear(), best_meter.cache_clear()
    race = Race([broken("none")], suite_of(suite), Limits(), meter="benchexec")
    with pytest.raises(ValueError, match=r"meter='benchexec' needs benchexec.*glasshouse\[meter"):
        next(iter_race(race, tmp_path / "race.sqlite"))
    assert best_meter() == "process-group"
    why_not.cache_clear(), best_meter.cache_clear()
    with pytest.raises(ValueError, match="meter='scales' is unknown; use one of"):
        next(iter_race(replace(race, meter="scales"), tmp_path / "other.sqlite"))


@pytest.mark.parametrize(("seconds", "is_told"), [(19.0, False), (21.0, True)])
def test_a_limit_below_the_start_of_python_is_told_before_the_race(
    seconds, is_told, suite, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr("glasshouse.races.commands.racing.start_of", lambda *_: seconds)
    limits = Limits(seconds=20)
    race = Race(entrants_of(["anneal"], limits, "classic"), suite_of(suite), limits)
    with Store(tmp_path / "race.sqlite", write=True) as store:
        race.reserve(store)
        assert not store.tasks()
    told = "anneal: the start of Python takes 21 s, and the time limit is 20 s"
    assert (told in caplog.text) == is_told
