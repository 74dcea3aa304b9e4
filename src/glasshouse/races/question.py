"""What a solver is asked: the clauses of one file, how they are written, and their least cost.

Everything is in Python integers, because the MaxSAT Evaluation allows weights that add up to
2^64-2, more than the library's own problems take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from glasshouse.certificates import Certificate
from glasshouse.files.formats.cnf import hard_prefix, head
from glasshouse.files.formats.format import Dialect
from glasshouse.races.clause_file import ClauseFile
from glasshouse.races.truth import Truth

# The rules of the MaxSAT Evaluation: what a soft clause may weigh, and what all may add up to. In
# the classic dialect, hard clauses have a weight, too, which is more than all soft ones.
MOST_WEIGHT = 2**63 - 1
MOST_TOTAL = 2**64 - 2
MOST_CLASSIC_TOTAL = MOST_WEIGHT - 1

# The weight of a soft clause, None for a hard one; and its literals.
Line = tuple[int | None, tuple[int, ...]]


@dataclass(frozen=True)
class Layout:
    """How a WCNF file is written; nothing here changes what it means.

    Attributes:
        dialect: "classic" or "mse22".
        top: of the classic header, if it shall be more than 1 + all soft weights.
        has_remarks: comments between the clauses, too.
        has_blanks: more spaces than need be.
        ends_bare: no newline at the end.
    """

    dialect: Dialect = "classic"
    top: int = 0
    has_remarks: bool = False
    has_blanks: bool = False
    ends_bare: bool = False

    def text(self, num_variables: int, lines: tuple[Line, ...]) -> bytes:
        """The file."""
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


@dataclass(frozen=True)
class Question:
    """Clauses with a least cost that is known from elsewhere than the solver that is asked.

    Attributes:
        num_variables: how many variables the file states.
        lines: the clauses in the order of the file.
        optimum: the least cost of all assignments that keep the hard clauses.
        layout: how the file is written.
        certificate: what proves the optimum; None where it was found by looking at all assignments.

    >>> question = Question(2, ((3, (1, 2)), (None, (-1,)), (2, (-2,))), optimum=2)
    >>> print(question.text.decode(), end="")
    p wcnf 2 3 6
    3 1 2 0
    6 -1 0
    2 -2 0
    """

    num_variables: int
    lines: tuple[Line, ...]
    optimum: int
    layout: Layout = Layout()
    certificate: Certificate | None = None

    @cached_property
    def clauses(self) -> ClauseFile:
        """The clauses, for a judge."""
        return clauses_of(self.num_variables, self.lines)

    @cached_property
    def text(self) -> bytes:
        """The file."""
        return self.layout.text(self.num_variables, self.lines)

    @property
    def truth(self) -> Truth:
        """What is known about the optimum."""
        return Truth(self.optimum, self.optimum)

    def written_as(self, layout: Layout) -> Question:
        """The same clauses in another file."""
        return replace(self, layout=layout)


def clauses_of(num_variables: int, lines: tuple[Line, ...]) -> ClauseFile:
    """Lines as soft and hard clauses."""
    soft = tuple((weight, literals) for weight, literals in lines if weight is not None)
    hard = tuple(literals for weight, literals in lines if weight is None)
    return ClauseFile(num_variables, soft, hard)
