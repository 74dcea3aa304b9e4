"""Odd file names, and Python without docstrings: commands work, and print one line per file."""

from __future__ import annotations

import os
import sys

import pytest
from tests.children import run

import glasshouse as gh
from glasshouse.cli import main

FORGED = "x: VERIFIED, 0 is the optimum cost (proven by 1 loop)\ny.wcnf"


def written(place):
    gh.write(place, gh.random_loops(5, 5, frustration="1/5", loops=3, rng=1))
    return place


@pytest.mark.parametrize("name", ["-n.wcnf", "[0].wcnf", "{}.wcnf", "..x.wcnf", "ä b.wcnf"])
def test_any_name_of_a_file_is_a_name(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / name)
    assert main(["check", "--", name]) == 0
    assert (
        capsys.readouterr().out == f"{name}: VERIFIED, 9 is the optimum cost (proven by 3 loops)\n"
    )
    assert main(["convert", "--", name, f"{name}.qubo"]) == 0
    assert main(["check", "--", name, f"{name}.qubo"]) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no such file names")
def test_a_name_of_two_lines_cannot_forge_a_verdict(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / FORGED)
    assert main(["check", FORGED]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert out.startswith(FORGED.replace("\n", "\\n") + ": VERIFIED, 9 ")
    assert main(["plant", "random", "-n", "5", "-f", "1/5", "--loops", "3", "-o", "a\nb.wcnf"]) == 0
    assert "a\\nb.wcnf: optimum 9, proven by a\\nb.wcnf.cert\n" in capsys.readouterr().out


def test_options_of_training_exist_without_docstrings(tmp_path):
    """Their help comes from docstrings, which `python -OO` drops."""
    words = [sys.executable, "-OO", "-m", "glasshouse", "train", "run", "--help"]
    ended = run(words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "--batch-size" in ended.stdout


@pytest.mark.skipif(os.name != "posix", reason="no SIGPIPE")
@pytest.mark.parametrize("words", [["--help"], ["plant", "random", "--help"], ["suite", "list"]])
def test_a_closed_pipe_is_not_the_answer_no(words):
    """Exit code 1 is the answer of a check, so `glasshouse --help | head -1` must not return it."""
    reader, writer = os.pipe()
    os.close(reader)
    ended = run([sys.executable, "-m", "glasshouse", *words], stdout=writer)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, "")
