"""Layers in vector code: the same sums as one by one, whatever the width."""

from __future__ import annotations

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.boltzmann import BoltzmannMachine, Trainer, TrainingSettings


def in_order(values, weights, biases) -> np.ndarray:
    """Row after row, each sum rounded at once."""
    total = biases.copy()
    for value, row in zip(values, weights, strict=True):
        if value:
            total = total + value * row
    return total


@pytest.mark.parametrize("units", ["spin", "binary"])
@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 5), (8, 32), (9, 12), (63, 31), (64, 33), (65, 36), (130, 71)]
)
def test_means_follow_from_sums_in_order(units, shape):
    rng = np.random.default_rng(sum(shape))
    machine = BoltzmannMachine(rng.normal(size=shape), rng.normal(size=shape[0]),
                               rng.normal(size=shape[1]), units)  # fmt: skip
    states = np.where(rng.random((7, shape[0])) < 0.4, 1, machine.low).astype(np.int8)
    fields = np.array([in_order(s, machine.weights, machine.hidden_bias) for s in states])
    scale = 1 - machine.low
    expected = machine.low + scale / (1 + np.exp(-scale * fields))
    np.testing.assert_allclose(machine.hidden_means(states), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(
    ("units", "hidden", "total"),
    [
        ("binary", 12, 1.7992305273443416),
        ("binary", 6, 1.2436927481540985),
        ("spin", 12, 0.05092035164330627),
        ("spin", 6, -0.22678260622361765),
    ],
)
def test_a_seed_means_the_same_weights_for_ever(units, hidden, total):
    """Chains are chaotic: one other bit, or one other random number, ends elsewhere."""
    trainer = Trainer(gh.shifting_bars(), TrainingSettings(hidden, units=units), rng=1)
    trainer.advance(1000)
    assert trainer.machine.weights.sum() == pytest.approx(total, rel=1e-12)
