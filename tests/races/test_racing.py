"""Races: every defect gets its verdict, the race goes on, nothing is left, nothing is run twice."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from tests.races.test_runner import cgroups, linux, none_stays, running, wait_until, zombies

from glasshouse.files.suite import write_suite
from glasshouse.planting import random_loops
from glasshouse.races.command import SolverCommand
from glasshouse.races.dialects import read_from, text_in
from glasshouse.races.entrants import Entrant, built_in_names, entrants_of, start_of
from glasshouse.races.judging import RunVerdict
from glasshouse.races.limits import MEGABYTE, Limits
from glasshouse.races.meters import METERS, best_meter, why_not
from glasshouse.races.racing import NOTE, Race, iter_race
from glasshouse.races.results import read_results
from glasshouse.races.suite_loading import Suite, load_suite
from glasshouse.studies.store.store import Store
from glasshouse.studies.store.storefile import StoreError


def suite_of(place: Path) -> Suite:
    return load_suite(place, place)  # nothing is grown from a path


BROKEN = Path(__file__).with_name("broken_solver.py")
Z3 = Path(__file__).with_name("z3_solver.py")
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


@pytest.fixture(scope="module")
def suite(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("field") / "tiny"
    write_suite(
        folder, [random_loops(3, 3, frustration="1/5", loops=3, rng=seed) for seed in range(2)]
    )
    return folder


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
    store = tmp_path / "race.sqlite"
    results = raced(race, store, workers=2)
    assert {run.solver: run.verdict for run in results.runs} == EXPECTED
    assert not running(str(script))
    none_stays(cgroups)
    assert not list(Path("/tmp").glob("core*"))
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


COUNTING = """
import os, sys, time
with open({log!r}, "a+") as log:
    print(sys.argv[1], file=log, flush=True)
    log.seek(0)
    is_fourth = len(log.readlines()) == 4
if is_fourth and os.path.exists({hang!r}):
    time.sleep(60)
print("o 9\\ns UNKNOWN", flush=True)
"""


@linux
def test_a_killed_race_goes_on_without_repeating_a_run_and_leaves_no_process(suite, tmp_path):
    log, solver, store = tmp_path / "log", tmp_path / "counting.py", tmp_path / "race.sqlite"
    hang = tmp_path / "hang"
    hang.touch()
    solver.write_text(COUNTING.format(log=str(log), hang=str(hang)))
    words = [sys.executable, "-m", "glasshouse", "race", "--suite", str(suite), "-o", str(store),
             "--solver", f"{sys.executable} -S {solver} {{seed}} {{file}}", "--repeat", "4",
             "--dialect", "classic", "--time-limit", "60"]  # fmt: skip
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as first:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (
            log.exists() and log.read_text().count("\n") > 3
        ):
            time.sleep(0.02)
        assert running(solver.name)
        first.send_signal(signal.SIGKILL)
    hang.unlink()
    deadline = time.monotonic() + 10
    while running(solver.name) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(solver.name)
    begun = log.read_text().split()
    with Store(store) as opened:
        finished = sum(one.rows for one in opened.status())
    assert 0 < finished < 8
    ended = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    again = log.read_text().split()[len(begun) :]
    assert len(again) == 8 - finished  # those that were finished, and no others, are left out
    with Store(store) as opened:
        results = read_results(opened)
    assert len(results.runs) == 8
    assert {run.verdict for run in results.runs} == {RunVerdict.NO_ANSWER}
    assert not running(solver.name)


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
    assert raced(Race([broken("none")], field, Limits(seconds=5)), store).runs[0].solved
    return store


def test_a_right_claim_that_nothing_satisfies_is_solved(tmp_path):
    path, store = tmp_path / "a.wcnf", tmp_path / "race.sqlite"
    path.write_text("h 1 0\nh -1 0\n3 1 2 0\n")
    command = SolverCommand.parse("sh -c 'echo s UNSATISFIABLE; exit 20' {file}")
    field = [Entrant("honest", command, "classic", "a fingerprint")]
    (run,) = raced(Race(field, suite_of(path), Limits(seconds=30)), store).runs
    assert (run.solved, run.verdict, run.cost) == (True, RunVerdict.OPTIMAL, None)


def test_a_changed_program_is_not_taken_for_the_old_one(tmp_path):
    solver = tmp_path / "solver.py"
    prints = []
    for text in ("print(1)", "print(2)"):
        solver.write_text(text)
        (one,) = entrants_of([f"{sys.executable} {solver}"], Limits(), "classic")
        prints.append(one.fingerprint)
    assert prints[0] != prints[1]


def test_dialects_are_found_out(tmp_path):
    (found,) = entrants_of([f"old={sys.executable} -S {BROKEN} none"], Limits(seconds=20))
    assert (found.name, found.dialect) == ("old", "classic")
    (wrong,) = entrants_of([f"{sys.executable} -S {BROKEN} 'off by one'"], Limits(seconds=20))
    assert wrong.dialect == "classic"
    with pytest.raises(ValueError, match="the solver cat understands no dialect"):
        entrants_of(["cat {file}"], Limits(seconds=20))


def test_solvers_that_cannot_be_are_one_clear_line():
    with pytest.raises(ValueError, match="'nosuchsolver' is not there"):
        entrants_of(["nosuchsolver {file}"], Limits())
    with pytest.raises(ValueError, match=r"'rc3' is not there.*built-in solvers are .*rc2"):
        entrants_of(["rc3"], Limits())
    with pytest.raises(ValueError, match="two solvers are called 'cat'; name them"):
        entrants_of(["cat {file}", "cat -n {file}"], Limits(), "classic")
    for word, fault in (
        ("{fil}", r"\{fil\} is no place in a command: \{file\}, \{seed\}, \{seconds\}"),
        ("--time={second}", r"\{second\} is no place"),
        (">", "'>' is for a shell, and there is none"),
        ("2>/dev/null", "'2>/dev/null' is for a shell"),
        ("<", "'<' is for a shell"),
        ("|", "'|' is for a shell"),
    ):
        with pytest.raises(ValueError, match=re.escape(fault) if "'" in fault else fault):
            entrants_of([f"cat {word} x"], Limits(), "classic")
    entrants_of(["cat '{file} {print} > x' --limit={seconds}"], Limits(), "classic")
    crashing = "import sys; sys.exit('cannot open licence\\nbye')"
    with pytest.raises(ValueError, match="no dialect") as refusal:
        entrants_of([f'{sys.executable} -S -c "{crashing}"'], Limits(seconds=20))
    assert str(refusal.value).count("cannot open licence") == 1
    assert str(refusal.value).count("bye") == 1
    with pytest.raises(ValueError, match="no solver"):
        entrants_of([], Limits())
    missing = [name for name in built_in_names() if not shutil.which(name)]
    assert "anneal" in missing  # built-ins are no programs


def test_files_that_are_handed_over_tell_nothing_and_hold_the_same(suite):
    from glasshouse.races.answer import read_answer
    from glasshouse.races.clause_file import ClauseFile, read_clauses
    from glasshouse.races.transcript import Transcript

    path = suite / "instance-00000.wcnf"
    assert b"planted" in path.read_bytes()
    clauses = read_clauses(path)
    for dialect in ("classic", "mse22", "opb"):
        text = text_in(dialect, clauses)
        assert b"planted" not in text
        assert b"recipe" not in text
    classic = suite.parent / "copy.wcnf"
    classic.write_bytes(text_in("classic", clauses))
    assert read_clauses(classic) == clauses
    with pytest.raises(ValueError, match="weight 1 only"):
        text_in("cnf", clauses)
    plain = ClauseFile(2, ((1, (1, 2)), (1, (-1,))), ())
    assert text_in("cnf", plain) == b"p cnf 2 2\n1 2 0\n-1 0\n"
    said = read_answer(Transcript.of(b"o 0\nv x1 -x2 x3 -x4\n"))
    assert read_from("opb", said, plain).model(2) == [1, 0]


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


def real(name: str) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed: apt-get install {name}")
    return name


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("clasp", "clasp --quiet=1 --verbose=0 {file}"),
        ("z3", f"{sys.executable} -S {Z3} {{file}}"),
    ],
)
def test_real_binaries_race(program, command, suite, tmp_path):
    real(program)
    limits = Limits(seconds=30)
    entrants = entrants_of([f"{program}={command}"], limits)
    assert entrants[0].dialect == "classic"
    results = raced(Race(entrants, suite_of(suite), limits), tmp_path / "race.sqlite")
    assert [run.verdict for run in results.runs] == [RunVerdict.OPTIMAL] * 2


def test_clasp_reads_opb_too(suite, tmp_path):
    limits = Limits(seconds=30)
    entrants = entrants_of([f"{real('clasp')} --quiet=1 --verbose=0"], limits, "opb")
    results = raced(Race(entrants, suite_of(suite), limits), tmp_path / "race.sqlite")
    assert [run.verdict for run in results.runs] == [RunVerdict.OPTIMAL] * 2


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


def test_built_ins_race_as_commands_of_our_interpreter(suite, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    limits = Limits(seconds=120)
    field = suite_of(suite / "instance-00000.wcnf")
    results = raced(Race(entrants_of(["highs"], limits), field, limits), tmp_path / "race.sqlite")
    assert [run.verdict for run in results.runs] == [RunVerdict.OPTIMAL]
    assert results.starts["highs"] > 0.05


OURS = f"{sys.executable} -m glasshouse solve {{file}} --maxsat-output"


@pytest.mark.parametrize(
    ("options", "seconds", "verdict"),
    [
        ("--solver rc2", 60, RunVerdict.OPTIMAL),
        ("--seed {seed}", 60, RunVerdict.FOUND),
        # It looks for what is not there until SIGTERM comes.
        pytest.param(
            "--sweeps 2000000000 --target -1", 20, RunVerdict.FOUND, marks=pytest.mark.slow
        ),
    ],
)
def test_our_own_command_plays_by_the_rules(
    options, seconds, verdict, suite, tmp_path, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    limits = Limits(seconds=seconds, grace=10)
    entrants = entrants_of([f"ours={OURS} {options}"], limits, "classic")
    one = suite_of(suite / "instance-00000.wcnf")
    (run,) = raced(Race(entrants, one, limits, strict=True), tmp_path / "race.sqlite").runs
    assert (run.verdict, run.remarks) == (verdict, "")


def test_tasks_travel_to_workers_whatever_holds_their_parameters(suite):
    """Suites hold theirs in a read-only view, which cannot be pickled."""
    (whole, *_) = suite_of(suite).instances
    view = replace(whole, parameters=MappingProxyType({"n": 3, "frustration": "1/5"}))
    field = Suite("views", "a digest", (view,))
    (task,) = Race([broken("none")], field, Limits()).tasks()
    assert pickle.loads(pickle.dumps(task)).task_id == task.task_id


def test_a_built_in_that_is_not_installed_says_what_to_install(monkeypatch):
    monkeypatch.setattr("glasshouse.races.builtin.version_of", lambda name: None)
    with pytest.raises(ImportError, match="solver='scip' is not installed; pip install pyscipopt"):
        entrants_of(["scip"], Limits())


def test_built_ins_are_given_the_options_that_they_take_and_no_others():
    names = ["anneal", "prove", "highs"]
    seeded = {e.name: "{seed}" in e.command.words for e in entrants_of(names, Limits())}
    assert seeded == {"anneal": True, "prove": False, "highs": False}


def test_a_changed_instance_is_refused(suite, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(suite, folder)
    before = suite_of(folder)
    path = folder / "instance-00000.wcnf"
    path.write_bytes(path.read_bytes() + b"c more\n")
    with pytest.raises(ValueError, match="was changed"):
        suite_of(folder)
    (folder / "manifest.jsonl").unlink()
    assert suite_of(folder).digest != before.digest


@linux
def test_a_start_that_fails_is_not_measured():
    (entrant,) = entrants_of(["rc2-stratified"], Limits(seconds=20))
    assert start_of(entrant, Limits(seconds=20)) > 0
    assert start_of(entrant, Limits(seconds=20, memory=10 * MEGABYTE)) is None
    assert start_of(entrant, Limits(seconds=0.01)) == 0.01  # all of the limit, at least
    (endless,) = entrants_of(["anneal"], Limits(seconds=20))
    assert start_of(endless, Limits(seconds=20)) is None  # it would take all of them
    assert 0 < start_of(endless, Limits(seconds=8)) < 7.5  # up to its first value


def test_the_start_of_a_solver_that_works_until_the_limit_ends_with_its_first_value():
    talks = "import time; print('o 2\\ns SATISFIABLE\\nv 10', flush=True); time.sleep(60)"
    (entrant,) = entrants_of([f'{sys.executable} -S -c "{talks}"'], Limits(), "mse22")
    assert 0 < start_of(entrant, Limits(seconds=2, grace=0.2)) < 1.5


def test_a_store_keeps_the_meter_that_it_was_begun_with(suite, tmp_path, monkeypatch):
    store, field = tmp_path / "race.sqlite", suite_of(suite / "instance-00000.wcnf")
    race = Race([broken("none")], field, Limits(seconds=20), meter="process-group")
    raced(race, store)
    with pytest.raises(ValueError, match="with meter='process-group', not 'benchexec'; use the"):
        next(iter_race(replace(race, meter="benchexec"), store))
    monkeypatch.setattr("glasshouse.races.racing.best_meter", lambda: "benchexec")
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


KILLS_ITS_RUNNER = """
import os, signal, sys, time
if not os.path.exists({once!r}):
    open({once!r}, "w").close()
    os.kill(os.getppid(), signal.SIGKILL)
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
                suite_of(suite), Limits(seconds=60), repeat=2)  # fmt: skip
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
                words = [sys.executable, "-m", "glasshouse", "race", "--suite", str(suite), "-o",
                         str(store), "--solver", command, "--repeat", "2", "--dialect", "classic",
                         "--dask", cluster.scheduler_address]  # fmt: skip
                environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
                ended = subprocess.run(words, env=environment, timeout=120, check=False)
                assert ended.returncode == 0
    assert once.exists()
    wait_until(lambda: not running(solver.name))
    none_stays(cgroups)
    assert not zombies()
    with Store(store) as opened:
        results = read_results(opened)
    assert [run.verdict for run in results.runs] == [RunVerdict.NO_ANSWER] * 4


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
