"""Compiled enumeration of all states of a small connected problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.flips import flip, turning_bit


@compiled
def enumerate_states(walker: Any, bits: int, tolerance: int, keep: int) -> Any:
    """Visit 2^bits states in Gray-code order, one flip apart, and look at each.

    The walker starts with all spins up; the first `bits` of them move. State `code` has spin i down
    where bit i is set. Energies are halved and relative to the first state, so that they fit as
    long as the weights' sum does. Two margins, or energies, closer than `tolerance` count as equal
    (0 for integers).

    Returns:
        Local minima, those of them where every flip costs, states of the lowest energy, and the
        `keep` lowest energies with their codes, ascending; equal ones in the order of the visit.
    """
    falling = np.int64(0)  # spins whose flip lowers the energy
    flat = np.int64(0)  # spins whose flip costs nothing
    for margin in walker.margins:
        falling += margin < -tolerance
        flat += abs(margin) <= tolerance
    minima = strict = grounds = lowest = energy = code = np.int64(0)
    energies = np.empty(keep, dtype=np.int64)
    codes = np.empty(keep, dtype=np.int64)
    kept = 0
    for step in range(np.int64(1) << bits):
        if step > 0:
            i = turning_bit(step)
            code ^= np.int64(1) << i
            energy += walker.margins[i]
            more_falling, more_flat, _ = flip(walker, i, tolerance, walker.spins.size)
            falling += more_falling
            flat += more_flat
        if falling == 0:
            minima += 1
            strict += flat == 0
            if energy < lowest - tolerance // 2:
                lowest, grounds = energy, np.int64(0)
            grounds += energy <= lowest + tolerance // 2
        if kept < keep or (keep > 0 and energy < energies[kept - 1]):
            kept = insert(energies, codes, kept, energy, code)
    return minima, strict, grounds, energies[:kept], codes[:kept]


@inner
def insert(energies: Any, codes: Any, kept: Any, energy: Any, code: Any) -> Any:
    """Put a state behind those that are no higher; the last one goes where the list is full."""
    place = min(kept, energies.size - 1)
    while place > 0 and energies[place - 1] > energy:
        energies[place], codes[place] = energies[place - 1], codes[place - 1]
        place -= 1
    energies[place], codes[place] = energy, code
    return min(kept + 1, energies.size)
