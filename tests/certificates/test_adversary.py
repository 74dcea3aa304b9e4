"""False certificates over all formats: none is verified, and both checkers agree."""

from __future__ import annotations

import pytest
from tests.certificates.adversary import rage


def test_false_certificates_are_never_verified():
    tally = rage(refusals=1000, attacks=20, seed=1)
    assert tally.twins > 700
    # Some forgeries are true: the same proof in larger numbers, a loop that does no harm.
    assert 100 < tally.verified < tally.refused


def test_false_certificates_with_squares_are_never_verified():
    tally = rage(refusals=200, attacks=20, seed=1, squares=1.0)
    assert tally.twins > 150
    assert tally.with_squares > 150
    assert 15 < tally.verified < tally.refused


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_two_hundred_thousand_false_certificates_are_never_verified(seed):
    rage(refusals=20_000, attacks=40, seed=seed, squares=0.3)
