"""Proofs of cores are what VeriPB accepts, in each form and syntax."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from tests.certificates.test_core_files import small
from tests.certificates.test_cores import PROBLEM, STATE, TREE
from tests.proofs.veripb_runs import FORMS, run, write_formula

from glasshouse.certificates import Certificate, Cores, verify
from glasshouse.planting.methods import cores
from glasshouse.problems import MaxSat
from glasshouse.proofs.veripb.writing import veripb_proof

VERIPB = shutil.which("veripb")


def cases():
    """Planted cores, and trees with lists in their leaves, with hard and with unit clauses."""
    rng = np.random.default_rng(1)
    yield PROBLEM, Certificate.of_cores(STATE, Cores.of([(2, TREE)]))
    yield PROBLEM, Certificate.of_cores(STATE, Cores.of([(3, TREE)]), 2)
    yield MaxSat(1, [[1], [-1]], [2, 3]), Certificate.of_cores([1], Cores.of([(2, [1, -1, -2])]))
    yield MaxSat(3, [[1, 2, 3]], [4]), Certificate([1, 1, 1], [], [0], [])
    for shape in ("ring", "chain", "tetrahedron"):
        plant = cores(30, cores=8, shape=shape, harden="1/4", max_weight=3, rng=1)
        yield plant.problem, plant.certificate
    for _ in range(8):
        yield small(rng)


@pytest.mark.skipif(VERIPB is None, reason="needs VeriPB")
@pytest.mark.parametrize(("form", "version"), FORMS)
def test_veripb_proves_what_the_checkers_do(form, version, tmp_path):
    for problem, certificate in cases():
        formula, proof = write_formula(tmp_path, problem, form), tmp_path / "proof.pbp"
        proof.write_text(veripb_proof(problem, certificate, form=form, version=version))
        verdict = verify(problem, certificate)
        found = run(str(VERIPB), formula, proof)
        assert found == (verdict.lower_bound, verdict.energy), proof.read_text()


@pytest.mark.skipif(VERIPB is None, reason="needs VeriPB")
@pytest.mark.parametrize(("form", "version"), FORMS)
def test_proofs_elaborate_to_the_kernel_format(form, version, tmp_path):
    """The kernel format is what CakePB, the verified checker of such proofs, reads."""
    for problem, certificate in cases():
        formula, proof = write_formula(tmp_path, problem, form), tmp_path / "proof.pbp"
        proof.write_text(veripb_proof(problem, certificate, form=form, version=version))
        kernel = tmp_path / "kernel.pbp"
        verdict = verify(problem, certificate)
        bounds = verdict.lower_bound, verdict.energy
        assert run(str(VERIPB), formula, proof, "--elaborate", str(kernel)) == bounds
        assert run(str(VERIPB), formula, kernel) == bounds
        kernel.unlink()


@pytest.mark.skipif(VERIPB is None, reason="needs VeriPB")
def test_veripb_refuses_a_proof_of_more(tmp_path):
    certificate = Certificate.of_cores(STATE, Cores.of([(1, TREE)]))
    formula, proof = write_formula(tmp_path, PROBLEM, "wcnf"), tmp_path / "proof.pbp"
    text = veripb_proof(PROBLEM, certificate)
    proof.write_text(text.replace("BOUNDS 1 :", "BOUNDS 2 :"))
    assert run(str(VERIPB), formula, proof) is None
