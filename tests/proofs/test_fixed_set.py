"""The proofs of a fixed set stay as good as they were: bound, energy, verdict, number of parts."""

from __future__ import annotations

import json
import sys

import pytest
from tests.children import run
from tests.proofs.fixed_set import KINDS, RECORDED, faults_of


def test_the_fixed_set_has_sixty_proofs():
    recorded = json.loads(RECORDED.read_text())
    assert {kind: len(rows) for kind, rows in recorded.items()} == {
        kind: len(problems) for kind, problems in KINDS.items()
    }
    assert sum(map(len, recorded.values())) == 60


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_proofs_are_as_good_as_recorded(kind):
    compared = run([sys.executable, "-m", "tests.proofs.fixed_set", kind])
    assert compared.returncode == 0, compared.stdout + compared.stderr


def test_a_worse_proof_is_a_fault():
    rows = json.loads(RECORDED.read_text())["RBM"]
    worse = [*rows[:-1], rows[-1] | {"loops": 2 * rows[-1]["loops"] + 10**4}]
    other = [*rows[:-1], rows[-1] | {"bound": "0"}]
    assert faults_of("RBM", rows, rows) == []
    assert len(faults_of("RBM", worse, rows)) == len(faults_of("RBM", other, rows)) == 1
