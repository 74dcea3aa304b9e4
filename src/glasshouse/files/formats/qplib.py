"""QPLIB files of binary problems without constraints (type QBN): ½ xᵀQx + bᵀx + q.

Q is symmetric, and the file has only one of Q_ij and Q_ji: it is the coefficient of x_i x_j, and an
entry on the diagonal counts half. Variables are counted from 1. The data after the objective
(starting points, names) do not change energies; names become labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.files.document import Document
from glasshouse.files.formats import comments, pair_terms
from glasshouse.files.formats.format import Format, Sheet, register_format
from glasshouse.files.formats.pair_terms import TermCollector
from glasshouse.files.text.errors import shown
from glasshouse.files.text.kernels import HARD
from glasshouse.files.text.number_rows import Rows, parse_number, read_rows
from glasshouse.files.text.streams import Source
from glasshouse.problems import Labels, Measure, Qubo, naming, to_qubo
from glasshouse.problems.validation import INT64_MAX, MOST_VARIABLES, Number, WeightArray

# A comment after a value; lines that are only a comment are notes.
_COMMENT = re.compile(rb"(?<=[^\s])[ \t]+[#!%][^\n]*")
_NAME = re.compile(r"[A-Za-z_][^\s#!%]*", re.ASCII)
_INFINITY = b"1.79769313486232E+308"
# The first letter allows any quadratic objective; variables are binary, without constraints.
_BINARY = re.compile(rb"[QCD]B[NB]")


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.notes = comments.Notes(source, (*comments.PLANTED, "numbers"))
        plain = (_COMMENT.sub(b"", text) for text in source.blocks())
        self.rows = read_rows(source, b"#!%", self._on_line, plain)
        self.rest: Rows | None = None
        self.line = 1

    def read(self) -> Document:
        self._next("the name of the problem")
        sign = self._kind()
        size = self._count("the number of variables", MOST_VARIABLES)
        number = self._count("the number of quadratic terms")
        quadratic = TermCollector(self.source, 1, size, "variable", True)
        for rows in self._take(number, "quadratic terms"):
            quadratic.add(rows)
        default = self._number("the default of linear coefficients")
        number = self._count("the number of linear coefficients")
        linear = TermCollector(self.source, 1, size, "variable", True)
        for rows in self._take(number, "linear coefficients"):
            linear.add(_doubled(self.source, rows))
        offset = self._number("the constant")
        self.source.refuse_idle(size, quadratic.count + linear.count, "terms")
        problem = self._problem(size, quadratic, linear, default, offset, sign)
        labels = self._labels(size)
        problem = self.notes.labelled(problem)
        if labels is not None:
            problem = replace(problem, labels=labels)
        measured, stated = partial(Measure.objective, sign=sign), self.notes.stated(size)
        if stated.cost is not None:  # an objective of the file
            stated = replace(stated, cost=sign * stated.cost)
        return Document(problem, stated, measured=measured)

    def _problem(
        self,
        size: int,
        quadratic: TermCollector,
        linear: TermCollector,
        default: Number,
        offset: Number,
        sign: int,
    ) -> Any:
        """Return the QUBO to be minimised; the sign of a maximised objective is reversed."""
        pairs, weights = quadratic.terms(self.notes)
        singles, values = linear.terms(self.notes)
        if len(np.unique(singles[:, 0])) < len(singles):
            raise self.source.error("a linear coefficient is stated twice; remove one of the lines")
        other = np.ones(size if default else 0, dtype=np.bool_)
        other[singles[:, 0] if default else []] = False
        rest = np.repeat(np.flatnonzero(other), 2).reshape(-1, 2).astype(np.int32)
        diagonal = pairs[:, 0] == pairs[:, 1]
        parts = [weights, values, np.full(len(rest), default)]
        is_whole = all(part.dtype == np.int64 for part in parts) and isinstance(offset, int)
        if not is_whole or (weights[diagonal] % 2).any():
            parts = [self._as_floats(part) for part in parts]
            offset = float(self._as_floats(np.array([offset]))[0])
        halved = parts[0].copy()
        half = np.floor_divide if halved.dtype == np.int64 else np.divide
        halved[diagonal] = half(halved[diagonal], 2)
        everything = np.concatenate([halved, *parts[1:]])
        places = np.concatenate([pairs, singles, rest])
        return pair_terms.make(self.source, Qubo, size, places, sign * everything, sign * offset)

    def _as_floats(self, values: WeightArray) -> npt.NDArray[np.float64]:
        if values.dtype == np.int64 and (np.abs(values) > 2**53).any():
            raise self.source.error(
                "has decimals or halves, so integers must be at most 2^53, to be exact as floats"
            )
        return values.astype(np.float64)

    def _kind(self) -> int:
        """Return 1 if the objective is minimised, -1 if maximised; raise for unsupported types."""
        kind = self._next("the type of the problem").upper()
        if not _BINARY.fullmatch(kind):
            raise self.source.error(
                f"the problem has type {shown(kind)}; expected QBN: a quadratic objective of "
                "binary variables without constraints",
                self.line,
            )
        sense = self._next("minimize or maximize").lower()
        if sense not in (b"minimize", b"maximize"):
            raise self.source.error(f"{shown(sense)} must be minimize or maximize", self.line)
        return 1 if sense == b"minimize" else -1

    def _labels(self, size: int) -> Labels | None:
        """Return the names of the variables as labels; None if the file ends before them."""
        if self._is_at_end():
            return None
        self._next("the value for infinity")
        for what in ("starting values", "starting multipliers"):
            if self._is_at_end():
                return None
            self._next(f"the default of {what}")
            for _ in self._take(self._count(f"the number of {what}", size), what):
                pass
        if self._is_at_end() or not (number := self._count("the number of names", size)):
            return None
        names: list[Any] = [f"x{k}" for k in range(1, size + 1)]
        for rows in self._take(number, "names"):
            places = rows.column(0)
            wrong = (rows.lengths < 2) | (places < 1) | (places > size)
            rows.refuse(self.source, [(wrong, lambda _: "expected a variable number and its name")])
            for row, place in enumerate(places.tolist()):
                names[place - 1] = _name(rows, row)
        try:
            return naming.check(names, size)
        except ValueError as fault:
            raise self.source.error(f"has invalid names of variables: {fault}") from None

    def _on_line(self, line: int, text: bytes, rows_before: int) -> None:
        self.notes.take(line, text[1:])

    def _is_at_end(self) -> bool:
        if self.rest is None or not len(self.rest.ends):
            self.rest = next(self.rows, None)
        return self.rest is None

    def _take(self, count: int, what: str) -> Iterator[Rows]:
        """Yield the next `count` rows of the file, in blocks of rows."""
        while count:
            if self._is_at_end():
                raise self.source.error(f"ends before {what}; the file is truncated")
            assert self.rest is not None
            held = len(self.rest.ends)
            part = self.rest.part(0, min(count, held))
            self.rest = self.rest.part(min(count, held), held)
            count -= len(part.ends)
            self.line = int(part.lines[-1])
            yield part

    def _next(self, what: str) -> bytes:
        """Return the first word of the next line; the rest of the line is a comment."""
        (rows,) = self._take(1, what)
        return rows.odd.get(0) or b"%d" % rows.values[0]

    def _number(self, what: str) -> Number:
        word = self._next(what)
        number = parse_number(word)
        if number is None or (isinstance(number, int) and abs(number) > INT64_MAX):
            raise self.source.error(f"{shown(word)} is not a number; expected {what}", self.line)
        is_whole = isinstance(number, float) and number.is_integer() and abs(number) <= 2**53
        return int(number) if is_whole else number  # 0.0 counts as whole, as in all other lines

    def _count(self, what: str, most: int = 2**62) -> int:
        number = self._number(what)
        if not isinstance(number, int) or not 0 <= number <= most:
            raise self.source.error(f"found {number}; expected {what}, from 0 to {most}", self.line)
        return number


def _doubled(source: Source, rows: Rows) -> Rows:
    """Convert rows `i value` to rows `i i value`."""
    short = rows.lengths != 2
    rows.refuse(source, [(short, lambda _: "expected a variable number and its coefficient")])
    values = np.insert(rows.values, np.arange(0, len(rows.values), 2), rows.values[::2])
    odd = {place + place // 2 + place % 2: text for place, text in rows.odd.items()}
    return Rows(values, rows.ends // 2 * 3, rows.lines, odd)


def _name(rows: Rows, row: int) -> Any:
    """Return the variable's name in a row: an integer if it is written as one, else a string."""
    place = int(rows.starts[row]) + 1
    if place in rows.odd:
        return rows.odd[place].decode("utf-8", "backslashreplace")
    value = int(rows.values[place])
    return "h" if value == HARD else value


def read(source: Source) -> Document:
    """Read a QPLIB file as a QUBO; the sign of a maximised objective is reversed."""
    return _Reader(source).read()


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write a QUBO as a QPLIB file, with the notes at the end of the file."""
    problem: Qubo = sheet.problem
    used = np.flatnonzero(problem.linear)
    labels = problem.labels
    file.write(b"glasshouse\nQBN\nminimize\n%d # number of variables\n" % problem.num_variables)
    file.write(b"%d # number of quadratic terms in objective\n" % problem.num_edges)
    pair_terms.write_terms(file, problem.edges[:, 1] + 1, problem.edges[:, 0] + 1, problem.weights)
    file.write(b"0 # default value for linear coefficients in objective\n")
    file.write(b"%d # number of non-default linear coefficients in objective\n" % len(used))
    for k in used.tolist():
        file.write(f"{k + 1} {problem.linear[k].item()!r}\n".encode())
    file.write(f"{problem.offset!r} # objective constant\n".encode())
    file.write(_INFINITY + b" # value for infinity\n")
    for what in ("primal", "bound dual"):
        file.write(f"0 # default variable {what} value in starting point\n".encode())
        file.write(f"0 # number of non-default variable {what} values\n".encode())
    is_named = labels is not None and all(map(_is_name, labels))
    file.write(b"%d # number of non-default variable names\n" % (len(labels or ()) * is_named))
    if labels is not None and is_named:
        file.write("".join(f"{k} {name}\n" for k, name in enumerate(labels, 1)).encode())
    file.write(b"0 # number of non-default constraint names\n" + sheet.remark_lines("#"))
    file.write(b"" if problem.is_integer else b"# numbers float\n")
    file.write(b"" if is_named else comments.label_line("#", labels))
    file.write(comments.note_lines("#", sheet.stated))


def _is_name(label: object) -> bool:
    """Return whether a label, written as a name, is read back unchanged."""
    if type(label) is int:
        return abs(label) < INT64_MAX
    return isinstance(label, str) and bool(_NAME.fullmatch(label))


QPLIB = register_format(Format("QPLIB", ".qplib", to_qubo, write, read))
