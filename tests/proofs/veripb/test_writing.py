"""VeriPB proofs: accepted by the real checker and by one written from the rules."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.certificates.square_instances import square_sum
from tests.oracles import optimum
from tests.proofs.instances import loop_sum, spin_glass
from tests.proofs.lattices import lattice
from tests.proofs.plants import METHODS, planted
from tests.proofs.veripb_runs import FORMS, by_the_rules, damage, run, write_formula

from glasshouse.certificates import Certificate, CertificateError, Squares, verify
from glasshouse.files.certificate.writing import rescaled
from glasshouse.planting import Planted
from glasshouse.planting.methods import random_loops, wishart
from glasshouse.problems import Ising, Max2Sat
from glasshouse.problems.convert import to_max2sat
from glasshouse.proofs import prove
from glasshouse.proofs.veripb.writing import veripb_proof


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


@pytest.mark.parametrize(("form", "version"), FORMS)
def test_proofs_elaborate_to_the_kernel_format(veripb, tmp_path, form, version):
    """The kernel format is what CakePB, the verified checker of such proofs, reads."""
    glass = lattice(3, 3, 3, seed=1)
    plant = random_loops(9, 8, frustration="1/4", loop_density=2, rng=5).ising
    dense = spin_glass(7, 0.9, np.random.default_rng(3), gaussian=False)
    clauses = [to_max2sat(ising)[0] for ising in (plant, glass, dense)]
    cases = [(problem, prove(problem).certificate) for problem in clauses]
    cases += [squares_in_clauses(np.random.default_rng(seed)) for seed in range(3)]
    for problem, certificate in cases:
        formula, path = write_formula(tmp_path, problem, form), tmp_path / "proof.pbp"
        path.write_text(veripb_proof(problem, certificate, form=form, version=version))
        kernel = tmp_path / "kernel.pbp"
        verdict = verify(problem, certificate)
        bounds = verdict.lower_bound, verdict.energy
        assert run(veripb, formula, path, "--elaborate", str(kernel)) == bounds
        assert run(veripb, formula, kernel) == bounds
        kernel.unlink()


@pytest.mark.parametrize("form", ["wcnf", "opb"])
def test_a_plant_proves_itself(tmp_path, form):
    plant = random_loops(9, 8, frustration="1/4", loop_density=2, rng=5)
    problem, reduction = to_max2sat(plant.ising)
    text = veripb_proof(problem, plant.certificate, form=form)
    cost = reduction.target_energy(plant.energy)
    assert by_the_rules(write_formula(tmp_path, problem, form), text) == (cost, cost)


def loops_in_clauses(rng: np.random.Generator) -> tuple[Max2Sat, Certificate]:
    problem, _ = to_max2sat(loop_sum(int(rng.integers(4, 8)), 4, rng, fields=True)[0])
    return problem, prove(problem).certificate


def squares_in_clauses(rng: np.random.Generator) -> tuple[Max2Sat, Certificate]:
    """Squares over at most 4 spins, perhaps a loop and a rest, in a file's own units."""
    size, number = int(rng.integers(3, 7)), int(rng.integers(1, 5))
    problem, certificate = square_sum(size, rng, squares=number, most_spins=4)
    clauses, reduction = to_max2sat(problem)
    return clauses, rescaled(certificate, Fraction(reduction.factor) * 2)


def prove_squares(veripb: str | None, folder: Path, count: int, seed: int) -> None:
    """Squares of NAE, 2-in-4, XOR and partition clauses: their optimum, to both checkers."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        problem, certificate = squares_in_clauses(rng)
        form, version = FORMS[number % 4]
        text = veripb_proof(problem, certificate, form=form, version=version)
        formula, path = write_formula(folder, problem, form), folder / "proof.pbp"
        path.write_text(text)
        least = optimum(problem)[0]
        assert by_the_rules(formula, text) == (least, least), text
        assert veripb is None or run(veripb, formula, path) == (least, least), text


def test_squares_follow_the_rules(tmp_path):
    prove_squares(None, tmp_path, 100, seed=1)


def test_squares_are_accepted(veripb, tmp_path):
    prove_squares(veripb, tmp_path, 60, seed=2)


@pytest.mark.slow
def test_a_thousand_sums_of_squares_are_accepted(veripb, tmp_path):
    prove_squares(veripb, tmp_path, 1000, seed=3)


def some_squares(size: int, rng: np.random.Generator) -> Squares:
    """Any numbers over at most 4 spins and the ghost."""
    rows = []
    for _ in range(rng.integers(1, 5)):
        spins = rng.permutation(size)[: rng.integers(1, 5)].tolist()
        nodes = spins + [size] * int(rng.integers(2))
        factors = rng.integers(1, 6, len(nodes)) * rng.choice([-1, 1], len(nodes))
        rows.append(list(zip(nodes, (factors * rng.integers(1, 4)).tolist(), strict=True)))
    return Squares.of(rows, rng.integers(1, 5, len(rows)))


def test_squares_that_do_not_fit_still_prove_what_the_certificate_does(veripb, tmp_path):
    rng = np.random.default_rng(4)
    for number in range(40):
        problem, _ = to_max2sat(spin_glass(5, 0.9, rng, gaussian=False))
        state = rng.choice([-1, 1], 5)
        denominator = int(rng.integers(1, 9))
        certificate = Certificate.of_squares(state, some_squares(5, rng), denominator)
        form, version = FORMS[number % 4]
        text = veripb_proof(problem, certificate, form=form, version=version)
        formula, path = write_formula(tmp_path, problem, form), tmp_path / "proof.pbp"
        path.write_text(text)
        lower, upper = by_the_rules(formula, text)
        assert run(veripb, formula, path) == (lower, upper)
        assert verify(problem, certificate).bound <= lower <= optimum(problem)[0] <= upper


def test_damaged_proofs_of_squares_are_refused(veripb, tmp_path):
    damage(None, tmp_path, 30, seed=5, instance=squares_in_clauses)
    damage(veripb, tmp_path, 15, seed=6, instance=squares_in_clauses)


def test_squares_of_more_spins_are_refused_by_their_number():
    squares = Squares.of([[(0, 1), (1, 1), (2, 1)], [(k, 1) for k in range(5)]])
    matrix = -np.ones((5, 5), dtype=np.int64)
    matrix[:3, :3] -= 1
    problem, _ = to_max2sat(Ising.from_matrix(matrix - np.diag(np.diag(matrix))))
    certificate = Certificate.of_squares([1, 1, -1, -1, 1], squares, denominator=2)
    assert verify(problem, certificate).lower_bound > 0
    with pytest.raises(ValueError, match=r"square 2 has 5 spins, .* at most 4; .*check"):
        veripb_proof(problem, certificate)
    with pytest.raises(CertificateError, match="for 4 variables, but the problem has 5"):
        veripb_proof(problem, Certificate.of_squares([1] * 4, squares))


def test_hundreds_of_xor_clauses(veripb, tmp_path):
    """3-XORSAT: fields cancel, and pairs of spins that two clauses share do, too."""
    rng, size, clauses = np.random.default_rng(7), 100, 200
    state = rng.choice([-1, 1], size + clauses)
    rows = []
    for k in range(clauses):
        spins = rng.permutation(size)[:3]
        b = int(state[spins].prod())
        state[size + k] = (int(state[spins].sum()) - b) // 2
        pairs = [(int(node), 1) for node in spins]
        rows.append([*pairs, (size + k, -2), (size + clauses, -b)])
    squares = Squares.of(rows)
    plant = Planted.of_squares(size + clauses, squares, state, wishart(2, columns=1, rng=1).recipe)
    problem, reduction = to_max2sat(plant.problem)
    proof = rescaled(plant.certificate, Fraction(reduction.factor) * 2)
    path = tmp_path / "proof.pbp"
    path.write_text(veripb_proof(problem, proof))
    cost = reduction.target_energy(plant.energy)
    assert run(veripb, write_formula(tmp_path, problem, "wcnf"), path) == (cost, cost)


def test_damaged_proofs_are_refused_by_the_rules(tmp_path):
    damage(None, tmp_path, 40, seed=1, instance=loops_in_clauses)


def test_damaged_proofs_are_refused_by_veripb(veripb, tmp_path):
    damage(veripb, tmp_path, 20, seed=2, instance=loops_in_clauses)


@pytest.mark.slow
def test_two_hundred_damaged_proofs_are_refused_by_veripb(veripb, tmp_path):
    damage(veripb, tmp_path, 200, seed=3, instance=loops_in_clauses)


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
        ([[1, 2]], [3], "must have two clauses of equal weight"),
        ([[1, 2], [-1, -2]], [3, 2], "must have two clauses of equal weight"),
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


def test_loops_that_cancelled_prove_as_much_as_those_of_prove(tmp_path):
    # Two loops share edge (0, 1) with opposite signs, so the file has no such edge.
    ising = Ising.from_edges(4, [(1, 2), (0, 2), (1, 3), (0, 3)], [1, 1, 1, -1])
    own = Certificate([1, 1, 1, 1], [0, 2, 1, 0, 1, 3], [0, 3, 6], [1, 1])
    problem, _ = to_max2sat(ising)
    for certificate in (own, prove(problem).certificate):
        text = veripb_proof(problem, certificate)
        assert by_the_rules(write_formula(tmp_path, problem, "wcnf"), text) == (1, 1)
