"""The states of a few spins in Gray-code order, one flip apart; the others answer at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled

# Places in the array that a search carries from one call to the next.
VALUE, LOWEST, FOUND, CODE = range(4)


@compiled
def visit_states(
    starts: Any, neighbours: Any, weights: Any, first: int, cover: int, tolerance: int,
    begin: int, end: int, spins: Any, fields: Any, search: Any, codes: Any, ties: Any,
) -> None:  # fmt: skip
    """Visit the states of steps begin to end - 1; keep the lowest energy and where it was met.

    The spins are `first`, `first + 1`, … of a graph in compressed rows. State `code` has spin
    `first + i` down where bit i is set. Only the first `cover` spins are visited so. No coupling
    joins two of the others, each of which follows its field and so adds -|field| to the energy.
    `fields` are the spins' own ones and what the visited spins add to them. All sums are over
    different terms, so that they fit as long as the sum of magnitudes does; `tolerance` apart,
    energies count as equal. `ties[z]` is how many of the lowest states leave z spins free.
    """
    value, lowest, found, code = search[VALUE], search[LOWEST], search[FOUND], search[CODE]
    for step in range(begin, end):
        if step > 0:
            i = 0
            while not (step >> i) & 1:
                i += 1
            code ^= np.int64(1) << i
            rise = spins[i] * fields[i]
            value += rise  # twice, since 2 · rise may not fit
            value += rise
            spins[i] = -spins[i]
            for k in range(starts[first + i], starts[first + i + 1]):
                j = neighbours[k] - first
                change = weights[k] * spins[i]
                if j >= cover:
                    value += abs(fields[j])
                fields[j] += change
                fields[j] += change
                if j >= cover:
                    value -= abs(fields[j])
        if value > lowest + tolerance:
            continue
        if value < lowest - tolerance:
            lowest = value
            found = np.int64(0)
            ties[:] = 0
        if found < codes.size:
            codes[found] = code
        found += 1
        free = 0
        for j in range(cover, spins.size):
            if abs(fields[j]) <= tolerance // 2:
                free += 1
        ties[free] += 1
    search[VALUE], search[LOWEST], search[FOUND], search[CODE] = value, lowest, found, code
