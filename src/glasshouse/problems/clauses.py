"""Clauses of any length in flat arrays.

Clause k is `literals[starts[k]:starts[k+1]]`, as it was given: literals are DIMACS integers, +k for
variable k (from 1) and -k for its negation.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.problems import validation
from glasshouse.problems.monomials import Monomials
from glasshouse.problems.validation import IntArray


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
            raise ValueError(f"{name}[{k}] = {lists[k]} is not a list of literals, such as [1, -2]")
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
            raise ValueError(f"{name}: starts must be in non-decreasing order")
        highest = max(-int(literals.min(initial=0)), int(literals.max(initial=0)))
        if highest > size:
            raise ValueError(f"{name}: there are {size} variables, but variable {highest} is used")
        if not literals.all():
            raise ValueError(f"{name}: a literal is 0; use ±1 for the first variable")
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
        """The index of each literal's clause."""
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
