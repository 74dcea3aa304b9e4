"""Exhaustive search: the lowest energy by looking at every state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.landscape.enumeration import Part, parts_of
from glasshouse.problems import validation
from glasshouse.problems.naming import Labels, Sampled
from glasshouse.problems.validation import SpinArray
from glasshouse.solvers.forms import Form, Solvable
from glasshouse.solvers.kernels.exhaustive import COUNT, visit_states

# 2^32 states take minutes; more are refused.
MOST_STATES = 1 << 32
# So many at a time, which takes about a second: Ctrl-C is heard between two calls.
_CHUNK = 1 << 24


@dataclass(frozen=True, eq=False, repr=False)
class GroundStates(Sampled):
    """The lowest energy, how many states have it, and some or all of them.

    Attributes:
        energy: the least there is (cost, for MAX-2-SAT).
        count: how many states have it, exactly.
        states: the first of them, one a row, in the problem's own values; all if `is_complete`.
        labels: what the variables are called by who gave the problem; None for 0, 1, 2, …
    """

    energy: Any
    count: int
    states: SpinArray
    labels: Labels | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every ground state is listed."""
        return len(self.states) == self.count

    def summary(self) -> str:
        """One line for people."""
        listed = "" if self.is_complete else f", {len(self.states)} of them listed"
        return f"lowest energy {self.energy}, in {self.count} states{listed}"

    def __repr__(self) -> str:
        return f"GroundStates({self.summary()})"


def brute_force(problem: Solvable, *, keep: int = 1024) -> GroundStates:
    """Find all ground states by enumeration, up to 2^32 states.

    Connected parts are enumerated one by one, because their energies add up; a part without fields
    needs only half of its states. So the limit holds for the parts, not for the whole problem.

    Args:
        problem: any problem, a plant, or a dimod model.
        keep: how many ground states to list at most; their number is exact all the same.

    >>> from glasshouse.problems import Ising
    >>> ring = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [1, 1, 1, -1])
    >>> brute_force(ring)
    GroundStates(lowest energy -2, in 8 states)
    """
    keep = validation.count(keep, "keep", 1)
    form = Form(problem)
    count = 1
    spins = np.ones((1, form.ising.num_variables), dtype=np.int8)
    for part in parts_of(form.ising, MOST_STATES):
        codes, number = _lowest(part, keep)
        count *= part.copies * number
        spins = _combined(spins, part, codes, keep)
    states = form.own_states(spins)
    energies = form.energy(states)
    if not form.ising.is_integer:  # equal up to the tolerance: the very lowest comes first
        order = np.argsort(energies, kind="stable")
        states, energies = states[order], energies[order]
    return GroundStates(energies[0].item(), count, states, form.problem.labels)


def _lowest(part: Part, keep: int) -> tuple[npt.NDArray[np.int64], int]:
    """Codes of a part's lowest states, up to `keep` of them, and how many there are."""
    starts, neighbours, weights, fields, first = part.arguments
    size = len(part.spins)
    rows = np.repeat(np.arange(size), np.diff(starts[first : first + size + 1]))
    margins = fields[first : first + size].copy()
    np.add.at(margins, rows, weights[starts[first] : starts[first + size]])
    codes = np.empty(min(keep, 1 << part.bits), dtype=np.int64)
    spins, search = np.ones(size, dtype=np.int64), np.zeros(4, dtype=np.int64)
    for begin in range(0, 1 << part.bits, _CHUNK):
        end = min(begin + _CHUNK, 1 << part.bits)
        visit_states(
            starts, neighbours, weights, first, part.tolerance // 2, begin, end, spins, margins,
            search, codes,
        )  # fmt: skip
    number = int(search[COUNT])
    return codes[:number], number


def _combined(spins: SpinArray, part: Part, codes: npt.NDArray[np.int64], keep: int) -> SpinArray:
    """Every listed state with every ground state of one more part, up to `keep` of them."""
    own = part.decode(codes)
    if part.copies == 2:
        own = np.concatenate([own, -own])
    number = min(keep, len(spins) * len(own))
    rows, columns = np.divmod(np.arange(number), len(own))
    spins = spins[rows]
    spins[:, part.spins] = own[columns]
    return spins
