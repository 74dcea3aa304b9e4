"""The states of a few spins in Gray-code order, one flip apart; the others answer at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled
from glasshouse.kernels.flips import flip, turning_bit

# Places in the array that a search carries from one call to the next.
VALUE, LOWEST, FOUND, CODE = range(4)


@compiled
def visit_states(
    walker: Any,
    cover: int,
    tolerance: int,
    begin: int,
    end: int,
    search: Any,
    codes: Any,
    ties: Any,
) -> None:
    """Visit the states of steps begin to end - 1; keep the lowest energy and where it was met.

    State `code` has spin i down where bit i is set. Only the first `cover` spins are visited so. No
    coupling joins two of the others, each of which follows its field, which is its margin as it
    stays up here, and so adds -|margin| to the energy. All sums are over different terms, so that
    they fit as long as the sum of magnitudes does; `tolerance` apart, energies count as equal.
    `ties[z]` is how many of the lowest states leave z spins free.
    """
    margins = walker.margins
    value, lowest, found, code = search[VALUE], search[LOWEST], search[FOUND], search[CODE]
    for step in range(begin, end):
        if step > 0:
            i = turning_bit(step)
            code ^= np.int64(1) << i
            value += margins[i]  # twice, since 2 · margin may not fit
            value += margins[i]
            value -= flip(walker, i, 0, cover)[2]
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
        for j in range(cover, margins.size):
            free += abs(margins[j]) <= tolerance // 2
        ties[free] += 1
    search[VALUE], search[LOWEST], search[FOUND], search[CODE] = value, lowest, found, code
