"""All states of a small problem in Gray-code order, one flip apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled


@compiled
def lowest_states(
    starts: Any, neighbours: Any, weights: Any, fields: Any, first: int, size: int, bits: int,
    tolerance: int, codes: Any,
) -> tuple[np.int64, np.int64]:  # fmt: skip
    """Find the lowest of 2^bits states, how many have it, and as many codes as there is room for.

    The spins are `first` to `first + size - 1` of a graph in compressed rows; the first `bits` of
    them move, the others stay up. State `code` has spin `first + i` down where bit i is set.
    Energies are relative to all spins up. Two of them closer than `tolerance` count as equal.
    """
    # margins[i] = s_i θ_i; a flip of i costs twice that and changes its neighbours' only.
    margins = np.empty(size, dtype=np.int64)
    spins = np.ones(size, dtype=np.int64)
    for i in range(size):
        margins[i] = fields[first + i]
        for k in range(starts[first + i], starts[first + i + 1]):
            margins[i] += weights[k]
    energy = np.int64(0)
    lowest = np.int64(0)
    count = np.int64(0)
    code = np.int64(0)
    for step in range(np.int64(1) << bits):
        if step > 0:
            i = 0
            while not (step >> i) & 1:
                i += 1
            code ^= np.int64(1) << i
            energy += 2 * margins[i]
            margins[i] = -margins[i]
            twice = 2 * spins[i]
            spins[i] = -spins[i]
            for k in range(starts[first + i], starts[first + i + 1]):
                j = neighbours[k] - first
                margins[j] -= twice * weights[k] * spins[j]
        if energy > lowest + tolerance:
            continue
        if energy < lowest - tolerance:
            lowest = energy
            count = np.int64(0)
        if count < codes.size:
            codes[count] = code
        count += 1
    return lowest, count
