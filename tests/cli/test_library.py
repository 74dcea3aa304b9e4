"""`glasshouse library`, and the lines of other commands about standard instances."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import pytest
from tests.library.standard_like import table_of, torus

from glasshouse.cli import main
from glasshouse.files import read, write
from glasshouse.library import instances, recognition


@pytest.fixture
def graph(tmp_path, monkeypatch):
    """A file that the table in use knows as T6, and no other instances."""
    path = torus(tmp_path / "gset", "T6.txt", 6, seed=1)
    table = table_of(tmp_path)
    monkeypatch.setattr(recognition, "instances", lambda: table)
    return path, table[0]


def told(capsys, *words) -> str:
    capsys.readouterr()
    assert main([*map(str, words)]) == 0
    return capsys.readouterr().out


def test_all_instances_are_listed(capsys):
    lines = told(capsys, "library").splitlines()
    assert len(lines) == len(instances()) + 1
    proven = sum(k.proven for k in instances())
    assert lines[-1] == f"{len(instances())} instances, {proven} of them proven"
    assert any(line.startswith("t2g10_5555 ") and line.endswith("proven") for line in lines)


def test_instances_are_chosen_by_family_and_by_proof(capsys):
    ising = told(capsys, "library", "--family", "biqmac:ising").splitlines()
    assert 1 < len(ising) < len(instances())
    assert all("biqmac:ising" in line for line in ising[:-1])
    proven, is_open = (
        told(capsys, "library", option).splitlines()[:-1] for option in ("--proven", "--open")
    )
    assert sorted(proven + is_open) == sorted(told(capsys, "library").splitlines()[:-1])
    assert main(["library", "--family", "nonsense"]) == 2
    assert "--family nonsense has no instances; use one of biqmac:" in capsys.readouterr().err
    assert main(["library", "--open", "--proven"]) == 2


def test_rows_as_json_and_csv(capsys, tmp_path):
    objects = [json.loads(line) for line in told(capsys, "library", "--json").splitlines()]
    assert [k["name"] for k in objects] == [k.name for k in instances()]
    assert {"fingerprint", "certificate", "bound", "seconds", "date"} <= set(objects[0])
    told(capsys, "library", "--csv", tmp_path / "x.csv")
    rows = list(csv.DictReader((tmp_path / "x.csv").read_text().splitlines()))
    assert [row["name"] for row in rows] == [k.name for k in instances()]
    assert told(capsys, "library", "--csv", "-") == (tmp_path / "x.csv").read_text()
    assert main(["library", "--csv", str(tmp_path / "x.csv")]) == 2  # exists
    assert main(["library", "--csv", "-", "--json"]) == 2


def test_a_standard_instance_is_recognised(graph, capsys, tmp_path):
    path, known = graph
    said = told(capsys, "library", "check", path)
    assert said == (
        f"T6: the largest cut is {known.value}, proven 2026-11-18; certificate {'ab' * 32} "
        "(1000 bytes)\n"
    )
    write(tmp_path / "x.wcnf", read(path))
    value = json.loads(told(capsys, "library", "check", tmp_path / "x.wcnf", "--json"))
    assert value["instance"]["value"] == known.value
    cost = value["standard_instance"]["value"]
    said = told(capsys, "library", "check", tmp_path / "x.wcnf")
    assert said.startswith(f"T6: the largest cut is {known.value}, proven 2026-11-18; in this ")
    assert f"; in this file, cost {cost}; certificate" in said


def test_another_file_is_not_recognised(capsys, tmp_path):
    (tmp_path / "x.mc").write_text("2 1\n1 2 1\n")
    assert main(["library", "check", str(tmp_path / "x.mc")]) == 1
    wanted = f"x.mc: this is not one of the {len(instances())} standard instances\n"
    assert capsys.readouterr().err.endswith(wanted)
    assert main(["library", "check", str(tmp_path / "x.mc"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["standard_instance"] is None
    assert main(["library", "check", str(tmp_path / "none.mc")]) == 2


def test_info_solve_and_prove_mention_it(graph, capsys):
    path, known = graph
    line = f"this is T6; known optimum {known.value}, proven\n"
    values = {"name": "T6", "family": "gset", "value": known.value, "bound": known.value}
    for words in (["info"], ["solve", "--seed", 1], ["prove"]):
        assert line in told(capsys, *words, path)
        answer = json.loads(told(capsys, *words, path, "--json"))
        assert answer["standard_instance"] == {**values, "proven": True}


def test_an_open_instance_is_told_with_its_bound(graph, capsys, monkeypatch):
    path, known = graph
    from dataclasses import replace

    table = (replace(known, bound=known.value + 4),)
    monkeypatch.setattr(recognition, "instances", lambda: table)
    line = f"this is T6; best cut known {known.value}, upper bound {known.value + 4}\n"
    assert line in told(capsys, "info", path)
    said = told(capsys, "library", "check", path)
    assert f"the largest cut found is {known.value}; no value passes {known.value + 4}," in said


def test_recognition_gives_no_target_and_no_state(graph, capsys, monkeypatch):
    path, _ = graph
    words = ["solve", path, "--seed", 3, "--runs", 4, "--sweeps", 20, "--json"]
    recognised = json.loads(told(capsys, *words))
    monkeypatch.setattr(recognition, "instances", lambda: ())
    unknown = json.loads(told(capsys, *words))
    assert recognised.pop("standard_instance") is not None
    assert unknown.pop("standard_instance") is None
    clocked = {"seconds", "rate", "flips_per_second", "time", "sweeps_per_second"}
    assert set(recognised) == set(unknown)
    same = {key for key in recognised if recognised[key] == unknown[key]}
    assert {"cut", "energy", "model", "optimal"} <= same
    assert not {"target", "success_probability"} & set(recognised)  # no optimum was stated
    assert set(recognised) - same <= clocked, set(recognised) - same


def test_solvers_never_see_the_table():
    """Neither solving nor proving imports the library, and the commands ask it afterwards."""
    script = (
        "import sys, glasshouse as gh\n"
        "problem = gh.Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1, 1, -1])\n"
        "gh.anneal(problem, rng=1); gh.prove(problem)\n"
        "print([name for name in sys.modules if name.startswith('glasshouse.library')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
