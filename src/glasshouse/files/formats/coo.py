"""The COO text format of dimod: lines `i j weight`, with fields as `i i weight`.

i and j are the labels of variables if these are integers; a number that occurs in no line is
not a variable. Other labels are in a note, and then the lines count from 0. A file with
`# vartype=SPIN` contains an Ising problem in the signs of dimod, which minimises +ΣJ s s + Σh s, so
all signs are flipped. A file with `# vartype=BINARY` contains a QUBO. Weights have no exponent,
because dimod does not read exponents.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.files.document import Document
from glasshouse.files.formats import comments, pair_terms
from glasshouse.files.formats.format import Format, Sheet, register_format
from glasshouse.files.formats.pair_terms import TermCollector
from glasshouse.files.formats.qubo import moved, objective, stated_with
from glasshouse.files.text.number_rows import read_rows
from glasshouse.files.text.streams import Source
from glasshouse.problems import Ising, Labels, Polynomial, Problem, Qubo, naming, to_ising, to_qubo
from glasshouse.problems.reduction import Reduction
from glasshouse.problems.validation import MOST_VARIABLES

VARTYPE = re.compile(rb"#.*?vartype[:=]\s*(\S+)")
LONGEST_VARTYPE = 1000  # further right in a comment, the text is not a vartype


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.notes = comments.Notes(source, (*comments.PLANTED, "offset", "numbers"))
        self.vartype: bytes | None = None

    def read(self) -> Document:
        collector = TermCollector(self.source, 0, MOST_VARIABLES - 1, "variable", True)
        for rows in read_rows(self.source, b"#", self._on_line):
            collector.add(rows)
        if self.vartype is None:
            raise self.source.error("has no vartype; add '# vartype=SPIN' or '# vartype=BINARY'")
        pairs, weights = collector.terms(self.notes)
        pairs, size, labels = self._named(pairs)
        offset = pair_terms.offset_of(self.notes)
        kind, sign = (Ising, -1) if self.vartype == b"SPIN" else (Qubo, 1)
        problem = pair_terms.make(self.source, kind, size, pairs, weights, offset, sign)
        if labels is not None:
            problem = replace(problem, labels=labels)
        return Document(problem, stated_with(self.notes, size, offset))

    def _named(self, pairs: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int32], int, Labels | None]:
        """Renumber variables from 0; return new pairs, the number of variables, and the labels."""
        places, pairs = compact(pairs)
        size = len(places)
        has_gaps = size > 0 and places[-1] != size - 1
        noted = self.notes.labels(size)
        if noted is None:
            return pairs, size, tuple(places.tolist()) if has_gaps else None
        if naming.are_indices(noted, MOST_VARIABLES - 1):
            numbers: npt.NDArray[Any] = np.array(noted)
            order = np.argsort(numbers)  # the labels are the numbers in the lines, in another order
            if not np.array_equal(numbers[order], places):
                raise self.notes.error(
                    "labels", "must be the numbers of the variables in the lines"
                )
            return order.astype(np.int32)[pairs], size, noted
        if has_gaps:
            raise self.notes.error("labels", f"require lines with variables 0 to {size - 1}")
        return pairs, size, noted

    def _on_line(self, line: int, text: bytes, rows_before: int) -> None:
        found = VARTYPE.match(text[:LONGEST_VARTYPE])
        if not found:
            self.notes.take(line, text[1:])
            return
        if found[1] not in (b"SPIN", b"BINARY") or self.vartype not in (None, found[1]):
            raise self.source.error("the file must state exactly one vartype, SPIN or BINARY", line)
        self.vartype = found[1]


def read(source: Source) -> Document:
    """Read an Ising problem or a QUBO; its variables are those that occur in the terms."""
    return _Reader(source).read()


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write a COO file: the vartype, comments, linear terms, then pairs."""
    problem: Ising | Qubo = sheet.problem
    if isinstance(problem, Ising):
        vartype, size = "SPIN", problem.num_variables
        singles, weights = -problem.fields, -problem.weights
    else:
        vartype, size = "BINARY", problem.num_variables
        singles, weights = problem.linear, problem.weights
    idle = np.ones(size, dtype=np.bool_)  # variables without terms are written with a field of 0
    idle[problem.edges.reshape(-1)] = False
    named = np.flatnonzero(idle | (singles != 0))
    labels, numbers = problem.labels, np.arange(size)
    if labels is not None and naming.are_indices(labels, MOST_VARIABLES - 1):
        numbers = np.array(labels)
        labels = None if (np.diff(numbers) > 0).all() else labels
    file.write(f"# vartype={vartype}\n".encode())
    file.write(sheet.remark_lines("#") + pair_terms.number_notes("#", problem))
    file.write(comments.label_line("#", labels))
    file.write(comments.note_lines("#", moved(sheet.stated, -problem.offset)))
    pair_terms.write_terms(file, numbers[named], numbers[named], singles[named], _without_exponent)
    first, second = numbers[problem.edges].T
    pair_terms.write_terms(file, first, second, weights, _without_exponent)


def compact(pairs: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Replace the numbers in pairs by their ranks; return the sorted numbers and the new pairs.

    >>> compact(np.array([[7, 3], [3, 3]]))
    (array([3, 7]), array([[1, 0], [0, 0]], dtype=int32))
    """
    highest = int(pairs.max(initial=-1))
    if highest < 4 * pairs.size:
        there = np.zeros(highest + 1, dtype=np.bool_)
        there[pairs.reshape(-1)] = True
        if there.all():
            return np.arange(highest + 1), pairs.astype(np.int32, copy=False)
    places, inverse = np.unique(pairs, return_inverse=True)
    return places, inverse.reshape(pairs.shape).astype(np.int32)


def spin_or_binary(problem: Problem) -> tuple[Ising | Qubo, Reduction]:
    """Convert a QUBO or a polynomial in bits to a QUBO, any other problem to an Ising problem."""
    is_binary = isinstance(problem, (Qubo, Polynomial)) and problem.space.low == 0
    return to_qubo(problem) if is_binary else to_ising(problem)


def _without_exponent(number: float) -> str:
    """Return a float as text, exactly as repr does but without an exponent.

    >>> _without_exponent(1e-7)
    '0.0000001'
    """
    return np.format_float_positional(number, unique=True, trim="0")


COO = register_format(Format("COO", ".coo", spin_or_binary, write, read, measure=objective))
