"""Compiled enumeration of all states of a small connected problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.flips import flip, turning_bit


@compiled
def enumerate_states(walker: Any, bits: int, tolerance: int, keep: int) -> Any:
    """Enumerate 2^bits states in Gray-code order, and count minima and ground states.

    The walker starts with all spins up; the first `bits` spins are flipped. State `code` has spin i
    down if bit i is set. Energies are halved and relative to the first state, so that they fit into
    64 bits if the sum of the weights does. Two margins, or two energies, that differ by at most
    `tolerance` count as equal (0 for integers).

    Returns:
        The number of local minima, of strict local minima, and of states of the lowest energy; then
        the `keep` lowest energies and their codes, ascending, ties in the order of enumeration.
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
    """Insert a state into the sorted list of lowest states, and return the list's length."""
    place = min(kept, energies.size - 1)
    while place > 0 and energies[place - 1] > energy:
        energies[place], codes[place] = energies[place - 1], codes[place - 1]
        place -= 1
    energies[place], codes[place] = energy, code
    return min(kept + 1, energies.size)
