"""The `.hubo` format: polynomials of any degree, one monomial `i j k … weight` per line.

Variables count from 0. A line with only a weight is the constant. `# vartype=SPIN` or `BINARY`
states the units, as in `.coo` files; lists without it, such as those of chook, require units of the
caller. Energies are minimised. `# num-variables N` includes variables that occur in no line.
"""

from __future__ import annotations

import math
from typing import Any, BinaryIO

import numpy as np

from glasshouse.files.document import Document
from glasshouse.files.formats import comments, pair_terms
from glasshouse.files.formats.coo import LONGEST_VARTYPE, VARTYPE
from glasshouse.files.formats.format import Format, Sheet, register_format
from glasshouse.files.formats.pair_terms import TermCollector
from glasshouse.files.text.number_rows import Rows, joined, read_rows, write_rows
from glasshouse.files.text.streams import Source
from glasshouse.problems import Labels, Measure, Monomials, Polynomial, Units
from glasshouse.problems.convert import to_polynomial
from glasshouse.problems.validation import MOST_VARIABLES, Number, WeightArray

_UNITS: dict[bytes, Units] = {b"SPIN": "spin", b"BINARY": "binary"}


class _MonomialCollector(TermCollector):
    """Collector for monomials of any degree in a file that is read block by block."""

    def add(self, rows: Rows) -> None:
        """Add one block of rows; raise for the first row that is not a monomial."""
        weights, bad = pair_terms.weights_of(rows)
        inside = np.ones(len(rows.values), dtype=np.bool_)
        inside[rows.ends - 1] = False
        outside = inside & ((rows.values < self.least) | (rows.values > self.most))

        def where(row: int) -> int:
            return int(np.argmax(outside[rows.starts[row] :]))

        rows.refuse(
            self.source,
            [
                (
                    rows.having(outside),
                    lambda row: (
                        f"variable {rows.text(row, where(row))} is out of range; expected "
                        f"{self.least} to {self.most}, with the weight at the end of the line"
                    ),
                ),
                (bad, lambda row: pair_terms.weight_message(rows.text(row, -1))),
            ],
        )
        self._pairs.append(rows.values[inside].astype(np.int32))
        self._lengths.append(rows.lengths - 1)
        self._weights.append(weights)
        self.count += len(weights)

    def monomials(self) -> Monomials:
        """Return all collected monomials, including repeated ones."""
        lengths = joined(self._lengths, np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Monomials(joined(self._pairs, np.int32), starts)


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.notes = comments.Notes(source, (*comments.PLANTED, "num-variables", "numbers"))
        self.units: Units | None = source.units
        self.is_stated = False

    def read(self) -> Document:
        collector = _MonomialCollector(self.source, 0, MOST_VARIABLES - 1, "variable", True)
        for rows in read_rows(self.source, b"#", self._on_line):
            collector.add(rows)
        if self.units is None:
            raise self.source.error(
                "has no vartype; add '# vartype=SPIN' or '# vartype=BINARY', or pass "
                'units="spin" or units="binary"'
            )
        held, weights = collector.monomials(), collector.weights(self.notes)
        used = int(held.indices.max(initial=-1)) + 1
        size = self.notes.count("num-variables", used, MOST_VARIABLES)
        size = used if size is None else size
        self.source.refuse_idle(size, collector.count, "terms")
        labels = self.notes.labels(size)
        problem = make(self.source, size, held, weights, labels, self.units)
        return Document(problem, self.notes.stated(size))

    def _on_line(self, line: int, text: bytes, rows_before: int) -> None:
        found = VARTYPE.match(text[:LONGEST_VARTYPE])
        if not found:
            self.notes.take(line, text[1:])
            return
        if self.source.units is not None:
            self.source.refuse_units()
        if found[1] not in _UNITS or self.is_stated:
            raise self.source.error("the file must state exactly one vartype, SPIN or BINARY", line)
        self.units, self.is_stated = _UNITS[found[1]], True


def make(
    source: Source,
    size: int,
    held: Monomials,
    weights: WeightArray,
    labels: Labels | None,
    units: Units,
) -> Polynomial:
    """Build a polynomial from terms in any order; raise if a sum of floats would be rounded."""
    if weights.dtype == np.float64:
        held, weights = _exactly_summed(source, held.reduced(spins=units == "spin"), weights)
    try:
        return Polynomial.from_flat(size, held, weights, labels=labels, units=units)
    except ValueError as fault:
        raise source.error(str(fault)) from None


def _exactly_summed(source: Source, held: Monomials, weights: Any) -> tuple[Monomials, Any]:
    """Add up repeated terms; raise if a sum would be rounded."""
    if not np.isfinite(np.abs(weights / 2).sum()):
        raise source.error("the sum of all weights exceeds the float range; scale the weights")
    order, firsts = held.grouped()
    sums, ends = weights[order[firsts]], np.append(firsts[1:], len(order))
    for group in np.flatnonzero(ends - firsts > 1).tolist():
        terms = weights[order[firsts[group] : ends[group]]].tolist()
        total = sums[group] = math.fsum(terms)
        if math.fsum([*terms, -total]):
            raise source.error(
                "the sum of repeated terms is not exact as a float; write one term, and round it"
            )
    return held.chosen(order[firsts]), sums


def read(source: Source) -> Document:
    """Read a polynomial from a `.hubo` file, and add up repeated terms."""
    return _Reader(source).read()


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write a `.hubo` file: vartype, comments, the constant, then terms ordered by degree."""
    problem: Polynomial = sheet.problem
    file.write(b"# vartype=SPIN\n" if problem.units == "spin" else b"# vartype=BINARY\n")
    used = int(problem.indices.max(initial=-1)) + 1
    lines = "" if problem.is_integer else "# numbers float\n"
    if used < problem.num_variables:
        lines += f"# num-variables {problem.num_variables}\n"
    file.write(sheet.remark_lines("#") + lines.encode())
    file.write(comments.label_line("#", problem.labels))
    file.write(comments.note_lines("#", sheet.stated))
    if problem.offset:
        file.write(f"{problem.offset!r}\n".encode())
    if problem.is_integer:
        values = np.insert(problem.indices.astype(np.int64), problem.starts[1:], problem.weights)
        write_rows(file, values, problem.starts[1:] + np.arange(1, problem.num_terms + 1))
        return
    terms: dict[tuple[int, ...], Number] = problem.terms()
    for row, weight in terms.items():
        file.write(f"{' '.join(map(str, row))} {weight!r}\n".encode())


HUBO = register_format(
    Format("polynomial", ".hubo", to_polynomial, write, read, takes_units=True, measure=Measure.own)
)
