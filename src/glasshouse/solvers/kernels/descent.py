"""Steepest descent: flip what lowers the energy most, until nothing does."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled


@compiled
def descend(
    starts: Any, neighbours: Any, weights: Any, fields: Any, states: Any, flips: Any
) -> None:
    """Bring every row of ±1 spins to a local minimum, in place, and count its flips.

    Of equal gains the lowest spin goes first. Each flip lowers the energy, so it ends.
    """
    size = states.shape[1]
    if size == 0:
        return
    margins = np.empty(size, dtype=weights.dtype)
    for r in range(states.shape[0]):
        spins = states[r]
        for i in range(size):
            field = fields[i]
            for k in range(starts[i], starts[i + 1]):
                field += weights[k] * spins[neighbours[k]]
            margins[i] = field * spins[i]
        while True:
            best = np.argmin(margins)
            if margins[best] >= 0:
                break
            margins[best] = -margins[best]
            for k in range(starts[best], starts[best + 1]):
                j = neighbours[k]
                margins[j] -= 2 * weights[k] * spins[best] * spins[j]
            spins[best] = -spins[best]
            flips[r] += 1
