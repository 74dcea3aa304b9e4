"""The reader of certificate files (`.cert`); `docs/certificate.md` describes the format."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Certificate, Cores, Squares, Tree
from glasshouse.certificates.products import NO_MONOMIALS, checked_table
from glasshouse.files.certificate.trees import TreeCollector
from glasshouse.files.text.errors import FileError, shown
from glasshouse.files.text.kernels import HARD
from glasshouse.files.text.number_rows import (
    Rows,
    joined,
    parse_bits,
    parse_number,
    read_rows,
    whole_number,
)
from glasshouse.files.text.streams import Source, opened
from glasshouse.problems import MOST_VARIABLES, Number
from glasshouse.problems.monomials import Monomials
from glasshouse.summaries import Summarised

TITLE = "glasshouse-certificate"
# Version 2 adds squares, version 3 trees, version 4 monomials; version 6 adds elimination orders to
# version 3. Version 5 has cores instead of loops, squares and trees. A certificate is written in
# the earliest version that can hold it.
VERSIONS = (1, 2, 3, 4, 5, 6)
_KEYS = (TITLE, "denominator", "cost", "state", "names", "tree", "common", "monomials", "loops",
         "squares", "cores")  # fmt: skip
# The versions that may contain a line; all versions may contain the other lines.
_VERSIONS_WITH = {
    "loops": b"12346", "squares": b"2346", "tree": b"346", "common": b"346", "monomials": b"4",
    "cores": b"5",
}  # fmt: skip
# The bytes of the largest number that can name a variable, and of a space.
_LONGEST_NAME = 12
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ#"
_TREE_WORDS = (b"branch", b"leaf", b"cover", b"order")


@dataclass(frozen=True, repr=False)
class SideCar(Summarised):
    """The contents of a `.cert` file.

    Attributes:
        certificate: state, loops and squares, in units of the file that it belongs to.
        cost: the stated cost of the state in that file; None if it is not stated.
        names: for each variable of a shuffled file, its index before shuffling, from 0.
        most_work: the largest number of steps that a check of the tree may take; None if the
            certificate was not read from a file.
    """

    certificate: Certificate
    cost: Number | None = None
    names: npt.NDArray[np.int64] | None = None
    most_work: int | None = None


def side_car(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file's certificate: its whole name, with `.cert` appended."""
    path = Path(path)
    return path.with_name(path.name + ".cert")


def has_side_car(path: Path) -> bool:
    """Return whether a file has a certificate next to it."""
    try:
        return side_car(path).is_file()  # opening a pipe would block
    except OSError:  # the name is too long
        return False


def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Read the certificate in a `.cert` file; multipliers are in units of the problem file."""
    return read_side_car(path).certificate


def read_side_car(path: str | os.PathLike[str]) -> SideCar:
    """Read a `.cert` file: the certificate, the stated cost and the names of the variables."""
    with opened(Path(path)) as source:
        return SideCar(*CertificateReader(source).read())


class CertificateReader:
    """Reader for one certificate file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.words: dict[str, tuple[int, bytes]] = {}
        self.tree = TreeCollector()

    def read(self) -> tuple[Certificate, Number | None, npt.NDArray[np.int64] | None, int]:
        """Return the certificate, the cost, the variable names, and the limit on check steps."""
        loops, squares = LoopCollector(self.source), SquareCollector(self.source)
        table, cores = TableCollector(self.source), CoreCollector(self.source)
        for rows in read_rows(self.source, _LETTERS, self._on_line):
            if "cores" in self.words:
                cores.add(rows)
                continue
            stated = self._whole("monomials") if "monomials" in self.words else 0
            first = min(max(stated - table.count, 0), len(rows.ends))
            last = min(first + max(self._whole("loops") - loops.count, 0), len(rows.ends))
            for kind, begin, end in (
                (table, 0, first), (loops, first, last), (squares, last, len(rows.ends)),
            ):  # fmt: skip
                if begin < end:
                    kind.add(rows.part(begin, end))
        version = self._word(TITLE)
        if version not in (b"%d" % known for known in VERSIONS):
            raise self._error(TITLE, f"has an unknown version; expected {TITLE} 1, 2, 3, 4, 5 or 6")
        if version == b"4":
            self._count("monomials", table.count)
        for key in self.words:
            if version not in _VERSIONS_WITH.get(key, version):
                raise self._error(key, f"must not be in a certificate of version {shown(version)}")
        state = parse_bits(self._word("state"))
        if state is None:
            raise self._error("state", "must be a string of 0 and 1")
        if version == b"5":
            self._count("cores", cores.count)
            if not cores.count:
                raise self._error("cores", "must be at least 1")
        else:
            self._count("loops", loops.count)
            self._count("squares", squares.count)
        denominator = self._whole("denominator")
        if denominator < 1:
            raise self._error("denominator", "must be at least 1")
        try:
            held = table.monomials(len(state))
            parts = squares.squares(len(state), held), self._tree(version, len(state))
            certificate = loops.certificate(2 * state - np.int8(1), denominator, *parts, held)
            if cores.count:
                certificate = replace(certificate, cores=cores.cores())
        except FileError:
            raise
        except ValueError as fault:
            raise self.source.error(str(fault)) from None
        most_work = self.source.allowance.most_pairs
        return certificate, self._cost(), self._names(len(state)), most_work

    def _tree(self, version: bytes, size: int) -> Tree | None:
        if version in b"125" or (version == b"4" and "tree" not in self.words):
            return None
        self._count("tree", len(self.tree.rows))
        if version != b"6" and self.tree.has_orders:
            raise self._error("tree", "has an elimination order, which requires version 6")
        return self.tree.tree(self.words.get("common", (0, b"0 0"))[1], size)

    def _count(self, key: str, found: int) -> None:
        """Raise if the number of lines of one kind differs from the number in the header."""
        if key not in self.words and key == "squares":
            if found:
                raise self._error("loops", f"differs from the {self._whole('loops') + found} rows")
        elif self._whole(key) != found:
            raise self._error(key, f"differs from the number of rows, {found}; restore the file")

    def _on_line(self, line: int, text: bytes, rows_before: int) -> None:
        if text.startswith(b"#"):
            return
        key, value = [*text.split(maxsplit=1), b""][:2]
        name = key.decode("ascii", "replace")
        if key in _TREE_WORDS and "tree" in self.words and not rows_before:
            try:
                self.tree.add(key, value, self._whole("tree"))
            except ValueError as fault:
                raise self.source.error(f"{shown(key + b' ' + value)}: {fault}", line) from None
            return
        if not self.words and name != TITLE:
            raise self.source.error(
                f"the first line is {shown(text)}; expected '{TITLE} {VERSIONS[0]}'", line
            )
        if name not in _KEYS or name in self.words or rows_before:
            expected = f"expected each of {', '.join(_KEYS)} once, before the rows"
            raise self.source.error(f"unexpected {shown(text)}; {expected}", line)
        self.words[name] = (line, value)

    def _word(self, key: str) -> bytes:
        if key not in self.words:
            raise self.source.error(f"is not a complete certificate: it has no line '{key} ...'")
        return self.words[key][1]

    def _whole(self, key: str) -> int:
        value = whole_number(self._word(key))
        if value is None or value < 0:
            raise self._error(key, "must be a non-negative integer")
        return value

    def _cost(self) -> Number | None:
        if "cost" not in self.words:
            return None
        cost = parse_number(self._word("cost"))
        if cost is None:
            raise self._error("cost", "must be a finite number")
        return cost

    def _names(self, size: int) -> npt.NDArray[np.int64] | None:
        if "names" not in self.words:
            return None
        words = self._word("names").split(maxsplit=size)  # each word takes memory
        if len(words) != size or not all(w.isdigit() and len(w) < _LONGEST_NAME for w in words):
            raise self._error("names", f"must be {size} numbers, one per variable")
        names = np.array(words, dtype=np.int64) - 1
        if not np.array_equal(np.sort(names), np.arange(size)):
            raise self._error("names", f"must contain each integer from 1 to {size} exactly once")
        return names

    def _error(self, key: str, expected: str) -> Exception:
        line, value = self.words[key]
        return self.source.error(f"{key} {shown(value)} {expected}", line)


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
        self._vertices.append(vertices)

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
        multipliers, odd = _multipliers_of(rows)
        inside = np.ones(len(rows.values), dtype=np.bool_)
        inside[rows.starts] = False
        far = inside & ((rows.values >= MOST_VARIABLES) | (rows.values <= -MOST_VARIABLES))
        rows.refuse(
            self.source,
            [
                (odd | rows.having(far), lambda _: "expected integers: a multiplier, then nodes"),
                (multipliers < 1, lambda row: f"multiplier {rows.text(row, 0)} must be above 0"),
                (rows.lengths < 4, lambda _: "a loop must have a multiplier and at least 3 nodes"),
                (rows.column(-1) < 0, lambda _: "the last node of a loop must not have a sign"),
            ],
        )
        self._keep(multipliers, rows.lengths - 1, rows.values[inside].astype(np.int32))

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
        if further:
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
        multipliers, odd = _multipliers_of(rows)
        place = np.arange(len(rows.values)) - np.repeat(rows.starts, rows.lengths)
        is_factor, is_vertex = place % 2 == 1, (place % 2 == 0) & (place > 0)
        far = is_vertex & ((rows.values < 0) | (rows.values >= MOST_VARIABLES))
        is_zero = is_factor & (rows.values == 0)
        far |= rows.values == HARD
        rows.refuse(
            self.source,
            [
                (odd | rows.having(far), lambda _: "expected integers: a multiplier, a1, v1, …"),
                (multipliers < 1, lambda row: f"multiplier {rows.text(row, 0)} must be above 0"),
                (
                    (rows.lengths < 3) | (rows.lengths % 2 == 0),
                    lambda _: "a square must have a multiplier and pairs (coefficient, node)",
                ),
                (rows.having(is_zero), lambda _: "the coefficients of a square must not be 0"),
            ],
        )
        self._keep(multipliers, rows.lengths // 2, rows.values[is_vertex].astype(np.int32))
        self._coefficients.append(rows.values[is_factor])

    def squares(self, size: int, table: Monomials) -> Squares:
        """Return all collected squares."""
        further = len(table.starts) - 1
        vertices, starts, multipliers = self._joined(size, "square", further)
        coefficients = joined(self._coefficients, np.int64)
        squares = Squares(_nodes(vertices, size), starts, coefficients, multipliers)
        self.source.refuse_pairs(squares, 1 + int(table.degrees.max()) if further else 1)
        return squares


class TableCollector(Collector):
    """Collector for the monomials in a certificate file."""

    def add(self, rows: Rows) -> None:
        """Check and store one block of rows that describe monomials."""
        far = (rows.values < 1) | (rows.values >= MOST_VARIABLES)
        says = "expected variables, which are positive integers"
        rows.refuse(self.source, [(rows.having(far), lambda _: says)])
        self._keep(rows.lengths, rows.lengths, rows.values.astype(np.int32))

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
        far = rows.values == HARD
        far[list(rows.odd)] = True
        rows.refuse(
            self.source,
            [
                (rows.having(far), lambda _: "expected integers below 2^63: a cost, then a tree"),
                (rows.column(0) < 1, lambda row: f"cost {rows.text(row, 0)} must be above 0"),
            ],
        )
        inside = np.ones(len(rows.values), dtype=np.bool_)
        inside[rows.starts] = False
        self._keep(rows.column(0), rows.lengths - 1, rows.values[inside])

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
