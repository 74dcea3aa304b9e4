"""The `.qubo` format of qbsolv: a p line, then terms `i j weight` with variables from 0."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import BinaryIO

import numpy as np

from glasshouse.files.claims import Stated
from glasshouse.files.document import Document
from glasshouse.files.formats import comments, pair_terms
from glasshouse.files.formats.format import Format, Sheet, register_format
from glasshouse.files.formats.pair_terms import TermCollector
from glasshouse.files.text.errors import shown
from glasshouse.files.text.number_rows import read_rows
from glasshouse.files.text.streams import Source
from glasshouse.problems import INT64_MAX, MOST_VARIABLES, Ising, Measure, Number, Qubo, to_qubo

_SHAPE = "'p qubo 0 VARIABLES DIAGONALS ELEMENTS'"


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.notes = comments.Notes(source, (*comments.PLANTED, "offset", "numbers"))
        self.header: list[int] | None = None

    def read(self) -> Document:
        collector: TermCollector | None = None
        for rows in read_rows(self.source, b"cp", self._on_line):
            if self.header is None:
                raise self.source.error(f"has no p line before the terms; expected {_SHAPE}")
            if collector is None:
                collector = TermCollector(self.source, 0, self.header[0] - 1, "variable", True)
            collector.add(rows)
        if self.header is None:
            raise self.source.error(f"has no p line; expected {_SHAPE}")
        size, diagonals, elements = self.header
        collector = collector or TermCollector(self.source, 0, size - 1, "variable", True)
        if collector.count != diagonals + elements:
            raise self.source.error(
                f"found {collector.count} terms, but the p line states {diagonals} + {elements}; "
                "the file is truncated or was changed",
                collector.last_line,
            )
        pairs, weights = collector.terms(self.notes)
        offset = pair_terms.offset_of(self.notes)
        self.source.refuse_idle(size, collector.count, "terms")
        problem = pair_terms.make(self.source, Qubo, size, pairs, weights, offset)
        problem = self.notes.labelled(problem)
        return Document(problem, stated_with(self.notes, size, offset))

    def _on_line(self, line: int, text: bytes, rows_before: int) -> None:
        if text.startswith(b"c"):
            self.notes.take(line, text[1:])
            return
        if self.header is not None:
            raise self.source.error("there must be only one p line; remove the second", line)
        if rows_before:
            raise self.source.error("the p line must be before all terms", line)
        words = text.split(maxsplit=6)
        if (
            len(words) != 6
            or words[:2] != [b"p", b"qubo"]
            or words[2] not in (b"0", b"unconstrained")
            or not all(word.isdigit() and len(word) < 19 for word in words[3:])
        ):
            raise self.source.error(f"{shown(text)} must be {_SHAPE}", line)
        self.header = [int(word) for word in words[3:]]
        if self.header[0] > MOST_VARIABLES:
            raise self.source.error(
                f"the p line states {self.header[0]} variables, above the limit {MOST_VARIABLES}",
                line,
            )


def moved(stated: Stated, offset: Number) -> Stated:
    """Return the statements with `offset` added to the cost.

    Raises:
        OverflowError: the new cost is more than a float can hold.
    """
    if stated.cost is None:
        return stated
    exact = Fraction(stated.cost) + Fraction(offset)
    try:
        is_whole = exact.denominator == 1 and abs(exact) <= INT64_MAX
        cost = int(exact) if is_whole else float(exact)
    except OverflowError:
        raise OverflowError(f"exceeds the float range when the offset {offset} is added") from None
    return Stated(cost, stated.model, stated.recipe)


def stated_with(notes: comments.Notes, size: int, offset: Number) -> Stated:
    """Return the statements in the notes, with the problem's offset added to the cost."""
    try:
        return replace(moved(notes.stated(size), offset), spelled=notes.number("planted-cost"))
    except OverflowError as fault:
        raise notes.error("planted-cost", str(fault)) from None


def read(source: Source) -> Document:
    """Read a `.qubo` file with terms in any order, and add up repeated terms."""
    return _Reader(source).read()


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write a `.qubo` file: comments, header, nonzero linear terms, then pairs.

    The planted cost is stated as a solver of the file computes it: without the offset.
    """
    problem: Qubo = sheet.problem
    used = np.flatnonzero(problem.linear)
    file.write(sheet.remark_lines("c") + pair_terms.number_notes("c", problem))
    file.write(comments.label_line("c", problem.labels))
    file.write(comments.note_lines("c", moved(sheet.stated, -problem.offset)))
    header = (problem.num_variables, len(used), problem.num_edges)
    file.write(b"p qubo 0 %d %d %d\n" % header)
    pair_terms.write_terms(file, used, used, problem.linear[used])
    pair_terms.write_terms(file, problem.edges[:, 0], problem.edges[:, 1], problem.weights)


def objective(problem: Ising | Qubo) -> Measure:
    """Return the measure for a `.qubo` or `.coo` file: the sum of its terms, without offset."""
    return Measure("objective", problem.is_integer, shift=-Fraction(problem.offset))


QUBO = register_format(Format("qbsolv QUBO", ".qubo", to_qubo, write, read, measure=objective))
