"""Packings beyond the precision of floats.

Where weights have more digits than a float, rounded duals miss the optimum by the float error. What
is missing is again a packing problem, in the room that is left, with small numbers: solving it and
adding the result gains some seven digits a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from glasshouse.proofs.linear.linear_program import checked, new_highs, run
from glasshouse.proofs.linear.packing import fit
from glasshouse.proofs.parts import Packing
from glasshouse.stopping import working_time

_MOST_TURNS = 6
# Room this many times larger than what is missing counts as endless.
_ENDLESS = 10**6


def refine(
    packing: Packing,
    cycles: Sequence[Sequence[int]],
    capacity: Sequence[int],
    enough: Fraction,
    deadline: float = math.inf,
) -> Packing:
    """Shift multipliers between cycles until a packing has `enough` in total, if it can.

    Args:
        packing: over some of the cycles.
        cycles: as edge lists.
        capacity: of each edge.
        enough: what the multipliers are to add up to.
        deadline: when to stop with the best so far, on the clock of `working_time`.
    """
    for _ in range(_MOST_TURNS):
        missing = math.ceil(enough * packing.denominator) - sum(packing.multipliers)
        if missing <= 0 or working_time() > deadline:
            break
        known = {tuple(c): m for c, m in zip(packing.cycles, packing.multipliers, strict=True)}
        given = [known.get(tuple(cycle), 0) for cycle in cycles]
        room = [packing.denominator * c for c in capacity]
        for cycle, multiplier in zip(cycles, given, strict=True):
            for edge in cycle:
                room[edge] -= multiplier
        shifts = _shifts(given, cycles, room, missing, deadline)
        if shifts is None:
            break
        wanted = [m + shift for m, shift in zip(given, shifts, strict=True)]
        better = fit(packing.denominator, wanted, [list(c) for c in cycles], capacity)
        if better.total <= packing.total:
            break
        packing = better
    return packing


def _shifts(
    given: list[int],
    cycles: Sequence[Sequence[int]],
    room: list[int],
    missing: int,
    deadline: float,
) -> list[int] | None:
    """Maximise Σδ with δ ≥ -given and no edge above its room, in units of what is missing.

    None if time is up before, or HiGHS is not sure.
    """
    # Compared as integers: a quotient of large ones may be above all floats.
    lower = [-min(m, _ENDLESS * missing) / missing for m in given]
    solver = new_highs(np.full(len(cycles), -1.0), lower, _ENDLESS)
    users: dict[int, list[int]] = {}
    for k, cycle in enumerate(cycles):
        for edge in cycle:
            users.setdefault(edge, []).append(k)
    for edge, members in users.items():
        if room[edge] < _ENDLESS * missing:
            indices = np.array(members, dtype=np.int32)
            ones = np.ones(len(members))
            limit = room[edge] / missing
            checked(solver.addRow(-np.inf, limit, len(members), indices, ones), "a row")
    if run(solver, deadline - working_time()) != "optimal":
        return None
    return [math.floor(Fraction(x) * missing) for x in solver.getSolution().col_value]
