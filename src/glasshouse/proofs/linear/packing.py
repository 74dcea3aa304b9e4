"""From floating-point duals to an exact packing of odd cycles.

The dual of the cycle LP gives each cycle a multiplier so that no edge is used above its weight.
Here the multipliers become integers over a common denominator, and the packing exactly feasible:
its sum is a lower bound whatever the LP solver did.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.parts import Packing

# Vertices of the dual polytope mostly have small denominators; a certificate with one reads well.
_SMALL_DENOMINATORS = (1, 2, 3, 4, 6, 8, 12, 24)


def round_duals(
    duals: npt.NDArray[np.float64],
    largest: int,
    cycles: Sequence[Sequence[int]],
    capacity: Sequence[int],
    loss: Fraction,
) -> Packing:
    """The best packing near the given duals (in units of `largest`, the greatest capacity).

    At most `loss` is given up. Half of it may go with the smallest multipliers, mere noise of an
    interior point. Of the rest, small denominators are tried first, then a power of two so fine
    that rounding down does not lose more. Without any duals, cycles take what they find.
    """
    if not duals.any():
        return fit(1, [0] * len(cycles), [list(cycle) for cycle in cycles], capacity)
    used = _without_noise(duals, float(loss / largest) / 2)
    chosen = [list(cycles[k]) for k in used]
    exact = [Fraction(float(duals[k])) * largest for k in used]
    total = sum(exact, Fraction(0))
    for denominator in _SMALL_DENOMINATORS:
        packing = fit(denominator, [round(x * denominator) for x in exact], chosen, capacity)
        if packing.total > total - loss / 2:
            return packing
    denominator = 1 << int(4 * len(chosen) / loss).bit_length()
    return fit(denominator, [int(x * denominator) for x in exact], chosen, capacity)


def _without_noise(duals: npt.NDArray[np.float64], loss: float) -> list[int]:
    """Places of all duals but the smallest, which together are at most `loss`; largest first."""
    order = np.argsort(-duals, kind="stable")
    after = np.append(np.cumsum(duals[order][::-1])[::-1][1:], 0.0)
    keep = int(np.searchsorted(-(duals[order] + after), -loss, side="left"))
    return [int(k) for k in order[:keep] if duals[k] > 0]


def fit(
    denominator: int, wanted: list[int], cycles: list[list[int]], capacity: Sequence[int]
) -> Packing:
    """Give each cycle what it wants as far as its edges have room; then let all take the rest."""
    room = {edge: denominator * capacity[edge] for cycle in cycles for edge in cycle}
    given = [0] * len(cycles)
    for most in (wanted, None):
        for k, cycle in enumerate(cycles):
            free = min(room[edge] for edge in cycle)
            amount = free if most is None else min(free, most[k])
            if amount > 0:
                given[k] += amount
                for edge in cycle:
                    room[edge] -= amount
    kept = [k for k, amount in enumerate(given) if amount]
    return Packing(denominator, [given[k] for k in kept], [cycles[k] for k in kept])
