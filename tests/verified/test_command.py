"""`glasshouse check --verified`, and the program that it runs."""

from __future__ import annotations

import gzip
import json
import stat
import subprocess

import pytest
from tests.golden.plants import PLANTS, grown

from glasshouse import files
from glasshouse.cli import main
from glasshouse.cli.verified import VARIABLE
from glasshouse.planting.methods import random_loops, xorsat
from glasshouse.problems import MaxSat, Polynomial


@pytest.fixture
def plant(tmp_path):
    path = tmp_path / "inst.wcnf"
    files.write(path, random_loops(9, 8, frustration="1/4", loop_density=2, rng=5))
    return path


def test_a_plant_is_verified(verified, plant, capsys):
    assert main(["check", str(plant), "--verified"]) == 0
    assert capsys.readouterr().out.endswith("; the verified checker agrees\n")
    assert main(["check", str(plant), "--verified", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] is True


def test_every_planted_family_is_verified(verified, tmp_path):
    pairs, values = [], []
    for number, name in enumerate(PLANTS):
        plant = grown(name)
        if isinstance(plant.problem, MaxSat):  # cores: the verified checker does not read them
            continue
        is_polynomial = isinstance(plant.problem, Polynomial)
        for suffix in (".hubo",) if is_polynomial else (".wcnf", ".mc"):
            path = tmp_path / f"{number}{suffix}"
            try:
                files.write(path, plant)
            except ValueError:  # decimals in a WCNF file
                continue
            pairs += [path, files.side_car(path)]
            values.append((name, suffix, files.verify_file(path).value))
    done = subprocess.run([verified, *pairs], capture_output=True, text=True, check=False)
    assert len(values) > 40
    assert done.stdout.splitlines() == [f"VERIFIED optimum {value}" for *_, value in values]


def test_a_planted_polynomial_is_verified(verified, tmp_path, capsys):
    path = tmp_path / "inst.hubo"
    files.write(path, xorsat(12, native=True, rng=1))
    assert main(["check", str(path), "--verified"]) == 0
    assert capsys.readouterr().out.endswith("; the verified checker agrees\n")


def test_packed_files_are_unpacked(verified, plant, tmp_path, capsys):
    packed = tmp_path / "packed.wcnf.gz"
    packed.write_bytes(gzip.compress(plant.read_bytes()))
    arguments = ["check", str(packed), "--certificate", f"{plant}.cert", "--verified"]
    assert main(arguments) == 0
    assert "the verified checker agrees" in capsys.readouterr().out


def test_formats_that_it_does_not_read_are_refused_in_one_line(verified, tmp_path, capsys):
    path = tmp_path / "inst.coo"
    files.write(path, random_loops(4, 4, frustration="1/4", loops=3, rng=5))
    assert main(["check", str(path), "--verified"]) == 2
    said = capsys.readouterr().err
    assert "the verified checker reads .wcnf, .mc, .sparse, .hubo files" in said
    assert said.count("\n") == 1


def test_a_missing_program_is_one_line(plant, monkeypatch, capsys):
    monkeypatch.setattr("glasshouse.cli.verified._BUILT", plant / "none")
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PATH", "")
    assert main(["check", str(plant), "--verified"]) == 2
    assert "build it with `make verified`" in capsys.readouterr().err
    monkeypatch.setenv(VARIABLE, str(plant))
    assert main(["check", str(plant), "--verified"]) == 2
    assert "cannot be run" in capsys.readouterr().err


@pytest.mark.parametrize("answer", ["VERIFIED optimum 1", "REFUSED", ""])
def test_another_answer_of_the_program_fails(plant, tmp_path, monkeypatch, capsys, answer):
    program = tmp_path / "other"
    program.write_text(f"#!/bin/sh\necho '{answer}'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv(VARIABLE, str(program))
    assert main(["check", str(plant), "--verified"]) == 1
    assert "the verified checker" in capsys.readouterr().err


def test_manifests_are_refused(tmp_path, capsys):
    assert main(["check", str(tmp_path / "manifest.jsonl"), "--verified"]) == 2
    assert "--verified is for problem files" in capsys.readouterr().err


def test_the_program_judges_pairs_and_tells_by_its_exit_code(verified, plant, tmp_path):
    def run(*paths: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([verified, *paths], capture_output=True, text=True, check=False)

    certificate = f"{plant}.cert"
    assert run(plant, certificate).returncode == 0
    assert run(plant, certificate, plant, plant).returncode == 1
    assert run(plant, tmp_path / "missing").stdout.startswith("REFUSED ")
    assert "usage" in run(plant).stderr
    assert "usage" in run().stderr
    weak = tmp_path / "weak.cert"
    lines = files.side_car(plant).read_text().splitlines()
    state = next(line for line in lines if line.startswith("state"))
    weak.write_text(f"glasshouse-certificate 1\ndenominator 1\n{state}\nloops 0\n")
    done = run(plant, weak)
    assert done.returncode == 2
    assert done.stdout.startswith("VERIFIED only a lower bound: ")
