"""A planting method made of squares: neighbours on a ring that add up to nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.certificates import Squares
from glasshouse.planting import Demand, Plan, Planted, arguments, planting_method


@planting_method(
    "even", grows_on="spins", examples=({"n": 6, "strength": 2},),
    knobs={"n": ("4", "24")},
)  # fmt: skip
def even_sums(
    n: int,
    *,
    strength: int = 1,
    state: arguments.State | None = None,
    rng: Any = None,
) -> Plan:
    """Plant squares of two neighbours on a ring, each at 0.

    Args:
        n: spins.
        strength: the multiplier of every square.
        state: the state to plant.
        rng: a seed.
    """
    size = arguments.spins(n, 3)
    if strength < 1:
        raise ValueError(f"strength={strength} is below 1")

    def draw(streams: Any, meter: Any) -> Planted:
        spins = arguments.planted_state(state, size, streams[0])
        nodes = np.column_stack([np.arange(size), (np.arange(size) + 1) % size])
        signs = spins[nodes].astype(np.int64) * np.array([1, -1])
        return Planted.of_squares(size, Squares.alike(nodes, signs, strength), spins, meter=meter)

    return Plan(Demand.of_squares(size, size, 2), draw)
