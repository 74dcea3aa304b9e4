"""Steepest descent: flip the spin that lowers the energy most, until no flip lowers it."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import empty
from glasshouse.kernels.flips import Walker, flip

EPSILON = 2.0**-52


@inner
def gain_is_real(
    starts: Any, neighbours: Any, weights: Any, fields: Any, spins: Any, i: Any
) -> Any:
    """Return whether flipping spin i lowers the energy by more than the rounding error.

    Float margins that are updated flip by flip drift. Without this check, which uses the weights
    themselves, two spins could seem to lower the energy in turns forever.
    """
    field, scale = fields[i], abs(fields[i])
    for k in range(starts[i], starts[i + 1]):
        field += weights[k] * spins[neighbours[k]]
        scale += abs(weights[k])
    return field * spins[i] < -EPSILON * (starts[i + 1] - starts[i] + 1) * scale


@compiled
def descend(
    starts: Any, neighbours: Any, weights: Any, fields: Any, whole: bool, states: Any, flips: Any
) -> None:
    """Turn every row of ±1 spins into a local minimum, in place, and count its flips.

    Of several spins with equal gains, the first is flipped. Each flip lowers the energy, so the
    descent ends. `whole` means that the weights are integers, whose margins are exact.
    """
    size = states.shape[1]
    if size == 0:
        return
    margins = empty(size, weights.dtype)
    for r in range(states.shape[0]):
        spins = states[r]
        for i in range(size):
            field = fields[i]
            for k in range(starts[i], starts[i + 1]):
                field += weights[k] * spins[neighbours[k]]
            margins[i] = field * spins[i]
        walker = Walker(starts, neighbours, weights, 0, spins, margins)
        while True:
            best = np.argmin(margins)
            if margins[best] >= 0:
                break
            if not whole and not gain_is_real(starts, neighbours, weights, fields, spins, best):
                margins[best] = 0
                continue
            flip(walker, best, 0, size)
            flips[r] += 1
