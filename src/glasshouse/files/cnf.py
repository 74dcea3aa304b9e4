"""DIMACS CNF: clauses without weights. Each is soft and weighs 1, as in unweighted MAX-2-SAT."""

from __future__ import annotations

from typing import BinaryIO

from glasshouse.files import notes
from glasshouse.files.clauses import whole_weights, write_clauses
from glasshouse.files.document import Document
from glasshouse.files.formats import Format, Sheet, register_format
from glasshouse.files.streams import Source
from glasshouse.files.wcnf import ClauseReader
from glasshouse.problems import Max2Sat
from glasshouse.problems.convert import to_max2sat


def read(source: Source) -> Document:
    """All clauses as soft clauses of weight 1."""
    return ClauseReader(source, "cnf").read()


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Comments, header, clauses in their order; only for problems without weights."""
    problem: Max2Sat = sheet.problem
    weights = whole_weights(problem, "CNF")
    if problem.num_hard or (weights != 1).any():
        what = "hard clauses" if problem.num_hard else f"a weight of {weights[weights != 1][0]}"
        raise ValueError(f"CNF has no weights, but the problem has {what}; write .wcnf instead")
    file.write(sheet.remark_lines("c") + notes.label_line("c", problem.labels))
    file.write(notes.note_lines("c", sheet.metadata))
    file.write(b"p cnf %d %d\n" % (problem.num_variables, problem.num_clauses))
    write_clauses(file, problem.clauses, None)


CNF = register_format(Format("DIMACS CNF", ".cnf", to_max2sat, write, read))
