"""Accidents of a race: kills, damage, missing files; nothing is run twice."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.children import run, start, until
from tests.races.field import broken, raced, suite_of
from tests.races.running.test_runner import cgroups, linux, none_stays, running, wait_until, zombies

from glasshouse.races.commands.entrants import Entrant, entrants_of
from glasshouse.races.commands.racing import Race, iter_race
from glasshouse.races.commands.results import read_results
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.races.running.command import Limits, SolverCommand
from glasshouse.store.store import Store
from glasshouse.store.storefile import StoreError

COUNTING = """
import os, sys, time
with open({log!r}, "a+") as log:
    print(sys.argv[1], file=log, flush=True)
    log.seek(0)
    is_fourth = len(log.readlines()) == 4
if is_fourth and os.path.exists({hang!r}):
    time.sleep(1000)
print("o 9\\ns UNKNOWN", flush=True)
"""


@linux
def test_a_killed_race_goes_on_without_repeating_a_run_and_leaves_no_process(suite, tmp_path):
    log, solver, store = tmp_path / "log", tmp_path / "counting.py", tmp_path / "race.sqlite"
    hang = tmp_path / "hang"
    hang.touch()
    solver.write_text(COUNTING.format(log=str(log), hang=str(hang)))
    words = [sys.executable, "-m", "glasshouse", "race", "run", "--suite", str(suite), "-o",
             str(store), "--solver", f"{sys.executable} -S {solver} {{seed}} {{file}}", "--runs",
             "4", "--dialect", "classic", "--time-limit", "600"]  # fmt: skip
    first = start(words)
    until(lambda: log.exists() and log.read_text().count("\n") > 3, first)
    assert running(solver.name)
    first.kill()
    first.wait()
    hang.unlink()
    wait_until(lambda: not running(solver.name))
    begun = log.read_text().split()
    with Store(store) as opened:
        finished = sum(one.rows for one in opened.status())
    assert 0 < finished < 8
    ended = run(words)
    assert ended.returncode == 0, ended.stderr
    again = log.read_text().split()[len(begun) :]
    assert len(again) == 8 - finished  # only the finished runs are skipped
    with Store(store) as opened:
        results = read_results(opened)
    assert len(results.runs) == 8
    assert {run.verdict for run in results.runs} == {RunVerdict.NO_ANSWER}
    assert not running(solver.name)


@pytest.mark.parametrize(
    "change",
    [
        "cost='1', stated='1'",
        "cost='1', stated='1', verdict='found', solved=0",
        "cost='', stated=''",
        "cost='11', stated='11'",
        "stated='8'",
        "verdict='wrong optimum'",
        "stopped='time'",
        "solved=0",
        "seconds=400",
    ],
)
def test_rows_that_no_judge_has_written_are_damage(change, one_run, tmp_path):
    store = tmp_path / "race.sqlite"
    shutil.copy(one_run, store)
    with closing(sqlite3.connect(store)) as file, file:
        file.execute(f"update race set {change}")
    with Store(store) as opened, pytest.raises(StoreError, match=r"is damaged \(.*none on 'inst"):
        read_results(opened)


@pytest.fixture(scope="module")
def one_run(suite, tmp_path_factory):
    store = tmp_path_factory.mktemp("one") / "race.sqlite"
    field = suite_of(suite / "instance-00001.wcnf")
    assert raced(Race([broken("none")], field, Limits(seconds=60)), store).runs[0].solved
    return store


def test_a_changed_instance_is_refused(suite, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(suite, folder)
    before = suite_of(folder)
    path = folder / "instance-00000.wcnf"
    path.write_bytes(path.read_bytes() + b"c more\n")
    with pytest.raises(ValueError, match="the SHA-256 differs"):
        suite_of(folder)
    (folder / "manifest.jsonl").unlink()
    assert suite_of(folder).digest != before.digest


KILLS_ITS_RUNNER = """
import os, signal, sys, time
def parent_of(process):
    with open(f"/proc/{{process}}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])
if not os.path.exists({once!r}):
    open({once!r}, "w").close()
    heir = parent_of(os.getppid())
    os.kill(parent_of(heir), signal.SIGKILL)
    time.sleep(1000)
print("s UNKNOWN")
"""


@linux
@pytest.mark.parametrize("way", ["workers", "executor", "--dask"])
def test_a_worker_that_is_killed_takes_its_solver_along_and_the_race_goes_on(way, suite, tmp_path):
    """A solver that kills the process that runs it is as bad as it gets."""
    once, solver, store = tmp_path / "once", tmp_path / "killer.py", tmp_path / "race.sqlite"
    solver.write_text(KILLS_ITS_RUNNER.format(once=str(once)))
    command = f"{sys.executable} -S {solver} {{file}}"
    race = Race([Entrant("killer", SolverCommand.parse(command), "classic", "")],
                suite_of(suite), Limits(seconds=600), repeat=2)  # fmt: skip
    if way == "workers":
        raced(race, store, workers=1)
    else:
        distributed = pytest.importorskip("distributed")
        options = {"n_workers": 2, "threads_per_worker": 1, "processes": True,
                   "dashboard_address": None}  # fmt: skip
        with distributed.LocalCluster(**options) as cluster:
            if way == "executor":
                with distributed.Client(cluster) as client:
                    *_, last = iter_race(race, store, executor=client.get_executor())
                assert last.is_complete
            else:
                words = [sys.executable, "-m", "glasshouse", "race", "run", "--suite", str(suite),
                         "-o", str(store), "--solver", command, "--runs", "2", "--dialect",
                         "classic", "--dask", cluster.scheduler_address]  # fmt: skip
                environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
                ended = run(words, env=environment)
                assert ended.returncode == 0, ended.stderr
    assert once.exists()
    wait_until(lambda: not running(solver.name))
    none_stays(cgroups)
    assert not zombies()
    with Store(store) as opened:
        results = read_results(opened)
    assert [run.verdict for run in results.runs] == [RunVerdict.NO_ANSWER] * 4


HURTS_ITS_PARENT = """
import os, signal, sys, time
os.kill(os.getppid(), signal.{signal})
print("s UNKNOWN", flush=True)
time.sleep({seconds})
"""


@linux
@pytest.mark.parametrize(
    ("number", "seconds", "verdict"),
    [("SIGKILL", 1000, RunVerdict.CRASH), ("SIGSTOP", 0, RunVerdict.NO_ANSWER)],
)
def test_a_solver_that_hurts_its_parent_hurts_no_worker(number, seconds, verdict, suite, tmp_path):
    solver, store = tmp_path / "hurts.py", tmp_path / "race.sqlite"
    solver.write_text(HURTS_ITS_PARENT.format(signal=number, seconds=seconds))
    command = SolverCommand.parse(f"{sys.executable} -S {solver} {{file}}")
    race = Race([Entrant("it", command, "classic", "")], suite_of(suite), Limits(seconds=60))
    results = raced(race, store, workers=1)
    assert [run.verdict for run in results.runs] == [verdict] * 2
    assert all(run.seconds < 30 for run in results.runs)
    assert not running(solver.name)


def test_names_that_are_not_utf8_are_one_clear_line(suite, tmp_path):
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff.wcnf"))
    shutil.copy(suite / "instance-00000.wcnf", odd)
    solver = odd.with_suffix(".sh")
    solver.write_text("#!/bin/sh\necho s UNKNOWN\n")
    solver.chmod(0o755)
    entrants = entrants_of([f"odd={solver}"], Limits(seconds=20), "classic")
    said = r"odd\\udcff.* is not UTF-8; rename the file"
    with pytest.raises(ValueError, match=said):
        suite_of(odd)
    with pytest.raises(ValueError, match=said):
        Race(entrants, suite_of(suite), Limits())


def test_without_a_place_for_files_the_runs_are_lost_with_a_clear_line(
    suite, tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    race = Race([broken("none")], suite_of(suite), Limits(), meter="process-group")
    with ThreadPoolExecutor(1) as thread:
        *_, last = iter_race(race, tmp_path / "race.sqlite", executor=thread)
    assert {lost.error.split("]")[1].split(":")[0] for lost in last.lost} == {
        " No such file or directory"
    }
    assert last.rows == 0


def test_a_command_that_vanishes_loses_its_own_runs_only_and_they_can_be_made_up(suite, tmp_path):
    solver, store = tmp_path / "once", tmp_path / "race.sqlite"
    script = f"#!/bin/sh\nrm {solver}\necho s UNKNOWN\n"
    solver.write_text(script)
    solver.chmod(0o755)
    once = Entrant("once", SolverCommand.parse(str(solver)), "classic", "")
    race = Race([once, broken("none")], suite_of(suite), Limits(seconds=20))
    with ThreadPoolExecutor(1) as thread:
        *_, last = iter_race(race, store, executor=thread)
    assert last.rows == 3
    assert [lost.error.split(":")[:2] for lost in last.lost] == [
        ["ValueError", f" cannot start {solver}"]
    ]
    solver.write_text(script)
    solver.chmod(0o755)
    assert len(raced(race, store).runs) == 4
