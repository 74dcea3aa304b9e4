"""Small random machines, and their sums over all states of both layers by brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.oracles import all_states

from glasshouse.boltzmann import BoltzmannMachine

# Zeros and equal values make ties.
parameters = st.sampled_from([0.0, 0.5, -0.5, 1.0]) | st.floats(-4, 4).map(lambda x: round(x, 3))


@st.composite
def machines(draw: st.DrawFn, most: int = 4) -> BoltzmannMachine:
    """Both units, both orientations, with and without biases."""
    n, m = draw(st.integers(1, most)), draw(st.integers(1, most))
    values = draw(st.lists(parameters, min_size=n * m + n + m, max_size=n * m + n + m))
    weights, a, b = np.split(np.array(values), [n * m, n * m + n])
    if draw(st.booleans()):
        a, b = None, None
    return BoltzmannMachine(weights.reshape(n, m), a, b, draw(st.sampled_from(["spin", "binary"])))


def random_machine(
    n: int, m: int, units: str = "spin", seed: int = 0, sigma: float = 1.0
) -> BoltzmannMachine:
    rng = np.random.default_rng(seed)
    parts = (rng.normal(0, sigma, size) for size in ((n, m), n, m))
    return BoltzmannMachine(*parts, units)  # type: ignore[arg-type]


class Everything:
    """All states of a machine, and their probabilities."""

    def __init__(self, machine: BoltzmannMachine) -> None:
        visible = all_states(machine.num_visible, machine.low)
        hidden = all_states(machine.num_hidden, machine.low)
        self.visible_states, self.hidden_states = visible, hidden
        v, h = visible.astype(float), hidden.astype(float)
        self.energies = -(
            v @ machine.weights @ h.T
            + (v @ machine.visible_bias)[:, None]
            + (h @ machine.hidden_bias)[None]
        )
        lowest = self.energies.min()
        weights = np.exp(lowest - self.energies)
        self.log_partition = float(np.log(weights.sum()) - lowest)
        self.chances = weights / weights.sum()
        self.visible_chances = self.chances.sum(axis=1)
        self.visible_means, self.hidden_means = self.visible_chances @ v, self.chances.sum(0) @ h
        self.products = v.T @ self.chances @ h

    def chance_of(self, rows: Any) -> Any:
        """The probability of each of some visible states."""
        places = {tuple(state): k for k, state in enumerate(self.visible_states.tolist())}
        return self.visible_chances[[places[tuple(row)] for row in np.asarray(rows).tolist()]]
