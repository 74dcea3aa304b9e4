"""Who races: commands, their dialects and starts, built-in solvers, real ones."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from tests.races.field import BROKEN, raced, suite_of
from tests.races.running.test_runner import linux

import glasshouse as gh
from glasshouse.files.clause_file import text_in
from glasshouse.races.commands import entrants
from glasshouse.races.commands.entrants import built_in_names, entrants_of, start_of
from glasshouse.races.commands.racing import Race
from glasshouse.races.judging.answer import read_from
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.races.running.command import MEGABYTE, Limits

Z3 = Path(__file__).with_name("z3_solver.py")


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
    with pytest.raises(ValueError, match="the solver cat did not answer in any dialect"):
        entrants_of(["cat {file}"], Limits(seconds=20))


@pytest.mark.parametrize(
    "solvers",
    [["a=cat {file}", "a=cat -n {file}"], ["cat {file}", "cat -n {file}"],
     ["cat {file}", "cat-2=cat -b {file}", "cat --show=x {file}"]],
)  # fmt: skip
def test_the_advice_for_two_solvers_of_one_name_works(solvers):
    with pytest.raises(ValueError, match=r"name '.*'; rename one of them, as in ") as told:
        entrants_of(solvers, Limits(), "classic")
    (advice,) = shlex.split(str(told.value).partition("as in ")[2])
    found = entrants_of([*solvers[:-1], advice], Limits(), "classic")
    assert len({entrant.name for entrant in found}) == len(solvers)
    assert found[-1].command.words[1:] == tuple(solvers[-1].partition("cat ")[2].split())


def test_a_built_in_solver_races_once():
    with pytest.raises(ValueError, match="'prove'; a built-in solver can race only once; "):
        entrants_of(["prove", "prove"], Limits())


def test_solvers_that_cannot_be_are_one_clear_line():
    with pytest.raises(ValueError, match="'nosuchsolver' was not found"):
        entrants_of(["nosuchsolver {file}"], Limits())
    with pytest.raises(ValueError, match=r"'rc3' was not found.*built-in solvers are .*rc2"):
        entrants_of(["rc3"], Limits())
    with pytest.raises(ValueError, match="two solvers have the name 'cat'; rename one"):
        entrants_of(["cat {file}", "cat -n {file}"], Limits(), "classic")
    for word, fault in (
        ("{fil}", r"\{fil\} is not a placeholder; use \{file\}, \{seed\} or \{seconds\}"),
        ("--time={second}", r"\{second\} is not a placeholder; use"),
        (">", "'>' needs a shell, but commands run without one"),
        ("2>/dev/null", "'2>/dev/null' needs a shell"),
        ("<", "'<' needs a shell"),
        ("|", "'|' needs a shell"),
    ):
        with pytest.raises(ValueError, match=re.escape(fault) if "'" in fault else fault):
            entrants_of([f"cat {word} x"], Limits(), "classic")
    entrants_of(["cat '{file} {print} > x' --limit={seconds}"], Limits(), "classic")
    crashing = "import sys; sys.exit('cannot open licence\\nbye')"
    with pytest.raises(ValueError, match="any dialect") as refusal:
        entrants_of([f'{sys.executable} -S -c "{crashing}"'], Limits(seconds=20))
    assert str(refusal.value).count("cannot open licence") == 1
    assert str(refusal.value).count("bye") == 1
    with pytest.raises(ValueError, match="no solver"):
        entrants_of([], Limits())
    missing = [name for name in built_in_names() if not shutil.which(name)]
    assert "anneal" in missing  # built-ins are not programs


def test_files_that_are_handed_over_tell_nothing_and_hold_the_same(suite):
    from glasshouse.files.clause_file import ClauseFile, read_clauses
    from glasshouse.races.judging.answer import read_answer
    from glasshouse.races.running.transcript import Transcript

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
    with pytest.raises(ValueError, match="allows only soft clauses of weight 1"):
        text_in("cnf", clauses)
    plain = ClauseFile(2, ((1, (1, 2)), (1, (-1,))), ())
    assert text_in("cnf", plain) == b"p cnf 2 2\n1 2 0\n-1 0\n"
    said = read_answer(Transcript.of(b"o 0\nv x1 -x2 x3 -x4\n"))
    assert read_from("opb", said, plain).model(2) == [1, 0]


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


def test_a_built_in_that_is_not_installed_says_what_to_install(monkeypatch):
    monkeypatch.setattr("glasshouse.races.commands.builtin.version_of", lambda name: None)
    with pytest.raises(ImportError, match="'scip' is not installed; use pip install pyscipopt"):
        entrants_of(["scip"], Limits())


def test_built_ins_are_given_the_options_that_they_take_and_no_others():
    names = ["anneal", "prove", "highs"]
    seeded = {e.name: "{seed}" in e.command.words for e in entrants_of(names, Limits())}
    assert seeded == {"anneal": True, "prove": False, "highs": False}


@pytest.mark.quiet
@linux
def test_a_start_that_fails_is_not_measured(monkeypatch):
    (entrant,) = entrants_of(["rc2-stratified"], Limits(seconds=20))
    assert start_of(entrant, Limits(seconds=20)) > 0
    assert start_of(entrant, Limits(seconds=20, memory=10 * MEGABYTE)) is None
    assert start_of(entrant, Limits(seconds=0.01)) == 0.01  # all of the limit, at least
    (endless,) = entrants_of(["anneal"], Limits(seconds=20))
    assert start_of(endless, Limits(seconds=20)) is None  # it would take all of them
    gh.anneal(gh.Max2Sat.from_clauses(2, [[1, 2]], [1]))  # compiles
    tried, seen = entrants.try_out, []
    monkeypatch.setattr(entrants, "try_out", lambda *given: seen.append(tried(*given)) or seen[-1])
    start = start_of(endless, Limits(seconds=10))
    ((outcome, answer, _),) = seen
    assert 0 < start == answer.incumbents[0][0] < outcome.seconds  # up to its first value


@pytest.mark.quiet
def test_the_start_of_a_solver_that_works_until_the_limit_ends_with_its_first_value():
    talks = "import time; print('o 2\\ns SATISFIABLE\\nv 10', flush=True); time.sleep(60)"
    (entrant,) = entrants_of([f'{sys.executable} -S -c "{talks}"'], Limits(), "mse22")
    assert 0 < start_of(entrant, Limits(seconds=2, grace=0.2)) < 1.5


def test_files_that_our_reader_does_not_take_are_not_run_and_no_fault(tmp_path):
    """The race judges weights of any size; built-in solvers read them through our own reader."""
    folder, limits = tmp_path / "field", Limits(seconds=120)
    folder.mkdir()
    (folder / "heavy.wcnf").write_text(f"p wcnf 2 2 {2**64 - 1}\n{2**63} 1 2 0\n{2**62} -1 0\n")
    entrants = entrants_of(["rc2", "anneal"], limits)
    results = raced(Race(entrants, suite_of(folder), limits), tmp_path / "race.sqlite")
    assert not results.faults
    assert {run.verdict for run in results.runs} == {RunVerdict.NO_ANSWER}
    reasons = {run.file: run.reason for run in results.runs}
    assert reasons["heavy.wcnf"].startswith("not run: glasshouse cannot read this file (")


def test_built_in_solvers_get_clauses_of_any_length(tmp_path):
    folder, limits = tmp_path / "field", Limits(seconds=120)
    folder.mkdir()
    (folder / "three.wcnf").write_text("p wcnf 3 3 9\n9 1 2 3 0\n2 -1 0\n0 1 0\n")
    (folder / "never.wcnf").write_text("h 1 2 3 0\nh -1 0\nh -2 0\nh -3 0\n1 1 2 3 0\n")
    entrants = entrants_of(["rc2", "highs"], limits)
    results = raced(Race(entrants, suite_of(folder), limits), tmp_path / "race.sqlite")
    found = {(run.file, run.verdict, run.cost) for run in results.runs}
    assert found == {
        ("three.wcnf", RunVerdict.OPTIMAL, 0), ("never.wcnf", RunVerdict.UNDECIDED, None),
    }  # fmt: skip
