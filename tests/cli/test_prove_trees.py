"""`prove` with a search tree: stopped, killed, shared, gone on with, and answered in cuts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.children import start, until
from tests.proofs.trees.test_search import half_complete, torus

import glasshouse as gh
from glasshouse.certificates import checker
from glasshouse.cli import main
from glasshouse.files import read_certificate
from glasshouse.proofs import prover


@pytest.fixture
def graph(tmp_path, monkeypatch):
    """A graph whose linear program leaves a gap, and no other bound at hand."""
    monkeypatch.setattr(prover.Prover, "exact_methods", lambda self: (None, None))
    monkeypatch.setattr(prover, "is_dense", lambda graph: False)
    path = tmp_path / "half.mc"
    gh.write(path, half_complete())
    return path


def test_what_was_kept_on_the_way_is_not_taken_for_somebody_elses(graph, capsys):
    """A tree of one node is written on the way, and again, unchanged, at the end."""
    assert main(["prove", str(graph)]) == 0
    assert "cert is the certificate; `glasshouse check` verifies it" in capsys.readouterr().out
    assert main(["prove", str(graph)]) == 0
    assert "already proves as much and was not changed" in capsys.readouterr().out


def test_the_same_command_goes_on(graph, capsys):
    assert main(["prove", str(graph), "--node-limit", "2"]) == 1
    captured = capsys.readouterr()
    assert "the same command resumes from there" in captured.out
    assert "stopped      by node limit" in captured.out
    assert "not proven; a gap of" in captured.err
    leaves = read_certificate(f"{graph}.cert").num_leaves
    assert leaves > 1
    assert main(["prove", str(graph)]) == 0
    assert "in place of a weaker one" in capsys.readouterr().out
    assert main(["check", str(graph)]) == 0
    assert " squares in " in capsys.readouterr().out
    done = subprocess.run([sys.executable, checker.__file__, str(graph), f"{graph}.cert"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout.startswith("VERIFIED optimum ")


def test_json_tells_bounds_nodes_and_how_the_gap_closed(graph, capsys):
    assert main(["prove", str(graph), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["cut"] == told["cut_bound"] == told["history"][-1]["cut"]
    assert told["method"] == "clique LP"
    assert told["nodes"] > 1
    assert told["leaves"] > 1
    bounds = [at["cut_bound"] for at in told["history"]]
    assert bounds == sorted(bounds, reverse=True)
    assert main(["check", str(graph), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["leaves"] == told["leaves"]


def test_a_converted_file_keeps_its_tree(graph, tmp_path, capsys):
    assert main(["prove", str(graph)]) == 0
    for name in ("half.wcnf", "half.coo", "half.qubo"):
        assert main(["convert", str(graph), str(tmp_path / name)]) == 0
        assert main(["check", str(tmp_path / name)]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "2", "--dask", "tcp://x"], "cannot be combined"),
        (["--workers", "0"], "--workers 0 is below 1"),
        (["--node-limit", "0"], "--node-limit 0 is below 1"),
        (["--node-limit", "1.5"], "1.5 is not an integer"),
    ],
)
def test_wrong_options(graph, options, message, capsys):
    assert main(["prove", str(graph), *options]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.quiet
def test_a_killed_search_goes_on(tmp_path):
    path = tmp_path / "cube.mc"
    gh.write(path, torus((8, 8, 8), 0))
    command = [sys.executable, "-m", "glasshouse", "prove", str(path)]
    process, beside = start(command), Path(f"{path}.cert")
    until(beside.exists, process)
    process.kill()
    process.wait()
    before = gh.verify(gh.read(path), read_certificate(beside))
    assert before.bound < before.energy
    done = subprocess.run([*command, "--time-limit", "30", "--json"], capture_output=True,
                          text=True, check=False)  # fmt: skip
    told = json.loads(done.stdout)
    assert told["lower_bound"] >= before.lower_bound
    assert 25 < told["seconds"] < 34
    after = gh.verify(gh.read(path), read_certificate(beside))
    assert after.bound >= before.bound


@pytest.mark.slow
def test_two_processes_prove_what_one_does(tmp_path):
    path = tmp_path / "cube.mc"
    gh.write(path, torus((6, 6, 6), 1, gaussian=True))
    command = [sys.executable, "-m", "glasshouse", "prove", str(path), "--workers", "2"]
    subprocess.run(command, capture_output=True, check=True)
    assert gh.verify(gh.read(path), read_certificate(f"{path}.cert")).optimal
