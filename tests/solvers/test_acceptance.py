"""exp(-y) in 32 bits, by scalars and by lanes; logarithms of random numbers, never above 0."""

from __future__ import annotations

import numpy as np

from glasshouse.compiled import compiled
from glasshouse.kernels.vectors import load, store
from glasshouse.solvers.kernels.acceptance import LOWEST, UNIT, log_dice, threshold, thresholds


@compiled
def thresholds_in_lanes(y, result):
    for k in range(0, y.size, 8):
        store(result, k, thresholds(load(y, k, 8)))


def test_thresholds_are_the_exponential_to_the_last_bit_or_so():
    y = np.concatenate([np.linspace(0, 23, 9992), [0, 1e-300, 1e-12, 22.18, 22.19, 24, 1e9, 1e300]])
    exact = np.minimum(np.floor(np.exp(-y) * 2.0**32), 2**32 - 1)
    result = np.empty(len(y), np.uint32)
    thresholds_in_lanes(y, result)
    assert np.abs(result - exact).max() <= 1
    assert np.abs([int(threshold(x)) for x in y] - exact).max() <= 1


@compiled
def logarithms_in_lanes(dice, result):
    for k in range(0, dice.size, 8):
        store(result, k, log_dice(load(dice, k, 8)))


def logarithms(dice):
    result = np.empty(len(dice), np.float32)
    logarithms_in_lanes(dice.astype(np.uint32), result)
    return result.astype(np.float64)


def test_logarithms_are_right_to_a_hundred_thousandth_of_the_probability():
    spread = np.random.default_rng(1).integers(0, 2**32, 80_000) >> np.arange(80_000) % 32
    dice = np.concatenate([spread, np.arange(2**16), 2**32 - 1 - np.arange(2**16)])
    exact = np.log2(dice >> 1 | 1) - 31
    found = logarithms(dice) / UNIT
    assert np.abs(2.0 ** (found - exact) - 1).max() < 1e-5


def test_what_costs_nothing_is_always_accepted_and_what_is_out_of_reach_never():
    assert logarithms(2**32 - 1 - np.arange(2**16)).max() <= 0
    assert logarithms(np.arange(8)).min() >= LOWEST - 64
