"""A planting method: one loop on the first spins of an RBM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from glasshouse.planting import Loops, Planted, Recipe, Seed, arguments, planting_method
from glasshouse.planting.demand import Demand, layers_of


def demand(asked: Mapping[str, Any]) -> Demand:
    """One loop, whatever is asked."""
    return Demand.of_loops_on_rbm(*layers_of(asked), 1)


@planting_method("lone", grows_on="rbm", demand=demand, examples=({"n": 3, "strength": 2},))
def lone_loop(
    n: int,
    m: int,
    *,
    strength: int = 1,
    taste: Literal["sweet", "sour"] = "sweet",
    loud: bool = False,
    state: arguments.State | None = None,
    rng: Any = None,
) -> Planted:
    """Plant one loop and no other.

    Args:
        n: visible spins.
        m: hidden spins.
        strength: the weight of its edges.
        taste: makes no difference.
        loud: makes none either.
        state: the state to plant.
        rng: a seed.
    """
    n, m = arguments.layer_sizes(n, m)
    if strength < 1:
        raise ValueError(f"strength={strength} is below 1")
    seed = Seed.of(rng)
    spins = arguments.planted_state(state, n + m, seed.streams(1)[0])
    nodes = np.array([[0, n, 1, n + 1]], dtype=np.int32)
    loops = Loops.of_length(nodes, positive=strength, negative=-strength)
    values = arguments.parameters(state, spins, n=n, m=m, strength=strength, taste=taste, loud=loud)
    return Planted.of_rbm(n, m, loops, spins, strength, Recipe("lone_loop", values, seed))
