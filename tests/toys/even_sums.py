"""A planting method made of squares: neighbours on a ring that add up to nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from glasshouse.certificates import Squares
from glasshouse.planting import Planted, Recipe, Seed, arguments, planting_method
from glasshouse.planting.demand import Demand


def demand(asked: Mapping[str, Any]) -> Demand:
    """One square of two spins per spin."""
    size: Any = asked.get("n")
    return Demand.of_squares(arguments.spins(size, 3), size, 2)


@planting_method(
    "even", grows_on="spins", demand=demand, examples=({"n": 6, "strength": 2},),
    knobs={"n": ("4", "24")},
)  # fmt: skip
def even_sums(
    n: int,
    *,
    strength: int = 1,
    state: arguments.State | None = None,
    rng: Any = None,
) -> Planted:
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
    seed = Seed.of(rng)
    spins = arguments.planted_state(state, size, seed.streams(1)[0])
    nodes = np.column_stack([np.arange(size), (np.arange(size) + 1) % size])
    signs = spins[nodes].astype(np.int64) * np.array([1, -1])
    values = arguments.parameters(state, spins, n=size, strength=strength)
    squares = Squares.alike(nodes, signs, strength)
    return Planted.of_squares(size, squares, spins, Recipe("even_sums", values, seed))
