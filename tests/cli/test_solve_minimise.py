"""`solve --time-limit`: the whole time, shared by several methods."""

from __future__ import annotations

import json
import re
import signal
import sys

import numpy as np
import pytest
from tests.children import start

import glasshouse as gh
from glasshouse.cli import main


@pytest.fixture
def torus(tmp_path):
    """A file with a certificate, and its optimum."""
    path = tmp_path / "torus.mc"
    plant = gh.tiles2d(8, p1="1/4", p2="1/2", rng=1)
    gh.write(path, plant)
    return path, gh.read_document(path)


def frustrated(path):
    """Write three variables that should all differ: one clause at least stays unsatisfied."""
    pairs = ((1, 2), (2, 3), (1, 3))
    path.write_text("".join(f"1 {a} {b} 0\n1 -{a} -{b} 0\n" for a, b in pairs))
    return path


@pytest.mark.parametrize(
    ("options", "solver"),
    [
        (["--time-limit", "0.2"], "minimise"),
        (["--time-limit", "9", "--target", "planted", "--seed", "1"], "minimise"),
        (["--time-limit", "9", "--runs", "8"], "anneal"),
        (["--time-limit", "9", "--sweeps", "8"], "anneal"),
        (["--time-limit", "9", "--check", "flip"], "anneal"),
        (["--time-limit", "9", "--solver", "temper"], "temper"),
        (["--sweeps", "8"], "anneal"),
    ],
)
def test_a_time_limit_alone_chooses_minimise(options, solver, torus, capsys):
    assert main(["solve", str(torus[0]), "--json", *options]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["solver"] == solver


def test_improvements_are_shown_with_their_times(torus, capsys):
    path, document = torus
    assert main(["solve", str(path), "--time-limit", "60", "--seed", "1"]) == 0
    captured = capsys.readouterr()
    lines = [line for line in captured.err.splitlines() if not line.startswith("compiling")]
    assert lines
    for line in lines:
        assert re.fullmatch(r" +\d+\.\d\d s  cut -?\d+  (anneal|refine|temper)", line)
    cut = captured.out.split()[1]
    assert lines[-1].split()[3] == cut
    assert "this is the optimum, by the file's certificate" in captured.out
    assert "the target was reached" in captured.out
    assert main(["solve", str(path), "--time-limit", "60", "--json"]) == 0
    captured = capsys.readouterr()
    assert not [x for x in captured.err.splitlines() if not x.startswith("compiling")]
    answer = json.loads(captured.out)
    assert answer["stopped"] == "target"
    assert answer["improvements"][-1]["cut"] == answer["cut"] == answer["target"] == int(cut)
    assert set(answer["seconds_by_method"]) == {"anneal", "refine", "temper"}
    assert document.value_of(np.where([bit == "1" for bit in answer["model"]], -1, 1)) == int(cut)


def test_a_target_out_of_reach_ends_at_the_certified_optimum(torus, capsys):
    path, _ = torus
    assert main(["solve", str(path), "--time-limit", "60", "--target", "999"]) == 0
    assert "target 999 is out of reach" in capsys.readouterr().out


def test_a_target_that_was_not_reached_is_named(tmp_path, capsys):
    path = frustrated(tmp_path / "x.wcnf")
    assert main(["solve", str(path), "--time-limit", "0.1", "--target", "0"]) == 0
    assert "target 0 was not reached" in capsys.readouterr().out


def test_what_a_file_only_states_does_not_end_the_search(tmp_path, capsys):
    path = tmp_path / "x.wcnf"
    gh.write(path, gh.random_loops(12, 12, frustration="1/5", loops=8, rng=4))
    path.with_name(path.name + ".cert").unlink()
    assert main(["solve", str(path), "--time-limit", "0.3", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["cost"] == answer["stated_optimum"]
    assert (answer["stopped"], "target" in answer) == ("time limit", False)
    words = ["--time-limit", "60", "--target", "planted", "--json"]
    assert main(["solve", str(path), *words]) == 0
    assert json.loads(capsys.readouterr().out)["stopped"] == "target"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--solver", "minimise"], "add --time-limit"),
        (["--solver", "minimise", "--time-limit", "3", "--runs", "4"], "--runs is invalid for"),
        (["--solver", "minimise", "--time-limit", "3", "--check", "flip"], "--check is invalid"),
        (["--time-limit", "3", "--target", "low"], "--target low is neither"),
    ],
)
def test_wrong_options_are_one_line(options, message, torus, capsys):
    assert main(["solve", str(torus[0]), *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_maxsat_output_prints_each_better_cost(tmp_path, capsys):
    path = frustrated(tmp_path / "x.wcnf")
    assert main(["solve", str(path), "--time-limit", "2", "--maxsat-output"]) == 10
    *costs, status, model = capsys.readouterr().out.splitlines()
    assert status == "s SATISFIABLE"
    assert costs[-1] == "o 1"
    values = [int(cost.split()[1]) for cost in costs]
    assert values == sorted(values, reverse=True)
    assert gh.read(path).cost([int(bit) for bit in model.split()[1]]) == values[-1]


def test_maxsat_output_claims_an_optimum_that_nothing_can_beat(tmp_path, capsys):
    path = tmp_path / "x.wcnf"
    path.write_text("1 1 2 0\n1 -1 -2 0\n5 2 3 0\n5 -2 -3 0\n")
    assert main(["solve", str(path), "--time-limit", "600", "--maxsat-output"]) == 30
    *costs, status, _ = capsys.readouterr().out.splitlines()
    assert (costs[-1], status) == ("o 0", "s OPTIMUM FOUND")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_the_best_model(number, tmp_path):
    path = tmp_path / "x.wcnf"
    gh.write(path, gh.random_loops(30, 30, frustration="1/5", loops=12, rng=4), blind=True)
    words = ["solve", str(path), "--time-limit", "600", "--maxsat-output"]
    child = start([sys.executable, "-m", "glasshouse", *words])
    first = child.stdout.readline()
    assert re.fullmatch(r"o \d+\n", first)
    child.send_signal(number)
    out, err = child.heard()
    *costs, status, model = (first + out).splitlines()
    assert (status, child.returncode) == ("s SATISFIABLE", 10), err
    assert costs[-1] == f"o {gh.read(path).cost([int(bit) for bit in model.split()[1]])}"


def test_ctrl_c_shows_the_best_state(torus):
    words = ["solve", str(torus[0]), "--time-limit", "600", "--target", "999"]
    torus[0].with_name(torus[0].name + ".cert").unlink()
    child = start([sys.executable, "-m", "glasshouse", *words])
    while not re.match(r" +\d+\.\d\d s  cut", line := child.stderr.readline()):
        assert line, child.heard()
    child.send_signal(signal.SIGINT)
    out, err = child.heard()
    assert child.returncode == 0, err
    assert "interrupted by Ctrl-C" in out
