"""False certificates over all formats: none is verified, and both checkers agree."""

from __future__ import annotations

import pytest
from tests.certificates.adversary import rage


def test_false_certificates_are_never_verified(tmp_path):
    tally = rage(tmp_path, targets=60, attacks=25, seed=1)
    assert tally.attacks > 1000
    assert tally.twins > 500
    # Some forgeries are true: the same proof in larger numbers, a loop that does no harm.
    assert 50 < tally.verified < tally.attacks // 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_very_many_false_certificates_are_never_verified(tmp_path, seed):
    tally = rage(tmp_path, targets=700, attacks=35, seed=seed)
    assert tally.attacks > 20_000
