"""Clauses of any length with weights of any size, read from files and written for solvers.

The MaxSAT Evaluation allows weights that add up to 2^64-2. The library's own problems, `Max2Sat`
and `MaxSat`, are arrays of 64-bit integers, which end at 2^63-1, but a judge must accept all sums.
So clauses that are judged or shrunk are tuples of Python integers; models are evaluated in these.

Solvers get a new file: its text does not contain the optimum. Its only comments are the numbers of
variables and clauses, if no header states them.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from glasshouse.files.formats import opb
from glasshouse.files.formats.cnf import hard_prefix, head
from glasshouse.files.formats.format import Dialect as WcnfDialect
from glasshouse.files.formats.format import Sheet
from glasshouse.files.text.errors import shown
from glasshouse.files.text.streams import Source, opened
from glasshouse.problems import INT64_MAX, MOST_VARIABLES, Max2Sat, MaxSat, to_max2sat
from glasshouse.summaries import Summarised

Dialect = Literal["classic", "mse22", "cnf", "opb"]
# The weight of a soft clause, or None for a hard clause; and the literals.
Line = tuple[int | None, tuple[int, ...]]

SUFFIXES: dict[Dialect, str] = {
    "classic": ".wcnf", "mse22": ".wcnf", "cnf": ".cnf", "opb": ".opb",
}  # fmt: skip
_MOST_DIGITS = 40


@dataclass(frozen=True, repr=False)
class ClauseFile(Summarised):
    """The clauses of a CNF or WCNF file.

    Attributes:
        num_variables: the stated number, or the largest variable used.
        soft: weight and literals of each soft clause.
        hard: literals of each hard clause.
    """

    num_variables: int
    soft: tuple[tuple[int, tuple[int, ...]], ...]
    hard: tuple[tuple[int, ...], ...]

    @property
    def is_one_of_ours(self) -> bool:
        """Whether a `MaxSat` can store the clauses: their weights must sum to less than 2^63."""
        return sum(weight for weight, _ in self.soft) <= INT64_MAX

    @cached_property
    def used(self) -> frozenset[int]:
        """The variables that occur in at least one clause."""
        clauses = (*self.hard, *(clause for _, clause in self.soft))
        return frozenset(abs(literal) for clause in clauses for literal in clause)

    def cost(self, model: Sequence[int]) -> int:
        """Return the total weight of the soft clauses that a model (0/1 values) violates."""
        return sum(weight for weight, clause in self.soft if not _satisfied(clause, model))

    def broken(self, model: Sequence[int]) -> int:
        """Return the number of hard clauses that a model violates."""
        return sum(not _satisfied(clause, model) for clause in self.hard)


def read_clauses(path: str | os.PathLike[str]) -> ClauseFile:
    """Read a CNF file, or a WCNF file of either dialect, plain or compressed.

    Raises:
        FileError: the file is in another format.
    """
    with opened(Path(path)) as source:
        reader = _Reader(source)
        for line, text in enumerate(b"".join(source.blocks()).split(b"\n"), 1):
            if words := text.split():
                reader.take(line, words)
        return reader.clauses()


class _Reader:
    """Parser that reads a clause file line by line."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.soft: list[tuple[int, tuple[int, ...]]] = []
        self.hard: list[tuple[int, ...]] = []
        self.kind = b""  # the second word of the p line
        self.num_variables: int | None = None
        self.top: int | None = None
        self.num_clauses: int | None = None

    def take(self, line: int, words: list[bytes]) -> None:
        """Parse one line: a comment, the p line, or a clause."""
        if words[0].startswith(b"c"):
            if len(words) == 3 and words[0] == b"c" and not self.kind:
                if words[1] == b"num-variables":
                    self.num_variables = self._whole(line, words[2])
                elif words[1] == b"num-clauses":
                    self.num_clauses = self._whole(line, words[2])
        elif words[0] == b"p":
            self._header(line, words)
        else:
            self._clause(line, words)

    def clauses(self) -> ClauseFile:
        """Return all parsed clauses; raise if the file is incomplete or inconsistent."""
        self._compare_count()
        everything = [*self.hard, *(clause for _, clause in self.soft)]
        used = max((abs(literal) for clause in everything for literal in clause), default=0)
        size = used if self.num_variables is None else self.num_variables
        if not used <= size <= MOST_VARIABLES:
            raise self.source.error(f"uses variable {used}, but states {size} variables")
        self.source.refuse_idle(size, len(everything), "clauses")
        return ClauseFile(size, tuple(self.soft), tuple(self.hard))

    def _compare_count(self) -> None:
        count = len(self.soft) + len(self.hard)
        if self.num_clauses is None and not count:
            raise self.source.error("contains no clauses; expected a CNF or WCNF file")
        if self.num_clauses not in (None, count):
            raise self.source.error(
                f"has {count} clauses, but states {self.num_clauses}; the file is truncated or was "
                "changed"
            )

    def _header(self, line: int, words: list[bytes]) -> None:
        if self.kind or self.soft or self.hard or words[1:2] not in ([b"cnf"], [b"wcnf"]):
            raise self.source.error("there must be exactly one p line, before all clauses", line)
        self.kind = words[1]
        numbers = [self._whole(line, word) for word in words[2:] if word.isdigit()]
        is_cnf = self.kind == b"cnf"
        if len(words) - 2 != len(numbers) or len(numbers) not in ((2,) if is_cnf else (2, 3)):
            shape = "cnf VARIABLES CLAUSES" if is_cnf else "wcnf VARIABLES CLAUSES TOP"
            raise self.source.error(f"the p line must be 'p {shape}'", line)
        self.num_variables, self.num_clauses, *tops = numbers
        self.top = tops[0] if tops else None

    def _clause(self, line: int, words: list[bytes]) -> None:
        weight, is_hard = 1, False
        if self.kind != b"cnf":
            first, *words = words
            is_hard = first == b"h" and not self.kind
            weight = 1 if is_hard else self._whole(line, first)
        numbers = [self._whole(line, word) for word in words]
        if weight < 0 or not numbers or numbers.pop() != 0 or 0 in numbers:
            what = "literals" if self.kind == b"cnf" else "a weight, literals,"
            raise self.source.error(f"a clause must consist of {what} and a final 0", line)
        if is_hard or (self.top is not None and weight >= self.top):
            self.hard.append(tuple(numbers))
        else:
            self.soft.append((weight, tuple(numbers)))

    def _whole(self, line: int, word: bytes) -> int:
        digits = word[1:] if word[:1] in (b"-", b"+") else word
        if not digits.isdigit() or len(digits) > _MOST_DIGITS:
            raise self.source.error(
                f"{shown(word)} is not an integer of at most {_MOST_DIGITS} digits", line
            )
        return int(word)


def _satisfied(clause: tuple[int, ...], model: Sequence[int]) -> bool:
    return any((literal > 0) == bool(model[abs(literal) - 1]) for literal in clause)


@dataclass(frozen=True)
class Layout:
    """The layout of a WCNF file, which does not affect its meaning.

    Attributes:
        dialect: "classic" or "mse22".
        top: the top weight of the classic header; None for 1 + the sum of the soft weights.
        has_remarks: whether comments are written between the clauses.
        has_blanks: whether extra spaces are written.
        ends_bare: whether the newline at the end of the file is missing.
    """

    dialect: WcnfDialect = "classic"
    top: int = 0
    has_remarks: bool = False
    has_blanks: bool = False
    ends_bare: bool = False

    def text(self, num_variables: int, lines: tuple[Line, ...]) -> bytes:
        """Return the bytes of a WCNF file with the given clauses in this layout."""
        written = b"".join(self._rows(num_variables, lines))
        return written.removesuffix(b"\n") if self.ends_bare else written

    def _rows(self, num_variables: int, lines: tuple[Line, ...]) -> Iterator[bytes]:
        top = max(self.top, 1 + sum(weight or 0 for weight, _ in lines))
        yield head(self.dialect, num_variables, len(lines), top)
        gap = "  " if self.has_blanks else " "
        for place, (weight, literals) in enumerate(lines):
            if self.has_remarks and place % 3 == 0:
                yield b"c p wcnf 1 1 1\n" if place % 2 else b"c\n"
            start = hard_prefix(self.dialect, top) if weight is None else b"%d " % weight
            yield start + gap.join(map(str, (*literals, 0))).encode() + gap[1:].encode() + b"\n"


def text_in(dialect: Dialect, clauses: ClauseFile) -> bytes:
    """Return the contents of a file with the given clauses, in the dialect of a solver.

    Raises:
        ValueError: the dialect cannot hold these clauses.

    >>> print(text_in("classic", ClauseFile(2, ((3, (1, 2)),), ((-1,),))).decode(), end="")
    p wcnf 2 2 4
    4 -1 0
    3 1 2 0
    """
    if dialect == "opb":
        file = io.BytesIO()
        opb.write(file, Sheet(as_problem(clauses)))
        return file.getvalue()
    if dialect == "cnf":
        if clauses.hard or any(weight != 1 for weight, _ in clauses.soft):
            raise ValueError("CNF allows only soft clauses of weight 1; use the dialect 'classic'")
        rows = [" ".join(map(str, (*clause, 0))) for _, clause in clauses.soft]
        return "\n".join([f"p cnf {clauses.num_variables} {len(rows)}", *rows, ""]).encode()
    hard = [(None, clause) for clause in clauses.hard]
    return Layout(dialect).text(clauses.num_variables, (*hard, *clauses.soft))


def as_problem(clauses: ClauseFile) -> Max2Sat | MaxSat:
    """Return the problem that `read` would return for a file with these clauses.

    Raises:
        ValueError: the weights add up to 2^63 or more.

    >>> as_problem(ClauseFile(3, ((2, (1, 2, 3)), (1, (-1,))), ()))
    MaxSat(3 variables, 2 clauses, at most 3 literals, integer weights 1 to 2)
    """
    weights = np.array([weight for weight, _ in clauses.soft], dtype=object)
    soft, hard = [clause for _, clause in clauses.soft], clauses.hard
    problem = MaxSat(clauses.num_variables, soft, weights if len(weights) else [], hard)
    is_short = problem.longest <= 2 and all(hard)
    return to_max2sat(problem)[0] if is_short else problem


def literal_pairs(clauses: Sequence[tuple[int, ...]]) -> npt.NDArray[np.int32]:
    """Return clauses with at most two literals as a two-column array, padded with 0."""
    pairs = np.zeros((len(clauses), 2), dtype=np.int32)
    for place, clause in enumerate(clauses):
        if len(clause) > 2:
            raise ValueError(f"a clause has {len(clause)} literals, but must have at most 2")
        pairs[place, : len(clause)] = clause
    return pairs
