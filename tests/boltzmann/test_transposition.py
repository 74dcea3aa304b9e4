"""Strips of a table, as columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glasshouse.boltzmann.kernels import transposition
from glasshouse.compiled import compiled


@compiled
def transpose(table: Any, first: int, back: Any) -> None:
    transposition.transpose_strip(table, first, back)


@pytest.mark.parametrize("shape", [(1, 1), (7, 9), (8, 4), (8, 3), (17, 6), (64, 65)])
def test_a_strip_becomes_columns_and_the_rest_stays(shape: tuple[int, int]) -> None:
    table = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    for first in range(0, shape[0], transposition.STRIP):
        back = np.zeros(shape[::-1])
        transpose(table, first, back)
        wanted = np.zeros(shape)
        strip = slice(first, first + transposition.STRIP)
        wanted[strip] = table[strip]
        assert np.array_equal(back, wanted.T)
