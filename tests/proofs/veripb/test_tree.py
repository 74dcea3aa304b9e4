"""VeriPB proofs of certificates with a tree, and of steps between costs."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.certificates.trees import trees
from tests.proofs.small_trees import branched, is_tree_of_loops, small_glass
from tests.proofs.veripb_runs import FORMS, by_the_rules, damage, run, write_formula

from glasshouse.certificates import Branch, Certificate, CertificateError, Cover, Tree, verify
from glasshouse.certificates.bound import Parts
from glasshouse.cli import main
from glasshouse.problems import Ising, Max2Sat
from glasshouse.problems.convert import to_max2sat
from glasshouse.proofs import prove
from glasshouse.proofs.parts import certificate_of, triangle_parts
from glasshouse.proofs.veripb import tree as veripb_tree
from glasshouse.proofs.veripb.writing import veripb_proof


def both(veripb: str | None, folder: Path, problem: Max2Sat, certificate: Certificate, kind: int):
    """The bounds of a certificate by the test's own rules, and by VeriPB if it is installed."""
    form, version = FORMS[kind % 4]
    text = veripb_proof(problem, certificate, form=form, version=version)
    formula, path = write_formula(folder, problem, form), folder / "proof.pbp"
    path.write_text(text)
    bounds = by_the_rules(formula, text)
    assert veripb is None or run(veripb, formula, path) == bounds, text
    return bounds


def tree_in_clauses(rng: np.random.Generator) -> tuple[Max2Sat, Certificate]:
    """A tree of loops, of whose leaves at least 3 are needed."""
    while True:
        problem = small_glass(rng)
        certificate = branched(problem, int(rng.integers(1, 5)), rng)
        if is_tree_of_loops(certificate, 3) and resolutions(problem, certificate) > 1:
            return problem, certificate


def resolutions(problem: Max2Sat, certificate: Certificate) -> int:
    """How often clauses of two halves are put together."""
    return len(re.findall(r"^pol \d+ \d+ \+ s ;$", veripb_proof(problem, certificate), re.M))


def nearly_alike(size: int, rng: np.random.Generator) -> Max2Sat:
    """A complete graph whose couplings all favour opposite spins, with nearly equal weights."""
    edges = list(combinations(range(size), 2))
    fields = rng.integers(-2, 3, size) * int(rng.integers(2))
    return to_max2sat(Ising.from_edges(size, edges, -rng.integers(4, 6, len(edges)), fields))[0]


def small_tree_in_clauses(rng: np.random.Generator) -> tuple[Max2Sat, Certificate]:
    """A tree of loops that are few, of a problem small enough for brute force."""
    problem = nearly_alike(int(rng.integers(5, 8)), rng)
    return problem, branched(problem, 1, rng)


def prove_trees(veripb: str | None, folder: Path, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(count):
        problem, certificate = tree_in_clauses(rng)
        cost = verify(problem, certificate).energy
        assert both(veripb, folder, problem, certificate, number) == (cost, cost)


def test_trees_of_loops_follow_the_rules(tmp_path):
    prove_trees(None, tmp_path, 8, seed=1)


def test_trees_of_loops_are_accepted(veripb, tmp_path):
    prove_trees(veripb, tmp_path, 12, seed=2)


@pytest.mark.slow
def test_six_hundred_trees_of_loops_are_accepted(veripb, tmp_path):
    prove_trees(veripb, tmp_path, 600, seed=3)


def test_damaged_trees_are_refused(veripb, tmp_path):
    damage(None, tmp_path, 20, seed=4, instance=small_tree_in_clauses)
    damage(veripb, tmp_path, 10, seed=5, instance=small_tree_in_clauses)


@pytest.mark.slow
def test_five_hundred_damaged_trees_are_refused(veripb, tmp_path):
    damage(veripb, tmp_path, 500, seed=6, instance=small_tree_in_clauses)


@st.composite
def small_problems(draw: st.DrawFn) -> Max2Sat:
    """Up to 4 spins, some weights far above those of the loops, so that bounds are above 0."""
    size = draw(st.integers(2, 4))
    weights = [draw(st.integers(-12, 12)) for _ in combinations(range(size + 1), 2)]
    matrix = np.zeros((size + 1, size + 1), dtype=np.int64)
    matrix[np.triu_indices(size + 1, 1)] = weights
    matrix += matrix.T
    factor = draw(st.integers(1, 3))
    return to_max2sat(
        Ising.from_matrix(factor * matrix[:size, :size], fields=factor * matrix[:size, size])
    )[0]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_tree_proves_what_a_checker_says(tmp_path_factory, data):
    """Contradictory and repeated pairs, loops that do harm, squares that ties change, covers."""
    problem = data.draw(small_problems())
    certificate = data.draw(trees(problem.num_variables))
    try:
        verdict = verify(problem, certificate)
    except CertificateError:  # a cover that leaves edges open
        assume(False)
    if certificate.tree.num_orders:
        with pytest.raises(ValueError, match="elimination orders"):
            veripb_proof(problem, certificate)
        return
    folder = tmp_path_factory.mktemp("tree")
    bounds = both(None, folder, problem, certificate, data.draw(st.integers(0, 3)))
    assert bounds == (max(0, verdict.lower_bound), verdict.energy)


def test_steps_of_all_costs_and_of_a_leaf_are_needed(veripb, tmp_path, monkeypatch):
    """Rounding to the weights' gcd is not enough: degrees are even, or they are in a leaf."""
    used = set()
    plain = veripb_tree.TreeProof._ceilings

    def watched(self, ties):
        for line in plain(self, ties):
            if line is not self._ceiling:
                used.add("all" if line is self._stepped_ceiling else "leaf")
            yield line

    monkeypatch.setattr(veripb_tree.TreeProof, "_ceilings", watched)
    rng, seen = np.random.default_rng(1), []
    while set(seen) != {"all", "leaf"}:
        used.clear()
        problem = nearly_alike(7, rng) if "all" in seen else small_glass(rng)
        certificate = branched(problem, 2, rng)
        veripb_proof(problem, certificate)
        cost = verify(problem, certificate).energy
        for kind in range(4 if used else 0):
            assert both(veripb, tmp_path, problem, certificate, kind) == (cost, cost)
        seen += used
        assert len(seen) < 10


@pytest.mark.parametrize("triangles", [35, 31, 28])
def test_costs_of_even_degrees_differ_by_two_without_a_tree(veripb, tmp_path, triangles):
    """On K7 triangles of weight 1/5 show cost ≥ 7, and with integers alone, 28 of them, ≥ 6."""
    problem, _ = to_max2sat(Ising.from_edges(7, list(combinations(range(7), 2)), [-1] * 21))
    nodes = np.array(list(combinations(range(7), 3)))[:triangles]
    parts = triangle_parts([1] * triangles, nodes, np.ones(nodes.shape, np.bool_))
    certificate = certificate_of(
        parts._replace(denominator=5), np.array([1, 1, 1, 1, -1, -1, -1, 1], dtype=np.int8)
    )
    verdict = verify(problem, certificate)
    assert (verdict.bound, verdict.lower_bound) == (Fraction(triangles, 5), 7)
    for kind in range(4):
        assert both(veripb, tmp_path, problem, certificate, kind) == (7, 9)


def test_a_tree_with_gaps_proves_its_bound(veripb, tmp_path):
    """Multipliers that are too small, at a state that is not the best."""
    rng, seen = np.random.default_rng(1), 0
    for number in range(12):
        problem = small_glass(rng)
        certificate = branched(problem, 4, rng)
        parts = Parts.of(certificate)
        spins = np.append(rng.choice([-1, 1], problem.num_variables), 1).astype(np.int8)
        less = parts._replace(multipliers=np.maximum(parts.multipliers // 2, 1))
        weaker = certificate_of(less, spins, certificate.tree)
        verdict = verify(problem, weaker)
        bounds = both(veripb, tmp_path, problem, weaker, number)
        assert bounds == (verdict.lower_bound, verdict.energy)
        seen += 0 < verdict.lower_bound < verify(problem, certificate).energy
    assert seen > 6


def test_covers_are_parted_into_cases(veripb, tmp_path, monkeypatch):
    rng = np.random.default_rng(8)
    for number in range(8):
        size = 7
        matrix = np.triu(rng.integers(-9, 10, (size, size)), 1)
        problem, _ = to_max2sat(Ising.from_matrix(matrix + matrix.T, fields=matrix[0]))
        state = 2 * prove(problem).state - 1
        none = np.empty(0, dtype=np.int64)
        cover = Cover(tuple(range(1, size)))
        tree = Tree((Branch(0, 3), cover, cover))
        certificate = Certificate(state, none, np.zeros(1, np.int64), none, tree=tree)
        cost = verify(problem, certificate).energy
        assert both(veripb, tmp_path, problem, certificate, number) == (cost, cost)
    monkeypatch.setattr(veripb_tree, "MOST_CASES", 5)
    with pytest.raises(ValueError, match=r"leaf 1 of the tree have more than 5 cases.*check"):
        veripb_proof(problem, certificate)


def test_the_command_writes_proofs_of_trees(veripb, tmp_path, capsys):
    problem = small_glass(np.random.default_rng(9))
    formula, proof = write_formula(tmp_path, problem, "wcnf"), tmp_path / "proof.pbp"
    assert main(["prove", str(formula), "--veripb", str(proof)]) == 0
    assert "is the proof for VeriPB" in capsys.readouterr().out
    cost = prove(problem).energy
    assert run(veripb, formula, proof) == (cost, cost)
