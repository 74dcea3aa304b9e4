"""COO text as dimod writes it: `i j weight` from 0, fields as `i i weight`, in dimod's signs.

`# vartype=SPIN` holds an Ising problem, whose signs are turned (dimod minimises +ΣJ s s + Σh s),
`# vartype=BINARY` a QUBO. Weights have no exponent, because dimod reads none.
"""

from __future__ import annotations

import re
from typing import BinaryIO

import numpy as np

from glasshouse.files import notes, terms
from glasshouse.files.document import Document
from glasshouse.files.formats import Format, Sheet
from glasshouse.files.qubo import moved, stated_with
from glasshouse.files.rows import read_rows
from glasshouse.files.streams import Source
from glasshouse.files.terms import TermCollector
from glasshouse.problems import Ising, Problem, Qubo
from glasshouse.problems.convert import to_ising, to_qubo
from glasshouse.problems.reduction import Reduction
from glasshouse.problems.validation import MOST_VARIABLES

_VARTYPE = re.compile(rb"#.*?vartype[:=]\s*(\S+)")
_LONGEST_VARTYPE = 1000  # what stands further right in a comment is none


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.notes = notes.Notes(source, (*notes.PLANTED, "offset", "numbers"))
        self.vartype: bytes | None = None

    def read(self) -> Document:
        collector = TermCollector(self.source, 0, MOST_VARIABLES - 1, "variable", True)
        for rows in read_rows(self.source, b"#", self._on_line):
            collector.add(rows)
        if self.vartype is None:
            raise self.source.error("no vartype; expected '# vartype=SPIN' or '# vartype=BINARY'")
        pairs, weights = collector.terms(self.notes)
        size, offset = collector.size(None), terms.offset_of(self.notes)
        kind, sign = (Ising, -1) if self.vartype == b"SPIN" else (Qubo, 1)
        problem = terms.make(self.source, kind, size, pairs, weights, offset, sign)
        return Document(problem, stated_with(self.notes, size, offset))

    def _on_line(self, line: int, text: bytes, rows_before: int) -> None:
        found = _VARTYPE.match(text[:_LONGEST_VARTYPE])
        if not found:
            self.notes.take(line, text[1:])
            return
        if found[1] not in (b"SPIN", b"BINARY") or self.vartype not in (None, found[1]):
            raise self.source.error("expected one vartype, SPIN or BINARY", line)
        self.vartype = found[1]


def read(source: Source) -> Document:
    """An Ising problem or a QUBO; as many variables as are named."""
    return _Reader(source).read()


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Vartype, comments, single terms, pairs. Variables in no other term get a field of 0."""
    problem: Ising | Qubo = sheet.problem
    if isinstance(problem, Ising):
        vartype, size = "SPIN", problem.num_variables
        singles, weights = -problem.fields, -problem.weights
    else:
        vartype, size = "BINARY", problem.num_variables
        singles, weights = problem.linear, problem.weights
    idle = np.ones(size, dtype=np.bool_)
    idle[problem.edges.reshape(-1)] = False
    named = np.flatnonzero(idle | (singles != 0))
    file.write(f"# vartype={vartype}\n".encode())
    file.write(sheet.remark_lines("#") + terms.number_notes("#", problem))
    file.write(notes.note_lines("#", moved(sheet.metadata, -problem.offset)))
    terms.write_terms(file, named, named, singles[named], _without_exponent)
    terms.write_terms(file, problem.edges[:, 0], problem.edges[:, 1], weights, _without_exponent)


def spin_or_binary(problem: Problem) -> tuple[Ising | Qubo, Reduction]:
    """QUBOs as they are, all else as an Ising problem."""
    return to_qubo(problem) if isinstance(problem, Qubo) else to_ising(problem)


def _without_exponent(number: float) -> str:
    """Exact like repr.

    >>> _without_exponent(1e-7)
    '0.0000001'
    """
    return np.format_float_positional(number, unique=True, trim="0")


COO = Format("COO", ".coo", spin_or_binary, write, read)
