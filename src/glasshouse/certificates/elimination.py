"""Leaves that are checked by eliminating all vertices in a given order.

The least value over the spin of a vertex is a table over its open vertices: those that an edge or
an earlier table connects with it. The number of open vertices is limited, so that the tables of a
narrow graph are small, whatever its length is. The last table is the least value of all states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import elimination_kernels as kernels
from glasshouse.certificates.certificate import CertificateError
from glasshouse.certificates.digit_kernels import DIGIT, MASK
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.problems.validation import IntArray

# The largest number of open vertices of a vertex.
MOST_OPEN = 24
# The most numbers of all tables in memory at once.
MOST_HELD = 1 << 26
# The numbers that are computed without a break, so that signals are handled in between.
_AT_ONCE = 1 << 26
# The least number of unused numbers in memory, so that messages are rarely moved.
_LEAST_SPACE = 1 << 16
_NO_CHOICES = np.empty(0, dtype=np.uint8)


class Elimination:
    """The elimination of all vertices of a form in a given order.

    Creating an elimination takes time linear in the form and the order. It raises a
    `CertificateError` if the order lacks a vertex with an edge, or has too many open vertices.

    Args:
        form: the form to minimise.
        order: vertices; repeated vertices and the ghost are ignored.
        ghost: the vertex whose spin is fixed; the last vertex of the form by default.

    Attributes:
        order: the distinct vertices.
        plan: their open vertices, as positions in the order.
        num_numbers: how many numbers the elimination computes.
        num_held: the most numbers that are in memory at once.
        digits: the 64-bit integers of each number.

    >>> triangle = ExactForm(3, np.array([[0, 1], [0, 2], [1, 2]]), np.array([-2, 3, 4]), 0)
    >>> elimination = Elimination(triangle, [0, 1, 2])
    >>> elimination.num_numbers, elimination.num_held, elimination.least_value()
    (14, 6, -5)
    """

    def __init__(
        self, form: ExactForm, order: Sequence[int] | npt.NDArray[Any], ghost: int = -1
    ) -> None:
        if ghost < 0 or form.monomials is not None:
            ghost = form.num_variables
        form = _of_pairs(form)
        named = np.asarray(order, dtype=np.int64)
        named, firsts = np.unique(named[named != ghost], return_index=True)
        self.form, self.order = form, named[np.argsort(firsts)]
        place = np.full(form.num_variables + 1, -1)
        place[self.order] = np.arange(len(self.order))
        missing = (place[form.edges] < 0) & (form.edges != ghost)
        if missing.any():
            vertex = int(form.edges[missing][0])
            raise CertificateError(f"an order lacks node {vertex}, which has an edge")
        with_ghost = (form.edges == ghost).any(axis=1)
        self._fields = np.zeros(len(self.order), dtype=form.weights.dtype)
        self._fields[place[form.edges[with_ghost]].max(axis=1)] = form.weights[with_ghost]
        ends = np.sort(place[form.edges[~with_ghost]], axis=1).reshape(-1, 2)
        sorting = np.argsort(ends[:, 0], kind="stable")
        counts = np.bincount(ends[:, 0], minlength=len(self.order))
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._later = ends[sorting, 1].astype(np.int32)
        self._weights = form.weights[~with_ghost][sorting]
        fault, *arrays = kernels.planned(self._starts, self._later, MOST_OPEN)
        self.plan = kernels.Plan(*arrays)
        if fault >= 0:
            raise CertificateError(
                f"an order eliminates node {self.order[fault]} when it has more than {MOST_OPEN} "
                "open vertices"
            )
        self.num_numbers, self.num_held = map(int, kernels.sizes_of(self.plan))
        # No table, field or change of a field exceeds four times the sum of all magnitudes.
        self.digits = 1
        if form.weights.dtype == object:
            self.digits = 1 + (4 * form.total).bit_length() // DIGIT

    @property
    def open_counts(self) -> IntArray:
        """The number of open vertices of each vertex of the order."""
        counts: IntArray = np.diff(self.plan.scope_starts)
        return counts

    @property
    def choice_starts(self) -> IntArray:
        """The byte at which the choices of each vertex begin, and the end; a choice is a bit."""
        lengths = np.maximum(1 << self.open_counts >> 3, 1)
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    @property
    def subtrees(self) -> tuple[IntArray, IntArray]:
        """The first open vertex of each vertex, as a position in the order, and its open count."""
        return self.plan.parents, self.open_counts

    @property
    def is_within_limits(self) -> bool:
        """Whether all tables fit into the memory that an order may need."""
        return self.num_held <= MOST_HELD

    @property
    def num_bytes(self) -> int:
        """The memory of all tables and messages, in bytes."""
        largest = 1 << int(self.open_counts.max(initial=0))
        return 8 * self.digits * (self._capacity + largest)

    @property
    def _capacity(self) -> int:
        """The numbers in memory, with space for further messages between two moves of all."""
        return self.num_held + max(self.num_held // 2, _LEAST_SPACE) + 2

    def least_value(
        self,
        choices: npt.NDArray[np.uint8] = _NO_CHOICES,
        between: Callable[[], object] = lambda: None,
    ) -> int:
        """Return the least value of all states.

        Args:
            choices: zeros, as many as `choice_starts` requires, which receive for every number of
                every table whether it has the eliminated vertex down; empty if not needed.
            between: called several times per second; if it raises, the elimination stops.
        """
        if not self.is_within_limits:
            raise CertificateError(
                f"an order needs {self.num_held} numbers in memory; at most {MOST_HELD} are allowed"
            )
        first, size = 0, len(self.order)
        memory = kernels.Memory(
            self._zeros(self._capacity), self._zeros(1 << int(self.open_counts.max(initial=0))),
            np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int32), np.array([0, 2]),
        )  # fmt: skip
        edges = self._starts, self._later, self._numbers(self._weights)
        fields, starts = self._numbers(self._fields), self.choice_starts
        most = _AT_ONCE // self.digits
        while first < size:
            between()
            first = kernels.eliminate(
                first, most, self.plan, *edges, fields, memory, choices, starts
            )
        last = memory.numbers[memory.places[size]]
        return self.form.constant + sum(
            int(digit) << DIGIT * k for k, digit in enumerate(np.atleast_1d(last))
        )

    def _zeros(self, length: int) -> npt.NDArray[np.int64]:
        return np.zeros((length, self.digits) if self.digits > 1 else length, np.int64)

    def _numbers(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return integers in the form that the kernels add up."""
        if self.digits == 1:
            return values.astype(np.int64)
        numbers = self._zeros(len(values))
        for digit in range(self.digits - 1):
            numbers[:, digit] = values & MASK
            values = values >> DIGIT
        numbers[:, -1] = values
        return numbers


def _of_pairs(form: ExactForm) -> ExactForm:
    """Return a form with edges instead of monomials; raise if a monomial has over two spins."""
    held = form.monomials
    if held is None:
        return form
    if int(held.degrees.max(initial=0)) > 2:
        raise CertificateError("an order supports only products of two spins; use a cover")
    ghosts = np.full((len(held.degrees), 2), form.num_variables, dtype=np.int32)
    ghosts[:, 0] = held.indices[held.starts[:-1]]
    is_pair = held.degrees == 2
    ghosts[is_pair, 1] = held.indices[held.starts[:-1][is_pair] + 1]
    return replace(form, edges=ghosts, monomials=None)
