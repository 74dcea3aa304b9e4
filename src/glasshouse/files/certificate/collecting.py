"""Classes that check and store the rows of a certificate file, block by block."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import (
    Certificate,
    Cores,
    Squares,
    Tree,
)
from glasshouse.certificates.products import NO_MONOMIALS, checked_table
from glasshouse.files.text.kernels import HARD
from glasshouse.files.text.number_rows import Rows, joined
from glasshouse.files.text.streams import Source
from glasshouse.problems import MOST_VARIABLES
from glasshouse.problems.monomials import Monomials

# By default, Python does not parse or print longer numbers.
MOST_DIGITS = 4300


@dataclass
class Collector:
    """Base class of collectors, which store the rows of a certificate file block by block."""

    source: Source
    count: int = 0
    _multipliers: list[npt.NDArray[Any]] = field(default_factory=list)
    _lengths: list[npt.NDArray[Any]] = field(default_factory=list)
    _vertices: list[npt.NDArray[Any]] = field(default_factory=list)

    def _keep(
        self, multipliers: npt.NDArray[Any], lengths: npt.NDArray[Any], vertices: npt.NDArray[Any]
    ) -> None:
        self.count += len(multipliers)
        self._multipliers.append(multipliers)
        self._lengths.append(lengths)
        self._vertices.append(vertices.astype(np.int32))

    def _joined(self, size: int, what: str, further: int = 0) -> tuple[npt.NDArray[Any], ...]:
        """Return three arrays: all vertices, the start index of each row, and the multipliers."""
        vertices = joined(self._vertices, np.int32)
        highest = int(np.abs(vertices).max(initial=0))
        if highest > size + further:  # the next number would mean the ghost
            beside = f" and {further} monomials" if further else ""
            raise ValueError(
                f"a {what} has vertex {highest}, but there are only {size} variables{beside}"
            )
        kind = object if any(m.dtype == object for m in self._multipliers) else np.int64
        # The lengths of all rows together are at most the size of the file in bytes.
        starts = np.concatenate([[0], np.cumsum(joined(self._lengths, np.int64))])
        return vertices, starts, joined(self._multipliers, kind)


class LoopCollector(Collector):
    """Collector for the loops in a certificate file."""

    def add(self, rows: Rows) -> None:
        """Check and store one block of rows that describe loops."""
        if not len(rows.ends):
            return
        multipliers, odd = _multipliers_of(rows)
        inside = np.ones(len(rows.values), dtype=np.bool_)
        inside[rows.starts] = False
        far = inside & ((rows.values >= MOST_VARIABLES) | (rows.values <= -MOST_VARIABLES))
        rows.refuse(
            self.source,
            [
                (odd | rows.having(far), lambda _: "expected integers: multiplier, nodes"),
                (multipliers < 1, lambda row: f"multiplier {rows.text(row, 0)} must be above 0"),
                (rows.lengths < 4, lambda _: "a loop must have a multiplier and at least 3 nodes"),
                (rows.column(-1) < 0, lambda _: "the last node of a loop must not have a sign"),
            ],
        )
        self._keep(multipliers, rows.lengths - 1, rows.values[inside])

    def certificate(
        self,
        state: npt.NDArray[np.int8],
        denominator: int,
        squares: Squares,
        tree: Tree | None,
        table: Monomials,
    ) -> Certificate:
        """Return a certificate made of the collected loops and the given squares and tree."""
        further = len(table.starts) - 1
        vertices, starts, multipliers = self._joined(len(state), "loop", further)
        violated = None
        if (vertices < 0).any():
            violated = vertices < 0
            violated[starts[1:] - 1] = True
        visited = np.abs(vertices)
        visits = table.degrees[visited[visited > len(state)] - len(state) - 1]
        self.source.refuse_products(2 * int(visits.sum()))
        return Certificate(
            state, _nodes(vertices, len(state)), starts, multipliers, denominator, violated,
            squares, tree, table,
        )  # fmt: skip


@dataclass
class SquareCollector(Collector):
    """Collector for the squares in a certificate file."""

    _coefficients: list[npt.NDArray[Any]] = field(default_factory=list)

    def add(self, rows: Rows) -> None:
        """Check and store one block of rows that describe squares."""
        if not len(rows.ends):
            return
        multipliers, odd = _multipliers_of(rows)
        place = np.arange(len(rows.values)) - np.repeat(rows.starts, rows.lengths)
        is_factor, is_vertex = place % 2 == 1, (place % 2 == 0) & (place > 0)
        far = is_vertex & ((rows.values < 0) | (rows.values >= MOST_VARIABLES))
        is_zero = is_factor & (rows.values == 0)
        far |= rows.values == HARD
        rows.refuse(
            self.source,
            [
                (odd | rows.having(far), lambda _: "expected integers: multiplier, a1, v1, …"),
                (multipliers < 1, lambda row: f"multiplier {rows.text(row, 0)} must be above 0"),
                (
                    (rows.lengths < 3) | (rows.lengths % 2 == 0),
                    lambda _: "a square must have a multiplier and pairs of coefficient and node",
                ),
                (rows.having(is_zero), lambda _: "the coefficients of a square must not be 0"),
            ],
        )
        self._keep(multipliers, rows.lengths // 2, rows.values[is_vertex])
        self._coefficients.append(rows.values[is_factor])

    def squares(self, size: int, table: Monomials) -> Squares:
        """Return all collected squares."""
        vertices, starts, multipliers = self._joined(size, "square", len(table.starts) - 1)
        coefficients = joined(self._coefficients, np.int64)
        squares = Squares(_nodes(vertices, size), starts, coefficients, multipliers)
        self.source.refuse_pairs(squares, 1 + int(table.degrees.max(initial=0)))
        return squares


class TableCollector(Collector):
    """Collector for the monomials in a certificate file."""

    def add(self, rows: Rows) -> None:
        """Check and store one block of rows that describe monomials."""
        if not len(rows.ends):
            return
        far = (rows.values < 1) | (rows.values >= MOST_VARIABLES)
        says = "expected variables, which are positive integers"
        rows.refuse(self.source, [(rows.having(far), lambda _: says)])
        self._keep(rows.lengths, rows.lengths, rows.values)

    def monomials(self, size: int) -> Monomials:
        """Return all collected monomials."""
        if not self.count:  # without monomials, the number of variables may be 0
            return NO_MONOMIALS
        variables, starts, _ = self._joined(size, "monomial")
        return checked_table(Monomials(variables - 1, starts.astype(np.int64)), size)


class CoreCollector(Collector):
    """Collector for the cores in a certificate file."""

    def add(self, rows: Rows) -> None:
        """Check and store one block of rows that describe cores."""
        if not len(rows.ends):
            return
        far = rows.values == HARD
        far[list(rows.odd)] = True
        rows.refuse(
            self.source,
            [
                (rows.having(far), lambda _: "expected integers below 2^63: cost, tree"),
                (rows.column(0) < 1, lambda row: f"cost {rows.text(row, 0)} must be above 0"),
            ],
        )
        inside = np.ones(len(rows.values), dtype=np.bool_)
        inside[rows.starts] = False
        self.count += len(rows.ends)
        self._multipliers.append(rows.column(0))
        self._lengths.append(rows.lengths - 1)
        self._vertices.append(rows.values[inside])

    def cores(self) -> Cores:
        """Return all collected cores."""
        starts = np.concatenate([[0], np.cumsum(joined(self._lengths, np.int64))])
        return Cores(joined(self._vertices, np.int64), starts, joined(self._multipliers, np.int64))


def _nodes(vertices: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """Convert the vertex numbers of a certificate file to nodes, ignoring their signs."""
    numbers = np.abs(vertices)  # 0 is the ghost, the node after the last spin
    return np.where(numbers == 0, size, np.where(numbers <= size, numbers - 1, numbers))


def _multipliers_of(rows: Rows) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Return the multiplier at the start of each row, and a mask of rows with invalid tokens."""
    multipliers = rows.column(0).astype(object if rows.odd else np.int64)
    odd = np.zeros(len(multipliers), dtype=np.bool_)
    row_of = np.searchsorted(rows.ends, np.fromiter(rows.odd, np.int64), side="right")
    for row, (place, text) in zip(row_of.tolist(), rows.odd.items(), strict=True):
        value = whole_number(text) if place == rows.starts[row] else None
        if value is None:
            odd[row] = True
        else:
            multipliers[row] = value
    return multipliers, odd


def whole_number(text: bytes) -> int | None:
    """Parse an integer of at most `MOST_DIGITS` digits; return None for any other text."""
    if not re.fullmatch(rb"[+-]?[0-9]+", text):
        return None
    digits = text.lstrip(b"+-").lstrip(b"0") or b"0"
    if len(digits) > MOST_DIGITS:
        return None
    return -int(digits) if text.startswith(b"-") else int(digits)
