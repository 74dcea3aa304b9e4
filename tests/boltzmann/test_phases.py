"""The phases of an update: their difference is a gradient."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.boltzmann.machines import Everything, machines

from glasshouse.boltzmann import BoltzmannMachine, Trainer, TrainingSettings


@given(machines(), st.integers(0, 2**32))
@settings(max_examples=40)
def test_exact_gradient_is_that_of_the_log_likelihood(machine: BoltzmannMachine, seed: int) -> None:
    """One step at rate 1 is the gradient; central differences have errors of 1e-9 or so."""
    states = Everything(machine).visible_states
    rows = np.random.default_rng(seed).choice(states, 3)
    hidden, units = machine.num_hidden, machine.units
    chosen = TrainingSettings(hidden, 1, units, "exact", learning_rate=1.0)
    trainer = Trainer(rows, chosen, start=machine, rng=1)
    assert trainer.advance(1)
    parts = ("weights", "visible_bias", "hidden_bias")
    for name in parts:
        change = getattr(trainer.machine, name) - getattr(machine, name)
        for place in np.ndindex(change.shape):
            sides = []
            for sign in (1, -1):
                arrays = {part: np.array(getattr(machine, part)) for part in parts}
                arrays[name][place] += sign * 1e-5
                sides.append(BoltzmannMachine(**arrays, units=units).log_likelihood(rows))
            assert change[place] == pytest.approx((sides[0] - sides[1]) / 2e-5, abs=1e-7)
