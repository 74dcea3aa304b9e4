"""The proofs of a fixed set stay as good as they were: bound, energy, verdict, number of parts."""

from __future__ import annotations

import json

import pytest
from tests.proofs.fixed_set import KINDS, RECORDED, faults_of, prove_kind


def test_the_fixed_set_has_sixty_proofs():
    recorded = json.loads(RECORDED.read_text())
    assert {kind: len(rows) for kind, rows in recorded.items()} == {
        kind: len(problems) for kind, problems in KINDS.items()
    }
    assert sum(map(len, recorded.values())) == 60


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_proofs_are_as_good_as_recorded(kind):
    assert faults_of(kind, prove_kind(kind), json.loads(RECORDED.read_text())[kind]) == []
