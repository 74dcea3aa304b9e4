"""Compiled enumeration of all states of a small connected problem."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled

IntArray = npt.NDArray[np.int64]


@compiled
def enumerate_states(
    starts: IntArray,
    neighbours: IntArray,
    weights: IntArray,
    fields: IntArray,
    first: int,
    size: int,
    bits: int,
    tolerance: int,
    keep: int,
) -> tuple[np.int64, np.int64, np.int64, IntArray, IntArray]:
    """Visit 2^bits states in Gray-code order, one flip apart, and look at each.

    The spins are `first` to `first + size - 1` of a graph in compressed rows; the first `bits` of
    them move, the others stay up. State `code` has spin `first + i` down where bit i is set.
    Margins `s_i θ_i` are kept up to date: a flip of i costs twice its margin and changes those of
    its neighbours only. Two numbers closer than `tolerance` count as equal (0 for integers).

    Returns:
        Local minima, those of them where every flip costs, states of the lowest energy, and the
        `keep` lowest energies with their codes, ascending; equal ones in the order of the visit.
    """
    spins = np.ones(size, dtype=np.int64)
    margins = np.empty(size, dtype=np.int64)
    energy = np.int64(0)
    for i in range(size):
        margins[i] = fields[first + i]
        energy -= fields[first + i]
        for k in range(starts[first + i], starts[first + i + 1]):
            margins[i] += weights[k]
            if neighbours[k] > first + i:  # a row holds each coupling; count it from one end
                energy -= weights[k]
    falling = np.int64(0)  # spins whose flip lowers the energy
    flat = np.int64(0)  # spins whose flip costs nothing
    for i in range(size):
        falling += margins[i] < -tolerance
        flat += abs(margins[i]) <= tolerance

    minima = np.int64(0)
    strict = np.int64(0)
    lowest = energy
    grounds = np.int64(0)
    energies = np.empty(keep, dtype=np.int64)
    codes = np.empty(keep, dtype=np.int64)
    kept = 0
    code = np.int64(0)
    for step in range(np.int64(1) << bits):
        if step > 0:
            i = 0
            while not (step >> i) & 1:
                i += 1
            code ^= np.int64(1) << i
            energy += margins[i]  # twice, since 2 · margin may not fit
            energy += margins[i]
            flat -= abs(margins[i]) <= tolerance
            falling -= margins[i] < -tolerance
            margins[i] = -margins[i]
            flat += abs(margins[i]) <= tolerance
            falling += margins[i] < -tolerance
            for k in range(starts[first + i], starts[first + i + 1]):
                j = neighbours[k] - first
                old = margins[j]
                bond = weights[k] * spins[i] * spins[j]
                new = old - bond - bond
                margins[j] = new
                falling += np.int64(new < -tolerance) - np.int64(old < -tolerance)
                flat += np.int64(abs(new) <= tolerance) - np.int64(abs(old) <= tolerance)
            spins[i] = -spins[i]
        if falling == 0:
            minima += 1
            if flat == 0:
                strict += 1
            if energy < lowest - tolerance:
                lowest = energy
                grounds = np.int64(0)
            if energy <= lowest + tolerance:
                grounds += 1
        if kept < keep or (keep > 0 and energy < energies[kept - 1]):
            position = min(kept, keep - 1)
            kept = min(kept + 1, keep)
            while position > 0 and energies[position - 1] > energy:
                energies[position] = energies[position - 1]
                codes[position] = codes[position - 1]
                position -= 1
            energies[position] = energy
            codes[position] = code
    return minima, strict, grounds, energies[:kept], codes[:kept]
