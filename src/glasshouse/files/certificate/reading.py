"""Read certificate files (`.cert`), whose format `docs/certificate.md` describes."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import (
    MOST_COVERED,
    Branch,
    Certificate,
    Cover,
    Leaf,
    Tree,
)
from glasshouse.certificates.tree import Row
from glasshouse.files.certificate.collecting import (
    MOST_DIGITS as MOST_DIGITS,
)
from glasshouse.files.certificate.collecting import (
    CoreCollector,
    LoopCollector,
    SquareCollector,
    TableCollector,
    whole_number,
)
from glasshouse.files.text.errors import FileError, shown
from glasshouse.files.text.number_rows import parse_bits, parse_number, read_rows
from glasshouse.files.text.streams import Source, opened
from glasshouse.problems import Number
from glasshouse.summaries import Summarised

TITLE = "glasshouse-certificate"
# Version 2 adds squares, version 3 trees, version 4 monomials; a certificate is written in the
# earliest version that can hold it. Version 5 has cores instead of loops, squares and trees.
VERSIONS = (1, 2, 3, 4, 5)
_KEYS = (TITLE, "denominator", "cost", "state", "names", "tree", "common", "monomials", "loops",
         "squares", "cores")  # fmt: skip
# The bytes of the largest number that can name a variable, and of a space.
_LONGEST_NAME = 12
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ#"

_TREE_WORDS = (b"branch", b"leaf", b"cover")
# The digits of the largest vertex number or count in a file.
_LONGEST_VERTEX = 12


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
    """Read the certificate in a `.cert` file; its units are those of its problem file."""
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
        self.tree_rows: list[tuple[bytes, list[int]]] = []

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
            table.add(rows.part(0, first))
            number = first + max(self._whole("loops") - loops.count, 0)
            number = min(number, len(rows.ends))
            loops.add(rows.part(first, number))
            squares.add(rows.part(number, len(rows.ends)))
        version = self._word(TITLE)
        if version not in (b"%d" % known for known in VERSIONS):
            raise self._error(TITLE, f"is not a known version; expected {TITLE} 1, 2, 3, 4 or 5")
        if version == b"4":
            self._count("monomials", table.count)
        parts_of_five = ("loops", "squares", "tree", "common", "monomials")
        for key in parts_of_five if version == b"5" else ("cores",):
            if key in self.words:
                raise self._error(key, f"must not be in a certificate of version {shown(version)}")
        for key, since in (
            ("squares", b"2"), ("tree", b"3"), ("common", b"3"), ("monomials", b"4"),
        ):  # fmt: skip
            if version < since and key in self.words:
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
            certificate = replace(certificate, cores=cores.cores())
        except FileError:
            raise
        except ValueError as fault:
            raise self.source.error(str(fault)) from None
        most_work = self.source.allowance.most_pairs
        return certificate, self._cost(), self._names(len(state)), most_work

    def _tree(self, version: bytes, size: int) -> Tree | None:
        if version < b"3" or (version > b"3" and "tree" not in self.words):
            return None
        self._count("tree", len(self.tree_rows))
        common = whole_numbers(self.words.get("common", (0, b"0 0"))[1])
        if len(common) != 2:
            raise ValueError(f"the line 'common' has {len(common)} numbers, but must have 2")
        return Tree(tuple(_row(*row, size) for row in self.tree_rows), *common)

    def _count(self, key: str, found: int) -> None:
        """Raise if the number of lines of one kind differs from the number in the header."""
        if key not in self.words and key == "squares":
            if found:
                raise self._error("loops", f"differs from the {self._whole('loops') + found} lines")
        elif self._whole(key) != found:
            raise self._error(key, f"differs from the {found} lines that follow; restore the file")

    def _on_line(self, line: int, text: bytes, rows_before: int) -> None:
        if text.startswith(b"#"):
            return
        key, value = [*text.split(maxsplit=1), b""][:2]
        name = key.decode("ascii", "replace")
        if key in _TREE_WORDS and "tree" in self.words and not rows_before:
            self._on_row(line, key, value)
            return
        if not self.words and name != TITLE:
            raise self.source.error(
                f"the first line is {shown(text)}; expected '{TITLE} {VERSIONS[0]}'", line
            )
        if name not in _KEYS or name in self.words or rows_before:
            expected = f"expected each of {', '.join(_KEYS)} once, before the rows"
            raise self.source.error(f"unexpected {shown(text)}; {expected}", line)
        self.words[name] = (line, value)

    def _on_row(self, line: int, word: bytes, values: bytes) -> None:
        """Store one line of the tree; raise if the tree has more lines than stated."""
        try:
            if len(self.tree_rows) >= self._whole("tree"):
                raise ValueError("the tree has more lines than the line 'tree' states")
            numbers = whole_numbers(values)
            if word != b"cover" and len(numbers) != 2:
                raise ValueError(f"expected two numbers, not {len(numbers)}")
            self.tree_rows.append((word, numbers))
        except ValueError as fault:
            raise self.source.error(f"{shown(word + b' ' + values)}: {fault}", line) from None

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
            raise self._error("names", f"must contain each of 1 to {size} once")
        return names

    def _error(self, key: str, expected: str) -> Exception:
        line, value = self.words[key]
        return self.source.error(f"{key} {shown(value)} {expected}", line)


def whole_numbers(text: bytes) -> list[int]:
    """Parse the non-negative integers in a line of a tree; there may be at most `MOST_COVERED`."""
    words = text.split(maxsplit=MOST_COVERED)
    if not all(word.isdigit() and len(word) < _LONGEST_VERTEX for word in words):
        raise ValueError(f"expected at most {MOST_COVERED} non-negative integers")
    return list(map(int, words))


def _row(word: bytes, numbers: list[int], ghost: int) -> Row:
    if word == b"leaf":
        return Leaf(*numbers)
    if max(numbers, default=0) > ghost:  # the next number would mean the ghost
        raise ValueError(f"the tree has vertex {max(numbers)}, but there are {ghost} variables")
    nodes = tuple(number - 1 if number else ghost for number in numbers)
    return Branch(*nodes) if word == b"branch" else Cover(nodes)
