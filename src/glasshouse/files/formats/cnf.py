"""Readers and writers of DIMACS CNF and of both dialects of weighted CNF (WCNF).

Hard clauses precede soft clauses. A classic header states `top` = 1 + Σ soft weights, so that no
sum of soft clauses outweighs a hard clause. The newer dialect, of MaxSAT Evaluations since 2022,
has no header: two comments state the numbers of variables and clauses, to detect truncation.

In DIMACS CNF, clauses have no weights. Each is soft and weighs 1, as in unweighted MaxSAT. Files
whose clauses have at most two literals are `Max2Sat` problems, all others `MaxSat`.
"""

from __future__ import annotations

from typing import BinaryIO

from glasshouse.files.document import Document
from glasshouse.files.formats import comments
from glasshouse.files.formats.clauses import (
    ClauseCollector,
    as_clauses,
    soft_of,
    whole_weights,
    write_clauses,
)
from glasshouse.files.formats.format import Format, Sheet, register_format
from glasshouse.files.text.errors import shown
from glasshouse.files.text.number_rows import read_rows
from glasshouse.files.text.streams import Source
from glasshouse.problems import MOST_VARIABLES, Max2Sat, MaxSat, validation

_KEYS = (*comments.PLANTED, "num-variables", "num-clauses", "encoding")


class ClauseReader:
    """Reader for a CNF or WCNF file, including its header and comments.

    Attributes:
        kind: the word after `p`: cnf or wcnf.
    """

    def __init__(self, source: Source, kind: str) -> None:
        self.source = source
        self.kind = kind
        self.notes = comments.Notes(source, _KEYS)
        self.header: list[int] | None = None
        self.collector: ClauseCollector | None = None

    def read(self) -> Document:
        """Return the problem in the file, and the statements in its comments."""
        for rows in read_rows(self.source, b"cp", self._on_line):
            if self.collector is None:
                self.collector = self._start()
            self.collector.add(rows)
        collector = self.collector or self._start()
        self._refuse_encoding()  # the note may be below the clauses
        if self.header is None:
            problem = self._without_header(collector)
        else:
            self._compare_count(collector, self.header[1], "the p line")
            problem = collector.problem(self.header[0])
        problem = self.notes.labelled(problem)
        return Document(problem, self.notes.stated(problem.num_variables))

    def _on_line(self, line: int, text: bytes, rows_before: int) -> None:
        if text.startswith(b"c"):
            self.notes.take(line, text[1:])
        elif self.header is not None:
            raise self.source.error("there must be only one p line; remove the second", line)
        elif rows_before:
            raise self.source.error("the p line must be before all clauses", line)
        else:
            self.header = self._parse_header(line, text)

    def _parse_header(self, line: int, text: bytes) -> list[int]:
        words = text.split(maxsplit=6)
        shape = "VARIABLES CLAUSES" + (" TOP" if self.kind == "wcnf" else "")
        if (
            words[:2] != [b"p", self.kind.encode()]
            or len(words) not in ((4, 5) if self.kind == "wcnf" else (4,))
            or not all(word.isdigit() and len(word) < 40 for word in words[2:])
        ):
            raise self.source.error(f"{shown(text)} must be 'p {self.kind} {shape}'", line)
        numbers = [int(word) for word in words[2:]]
        if numbers[0] > MOST_VARIABLES:
            raise self.source.error(
                f"the p line states {numbers[0]} variables, above the limit {MOST_VARIABLES}", line
            )
        if numbers[2:] == [0]:
            raise self.source.error("top is 0, but must be above all soft weights", line)
        return numbers

    def _refuse_encoding(self) -> None:
        if "encoding" in self.notes:
            raise self.source.error(
                'was written with encoding="edge", whose 3-literal clauses are for solvers only; '
                "read the file that it was converted from"
            )

    def _start(self) -> ClauseCollector:
        self._refuse_encoding()  # raises before its clauses of three literals cause another error
        weighted = self.kind == "wcnf"
        if self.header is None:
            if not weighted:
                raise self.source.error("has no p line before the clauses; expected 'p cnf ...'")
            return ClauseCollector(self.source, weighted, hard_letter=True)
        top = self.header[2] if len(self.header) == 3 else None
        return ClauseCollector(self.source, weighted, self.header[0], top)

    def _without_header(self, collector: ClauseCollector) -> Max2Sat | MaxSat:
        stated = self.notes.count("num-clauses", 0, 2**62)
        if stated is not None:
            self._compare_count(collector, stated, "num-clauses")
        elif not collector.count:
            raise self.source.error("contains no clauses; expected a WCNF file")
        used = collector.highest()
        return collector.problem(self.notes.count("num-variables", used, MOST_VARIABLES) or used)

    def _compare_count(self, collector: ClauseCollector, stated: int, where: str) -> None:
        if collector.count != stated:
            raise self.source.error(
                f"found {collector.count} clauses, but {where} states {stated}; the file is "
                "truncated or was changed",
                collector.last_line,
            )


def read(source: Source) -> Document:
    """Read a WCNF file of either dialect."""
    return ClauseReader(source, "wcnf").read()


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write a WCNF file: comments, header, hard clauses, then soft clauses."""
    problem: Max2Sat | MaxSat = sheet.problem
    weights = whole_weights(problem, "WCNF")
    # The weights are added up again, because a sum of whole floats is not exact.
    top = 1 + int(validation.total_magnitude([weights], 0, "the soft weights"))
    file.write(sheet.remark_lines("c") + comments.label_line("c", problem.labels))
    file.write(comments.note_lines("c", sheet.stated))
    file.write(head(sheet.dialect, problem.num_variables, len(weights) + problem.num_hard, top))
    write_clauses(file, problem.hard, None, hard_prefix(sheet.dialect, top))
    write_clauses(file, soft_of(problem), weights)


def head(dialect: str, num_variables: int, num_clauses: int, top: int) -> bytes:
    """Return a header of a WCNF file: a classic p line, or the comments of the newer dialect."""
    if dialect == "mse22":
        return b"c num-variables %d\nc num-clauses %d\n" % (num_variables, num_clauses)
    return b"p wcnf %d %d %d\n" % (num_variables, num_clauses, top)


def hard_prefix(dialect: str, top: int) -> bytes:
    """Return the text before the literals of a hard clause: `h`, or the top weight."""
    return b"h " if dialect == "mse22" else b"%d " % top


WCNF = register_format(Format("weighted CNF", ".wcnf", as_clauses, write, read))


def read_cnf(source: Source) -> Document:
    """Read a DIMACS CNF file, whose clauses become soft clauses of weight 1."""
    return ClauseReader(source, "cnf").read()


def write_cnf(file: BinaryIO, sheet: Sheet) -> None:
    """Write a DIMACS CNF file; raise if the problem has weights or hard clauses."""
    problem: Max2Sat | MaxSat = sheet.problem
    weights = whole_weights(problem, "CNF")
    if problem.num_hard or (weights != 1).any():
        what = "hard clauses" if problem.num_hard else f"a weight of {weights[weights != 1][0]}"
        raise ValueError(f"CNF cannot store {what}, which the problem has; write .wcnf instead")
    file.write(sheet.remark_lines("c") + comments.label_line("c", problem.labels))
    file.write(comments.note_lines("c", sheet.stated))
    file.write(b"p cnf %d %d\n" % (problem.num_variables, problem.num_clauses))
    write_clauses(file, soft_of(problem), None)


CNF = register_format(Format("DIMACS CNF", ".cnf", as_clauses, write_cnf, read_cnf))
