"""Enumeration of the states of a cover in Gray-code order, with all other spins set optimally."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled
from glasshouse.kernels.flips import flip, turning_bit

# Indices in the array that a search carries from one call to the next.
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
    """Visit the cover's states at steps `begin` to `end` - 1, and record the ground states.

    State `code` has spin i down if bit i is set. Only the first `cover` spins are enumerated. No
    coupling joins two other spins, so each other spin follows its field and adds -|field| to the
    energy. The walker leaves these spins up, so their margins are their fields. All sums are over
    different terms, so that they fit if the sum of magnitudes does. Energies that differ by at most
    `tolerance` count as equal. `ties[z]` is the number of lowest states that leave z spins free.
    """
    margins = walker.margins
    value, lowest, found, code = search[VALUE], search[LOWEST], search[FOUND], search[CODE]
    for step in range(begin, end):
        if step > 0:
            i = turning_bit(step)
            code ^= np.int64(1) << i
            value += margins[i]  # added twice, because 2 · margin may overflow
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
