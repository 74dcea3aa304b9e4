"""`glasshouse race` as it is typed."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.children import start, until
from tests.races.running.test_runner import linux, running
from tests.store.synthetic import Fake

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.planting.methods import random_loops
from glasshouse.store import Store, collect
from glasshouse.suites.writing import write_suite

BROKEN = Path(__file__).parents[1] / "races" / "broken_solver.py"


def command(defect: str, name: str) -> str:
    return f"{name}={sys.executable} -S {BROKEN} '{defect}' {{file}}"


@pytest.fixture(scope="module")
def raced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("race")
    plants = [random_loops(3, 3, frustration="1/5", loops=3, rng=seed) for seed in range(2)]
    write_suite(folder / "tiny", plants)
    solvers = [command("none", "good"), command("off by one", "bad")]
    words = ["race", "run", "--suite", str(folder / "tiny"), "-o", str(folder / "race.sqlite"),
             "--time-limit", "30", "--dialect", "classic"]  # fmt: skip
    words += [word for solver in solvers for word in ("--solver", solver)]
    return folder, words, main(words)


def test_a_solver_that_is_not_there_is_told_of_before_a_suite_is_grown(tmp_path, capsys):
    store = tmp_path / "race.sqlite"
    assert main(["race", "run", "--suite", "smoke", "-o", str(store), "--solver", "./nosuch"]) == 2
    assert "'./nosuch' was not found" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_faults_come_first_and_make_the_exit_code(raced, capsys):
    folder, _, code = raced
    assert code == 1
    assert main(["race", "show", str(folder / "race.sqlite")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "bad on instance-00000.wcnf: wrong optimum: an o line states 8, "
        "but every assignment costs at least 9"
    )
    assert lines[3:5] == ["tiny: 2 instances, 4 of 4 runs", lines[4]]
    assert [line.split()[:4] for line in lines[5:7]] == [
        ["good", "2/2", "2", "0"],
        ["bad", "0/2", "0", "2"],
    ]
    assert lines[7].split()[:3] == ["virtual", "best", "2/2"]
    assert lines[9].startswith("solver        CPU PAR-2  CPU seconds  most memory  solved alone")
    good, bad = (line.split() for line in lines[10:12])
    assert 0 < float(good[1]) < 30
    assert (bad[1], good[4], good[5], bad[5]) == ("60", "MB", "2", "0")
    assert main(["race", "show", str(folder / "race.sqlite"), "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert [fault["verdict"] for fault in shown["faults"]] == ["wrong optimum"] * 2
    assert shown["solvers"][0]["par2"] < 30
    assert shown["solvers"][1]["par2"] == 60
    good, bad = shown["solvers"]
    assert 0 < good["median_seconds"]["low"] <= good["median_seconds"]["value"] < 30
    assert bad["median_seconds"]["value"] is None
    assert 0 < good["par2_cpu"] <= good["cpu_seconds"]
    assert good["memory"] > 1_000_000
    assert good["contribution"] == pytest.approx(
        {"alone": 2, "par2": 60 - good["par2"], "par2_cpu": 60 - good["par2_cpu"]}
    )
    assert shown["virtual_best"]["par2"] == good["par2"]
    assert all(fault["cpu_seconds"] > 0 < fault["memory"] for fault in shown["faults"])
    assert (good["verdicts"], bad["verdicts"]) == ({"optimal": 2}, {"wrong optimum": 2})
    assert shown["unproven"] == 0


def test_a_race_that_is_over_runs_nothing_again(raced, capsys):
    folder, words, _ = raced
    with Store(folder / "race.sqlite") as store:
        before = [store.rows(task)["seconds"].tolist() for task in store.tasks()]
    assert main(words) == 1
    with Store(folder / "race.sqlite") as store:
        assert [store.rows(task)["seconds"].tolist() for task in store.tasks()] == before


def test_solvers_that_were_entered_and_never_ran_are_told_apart(raced, tmp_path, capsys):
    """They count among the entered runs, and a line reports their outcome."""
    store = tmp_path / "race.sqlite"
    shutil.copy(raced[0] / "race.sqlite", store)
    with closing(sqlite3.connect(store)) as database, database:
        tasks = 'SELECT task FROM tasks WHERE canonical LIKE \'%"name":"bad"%\''
        for table in ("race", "batches"):
            database.execute(f"DELETE FROM {table} WHERE task IN ({tasks})")
        database.execute(f"UPDATE tasks SET finished = 0 WHERE task IN ({tasks})")
    assert main(["race", "show", str(store)]) == 0
    shown = capsys.readouterr().out
    assert "tiny: 2 instances, 2 of 4 runs" in shown
    assert "bad: 2 of its 2 runs are missing; resume the race" in shown
    assert main(["race", "show", str(store), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["expected_runs"], shown["missing_runs"]) == (4, {"bad": 2})


def test_a_suite_file_is_grown_once_beside_the_store(tmp_path, capsys):
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\ncount = 2\n[[family]]\nmethod = "graph_loops"\n'
        'parameters = { graph = "complete:6", frustration = "1/3", length = 3, loops = 2 }\n'
    )
    words = ["race", "run", "--suite", str(tmp_path / "mine.toml"), "-o",
             str(tmp_path / "race.sqlite"), "--time-limit", "30",
             "--solver", command("off by one", "bad")]  # fmt: skip
    assert main(words) == 1
    first = capsys.readouterr().out
    assert first.startswith("bad on mine-00000.wcnf: wrong optimum")
    (file,) = tmp_path.glob("suites/mine-*/instances/mine-00000.wcnf")
    before = file.stat().st_mtime_ns
    assert main(words) == 1
    assert (capsys.readouterr().out, file.stat().st_mtime_ns) == (first, before)
    (tmp_path / "mine.toml").write_text('name = "mine"\nn=3\n')
    assert main(words) == 2
    assert "unknown keys n;" in capsys.readouterr().err


def test_blind_files_say_that_nothing_is_proven_and_answers_prove_it(tmp_path, capsys):
    where = ["-o", str(tmp_path / "contest"), "--answers", str(tmp_path / "secret")]
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\ncount = 2\n[[family]]\nmethod = "random_loops"\n'
        'parameters = { n = 3, frustration = "1/5", loops = 3 }\n'
    )
    assert main(["suite", "write", str(tmp_path / "mine.toml"), *where]) == 0
    words = ["race", "run", "--solver", command("none", "good"), "--time-limit", "30"]
    capsys.readouterr()
    blind = [*words, "--suite", str(tmp_path / "contest"), "-o", str(tmp_path / "a.sqlite")]
    assert main(blind) == 0
    told = capsys.readouterr().out
    assert "no optimum is proven for 2 of 2 instances: claims there stay undecided" in told
    assert " 0/2 " in told
    for k, folder in enumerate(("contest", "contest/instances")):
        store = str(tmp_path / f"answered{k}.sqlite")
        answered = [*words, "--suite", str(tmp_path / folder), "-o", store]
        assert main([*answered, "--answers", str(tmp_path / "secret")]) == 0
        told = capsys.readouterr().out
        assert told.startswith("mine: 2 instances, 2 of 2 runs")
        assert " 2/2 " in told
        assert "proven" not in told
    for suite, answers, fault in (
        ("contest", "contest", "contest has no manifest.jsonl; expected a suite's answers"),
        ("smoke", "secret", "smoke must be a folder of instances"),
    ):
        at = str(tmp_path / suite) if suite == "contest" else suite
        line = [*words, "--suite", at, "--answers", str(tmp_path / answers), "-o", "x.sqlite"]
        assert main(line) == 2
        assert fault in capsys.readouterr().err


def test_a_store_of_samplers_is_shown_drawn_and_exported(tmp_path, monkeypatch, capsys):
    pytest.importorskip("dimod")
    monkeypatch.chdir(tmp_path)
    plant = random_loops(3, 3, frustration="1/5", loops=3, rng=1)
    entered = {"x": gh.GlasshouseAnnealer()}
    gh.race_samplers(entered, plant, reads=2, calls=2, store="s.sqlite", batches=())
    assert main(["race", "show", "s.sqlite"]) == 0
    assert "1 with an optimum proven before the race" in capsys.readouterr().out
    assert main(["race", "show", "s.sqlite", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [call["solver"] for call in told["calls"]] == ["x", "x"]
    assert main(["store", "export", "s.sqlite", "-o", "calls.csv"]) == 0
    assert main(["store", "check", "s.sqlite"]) == 0
    assert main(["race", "plot", "s.sqlite", "--figure", "cactus", "-o", "x.png"]) == 2
    assert "must be 'tts'" in capsys.readouterr().err
    for figure in ([], ["--figure", "residual"]):
        assert main(["race", "plot", "s.sqlite", *figure, "-o", "x.png", "--force"]) == 0
    assert len(Path("calls.csv").read_text().splitlines()) == 3


def test_starts_as_long_as_the_limit_are_told(raced, tmp_path, capsys):
    store = tmp_path / "race.sqlite"
    shutil.copy(raced[0] / "race.sqlite", store)
    with Store(store, write=True) as opened:
        held = json.loads(opened.noted("race"))
        held["solvers"]["good"]["start_seconds"] = 30.0
        held["solvers"]["bad"]["start_seconds"] = 0.5
        opened.note("race", json.dumps(held))
    main(["race", "show", str(store)])
    told = capsys.readouterr().out
    assert "good: the start of Python takes longer than the time limit; raise the limit" in told
    assert "bad: each run includes 0.5 s for the start of Python" in told


def test_instances_that_are_not_begun_count_and_one_run_is_few_for_tts(raced, tmp_path, capsys):
    store = tmp_path / "race.sqlite"
    shutil.copy(raced[0] / "race.sqlite", store)
    with closing(sqlite3.connect(store)) as database, database:
        tasks = "SELECT task FROM tasks WHERE canonical LIKE '%instance-00001%'"
        for table in ("race", "batches"):
            database.execute(f"DELETE FROM {table} WHERE task IN ({tasks})")
        database.execute(f"UPDATE tasks SET finished = 0 WHERE task IN ({tasks})")
    main(["race", "show", str(store)])
    told = capsys.readouterr().out
    assert "tiny: 2 instances, 2 of 4 runs" in told
    assert "good: 1 of its 2 runs are missing; resume the race" in told
    picture = str(tmp_path / "tts.svg")
    assert main(["race", "plot", str(store), "--figure", "tts", "-o", picture]) == 0
    assert "race with --runs" in capsys.readouterr().err


def test_plots_and_exports(raced, tmp_path, capsys):
    folder, _, _ = raced
    store = str(folder / "race.sqlite")
    for figure in ("cactus", "scatter"):
        picture = tmp_path / f"{figure}.pdf"
        assert main(["race", "plot", store, "--figure", figure, "-o", str(picture)]) == 0
        assert picture.stat().st_size > 1000
        assert main(["race", "plot", store, "--figure", figure, "-o", str(picture)]) == 2
    assert (
        main(["store", "export", store, "--as", "time-series", "-o", str(tmp_path / "series")]) == 0
    )
    (path,) = (tmp_path / "series" / "good").glob("*00000*")
    assert path.name == "instance-00000_objective_time_series.json"
    ((first, second, end),) = json.loads(path.read_text())
    assert [first["Incumbent"], second["Incumbent"], end["Incumbent"]] == [12, 9, 9]
    assert not (tmp_path / "series" / "bad").exists()
    csv = tmp_path / "race.csv"
    assert main(["store", "export", store, "--rows", "race", "-o", str(csv)]) == 0
    assert "wrong optimum" in csv.read_text()


def test_stores_of_another_kind_and_wrong_words_lose_nothing(raced, tmp_path, capsys):
    folder, words, _ = raced
    store = tmp_path / "study.sqlite"
    collect([Fake()], store)
    before = store.read_bytes()
    elsewhere = [str(store) if word.endswith("race.sqlite") else word for word in words]
    race = folder / "race.sqlite"
    held = race.read_bytes()
    for typed, said in (
        (elsewhere, "study.sqlite holds a study, not a race; use another store"),
        (["race", "show", str(store)], "holds a study, not a race"),
        (["race", "show", str(tmp_path / "none.sqlite")], "no such race; run `glasshouse race"),
        (["race", "plot", str(race), "--figure", "scatter", "--solver", "good"], "two solvers"),
        (["race", "plot", str(race), "--figure", "reaching", "--clock", "cpu"],
         "--clock 'cpu' must be 'wall', or 'cpu' for the figures cactus, ecdf"),
        (["race", "compare", str(race), "good", "nosuch"], "no runs of 'nosuch'; the solvers with"),
        (["race", "compare", str(race), "good", "good"], "'good' cannot be compared with itself"),
        ([*words, "--cpu-limit", "10"], "contains a race without --cpu-limit; use the same rules"),
        ([*words, "--cpu-limit", "0"], "--cpu-limit 0.0 must be a number of seconds above 0"),
        ([*words, "--cores", "0"], "--cores 0 is below 1"),
        ([*words, "--workers", "99", "--cores", "99"], "--workers 99 and --cores 99 need 9801"),
        ([*words, "--dask", "nowhere:1", "--cores", "1"], "remove --dask or --cores"),
        (["study", "plot", str(race), "-o", str(tmp_path / "x.png")], "race.sqlite"),
        (["31" if word == "30" else word for word in words], "with --time-limit 30.0, not 31"),
        (["-1" if word == "30" else word for word in words], "--time-limit -1.0 must be a number"),
        (["race", "run", "--suite", str(folder), "-o", str(race), "--solver", "true"],
         "is not a suite"),
        (["race", "run", "--suite", str(folder / "tiny"), "-o", str(race),
          "--solver", "nosuch {file}"],
         "the solver 'nosuch' was not found"),
        (["race", "run", "--suite", str(folder / "nowhere"), "-o", str(race), "--solver", "true",
          "--dialect", "classic"], "nowhere"),
    ):  # fmt: skip
        assert main(typed) == 2, typed
        shown = capsys.readouterr()
        assert said in shown.err
        assert shown.err.count("\n") == 1
        assert not shown.out
    assert store.read_bytes() == before
    assert race.read_bytes() == held


@pytest.mark.parametrize(
    "change",
    [
        "cost = 'nine'",
        "cpu_seconds = -1",
        "cpu_seconds = 1e999",
        "verdict = 'fine'",
        "incumbents = '{}'",
        "incumbents = '[[1, 2]]'",
        "incumbents = '[[-1, \"2\"]]'",
        "incumbents = '[[1e999, \"2\"]]'",
        f"incumbents = '{'[' * 50_000}'",
        "seconds = -1.0",
    ],
)
def test_a_store_that_lies_is_one_clear_line(raced, tmp_path, capsys, change):
    store = tmp_path / "race.sqlite"
    shutil.copy(raced[0] / "race.sqlite", store)
    with closing(sqlite3.connect(store)) as database, database:
        database.execute(f"UPDATE race SET {change}")
    assert main(["race", "show", str(store)]) == 2
    shown = capsys.readouterr()
    assert "is damaged (" in shown.err
    assert shown.err.count("\n") == 1


def test_what_a_solver_said_reaches_no_terminal_as_it_is(raced, tmp_path, capsys):
    store = tmp_path / "race.sqlite"
    shutil.copy(raced[0] / "race.sqlite", store)
    with closing(sqlite3.connect(store)) as database, database:
        database.execute("UPDATE race SET reason = 'a' || char(27) || '[2Jb'")
    assert main(["race", "show", str(store)]) == 1
    assert "a?[2Jb" in capsys.readouterr().out


COUNTING = """
import runpy, sys
with open({log!r}, "a") as log:
    print(sys.argv[1], file=log)
sys.argv = [{solver!r}, "none", sys.argv[2]]
runpy.run_path({solver!r}, run_name="__main__")
"""


def test_the_dialect_that_was_found_out_is_printed_and_kept(raced, tmp_path, capsys):
    """The solver writes down the seconds that it was given: a probe's are not those of the race."""
    script, log = tmp_path / "counting.py", tmp_path / "log"
    script.write_text(COUNTING.format(log=str(log), solver=str(BROKEN)))
    words = ["race", "run", "--suite", str(raced[0] / "tiny"), "-o", str(tmp_path / "race.sqlite"),
             "--time-limit", "30", "--solver",
             f"mine={sys.executable} -S {script} {{seconds}} {{file}}"]  # fmt: skip
    assert main(words) == 0
    told = "mine reads classic, by its answer on an instance of two variables; --dialect chooses "
    assert told in capsys.readouterr().err
    assert log.read_text().split() == ["10"] * 2 + ["30"] * 2  # mse22, classic; two instances
    assert main([*words, "--runs", "2"]) == 0
    assert "mine reads classic, as before; --dialect chooses another" in capsys.readouterr().err
    assert log.read_text().split() == ["10"] * 2 + ["30"] * 4
    assert main([*words, "--dialect", "mse22"]) == 2
    assert "contains runs of a solver mine that differs in its dialect" in capsys.readouterr().err
    script.write_text(script.read_text() + "# changed")
    assert main(words) == 2
    assert "runs of a solver mine that differs in its fingerprint" in capsys.readouterr().err
    assert log.read_text().split() == ["10"] * 2 + ["30"] * 4


def test_a_dialect_of_a_solver_that_is_wrong_is_printed_with_its_answer(raced, tmp_path, capsys):
    words = ["race", "run", "--suite", str(raced[0] / "tiny"), "-o", str(tmp_path / "race.sqlite"),
             "--time-limit", "30",
             "--solver", command("off by one", "bad")]  # fmt: skip
    assert main(words) == 1
    told = "bad reads classic, though its answer on an instance of two variables was: wrong optimum"
    assert told in capsys.readouterr().err


def test_runs_that_were_not_made_are_told_with_the_reason(tmp_path, capsys):
    (tmp_path / "heavy.wcnf").write_text(f"p wcnf 3 2 {2**64 - 1}\n{2**63} 1 2 3 0\n2 -1 0\n")
    words = ["race", "run", "--suite", str(tmp_path / "heavy.wcnf"), "-o",
             str(tmp_path / "race.sqlite"), "--solver", "rc2"]  # fmt: skip
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "rc2: 1 of its runs were not run: glasshouse cannot read this file (weight" in told


@linux
def test_runs_that_had_to_be_started_again_are_told(raced, tmp_path, capsys):
    script = tmp_path / "ends_its_worker.py"
    script.write_text(
        "import os, pathlib, signal\n"
        f"once = pathlib.Path({str(tmp_path / 'once')!r})\n"
        "if not once.exists():\n"
        "    once.touch()\n"
        "    process = os.getppid()\n"
        "    for _ in ('keeper', 'heir'):\n"
        "        status = pathlib.Path(f'/proc/{process}/stat').read_text()\n"
        "        process = int(status.rpartition(')')[2].split()[1])\n"
        "    os.kill(process, signal.SIGKILL)\n"
        "print('s UNKNOWN')\n"
    )
    words = ["race", "run", "--suite", str(raced[0] / "tiny"), "-o", str(tmp_path / "race.sqlite"),
             "--dialect", "classic", "--solver", f"{sys.executable} -S {script}"]  # fmt: skip
    assert main(words) == 0
    told = capsys.readouterr().err
    assert "runs restarted: 1, the first because of: BrokenProcessPool" in told


@linux
def test_ctrl_c_keeps_what_is_there_and_ends_the_solvers(raced, tmp_path):
    folder = raced[0]
    (tmp_path / "slow.py").write_text("import time; print('o 9', flush=True); time.sleep(1000)")
    store = tmp_path / "race.sqlite"
    solver = f"{sys.executable} -S {tmp_path / 'slow.py'}"
    typed = ["race", "run", "--suite", str(folder / "tiny"), "-o", str(store), "--dialect",
             "classic", "--solver", solver, "--workers", "2"]  # fmt: skip
    command = [sys.executable, "-m", "glasshouse", *typed]
    process = start(command)
    both = f"{tmp_path / 'slow.py'} /"
    until(lambda: len(running(both)) >= 2, process)  # both workers run one
    process.send_signal(signal.SIGINT)
    _, said = process.heard()
    assert process.returncode == 130
    assert said.splitlines()[-1].endswith("0 runs are in " + str(store) + ", and the same command "
                                          "resumes")  # fmt: skip
    assert not running(str(tmp_path / "slow.py"))


def test_two_solvers_are_compared(raced, capsys):
    store = str(raced[0] / "race.sqlite")
    assert main(["race", "compare", store, "good", "bad"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "2 instances that good and bad have run on: both solved 0, only good 2, only bad 0, "
        "neither 0"
    )
    assert lines[1] == "wall-clock time of good / bad: no instance that both solved"
    assert main(["race", "compare", store, "good", "bad", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["first_only"], shown["by"]["cpu"]["ratio"]) == (2, None)
    assert shown["by"]["cpu"]["sign_p"] == 0.5


@pytest.mark.parametrize("figure", ["cactus", "ecdf", "profile", "scatter"])
def test_figures_by_cpu_time_are_drawn(raced, tmp_path, figure):
    words = ["race", "plot", str(raced[0] / "race.sqlite"), "--figure", figure, "--clock", "cpu"]
    assert main([*words, "-o", str(tmp_path / "x.png")]) == 0
    assert (tmp_path / "x.png").stat().st_size > 5000


def test_dimod_samplers_race_by_the_names_of_their_classes(tmp_path, monkeypatch, capsys):
    pytest.importorskip("dimod")
    monkeypatch.chdir(tmp_path)
    gh.write_suite("tiny", [random_loops(3, 3, frustration="1/5", loops=3, rng=1)])
    words = ["race", "run", "--sampler", "mine=glasshouse:GlasshouseAnnealer num_sweeps=9",
             "--suite", "tiny", "--reads", "3", "--runs", "2", "-o", "s.sqlite"]  # fmt: skip
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "TTS99 elapsed" in told
    assert "mine" in told
    assert main([*words, "--json"]) == 0  # nothing is called again
    calls = json.loads(capsys.readouterr().out)["calls"]
    assert len(calls) == 2 * 6
    assert main(["race", "plot", "s.sqlite", "--figure", "batches", "-o", "x.png"]) == 0
    for more, message in [
        (["--solver", "rc2"], "a race needs either --solver or --sampler"),
        (["--sampler", "nowhere_at_all:X"], "cannot be loaded: ModuleNotFoundError"),
        (["--sampler", "mine=dimod:RandomSampler"], "two samplers have the name mine"),
    ]:
        assert main([*words, *more]) == 2
        lines = capsys.readouterr().err.strip().splitlines()
        assert message in lines[-1]
