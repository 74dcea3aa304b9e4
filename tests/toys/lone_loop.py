"""A planting method: one loop on the first four spins of an RBM."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from glasshouse.planting import Demand, Loops, Plan, Planted, arguments, planting_method


@planting_method("lone", grows_on="rbm", examples=({"n": 3, "strength": 2},))
def lone_loop(
    n: int,
    m: int,
    *,
    strength: int = 1,
    taste: Literal["sweet", "sour"] = "sweet",
    loud: bool = False,
    state: arguments.State | None = None,
    rng: Any = None,
) -> Plan:
    """Plant a single loop.

    Args:
        n: the number of visible spins.
        m: the number of hidden spins.
        strength: the weight of its edges.
        taste: without effect.
        loud: without effect.
        state: the state to plant.
        rng: the seed.
    """
    n, m = arguments.layer_sizes(n, m)
    if strength < 1:
        raise ValueError(f"strength={strength} must be at least 1")

    def draw(streams: Any, meter: Any) -> Planted:
        spins = arguments.planted_state(state, n + m, streams[0])
        nodes = np.array([[0, n, 1, n + 1]], dtype=np.int32)
        loops = Loops.of_length(nodes, positive=strength, negative=-strength)
        return Planted.of_rbm(n, m, loops, spins, strength)

    return Plan(Demand.of_loops_on_rbm(n, m, 1), draw)
