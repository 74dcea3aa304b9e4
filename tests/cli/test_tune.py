"""`tune` as it is typed: what it finds, plants, repeats and refuses."""

from __future__ import annotations

import json
import shlex

import pytest

from glasshouse.cli import main
from glasshouse.cli.tune import _by_command
from glasshouse.planting import METHODS
from glasshouse.studies import tuning

FAMILIES = {
    "random": ["-n", "16", "--target-sweeps", "60"],
    "structured": ["-n", "12", "--target-sweeps", "60", "-p", "block=0.3", "-p", "loop_density=3"],
    "graph": ["--graph", "torus:6x6", "-p", "length=4", "--target-sweeps", "30"],
    "file": ["--graph", "edges.txt", "--target-sweeps", "12"],
}
LOOSE = ["--tolerance", "0.6"]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_line_that_is_printed_plants_the_same_bytes(family, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ring = [(k, (k + 1) % 12) for k in range(12)] + [(k, (k + 2) % 12) for k in range(12)]
    (tmp_path / "edges.txt").write_text("".join(f"{i} {j}\n" for i, j in ring))
    words = [*FAMILIES[family], *LOOSE, "--seed", "3", "-o", "a b", "--count", "2"]
    assert main(["tune", *words, "--format", "coo"]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("glasshouse plant"))
    made = {p.name: p.read_bytes() for p in (tmp_path / "a b").iterdir()}
    assert len(made) == 6  # two instances with certificates, the manifest and the table
    repeated = shlex.split(line)[1:]
    repeated[repeated.index("a b")] = "again"
    assert main(repeated) == 0
    assert {p.name: p.read_bytes() for p in (tmp_path / "again").iterdir()} == made
    assert main(["check", "again/manifest.jsonl"]) == 0


def test_a_suite_is_not_overwritten_and_nothing_is_measured_in_vain(tmp_path, capsys, monkeypatch):
    (tmp_path / "manifest.jsonl").write_text("mine")
    monkeypatch.setattr(tuning, "tune", None)
    words = ["tune", *FAMILIES["random"], "-o", str(tmp_path), "--count", "2"]
    assert main(words) == 2
    assert "already contains a suite" in capsys.readouterr().err
    assert (tmp_path / "manifest.jsonl").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--target-sweeps", "60"], "either -n or --graph"),
        (["-n", "9", "--graph", "torus:4x4", "--target-sweeps", "60"], "either -n or --graph"),
        (["-n", "9", "--target-sweeps", "60", "--count", "3"], "needs both"),
        (["-n", "9", "--target-sweeps", "60", "-o", "x"], "needs both"),
        (["-n", "9", "--target-sweeps", "60", "--format", "coo"], "add -o DIR"),
        (["-n", "9", "--target-sweeps", "60", "-f", "0.1"], "remove the option that sets it"),
        (["-n", "9", "--target-sweeps", "60", "--statistic", "mean"], "--statistic"),
        (["-n", "20", "--target-sweeps", "1e9"], "out of reach"),
        (["-n", "20", "--target-sweeps", "2"], "out of reach"),
    ],
)
def test_what_cannot_be_is_one_line(words, reason, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["tune", *words]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert reason in told.err
    assert not list(tmp_path.iterdir())


def test_outside_the_tolerance_is_exit_code_1_and_nothing_is_planted(tmp_path, capsys, monkeypatch):
    # With so few instances, steps are not significant, and none is within 0.01 %.
    search = tuning.tune
    monkeypatch.setattr(tuning, "tune", lambda *a, **k: search(*a, **k, most_instances=32))
    words = ["-n", "20", "--target-sweeps", "301", "--tolerance", "0.0001"]
    assert main(["tune", *words, "-o", str(tmp_path / "s"), "--count", "2", "--json"]) == 1
    told = capsys.readouterr()
    answer = json.loads(told.out)
    assert not answer["within_tolerance"]
    assert abs(answer["value"] - 301) > 0.0301
    assert "outside the tolerance" in told.err
    assert "To plant it anyway: glasshouse plant random" in told.err
    assert not (tmp_path / "s").exists()


# Methods that share the word of a method which needs fewer parameters.
SHARING = {"structured_graph_loops", "hypergraph_cores"}


@pytest.mark.parametrize("name", METHODS)
def test_methods_go_by_the_words_that_plant_them(name):
    method = METHODS[name]
    own = set(method.parameters) if name in SHARING else set()
    assert _by_command(method.command, own) == _by_command(name, ()) == name
    assert _by_command("mine", ()) == "mine"  # refused by name later


def test_words_that_methods_share_are_told_apart_by_what_is_asked(capsys):
    words = ["--method", "graph", "--graph", "torus:6x6", "--target-sweeps", "30", *LOOSE, "--json"]
    for more, method in (
        (["-p", "length=4"], "graph_loops"),
        (["-p", "block=0.5", "-p", "loop_density=1"], "structured_graph_loops"),
    ):
        main(["tune", *words, *more])
        assert json.loads(capsys.readouterr().out)["method"] == method
