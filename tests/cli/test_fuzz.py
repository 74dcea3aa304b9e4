"""`glasshouse fuzz`: what is printed, what is written, and how it ends."""

from __future__ import annotations

import json
import shlex
import sys

import pytest
from tests.notices import without_notices

import glasshouse as gh
from glasshouse.cli import main

SILENT = shlex.join([sys.executable, "-c", "print('s OPTIMUM FOUND')"])


def test_a_right_solver_leaves_nothing_behind(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["fuzz", "run", "--solver", "rc2", "--count", "5", "--seed", "3"]) == 0
    assert capsys.readouterr().out == "5 instances: 5 optimal\n"
    assert not list(tmp_path.iterdir())


def test_faults_are_handed_over_and_told_in_json(tmp_path, capsys):
    folder = tmp_path / "found"
    words = ["fuzz", "run", "--solver", SILENT, "--count", "2", "-o", str(folder), "--json"]
    assert main(words) == 1
    told = json.loads(capsys.readouterr().out)
    (fault,) = told["faults"]
    assert told["instances"] == 2
    assert fault["verdict"] == "no o line"
    assert fault["clauses"] == 0
    assert gh.verify_file(fault["file"]).cost == fault["optimum"]
    file = shlex.quote(fault["file"])
    assert fault["command"] == f"{SILENT} {file} | glasshouse judge {file} -"
    assert len(list(folder.iterdir())) == 3


def test_faults_in_words(tmp_path, capsys):
    words = ["--count", "1", "-o", str(tmp_path / "found"), "--shrink-time-limit", "0.01"]
    assert (
        main(["fuzz", "run", "--solver", f"{sys.executable} -c pass", *words]) == 1
    )  # prints nothing
    told = capsys.readouterr().out
    assert "1 no answer" in told
    assert "not answered, 1 times: no answer: " in told
    assert told.endswith(
        "no instance was answered, so nothing was tested; check the command, or whether the solver "
        "prints an s line\n"
    )
    assert main(["fuzz", "run", "--solver", f"{sys.executable} -c boom", *words]) == 1
    out = capsys.readouterr().out
    assert out.startswith("1 instance: 1 crash\n\ncrash: exit code 1, no s line: NameError")
    assert "proven by" in out


def test_the_dialect_that_a_solver_understands_is_found_out(tmp_path, capsys):
    """A solver of classic files only: in other files it finds no p line, and prints nothing."""
    reads = "import sys; t = open(sys.argv[1]).read(); 'p wcnf' in t and print('s OPTIMUM FOUND')"
    script = tmp_path / "old.py"
    script.write_text(reads)
    words = ["fuzz", "run", "--solver", f"{sys.executable} -S {script}", "--count", "4", "--plain",
             "--time-limit", "9", "-o", str(tmp_path / "found"), "--json"]  # fmt: skip
    assert main([*words, "--shrink-time-limit", "0.01"]) == 1
    told = capsys.readouterr()
    assert "the solver understands classic files only" in told.err
    assert json.loads(told.out)["verdicts"] == {"no o line": 4}
    assert json.loads(told.out)["unanswered"] == {}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--solver", "no-such-solver"], "the solver 'no-such-solver' was not found"),
        (["--solver", ""], "the command is empty"),
        (["--solver", "rc2", "--count", "0"], "--count 0 is below 1"),
        (["--solver", "rc2", "--seed", "-1"], "--seed -1 is below 0"),
        (["--solver", "rc2", "--most-weight", "0"], "--most-weight 0 is below 1"),
        (["--solver", "rc2", "--most-total", "5"], "--most-total 5 is below"),
        (["--solver", "rc2", "--workers", "0"], "--workers 0 is below 1"),
        (["--solver", "rc2", "--time-limit", "0"], "--time-limit 0.0 must be a number"),
        (["--solver", "rc2", "-o", "FILE"], "expected a folder"),
    ],
)
def test_wrong_usage_is_one_line(words, message, tmp_path, capsys):
    file = tmp_path / "there"
    file.touch()
    assert main(["fuzz", "run", *(w.replace("FILE", str(file)) for w in words)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_ctrl_c_keeps_what_was_found(tmp_path, monkeypatch, capsys):
    from glasshouse.fuzzing import hunting

    real, asked = hunting._tried, []

    def interrupted(*arguments):
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(1)
        return real(*arguments)

    monkeypatch.setattr(hunting, "_tried", interrupted)
    folder = tmp_path / "found"
    assert main(["fuzz", "run", "--solver", f"{sys.executable} -c boom", "-o", str(folder)]) == 130
    shown = capsys.readouterr()
    assert "2 instances: 2 crash" in shown.out
    assert without_notices(shown.err) == (
        "glasshouse: interrupted; 2 of 1000 instances were tried\n"
    )
    assert len(list(folder.glob("*.wcnf"))) == 1


def test_a_hunt_without_any_answer_is_not_green(tmp_path, capsys):
    words = ["--count", "2", "--dialect", "classic", "-o", str(tmp_path / "found"), "--json"]
    assert main(["fuzz", "run", "--solver", "cat {file}", *words]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["instances"], told["answered"], told["faults"]) == (2, 0, [])


def test_an_unweighted_solver_is_asked_weights_of_1_only(tmp_path, capsys):
    reads = (
        "import sys; ws = {l.split()[0] for l in open(sys.argv[1]) if l[0] not in 'pch'}\n"
        "print('s UNKNOWN' if ws <= {'1'} else 's OPTIMUM FOUND')"
    )
    script = tmp_path / "unweighted.py"
    script.write_text(reads)
    words = ["fuzz", "run", "--solver", f"{sys.executable} -S {script}", "--count", "30",
             "--most-weight", "1", "--dialect", "mse22", "-o", str(tmp_path / "found")]  # fmt: skip
    assert main(words) == 1  # because it answers nothing
    assert "30 instances: 30 no answer" in capsys.readouterr().out
