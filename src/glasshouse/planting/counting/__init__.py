"""The number of ground states of a plant: exact, a lower bound, or unknown.

Some families allow more than the general count below: `equations` solves linear equations modulo 2,
    `halves` meets in the middle of dense squares, `two_sat` searches for a second model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Certificate, ExactForm
from glasshouse.certificates.bound import rest_on_edges
from glasshouse.certificates.products import Terms, all_values
from glasshouse.landscape import components
from glasshouse.landscape.enumeration import parts_of
from glasshouse.problems import Ising, Polynomial
from glasshouse.problems.two_sides import lowest_nodes
from glasshouse.summaries import Summarised

if TYPE_CHECKING:
    from glasshouse.planting.planted import Planted


# The most states of groups of spins that are enumerated one by one.
_MOST_STATES = 1 << 20
# From here on, numbers are shown as powers of two if they are, or nearly are, such powers.
_LONG = 1000


@dataclass(frozen=True, repr=False)
class GroundStates(Summarised):
    """The number of states that have the planted energy.

    Attributes:
        least: a proven lower bound of the number.
        is_exact: whether the number is exactly `least`.
        reason: how this is known, or why no more is known.

    >>> str(GroundStates(1, True, "counted")), str(GroundStates(6, True, "counted"))
    ('unique (counted)', '6 (counted)')
    >>> str(GroundStates(2**70, False, "one flip per component"))
    'at least 2^70 (one flip per component)'
    >>> str(GroundStates(1, False, "too many spins"))
    'unknown (too many spins)'
    """

    least: int
    is_exact: bool
    reason: str

    def __str__(self) -> str:
        if self.is_exact and self.least == 1:
            return f"unique ({self.reason})"
        if not self.is_exact and self.least == 1:
            return f"unknown ({self.reason})"
        return f"{'' if self.is_exact else 'at least '}{_spelled(self.least)} ({self.reason})"


def _spelled(number: int) -> str:
    """Return a count of any size as a short text.

    >>> _spelled(72), _spelled(6 * 2**20000), _spelled(3**40)
    ('72', '3·2^20001', 'about 10^19')
    """
    if number < _LONG:
        return str(number)
    twos = (number & -number).bit_length() - 1
    odd = number >> twos
    if odd < _LONG:
        return f"2^{twos}" if odd == 1 else f"{odd}·2^{twos}"
    return str(number) if number < _LONG**4 else f"about 10^{math.log10(number):.0f}"


def count_ground_states(planted: Planted) -> GroundStates:
    """Count the ground states from the certificate, and by enumeration if few spins remain free.

    Every ground state attains the bound, so it satisfies every edge of the remainder, as the
    planted state does. Such edges tie spins into groups that can only flip together. If the groups
    are whole components of the problem, their flips give all ground states.
    """
    form = planted.form
    if isinstance(form, Polynomial):
        return _of_polynomial(form)
    labels = components(form)
    groups = tied_groups(form, planted.certificate)
    # Components with fields are fixed; every other component can be flipped.
    flips = int(labels.max(initial=-1)) + 1 - bool(form.fields.any())
    if int(groups.max(initial=0)) == flips:
        return GroundStates(2**flips, True, f"proven: {_flips(flips)}")
    counted = _counted(form, planted.state, groups)
    if counted is not None:
        return GroundStates(counted, True, "counted")
    return GroundStates(2**flips, False, f"{_flips(flips)}; more states are not ruled out")


def _of_polynomial(problem: Polynomial) -> GroundStates:
    """Count a polynomial's ground states by enumeration, if it has few states."""
    size, form = problem.num_variables, ExactForm.of_polynomial(problem)
    if 1 << size > _MOST_STATES:
        return GroundStates(1, False, f"{size} spins are too many to enumerate all states")
    terms = Terms(problem.monomials, form.weights, form.constant)
    ((_, values),) = all_values(size, terms, np.arange(size), size)
    return GroundStates(int((values == values.min()).sum()), True, "counted")


def _flips(number: int) -> str:
    """Return as text how many components can be flipped as a whole."""
    if not number:
        return "no component can be flipped"
    return "one component can be flipped" if number == 1 else f"{number} components can be flipped"


def tied_groups(form: Ising, certificate: Certificate) -> npt.NDArray[Any]:
    """Return each spin's group: ground states differ by flips of whole groups other than group 0.

    The certificate must be tight: its bound is the energy of its state.
    """
    edges, rest = rest_on_edges(ExactForm.of_ising(form), certificate)
    tied = edges[(rest != 0).astype(np.bool_)]
    lowest = lowest_nodes(form.num_variables + 1, tied[:, 0], tied[:, 1])
    labels = np.unique(lowest, return_inverse=True)[1]
    ghost = labels[-1]
    return np.where(labels == ghost, 0, labels + (labels < ghost))[:-1]


def _counted(form: Ising, state: npt.NDArray[np.int8], groups: npt.NDArray[Any]) -> int | None:
    """Count ground states by enumerating flips of groups; None if there are too many flips."""
    contracted = _contracted(form, state, groups)
    count = 1
    try:
        for part in parts_of(contracted, _MOST_STATES):
            count *= part.copies * int(part.enumerate(0)[2])
    except ValueError:
        return None
    return count


def _contracted(form: Ising, state: npt.NDArray[np.int8], groups: npt.NDArray[Any]) -> Ising:
    """Return the problem whose spins are flips of groups 1, 2, …; group 0 acts as a field."""
    turned = state[form.edges[:, 0]] * state[form.edges[:, 1]] * form.weights
    ends = np.sort(groups[form.edges], axis=1)
    is_inside, is_held = ends[:, 0] == ends[:, 1], ends[:, 0] == 0
    size = int(groups.max(initial=0))
    fields = np.zeros(size + 1, dtype=np.int64)
    np.add.at(fields, groups, state * form.fields)
    held = is_held & ~is_inside
    np.add.at(fields, ends[held, 1], turned[held])
    free = ~is_inside & ~is_held
    return Ising.from_edges(size, ends[free] - 1, turned[free], fields[1:])
