"""Enumeration of all states of a small problem: local minima, ground states, lowest states.

Components of the coupling graph are enumerated one by one, because their energies add up and their
counts multiply. Without fields, one of two mirror images is enumerated, and its counts are doubled.
So the limit of about 2^26 states applies to the largest component, not to the whole problem.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.kernels.adjacency import adjacency
from glasshouse.kernels.flips import Walker
from glasshouse.landscape.connectivity import components
from glasshouse.landscape.kernels import enumerate_states
from glasshouse.landscape.local import TOLERANCE
from glasshouse.landscape.metric import least_distance
from glasshouse.problems import Given, Ising, Labels, Problem, Rbm, Sampled, given_problem, to_ising
from glasshouse.problems.validation import IntArray, Number, count
from glasshouse.summaries import Summarised

# The largest total number of states of all components; enumerating them takes a few seconds.
MOST_STATES = 1 << 27


@dataclass(frozen=True, repr=False)
class LocalMinima(Summarised):
    """Exact counts of the local minima of a problem.

    Attributes:
        count: the number of local minima: states whose energy no single flip lowers, including
            ground states (the paper's definition).
        strict: the number of local minima in which every single flip costs energy.
        ground_states: the number of states of the lowest energy.
    """

    count: int
    strict: int
    ground_states: int

    @property
    def traps(self) -> int:
        """The number of local minima that are not ground states."""
        return self.count - self.ground_states

    def summary(self) -> str:
        """Return the three counts as one line of text.

        >>> LocalMinima(10, 4, 2).summary()
        '10 local minima (4 strict), 2 of them ground states'
        """
        return (
            f"{self.count} local minima ({self.strict} strict), "
            f"{self.ground_states} of them ground states"
        )


@dataclass(frozen=True, eq=False, repr=False)
class LowEnergyStates(Sampled, Summarised):
    """The states of lowest energy of a problem, up to its trivial symmetries.

    Attributes:
        energies: the energy of each state, ascending.
        states: the states in the problem's own values, one per row.
        copies: the number of states that each row represents: every component without a field can
            be flipped, and so can every free spin.
        gap: the difference of the two lowest energies; None if all rows have the lowest energy.
        distance: the smallest `distance` of a listed ground state to a listed state of the next
            energy; None if `gap` is None. The paper expects it to grow with frustration. In an RBM
            of several components, where uncoupled pairs count too, a flip of one would change it.
        labels: the problem's variable labels; None if the variables are 0, 1, 2, …
    """

    energies: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    states: npt.NDArray[np.int8]
    copies: int
    gap: Number | None
    distance: Fraction | None
    labels: Labels | None = None

    def summary(self) -> str:
        """Return the lowest energy, the gap and the distance as one line of text.

        >>> low_energy_states(Rbm([[2, 2], [2, -1]]), 4).summary()
        'lowest energy -5, next 2 above at distance 1/2, each state 2-fold'
        """
        text = f"lowest energy {self.energies[0]}"
        if self.gap is not None:
            text += f", next {self.gap} above at distance {self.distance}"
        return f"{text}, each state {self.copies}-fold"


def local_minima(problem: Given) -> LocalMinima:
    """Count the local minima of a problem with at most about 2^26 states per component.

    >>> from glasshouse.problems import Ising
    >>> ring = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [1, 1, 1, -1])
    >>> local_minima(ring)
    LocalMinima(count=8, strict=0, ground_states=8)
    """
    total = strict = grounds = 1
    for part in parts_of(_without_ancillas(problem)):
        found = part.enumerate(0)
        total *= part.copies * int(found[0])
        strict *= part.copies * int(found[1])
        grounds *= part.copies * int(found[2])
    return LocalMinima(total, strict, grounds)


def ground_state_count(problem: Given, *, unique_up_to_flips: bool = False) -> int:
    """Return the number of ground states of a problem.

    Args:
        problem: any problem.
        unique_up_to_flips: assume that the ground state is unique except for flips of whole
            components and of free spins. Then nothing is enumerated, and the problem may have any
            size: the count is 2^components. The assumption holds for every sum of loops if the
            negative weight of a loop is below its positive weights (the paper's alpha < 1,
            frustration below 1/L). At alpha = 1, other ground states may exist.

    >>> from glasshouse.problems import Ising
    >>> ring = Ising.from_edges(5, [(0, 1), (1, 2), (2, 3), (0, 3)], [4, 4, 4, -3])
    >>> ground_state_count(ring), ground_state_count(ring, unique_up_to_flips=True)
    (4, 4)
    """
    form = _without_ancillas(problem)
    if unique_up_to_flips:
        labels = components(form)
        held = np.unique(labels[form.fields != 0])
        return 1 << (len(np.unique(labels)) - len(held))
    return local_minima(form).ground_states


def low_energy_states(problem: Given, k: int = 16) -> LowEnergyStates:
    """Return the k states of lowest energy, up to flips of components and of free spins.

    States of equal energy are in a fixed order. The paper's section "Frustration" relates the gap
    and the distance of the first excited state to f.

    Args:
        problem: any problem with at most about 2^26 states per connected component.
        k: the number of states to return, or the number of all states if it is smaller.

    >>> found = low_energy_states(Rbm([[2, 2], [2, -1]]), 3)
    >>> found.energies, found.gap, found.distance
    (array([-5, -3, -3]), 2, Fraction(1, 2))
    """
    form = _without_ancillas(problem)
    k = count(k, "k", 1)
    energies = np.zeros(1, dtype=np.int64)
    spins = np.ones((1, form.num_variables), dtype=np.int8)
    copies = 1
    for part in parts_of(form):
        copies *= part.copies
        found, codes = part.enumerate(k)[3:]
        sums = np.add.outer(energies, found).reshape(-1)
        best = np.argsort(sums, kind="stable")[:k]
        rows, columns = np.divmod(best, len(found))
        energies, spins = sums[best], spins[rows]
        spins[:, part.spins] = part.decode(codes[columns])
    return _described(given_problem(problem), form, spins, copies)


def _without_ancillas(problem: Given) -> Ising:
    """Return the Ising form of a problem; refuse one that has more spins than the problem."""
    form, reduction = to_ising(problem)
    if not reduction.bijective:
        raise ValueError(
            "the problem has products or clauses of three variables or more; its Ising form has "
            "ancillas, whose states would be counted, too; use brute_force"
        )
    return form


def _described(
    problem: Problem, form: Ising, spins: npt.NDArray[np.int8], copies: int
) -> LowEnergyStates:
    """Build the result of `low_energy_states` from the spins of the lowest states."""
    levels = form.energy(spins)
    slack = 0 if form.is_integer else TOLERANCE * form.total_weight
    above = np.flatnonzero(levels > levels[0] + slack)
    least = None
    if len(above):
        grounds = spins[levels <= levels[0] + slack]
        excited = spins[(levels >= levels[above[0]]) & (levels <= levels[above[0]] + slack)]
        least = least_distance(problem if isinstance(problem, Rbm) else form, grounds, excited)
    states, energies = spins, levels
    if problem.space.low == 0:
        states = problem.space.from_spins(spins)
        energies = problem.energy(states)
    # Python integers, because the difference of two int64 energies may overflow.
    gap = energies[above[0]].item() - energies[0].item() if len(above) else None
    return LowEnergyStates(energies, states, copies, gap, least, problem.labels)


@dataclass(frozen=True, eq=False)
class Part:
    """A component of the coupling graph, prepared for a kernel that enumerates its states.

    Attributes:
        spins: the indices of the component's spins in the problem, in the order of the bits.
        copies: 2 if the component has no field, so that its mirror image counts, too.
        moving: the number of enumerated spins, which are the first spins of the component.
        bits: the number of spins that are flipped: `moving`, or one less if there are two copies.
        rows: starts, neighbours and weights of the whole graph in compressed rows.
        fields: the fields of the component's spins.
        first: the index of the component's first row.
        tolerance: the largest difference of energies that count as equal; 0 for integers.
    """

    spins: IntArray
    copies: int
    moving: int
    bits: int
    rows: tuple[IntArray, IntArray, IntArray]
    fields: IntArray
    first: int
    tolerance: int

    def couplings(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the two ends and the weights of all couplings, in both directions."""
        starts, neighbours, weights = self.rows
        bounds = starts[self.first : self.first + len(self.spins) + 1]
        ends = np.repeat(np.arange(len(self.spins)), np.diff(bounds))
        inner = slice(bounds[0], bounds[-1])
        return ends, neighbours[inner] - self.first, weights[inner]

    def walker(self) -> Walker:
        """Return a `Walker` with all spins up; its margins omit spins that are not enumerated."""
        ends, others, weights = self.couplings()
        inside = others < self.moving
        margins = self.fields.copy()
        np.add.at(margins, ends[inside], weights[inside])
        spins = np.ones(len(self.spins), dtype=np.int64)
        return Walker(*self.rows, self.first, spins, margins)

    def enumerate(self, keep: int) -> tuple[int, int, int, IntArray, IntArray]:
        """Return the result of `kernels.enumerate_states` for this component."""
        found: tuple[int, int, int, IntArray, IntArray] = enumerate_states(
            self.walker(), self.bits, self.tolerance, min(keep, 1 << self.bits)
        )
        return found

    def decode(self, codes: IntArray) -> npt.NDArray[np.int8]:
        """Return the enumerated spins of the states with the given codes, one state per row."""
        down = (codes[:, None] >> np.arange(self.moving)) & 1
        return (1 - 2 * down).astype(np.int8)


def parts_of(
    form: Ising, most_states: int = MOST_STATES, moving: npt.NDArray[np.bool_] | None = None
) -> Iterator[Part]:
    """Split a problem into connected components, and prepare each of them for enumeration.

    Only couplings connect spins here; fields do not. If `moving` marks spins of each component,
    only the states of these spins are enumerated. Raises a ValueError if there are too many.
    """
    labels = components(replace(form, fields=np.zeros_like(form.fields)))
    sizes = np.bincount(labels) if form.num_variables else np.empty(0, dtype=np.int64)
    held = np.zeros(len(sizes), dtype=bool)
    held[labels[form.fields != 0]] = True
    moving = np.ones(form.num_variables, dtype=np.bool_) if moving is None else moving
    counts = np.bincount(labels[moving], minlength=len(sizes))
    bits = counts - ~held
    if (states := sum(1 << int(b) for b in bits)) > most_states:
        raise ValueError(
            f"the largest connected component has {sizes.max()} spins, and at least "
            f"2^{states.bit_length() - 1} states of all components must be enumerated, but the "
            f"limit is 2^{most_states.bit_length() - 1}; use a smaller problem"
        )
    weights, fields, tolerance = _whole_numbers(form)
    # Spins are ordered by (component, degree): the bits that flip most often have the fewest
    # neighbours. Spins that are not enumerated are last in their component.
    degree = np.bincount(form.edges.reshape(-1), minlength=form.num_variables)
    order = np.lexsort((degree, ~moving, labels))
    rank = np.empty_like(order)
    rank[order] = np.arange(form.num_variables)
    starts, neighbours, ids = adjacency(form.num_variables, rank[form.edges])
    rows = starts, neighbours.astype(np.int64), weights[ids]  # int64 is a tenth faster than int32
    fields = fields[order]
    ends = np.cumsum(sizes)
    for label, (size, end) in enumerate(zip(sizes.tolist(), ends.tolist(), strict=True)):
        yield Part(
            spins=order[end - size : end],
            copies=1 if held[label] else 2,
            moving=int(counts[label]),
            bits=int(bits[label]),
            rows=rows,
            fields=fields[end - size : end],
            first=end - size,
            tolerance=tolerance,
        )


def _whole_numbers(form: Ising) -> tuple[IntArray, IntArray, int]:
    """Return weights and fields as int64, and the tolerance up to which energies count as equal."""
    if form.is_integer:
        return form.weights.astype(np.int64), form.fields.astype(np.int64), 0
    if not form.total_weight:
        return np.zeros(len(form.weights), np.int64), np.zeros(form.num_variables, np.int64), 0
    scale = 60 - math.frexp(float(form.total_weight))[1]
    weights, fields = (
        np.rint(np.ldexp(x, scale)).astype(np.int64) for x in (form.weights, form.fields)
    )
    return weights, fields, int(TOLERANCE * math.ldexp(float(form.total_weight), scale))
