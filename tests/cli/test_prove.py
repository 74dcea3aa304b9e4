"""`prove` and the checkers, as they are typed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.proofs.trees.test_search import half_complete

import glasshouse as gh
from glasshouse.certificates import Certificate, Order, Proven, Tree
from glasshouse.cli import main
from glasshouse.files import write_if_better


@pytest.fixture
def blind(tmp_path):
    """A blind instance, and its optimum."""
    path = tmp_path / "x.wcnf"
    plant = gh.random_loops(20, 20, frustration="1/5", loops=16, rng=4)
    gh.write(path, plant, blind=True)
    return path, gh.to_max2sat(plant.problem)[1].target_energy(plant.energy)


def test_prove_then_check(blind, capsys):
    path, optimum = blind
    assert main(["prove", str(path)]) == 0
    assert "optimal      proven\n" in capsys.readouterr().out
    assert main(["check", str(path)]) == 0
    assert f"VERIFIED, {optimum} is the optimum" in capsys.readouterr().out


def test_what_is_no_certificate_is_not_overwritten(blind, capsys):
    path, _ = blind
    beside = path.with_name(path.name + ".cert")
    beside.write_text("mine")
    for options in ([], ["--certificate", str(beside)]):
        assert main(["prove", str(path), *options]) == 2
        assert "is not a certificate of this problem" in capsys.readouterr().err
        assert beside.read_text() == "mine"
    assert main(["prove", str(path), "--force"]) == 0
    assert main(["check", str(path)]) == 0


def test_the_certificate_goes_where_output_says(blind, tmp_path, capsys):
    (path, _), place = blind, tmp_path / "mine.cert"
    assert main(["prove", str(path), "--certificate", str(place)]) == 0
    assert f"{place} is the certificate" in capsys.readouterr().out
    assert not path.with_name("x.wcnf.cert").exists()
    assert main(["check", str(path), "--certificate", str(place)]) == 0


@pytest.mark.parametrize("option", ["--certificate", "--veripb"])
def test_a_place_that_cannot_be_written_is_refused_before_the_search(
    blind, tmp_path, option, capsys, monkeypatch
):
    monkeypatch.setattr("glasshouse.proofs.prove", lambda *_, **__: pytest.fail("it searched"))
    nowhere = tmp_path / "nowhere" / "proof"
    for place, words in ((nowhere, "no directory"), (tmp_path, "is a directory")):
        assert main(["prove", str(blind[0]), option, str(place)]) == 2
        assert words in capsys.readouterr().err


def test_the_problem_itself_is_never_overwritten(blind, tmp_path, capsys):
    path, proof = str(blind[0]), str(tmp_path / "one.cert")
    before = blind[0].read_bytes()
    for words in (
        ["--certificate", path],
        ["--veripb", path],
        ["--certificate", proof, "--veripb", proof],
    ):
        assert main(["prove", path, *words, "--force"]) == 2
        assert "is named twice" in capsys.readouterr().err
    assert blind[0].read_bytes() == before


def test_a_better_certificate_replaces_a_worse_one_and_never_the_reverse(blind, capsys):
    path, _ = blind
    beside = path.with_name(path.name + ".cert")
    size = gh.read(path).num_variables
    names = " ".join(map(str, range(size, 0, -1)))
    # What a proof that was stopped at once leaves behind, of a shuffled file.
    weak = f"glasshouse-certificate 1\ndenominator 1\nstate {'1' * size}\nnames {names}\nloops 0\n"
    beside.write_text(weak)
    assert main(["prove", str(path)]) == 0
    assert "in place of a weaker one" in capsys.readouterr().out
    assert f"names {names}" in beside.read_text()
    assert main(["check", str(path)]) == 0
    strong = beside.read_text()
    assert main(["prove", str(path), "--time-limit", "1e-9"]) == 0  # proven before
    assert "not changed" in capsys.readouterr().out
    assert beside.read_text() == strong


def test_the_printed_checker_agrees(blind, tmp_path, capsys):
    path, optimum = blind
    main(["prove", str(path)])
    capsys.readouterr()
    assert main(["check", "--print-checker"]) == 0
    checker = tmp_path / "checker.py"
    checker.write_text(capsys.readouterr().out)
    command = [sys.executable, "-I", str(checker), str(path), str(path) + ".cert"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0
    assert f"VERIFIED optimum {optimum}" in result.stdout


def test_a_gap_is_shown_and_ends_with_exit_code_1(tmp_path, capsys):
    path = tmp_path / "half.coo"
    gh.write(path, half_complete())
    assert main(["prove", str(path), "--time-limit", "0.001"]) == 1
    captured = capsys.readouterr()
    assert "optimal      not proven, gap" in captured.out
    assert "a gap of" in captured.err
    assert main(["prove", str(path), "--time-limit", "0.001", "--json", "--force"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert not result["optimal"]
    assert result["lower_bound"] < result["energy"]


def test_unsatisfiable_hard_clauses(tmp_path, capsys):
    path = tmp_path / "x.wcnf"
    path.write_text("h 1 0\nh -1 0\n3 1 2 0\n")
    assert main(["prove", str(path)]) == 1
    assert "unsatisfiable" in capsys.readouterr().err


def test_veripb_does_not_start_from_an_elimination_order(tmp_path, capsys):
    path, proof = tmp_path / "x.wcnf", tmp_path / "x.pbp"
    pairs = [[1, 2], [-1, -2], [1, 3], [-1, -3], [2, 3], [-2, -3]]
    clauses = gh.Max2Sat.from_clauses(3, pairs, [1] * 6)
    gh.write(path, clauses)
    certificate = Certificate([1, 1, -1], [], [0], [], tree=Tree((Order((0, 1, 2)),)))
    write_if_better(tmp_path / "x.wcnf.cert", Proven(clauses, certificate))
    assert main(["prove", str(path), "--veripb", str(proof)]) == 0
    assert "1 loop" in capsys.readouterr().out
    assert proof.read_text().startswith("pseudo-Boolean proof")


def test_veripb_needs_clauses(tmp_path, capsys):
    path = tmp_path / "x.qubo"
    gh.write(path, gh.Qubo.from_matrix([[1, -2], [0, 1]]))
    assert main(["prove", str(path), "--veripb", str(tmp_path / "x.pbp")]) == 2
    assert "clauses" in capsys.readouterr().err
    assert not (tmp_path / "x.pbp").exists()


FORGED = """glasshouse-certificate 1
denominator 1
state 011
loops 2
4611686018427387904 -1 -2 3
4611686018427387904 -1 -2 3
"""


def test_a_forged_certificate_that_wraps_around_is_refused(tmp_path, capsys):
    path = tmp_path / "a.coo"
    path.write_text("# vartype=SPIN\n0 1 -1\n1 2 -1\n0 2 -1\n")
    (tmp_path / "a.coo.cert").write_text(FORGED)
    assert main(["check", str(path)]) == 1
    assert "no optimum is proven" in capsys.readouterr().err
    assert main(["convert", str(path), str(tmp_path / "b.qubo")]) == 0
    assert main(["check", str(tmp_path / "b.qubo")]) == 1


@pytest.mark.parametrize("weight", [-(2**57), -0.1, -1e-300, -1e150])
def test_what_prove_writes_check_reads(tmp_path, weight):
    path = tmp_path / "k4.coo"
    pairs = [(i, j) for i in range(4) for j in range(i)]
    gh.write(path, gh.Ising.from_edges(4, pairs, [weight] * 6))
    code = main(["prove", str(path)])
    assert main(["check", str(path)]) == code == 0


def test_numbers_of_hundreds_of_digits_are_no_trouble(tmp_path):
    path = tmp_path / "zero.coo"
    gh.write(path, gh.Ising.from_edges(3, [], []))
    beside = tmp_path / "zero.coo.cert"
    for denominator, loops in ((10**30, ""), (1, f"{10**500} 1 2 3\n"), (10**4000, "7 1 2 0\n")):
        head = f"glasshouse-certificate 1\ndenominator {denominator}\nstate 010\n"
        beside.write_text(f"{head}loops {len(loops.splitlines())}\n{loops}")
        assert main(["check", str(path)]) == 0
