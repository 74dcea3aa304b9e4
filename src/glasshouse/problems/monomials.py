"""Monomials (products of variables) in flat arrays, and the canonical form of their sums.

Monomial k is `indices[starts[k]:starts[k+1]]`, ascending, each variable once: s² = 1, and x² = x.
Canonical monomials come in ascending order of their degree, and among equals lexicographically.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.problems import validation
from glasshouse.problems.validation import IntArray, Number, WeightArray

# Batches of states are evaluated in slices of at most this many products.
_CHUNK = 1 << 22


class Monomials(NamedTuple):
    """A list of monomials of any degree, stored in two flat arrays.

    >>> cubic = Monomials.of([[0, 1, 2], [3]])
    >>> cubic.degrees.tolist(), cubic.products(np.array([[1, -1, 1, -1]], np.int8)).tolist()
    ([3, 1], [[-1, -1]])
    """

    indices: npt.NDArray[np.int32]
    starts: IntArray

    @classmethod
    def of(cls, rows: Any) -> Monomials:
        """Build monomials from lists of variables, without changing them."""
        try:
            lists = [list(row) for row in rows]
        except TypeError:
            raise ValueError("monomials must be lists of variables, such as (0, 2)") from None
        starts = np.concatenate([[0], np.cumsum([len(row) for row in lists], dtype=np.int64)])
        flat = [index for row in lists for index in row]
        if not all(isinstance(index, (int, np.integer)) and index >= 0 for index in flat):
            raise ValueError("monomials must be lists of variables, numbered from 0")
        if flat and max(flat) >= validation.MOST_VARIABLES:
            raise ValueError(f"a monomial has variable {max(flat)}, but the limit is 2^31-2")
        return cls(np.array(flat, dtype=np.int32), starts.astype(np.int64))

    @property
    def degrees(self) -> IntArray:
        """The number of variables in each monomial."""
        return self.starts[1:] - self.starts[:-1]

    @property
    def rows(self) -> IntArray:
        """The index of the monomial to which each entry of `indices` belongs."""
        return np.repeat(np.arange(len(self.starts) - 1), self.degrees)

    def tables(self) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[np.int32]]]:
        """Yield, for each degree, the indices of its monomials and a table of their variables."""
        degrees = self.degrees
        order = np.argsort(degrees, kind="stable")
        ends = np.flatnonzero(np.diff(degrees[order], append=-1)) + 1
        for first, last in zip(np.append(0, ends)[:-1], ends, strict=True):
            places = order[first:last]
            across = np.arange(degrees[places[0]])
            yield places, self.indices[self.starts[places][:, np.newaxis] + across]

    def chosen(self, places: npt.NDArray[Any]) -> Monomials:
        """Return the monomials at the given indices, in that order."""
        lengths = self.degrees[places]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        shift = np.repeat(self.starts[places] - starts[:-1], lengths)
        return Monomials(self.indices[np.arange(starts[-1]) + shift], starts)

    def renamed(self, new: npt.NDArray[Any]) -> Monomials:
        """Return the monomials with variable k renamed to `new[k]`, without sorting them again."""
        return Monomials(new[self.indices].astype(np.int32), self.starts)

    def products(self, states: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        """Return the value of every monomial in every state (one state per row)."""
        values = np.empty((len(states), len(self.starts) - 1), dtype=np.int8)
        columns = np.ascontiguousarray(states.T)
        for places, table in self.tables():
            product = np.ones((len(places), len(states)), dtype=np.int8)
            for across in range(table.shape[1]):
                product *= columns[table[:, across]]
            values[:, places] = product.T
        return values

    def evaluate(self, states: npt.NDArray[np.int8], weights: Any) -> npt.NDArray[Any]:
        """Return Σ weight · monomial, for one state or a batch."""
        rows = validation.rows(states)
        totals = np.zeros(len(rows), dtype=weights.dtype)
        step = max(1, _CHUNK // max(1, len(self.starts)))
        for first in range(0, len(rows), step):
            part = slice(first, first + step)
            totals[part] = self.products(rows[part]) @ weights
        return totals.reshape(states.shape[:-1])

    def reduced(self, *, spins: bool) -> Monomials:
        """Sort each monomial, and reduce repeated variables: s² = 1 for spins, x² = x for bits."""
        rows = self.rows
        order = np.lexsort((self.indices, rows))
        rows, indices = rows[order], self.indices[order]
        is_first = np.ones(len(indices), dtype=np.bool_)
        is_first[1:] = (indices[1:] != indices[:-1]) | (rows[1:] != rows[:-1])
        firsts = np.flatnonzero(is_first)
        if spins:
            firsts = firsts[np.diff(firsts, append=len(indices)) % 2 == 1]
        lengths = np.bincount(rows[firsts], minlength=len(self.starts) - 1)
        return Monomials(indices[firsts], np.concatenate([[0], np.cumsum(lengths)]))

    def grouped(self) -> tuple[npt.NDArray[Any], IntArray]:
        """Return a canonical order of reduced monomials, and the starts of groups of equal ones."""
        orders, firsts, count = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
        for places, table in self.tables():
            order = np.lexsort(table.T[::-1]) if table.shape[1] else np.arange(len(places))
            ranked = table[order]
            is_first = np.ones(len(places), dtype=np.bool_)
            is_first[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
            orders.append(places[order])
            firsts.append(count + np.flatnonzero(is_first))
            count += len(places)
        return np.concatenate(orders), np.concatenate(firsts)


def merged(
    monomials: Monomials, weights: Any, *, spins: bool
) -> tuple[Monomials, WeightArray, Number]:
    """Return the canonical form of a sum: equal terms merged, zeros dropped, constant separate."""
    plain = monomials.reduced(spins=spins)
    order, firsts = plain.grouped()
    sums = weights[:0]
    if len(firsts):
        if len(firsts) < len(order) and weights.dtype != object:
            validation.total_magnitude([weights], 0, "the weights")
        sums = np.add.reduceat(weights[order], firsts)
    unique = plain.chosen(order[firsts])
    constant = sums[:1].tolist()[0] if len(sums) and not unique.degrees[0] else 0
    kept = np.flatnonzero((sums != 0).astype(np.bool_) & (unique.degrees > 0))
    return unique.chosen(kept), sums[kept], constant


def check(monomials: Monomials, size: int) -> Monomials:
    """Return monomials with read-only arrays; raise if they are not in canonical form."""
    indices, starts = np.asarray(monomials.indices), np.asarray(monomials.starts)
    for name, array in (("indices", indices), ("starts", starts)):
        if array.size and (array.dtype.kind not in "iu" or array.ndim != 1):
            raise ValueError(f"{name} must be a flat array of integers, not {array.dtype}")
    if not len(starts) or starts[0] != 0 or starts[-1] != len(indices):
        raise ValueError(f"starts must run from 0 to {len(indices)}, the number of indices")
    if (starts[1:] <= starts[:-1]).any():
        raise ValueError("starts must increase; a monomial without variables belongs in the offset")
    low, high = int(indices.min(initial=0)), int(indices.max(initial=-1))
    if low < 0 or high >= size:
        bad = low if low < 0 else high
        raise ValueError(f"a monomial has variable {bad}; variables are 0 to {size - 1}")
    found = Monomials(
        validation.read_only(indices.astype(np.int32, copy=False)),
        validation.read_only(starts.astype(np.int64, copy=False)),
    )
    rises = np.ones(len(indices), dtype=np.bool_)
    rises[1:] = indices[1:] > indices[:-1]
    rises[found.starts[:-1]] = True
    order, firsts = found.grouped()
    is_canonical = len(firsts) == len(order) and np.array_equal(order, np.arange(len(order)))
    if not (rises.all() and is_canonical):
        raise ValueError(
            "monomials must be unique and sorted by degree, then by variables; "
            "use from_terms for any other list"
        )
    return found
