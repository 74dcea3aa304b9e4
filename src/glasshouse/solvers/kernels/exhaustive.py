"""All states of a small problem in Gray-code order, one flip apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled

# Places in the array that a search carries from one call to the next.
HALF, LOWEST, COUNT, CODE = range(4)


@compiled
def visit_states(
    starts: Any, neighbours: Any, weights: Any, first: int, tolerance: int,
    begin: int, end: int, spins: Any, margins: Any, search: Any, codes: Any,
) -> None:  # fmt: skip
    """Visit the states of steps begin to end - 1; keep the lowest energy, its number and codes.

    The spins are `first`, `first + 1`, … of a graph in compressed rows. State `code` has spin
    `first + i` down where bit i is set. `margins[i]` is s_i θ_i: a flip of i costs twice that and
    changes the margins of its neighbours only. Energies are halved and relative to all spins up, so
    that they fit as long as the weights' sum does; `tolerance` apart they count as equal.
    """
    half, lowest, count, code = search[HALF], search[LOWEST], search[COUNT], search[CODE]
    for step in range(begin, end):
        if step > 0:
            i = 0
            while not (step >> i) & 1:
                i += 1
            code ^= np.int64(1) << i
            half += margins[i]
            margins[i] = -margins[i]
            for k in range(starts[first + i], starts[first + i + 1]):
                j = neighbours[k] - first
                bond = weights[k] * spins[i] * spins[j]
                margins[j] -= bond  # twice, since 2 · bond may not fit
                margins[j] -= bond
            spins[i] = -spins[i]
        if half > lowest + tolerance:
            continue
        if half < lowest - tolerance:
            lowest = half
            count = np.int64(0)
        if count < codes.size:
            codes[count] = code
        count += 1
    search[HALF], search[LOWEST], search[COUNT], search[CODE] = half, lowest, count, code
