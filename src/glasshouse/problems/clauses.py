"""Clauses in flat arrays, and the base class of all problems with weighted clauses.

Clause k is `literals[starts[k]:starts[k+1]]`, as it was given: literals are DIMACS integers, +k for
variable k (from 1) and -k for its negation.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.problems import naming, validation
from glasshouse.problems.monomials import Monomials
from glasshouse.problems.naming import Labels, State
from glasshouse.problems.validation import IntArray, Number, WeightArray
from glasshouse.summaries import Summarised


class Clauses(NamedTuple):
    """A list of clauses of any length, stored in two flat arrays.

    >>> some = Clauses.of([[1, -2, 3], [], [2]])
    >>> some.literals.tolist(), some.starts.tolist(), some.lengths.tolist()
    ([1, -2, 3, 2], [0, 3, 3, 4], [3, 0, 1])
    >>> some.lists()
    [[1, -2, 3], [], [2]]
    """

    literals: npt.NDArray[np.int32]
    starts: IntArray

    @classmethod
    def of(cls, rows: Any, name: str = "clauses") -> Clauses:
        """Build clauses from lists of literals, or from an array with one clause per row."""
        if isinstance(rows, Clauses):
            return rows
        if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind in "iu":
            return cls(rows.reshape(-1), np.arange(len(rows) + 1) * rows.shape[1])
        try:
            lists = [list(row) for row in rows]
        except TypeError:
            raise ValueError(f"{name} must be lists of literals, such as [1, -2]") from None
        flat = [literal for row in lists for literal in row]
        if not all(is_literal(literal) for literal in flat):
            k = next(k for k, row in enumerate(lists) if not all(map(is_literal, row)))
            raise ValueError(f"{name}[{k}] = {lists[k]} is not a list of literals")
        ends = np.cumsum([len(row) for row in lists], dtype=np.int64)
        return cls(np.array(flat, dtype=np.int32), np.append(np.int64(0), ends))

    @classmethod
    def of_pairs(cls, rows: npt.NDArray[np.int32]) -> Clauses:
        """Build clauses from rows of two literals, where 0 marks a missing literal."""
        ends = np.cumsum(np.count_nonzero(rows, axis=1), dtype=np.int64)
        return cls(rows[rows != 0], np.append(np.int64(0), ends))

    @classmethod
    def joined(cls, parts: list[Clauses]) -> Clauses:
        """Concatenate several groups of clauses."""
        lengths = np.concatenate([np.empty(0, np.int64), *(part.lengths for part in parts)])
        literals = np.concatenate([np.empty(0, np.int32), *(part.literals for part in parts)])
        return cls(literals, np.append(np.int64(0), np.cumsum(lengths)))

    def checked(self, size: int, name: str) -> Clauses:
        """Check the clauses against `size` variables, and return them with read-only arrays."""
        literals, starts = np.asarray(self.literals), np.asarray(self.starts)
        for part, array in (("literals", literals), ("starts", starts)):
            if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
                raise ValueError(
                    f"{name}: {part} must be a flat array of integers, not {array.dtype} of "
                    f"shape {array.shape}"
                )
        if not len(starts) or starts[0] != 0 or starts[-1] != len(literals):
            raise ValueError(
                f"{name}: starts must run from 0 to {len(literals)}, the number of literals"
            )
        if (starts[1:] < starts[:-1]).any():
            raise ValueError(f"{name}: starts must not decrease")
        highest = max(-int(literals.min(initial=0)), int(literals.max(initial=0)))
        if highest > size:
            raise ValueError(f"{name}: there are {size} variables, but variable {highest} is used")
        if not literals.all():
            raise ValueError(f"{name}: a literal is 0; variables are numbered from 1")
        return Clauses(
            validation.read_only(literals.astype(np.int32, copy=False)),
            validation.read_only(starts.astype(np.int64, copy=False)),
        )

    @property
    def lengths(self) -> IntArray:
        """The number of literals in each clause."""
        return self.starts[1:] - self.starts[:-1]

    @property
    def longest(self) -> int:
        """The largest number of literals in a clause."""
        return int(self.lengths.max(initial=0))

    @property
    def rows(self) -> IntArray:
        """For each literal, the index of its clause."""
        return np.repeat(np.arange(len(self.starts) - 1), self.lengths)

    @property
    def products(self) -> Monomials:
        """Each clause as a product of bits of `falsity`: 1 if the clause is false, otherwise 0."""
        codes = 2 * (np.abs(self.literals) - 1) + (self.literals < 0)
        return Monomials(codes.astype(np.int32), self.starts)

    def lists(self) -> list[list[int]]:
        """Return each clause as a list of literals."""
        flat, starts = self.literals.tolist(), self.starts.tolist()
        return [flat[a:b] for a, b in itertools.pairwise(starts)]

    def falsified(self, bits: npt.NDArray[np.int8], weights: Any) -> npt.NDArray[Any]:
        """Return the total weight of the falsified clauses, for one assignment or a batch."""
        return self.products.evaluate(falsity(bits), weights)


def falsity(bits: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Return two bits for each variable x: whether x is false, and whether ¬x is false."""
    both = np.stack([1 - bits, bits], axis=-1)
    return both.reshape(*bits.shape[:-1], 2 * bits.shape[-1])


def is_literal(value: object) -> bool:
    """Return whether a value is an integer that can be a literal."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_whole and 0 < abs(int(value)) <= validation.MOST_VARIABLES  # type: ignore[call-overload]


def soft_weights(values: npt.ArrayLike, count: int) -> tuple[WeightArray, Number]:
    """Check the weights of `count` soft clauses; return the weights and their sum."""
    weights = validation.weights(values, "weights")
    if len(weights) != count:
        raise ValueError(f"{count} clauses but {len(weights)} weights; pass one weight per clause")
    if (weights < 0).any():
        k = int(np.flatnonzero(weights < 0)[0])
        raise ValueError(
            f"clause {k} has weight {weights[k]}; weights must not be negative; to prefer "
            "a false literal, use its negation"
        )
    return weights, validation.total_magnitude([weights], 0, "the soft weights")


class WeightedClauses(Summarised):
    """Base class of problems with weighted soft clauses and with hard clauses."""

    num_variables: int
    weights: WeightArray
    labels: Labels | None
    total_weight: Number

    @property
    def num_clauses(self) -> int:
        """The number of soft clauses."""
        return len(self.weights)

    @property
    def num_hard(self) -> int:
        """The number of hard clauses."""
        raise NotImplementedError

    def _soft_cost(self, bits: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        raise NotImplementedError

    def _broken(self, bits: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        raise NotImplementedError

    @property
    def clause_density(self) -> float:
        """The number of clauses per variable, including hard clauses."""
        return (self.num_clauses + self.num_hard) / max(1, self.num_variables)

    @property
    def hard_weight(self) -> Number:
        """The cost of violating a hard clause: 1 + Σ weights, or 2 Σ weights if they are floats.

        Adding 1 to a large float changes nothing, and next to tiny floats 1 is so much that sums
        lose them. Twice the sum is of their own size, and more than rounding can take away. Floats
        that are all zero leave 1.
        """
        if self.is_integer:
            return self.total_weight + 1
        return 2 * self.total_weight or 1.0

    @property
    def offset(self) -> int:
        """Always 0; a constant cost is represented by an empty clause instead."""
        return 0

    @property
    def is_integer(self) -> bool:
        """Whether weights and costs are exact integers."""
        return bool(self.weights.dtype == np.int64)

    def cost(self, assignment: State) -> Any:
        """Return the weight of falsified soft clauses, plus `hard_weight` per violated hard clause.

        So a cost of `hard_weight` or more says that a hard clause is broken, and `broken` how many.
        One assignment (or a mapping by label) gives a number; a batch (last axis = variables), an
        array.
        """
        bits = self._bits(assignment)
        cost = self._soft_cost(bits)
        if self.num_hard:
            cost = self._with_broken(cost, np.asarray(self._broken(bits)))
        return cost.item() if np.ndim(cost) == 0 else cost

    def _with_broken(
        self, cost: npt.NDArray[Any], broken: npt.NDArray[np.int64]
    ) -> npt.NDArray[Any]:
        """Return the costs plus `hard_weight` for each violated hard clause."""
        most = int(broken.max(initial=0))
        if not most:
            return cost
        limit = validation.INT64_MAX if self.is_integer else sys.float_info.max
        if most * self.hard_weight + self.total_weight <= limit:
            return np.asarray(cost + broken * self.hard_weight)
        exact = np.empty(cost.shape, dtype=object)
        exact[...] = cost.astype(object) + broken.astype(object) * self.hard_weight
        if exact.max() > limit:
            what = "2^63-1" if self.is_integer else "all floats"
            raise ValueError(
                f"an assignment violates {most} hard clauses of weight {self.hard_weight} each, "
                f"so its cost is above {what}; divide all weights by a common factor"
            )
        return exact.astype(cost.dtype)

    def energy(self, assignment: State) -> Any:
        """Return the cost of an assignment, under the name that all kinds of problem share."""
        return self.cost(assignment)

    def broken(self, assignment: State) -> Any:
        """Return the number of hard clauses that an assignment violates."""
        broken = self._broken(self._bits(assignment))
        return broken.item() if np.ndim(broken) == 0 else broken

    def _bits(self, assignment: State) -> npt.NDArray[np.int8]:
        ordered = naming.in_order(assignment, self.labels, self.num_variables)
        return validation.states(ordered, self.num_variables, (0, 1), "assignment")

    def _size(self) -> str:
        hard = f", {self.num_hard} hard clauses" if self.num_hard else ""
        return f"{self.num_variables} variables, {self.num_clauses} clauses{hard}"
