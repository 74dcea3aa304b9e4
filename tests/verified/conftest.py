"""The verified checker, if it is built."""

from __future__ import annotations

import warnings

import pytest
from tests.verified.judges import find_verified


@pytest.fixture(scope="session")
def verified() -> str:
    path = find_verified()
    if path is None:
        note = "the verified checker is not built (make verified): its verdicts are not tested"
        warnings.warn(note, stacklevel=1)
        pytest.skip(note)
    return path
