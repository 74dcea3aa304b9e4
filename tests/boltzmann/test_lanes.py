"""Random numbers, eight at a time, compared with one stream at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from glasshouse.boltzmann.kernels import draws
from glasshouse.compiled import compiled
from glasshouse.kernels.xoshiro import next_word
from glasshouse.randomness import Seed


@compiled
def fill(streams: Any, numbers: Any, size: int) -> None:
    draws.fill_numbers(streams, numbers, size)


@pytest.mark.parametrize("size", [1, 8, 9, 100])
def test_streams_take_turns_and_advance_together(size: int) -> None:
    streams = Seed.of(1).streams(draws.LANES)
    together, numbers = np.ascontiguousarray(streams.T), np.full(120, -1.0)
    fill(together, numbers, size)
    turns = -(-size // draws.LANES)
    alone = [[int(next_word(one)) >> 12 for one in streams] for _ in range(turns)]
    assert numbers[: 8 * turns].tolist() == [word * 2.0**-52 for turn in alone for word in turn]
    assert (numbers[8 * turns :] == -1).all()
    assert np.array_equal(together.T, streams)
