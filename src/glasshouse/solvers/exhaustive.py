"""Exhaustive search for all ground states of a problem.

Only a cover is enumerated: a set of spins that contains an end of every coupling. The best values
of all other spins follow. In an RBM, the cover is the smaller layer; in a sparse graph, about half
of the spins.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.products import Terms, all_values
from glasshouse.landscape.connectivity import components
from glasshouse.landscape.enumeration import Part, parts_of
from glasshouse.problems import (
    Ising,
    Labels,
    MaxSat,
    Polynomial,
    Problem,
    Sampled,
    SpinArray,
    given_problem,
    validation,
)
from glasshouse.problems.convert import to_polynomial
from glasshouse.problems.two_sides import two_colouring
from glasshouse.solvers.kernels.exhaustive import FOUND, LOWEST, VALUE, visit_states
from glasshouse.solvers.spin_form import Solvable, SpinForm
from glasshouse.summaries import Summarised

Marks = npt.NDArray[np.bool_]

# The most states to enumerate, which takes minutes.
MOST_STATES = 1 << 32
# All states of a polynomial are enumerated, 2^20 at a time.
_MOST_OF_POLYNOMIAL, _STATES = 26, 20
# Couplings visited per chunk, which takes a quarter of a second; Ctrl-C waits for its end.
_CHUNK = 1 << 26


@dataclass(frozen=True, eq=False, repr=False)
class GroundStates(Sampled, Summarised):
    """The ground states of a problem: their energy, their number, and a list of states.

    Attributes:
        energy: the lowest energy (cost, for MAX-2-SAT).
        count: the exact number of states of this energy.
        states: the first of these states, one per row; all of them if `is_complete`.
        labels: the problem's variable labels; None if the variables are 0, 1, 2, …
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
        """Return the energy and the number of the ground states as one line of text."""
        listed = "" if self.is_complete else f", {len(self.states)} of them listed"
        return f"lowest energy {self.energy}, in {self.count} states{listed}"

    def __repr__(self) -> str:
        return f"GroundStates({self.summary()})"


def brute_force(problem: Solvable, *, keep: int = 1024) -> GroundStates:
    """Find all ground states of a problem by enumerating up to 2^32 states.

    Connected components are enumerated one by one, because their energies add up. Only the spins of
    a small cover of a component are enumerated: the other spins follow, because each coupling has
    an end in the cover. For an RBM, the cover is the smaller layer (2^16 states for 64 x 16); for a
    sparse graph, about half of the spins. Without fields, half of the states are enumerated.

    A polynomial of degree 3 or more, or clauses of 3 or more literals, may have 2^26 states.

    Args:
        problem: any problem, a plant, or a dimod model.
        keep: the most ground states to list; the returned number of ground states is always exact.

    >>> from glasshouse.problems import Ising
    >>> ring = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [1, 1, 1, -1])
    >>> brute_force(ring)
    GroundStates(lowest energy -2, in 8 states)
    """
    number = validation.count(keep, "keep", 1)
    given = _with_products(problem)
    if isinstance(given, Polynomial) and given.degree > 2:
        return _lowest_of_polynomial(given, number)
    return Enumeration(given).run(number)


def lowest_levels(problem: Solvable) -> tuple[Any, int, Any] | None:
    """Return the lowest energy, the number of its states, and the next energy, by enumeration.

    The next energy is None if all states have the same energy. The result is None if the problem
    has only pairs: `low_energy_states` then counts its states.
    """
    given = _with_products(problem)
    if not isinstance(given, Polynomial) or given.degree <= 2:
        return None
    found = dict[int, tuple[int, int]]()  # by value: the number of states, and one of them
    for first, values in _blocks(given):
        lowest = values.min()
        above = values[values > lowest]
        for value in (lowest, above.min()) if len(above) else (lowest,):
            places = np.flatnonzero(values == value)
            count, code = found.get(int(value), (0, first + int(places[0])))
            found[int(value)] = count + len(places), code
    (count, ground), *others = (found[value] for value in sorted(found))
    codes = np.array([ground, *(code for _, code in others[:1])])
    energies = given.energy(_states(given, codes)).tolist()
    return energies[0], count, energies[1] if others else None


def _with_products(problem: Solvable) -> Problem:
    """Return the problem, or the polynomial of its clauses if it is a `MaxSat`."""
    given = given_problem(problem)
    return to_polynomial(given)[0] if isinstance(given, MaxSat) else given


def _blocks(problem: Polynomial) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield the exact values of all states in blocks, and the code of the first of each block."""
    size = problem.num_variables
    if size > _MOST_OF_POLYNOMIAL:
        raise ValueError(
            f"{size} variables are too many: exhaustive search of a polynomial supports at most "
            f"{_MOST_OF_POLYNOMIAL} variables; use anneal or prove"
        )
    form, low = ExactForm.of(problem), min(size, _STATES)
    assert form.monomials is not None
    terms = Terms(form.monomials, form.weights, form.constant)
    for high, values in all_values(size, terms, np.arange(size), low):
        yield high << low, values


def _states(problem: Polynomial, codes: npt.NDArray[np.int64]) -> SpinArray:
    """Return the states with the given codes, in the problem's own values."""
    down = codes[:, np.newaxis] >> np.arange(problem.num_variables) & 1
    return problem.space.from_spins((1 - 2 * down).astype(np.int8))


def _lowest_of_polynomial(problem: Polynomial, keep: int) -> GroundStates:
    """Find the ground states of a polynomial by exact enumeration of all states, in blocks."""
    least, count, codes = math.inf, 0, list[npt.NDArray[np.int64]]()
    for first, values in _blocks(problem):
        lowest = int(values.min())
        if lowest < least:
            least, count, codes = lowest, 0, []
        if lowest == least:
            found = np.flatnonzero(values == lowest)
            codes.append(first + found[: max(0, keep - count)])
            count += len(found)
    states = _states(problem, np.concatenate(codes))
    return GroundStates(problem.energy(states[0]), count, states, problem.labels)


class Enumeration:
    """A prepared exhaustive search, whose number of states is within the limit.

    Attributes:
        work: the number of couplings that the search will visit.
    """

    def __init__(self, problem: Solvable) -> None:
        self.form = SpinForm(problem)
        ising = self.form.ising
        self.parts = list(parts_of(ising, MOST_STATES, small_cover(ising)))
        self.work = sum(_step(part) << part.bits for part in self.parts)

    def run(self, keep: int) -> GroundStates:
        """Run the search, and return its ground states, of which at most `keep` are listed."""
        count = 1
        spins = np.ones((1, self.form.ising.num_variables), dtype=np.int8)
        for part in self.parts:
            codes, number = _lowest(part, keep)
            count *= part.copies * number
            spins = _combined(spins, part, codes, keep)
        states = self.form.own_states(spins)
        energies = self.form.energy(states)
        if not self.form.ising.is_integer:  # equal up to the tolerance: list the lowest first
            order = np.argsort(energies, kind="stable")
            states, energies = states[order], energies[order]
        return GroundStates(energies[0].item(), count, states, self.form.problem.labels)


def _step(part: Part) -> int:
    """Return a bound on the work per flip: the largest number of couplings of any spin, plus 1."""
    starts, first = part.rows[0], part.first
    return int(np.diff(starts[first : first + part.moving + 1]).max()) + 1


def _lowest(part: Part, keep: int) -> tuple[npt.NDArray[np.int64], int]:
    """Return up to `keep` codes of a component's ground states, and how many of these it has."""
    cover, walker = part.moving, part.walker()
    rows, columns, bonds = part.couplings()
    # With all spins up, each sum has different terms, so it fits.
    once = (rows < columns) & (columns < cover)
    value = -part.fields[:cover].sum() - bonds[once].sum() - np.abs(walker.margins[cover:]).sum()
    search = np.zeros(4, dtype=np.int64)
    search[[VALUE, LOWEST]] = value
    codes = np.empty(min(keep, 1 << part.bits), dtype=np.int64)
    ties = np.zeros(len(part.spins) - cover + 1, dtype=np.int64)
    chunk = max(1, _CHUNK // _step(part))
    for begin in range(0, 1 << part.bits, chunk):
        end = min(begin + chunk, 1 << part.bits)
        visit_states(walker, cover, part.tolerance, begin, end, search, codes, ties)
    return codes[: search[FOUND]], sum(n << free for free, n in enumerate(ties.tolist()))


def _combined(spins: SpinArray, part: Part, codes: npt.NDArray[np.int64], keep: int) -> SpinArray:
    """Combine the listed states with the ground states of a component, up to `keep` states."""
    own = _answered(part, codes, keep)
    if part.copies == 2:
        own = np.concatenate([own, -own])
    number = min(keep, len(spins) * len(own))
    rows, columns = np.divmod(np.arange(number), len(own))
    spins = spins[rows]
    spins[:, part.spins] = own[columns]
    return spins


def _answered(part: Part, codes: npt.NDArray[np.int64], keep: int) -> SpinArray:
    """Return at most `keep` ground states of a component, given codes of its enumerated spins.

    A spin with zero field is free, so that one state becomes two.
    """
    cover, found = part.moving, part.decode(codes)
    rows, columns, bonds = part.couplings()
    after = rows >= cover
    rows, columns, bonds = rows[after] - cover, columns[after], bonds[after]
    own = part.fields[cover:]
    states: list[SpinArray] = []
    number = 0
    for spins in found:
        fields = own.copy()
        np.add.at(fields, rows, bonds * spins[columns])
        free = np.flatnonzero(np.abs(fields) <= part.tolerance // 2)
        copies = min(keep - number, 1 << min(len(free), 62))
        answers = np.tile(
            np.append(spins, np.where(fields < 0, -1, 1)).astype(np.int8), (copies, 1)
        )
        down = (np.arange(copies)[:, None] >> np.minimum(np.arange(len(free)), 62)) & 1
        answers[:, cover + free] = 1 - 2 * down
        states.append(answers)
        number += copies
        if number == keep:
            break
    return np.concatenate(states)


def small_cover(form: Ising) -> Marks:
    """Mark a small cover: a set of spins that contains at least one end of every coupling.

    In each connected component, the cover is the smallest of a greedy choice and, if the component
    is bipartite, of its two sides. At least one spin of each component is marked.

    >>> star = Ising.from_edges(4, [(0, 3), (1, 3), (2, 3)], [1, 1, 1])
    >>> small_cover(star).tolist()
    [False, False, False, True]
    """
    size = form.num_variables
    labels = components(replace(form, fields=np.zeros_like(form.fields)))
    covers = [~_independent(form)]
    sides = two_colouring(form.num_variables, form.edges)
    if sides is not None:
        covers += [sides, ~sides]
    counts = np.array([np.bincount(labels[cover], minlength=size) for cover in covers])
    best = counts.argmin(axis=0)[labels]
    cover: Marks = np.stack(covers)[best, np.arange(size)]
    cover[np.bincount(form.edges.reshape(-1), minlength=size) == 0] = True  # isolated spins
    return cover


def _independent(form: Ising) -> Marks:
    """Mark an independent set of spins, chosen greedily in favour of spins with few couplings.

    Each round takes the spins that precede all their neighbours, and removes these neighbours. Ties
    are broken at random, so that there are few rounds.
    """
    size = form.num_variables
    degree = np.bincount(form.edges.reshape(-1), minlength=size)
    rank = np.empty(size, dtype=np.int64)
    rank[np.lexsort((np.random.default_rng(0).permutation(size), degree))] = np.arange(size)
    taken, free = np.zeros(size, dtype=np.bool_), np.ones(size, dtype=np.bool_)
    ends = form.edges
    while free.any():
        ends = ends[free[ends].all(axis=1)]
        later = rank[ends[:, 0]] > rank[ends[:, 1]]
        first = free.copy()
        first[np.where(later, ends[:, 0], ends[:, 1])] = False
        taken |= first
        free &= ~first
        free[ends[first[ends].any(axis=1)].reshape(-1)] = False
    return taken
