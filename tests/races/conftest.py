"""Fixtures of the tests of races."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse.planting.methods import random_loops
from glasshouse.suites.writing import write_suite


@pytest.fixture(scope="module")
def suite(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("field") / "tiny"
    write_suite(
        folder, [random_loops(3, 3, frustration="1/5", loops=3, rng=seed) for seed in range(2)]
    )
    return folder
