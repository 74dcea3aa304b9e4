"""VeriPB proofs: accepted by the real checker and by one written from the rules."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.certificates.mutations import mutate_numbers
from tests.oracles import optimum
from tests.proofs import cutting_planes
from tests.proofs.instances import loop_sum, spin_glass
from tests.proofs.plants import METHODS, planted

from glasshouse import files
from glasshouse.planting import random_loops
from glasshouse.problems import Ising, Max2Sat
from glasshouse.problems.convert import to_max2sat
from glasshouse.proofs import prove
from glasshouse.proofs.veripb import veripb_proof

FORMS = [(form, version) for form in ("wcnf", "opb") for version in ("3.0", "2.0")]


@pytest.fixture(scope="module")
def veripb() -> str:
    path = shutil.which("veripb") or shutil.which("veripb", path=Path.home() / ".cargo" / "bin")
    if path is None:
        note = "VeriPB is not installed (cargo install veripb): its own verdict is not tested"
        warnings.warn(note, stacklevel=1)
        pytest.skip(note)
    return path


def run(veripb: str, formula: Path, proof: Path) -> tuple[int, int] | None:
    """The bounds that VeriPB verified, None if it refused."""
    done = subprocess.run(
        [veripb, formula, proof],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | {"RUST_BACKTRACE": "0"},
    )
    found = re.search(r"s VERIFIED BOUNDS (\d+) <= obj <= (\d+)", done.stdout)
    return (int(found[1]), int(found[2])) if found and done.returncode == 0 else None


def write_formula(folder: Path, problem: Max2Sat, form: str) -> Path:
    path = folder / f"formula.{form}"
    # VeriPB 3.0.2 stops at the p line of classic WCNF files.
    dialect = "mse22" if form == "wcnf" else "classic"
    files.write(path, problem, dialect=dialect, overwrite=True)
    return path


def by_the_rules(formula: Path, proof: str) -> tuple[int, int] | None:
    read = cutting_planes.read_opb if formula.suffix == ".opb" else cutting_planes.read_wcnf
    try:
        return cutting_planes.check(read(formula.read_text()), proof)
    except (cutting_planes.RejectedError, ValueError, IndexError):
        return None


def ising_problems() -> list[Ising]:
    rng = np.random.default_rng(0)
    return [
        *(planted(method, 1).ising for method in METHODS),
        loop_sum(10, 12, rng, fields=True)[0],
        spin_glass(7, 0.9, rng, gaussian=False),
        Ising.from_edges(5, [(0, 1), (1, 2), (0, 2)], [6, 4, -10], fields=[0, 2, -2, 4, 0]),
    ]


@pytest.mark.parametrize(("form", "version"), FORMS)
def test_proofs_of_all_kinds_are_accepted(veripb, tmp_path, form, version):
    for ising in ising_problems():
        problem, _ = to_max2sat(ising)
        proof = prove(problem)
        text = veripb_proof(problem, proof.certificate, form=form, version=version)
        formula, path = write_formula(tmp_path, problem, form), tmp_path / "proof.pbp"
        path.write_text(text)
        assert run(veripb, formula, path) == (proof.lower_bound, proof.energy)


@pytest.mark.parametrize(("form", "version"), FORMS)
def test_proofs_of_all_kinds_follow_the_rules(tmp_path, form, version):
    for ising in ising_problems():
        problem, _ = to_max2sat(ising)
        proof = prove(problem)
        text = veripb_proof(problem, proof.certificate, form=form, version=version)
        formula = write_formula(tmp_path, problem, form)
        assert by_the_rules(formula, text) == (proof.lower_bound, proof.energy)


@pytest.mark.parametrize("form", ["wcnf", "opb"])
def test_a_plant_proves_itself(tmp_path, form):
    plant = random_loops(9, 8, frustration="1/4", loop_density=2, rng=5)
    problem, reduction = to_max2sat(plant.ising)
    text = veripb_proof(problem, plant.certificate, form=form)
    cost = reduction.target_energy(plant.energy)
    assert by_the_rules(write_formula(tmp_path, problem, form), text) == (cost, cost)


def damage(veripb: str | None, folder: Path, wanted: int, seed: int) -> None:
    """Damage proofs until some were refused; none that claims something false is accepted."""
    rng = np.random.default_rng(seed)
    refused = 0
    for attempt in range(10 * wanted):
        problem, _ = to_max2sat(loop_sum(int(rng.integers(4, 8)), 4, rng, fields=True)[0])
        form = ("wcnf", "opb")[attempt % 2]
        version = ("3.0", "2.0")[attempt // 2 % 2]
        formula = write_formula(folder, problem, form)
        text = veripb_proof(problem, prove(problem).certificate, form=form, version=version)
        damaged = mutate_numbers(text, rng)
        (folder / "damaged.pbp").write_text(damaged)
        verdict = by_the_rules(formula, damaged)
        if veripb is not None:
            real = run(veripb, formula, folder / "damaged.pbp")
            # The real one knows more rules than ours (it searches, we do not): it may accept more.
            assert verdict is None or real == verdict, damaged
            verdict = real
        least = optimum(problem)[0]
        assert verdict is None or verdict[0] <= least <= verdict[1], damaged
        refused += verdict is None
        if refused == wanted:
            return
    raise AssertionError("hardly any damaged proof was refused")


def test_damaged_proofs_are_refused_by_the_rules(tmp_path):
    damage(None, tmp_path, 40, seed=1)


def test_damaged_proofs_are_refused_by_veripb(veripb, tmp_path):
    damage(veripb, tmp_path, 20, seed=2)


@pytest.mark.slow
def test_two_hundred_damaged_proofs_are_refused_by_veripb(veripb, tmp_path):
    damage(veripb, tmp_path, 200, seed=3)


def test_five_thousand_loops_in_two_megabytes(veripb, tmp_path):
    plant = random_loops(1000, 1000, frustration="1/5", loop_density=5, rng=1)
    problem, reduction = to_max2sat(plant.ising)
    text = veripb_proof(problem, plant.certificate)
    assert len(text) < 2_000_000
    path = tmp_path / "proof.pbp"
    path.write_text(text)
    cost = reduction.target_energy(plant.energy)
    assert run(veripb, write_formula(tmp_path, problem, "wcnf"), path) == (cost, cost)


def test_a_problem_without_frustration(veripb, tmp_path):
    problem, _ = to_max2sat(Ising.from_edges(3, [(0, 1), (1, 2)], [2, -3], fields=[1, 0, 0]))
    text = veripb_proof(problem, prove(problem).certificate)
    (tmp_path / "p.pbp").write_text(text)
    formula = write_formula(tmp_path, problem, "wcnf")
    assert run(veripb, formula, tmp_path / "p.pbp") == by_the_rules(formula, text) == (0, 0)


@pytest.mark.parametrize(
    ("clauses", "weights", "message"),
    [
        ([[1, 2]], [3], "lack two clauses of equal weight"),
        ([[1, 2], [-1, -2]], [3, 2], "lack two clauses of equal weight"),
        ([[1, 2], [1, -2]], [3, 3], "repeated"),
        ([[1, 2], [-1, -2], [1, 2]], [3, 3, 1], "repeated"),
        ([[1], [-1]], [3, 3], "repeated"),
    ],
)
def test_other_files_are_refused(clauses, weights, message):
    problem = Max2Sat.from_clauses(2, clauses, weights)
    with pytest.raises(ValueError, match=message):
        veripb_proof(problem, prove(problem).certificate)


def test_hard_clauses_and_strange_options_are_refused():
    hard = Max2Sat.from_clauses(2, [[1, 2], [-1, -2]], [1, 1], hard=[[1]])
    with pytest.raises(ValueError, match="hard clauses"):
        veripb_proof(hard, prove(hard).certificate)
    soft = Max2Sat.from_clauses(2, [[1, 2], [-1, -2]], [1, 1])
    with pytest.raises(ValueError, match=r"version='1.2'"):
        veripb_proof(soft, prove(soft).certificate, version="1.2")


def test_loops_that_cancelled_are_refused_and_those_of_prove_are_not(tmp_path):
    # Two loops share edge (0, 1) with opposite signs, so the file has no such edge.
    from glasshouse.certificates import Certificate, verify

    ising = Ising.from_edges(4, [(1, 2), (0, 2), (1, 3), (0, 3)], [1, 1, 1, -1])
    own = Certificate([1, 1, 1, 1], [0, 2, 1, 0, 1, 3], [0, 3, 6], [1, 1])
    assert verify(ising, own).energy == -2
    assert verify(ising, own).optimal
    problem, _ = to_max2sat(ising)
    with pytest.raises(ValueError, match="certificate that `prove` finds"):
        veripb_proof(problem, own)
    text = veripb_proof(problem, prove(problem).certificate)
    assert by_the_rules(write_formula(tmp_path, problem, "wcnf"), text) == (1, 1)
