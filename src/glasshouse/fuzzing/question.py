"""Questions to a solver: the clauses of one file, their layout, and their least cost.

Everything is in Python integers, because the MaxSAT Evaluation allows weights that add up to
2^64-2, more than the library's own problems can hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from glasshouse.certificates import Certificate
from glasshouse.files.clause_file import ClauseFile, Layout, Line
from glasshouse.files.known import Known

# The rules of the MaxSAT Evaluation: the largest weight of a soft clause, and the largest sum. In
# the classic dialect, hard clauses have a weight, too, which exceeds the sum of all soft ones.
MOST_WEIGHT = 2**63 - 1
MOST_TOTAL = 2**64 - 2
MOST_CLASSIC_TOTAL = MOST_WEIGHT - 1


@dataclass(frozen=True)
class Question:
    """Clauses with their least cost, which does not come from the solver under test.

    Attributes:
        num_variables: the number of variables that the file states.
        lines: the clauses in the order of the file.
        optimum: the least cost of all assignments that satisfy the hard clauses; None if none does.
        layout: the dialect and format of the file.
        certificate: the proof of the optimum; None if all assignments were enumerated.
        is_decided: whether the optimum is known.

    >>> question = Question(2, ((3, (1, 2)), (None, (-1,)), (2, (-2,))), optimum=2)
    >>> print(question.text.decode(), end="")
    p wcnf 2 3 6
    3 1 2 0
    6 -1 0
    2 -2 0
    """

    num_variables: int
    lines: tuple[Line, ...]
    optimum: int | None
    layout: Layout = field(default_factory=Layout)
    certificate: Certificate | None = None
    is_decided: bool = True

    @cached_property
    def clauses(self) -> ClauseFile:
        """The soft and hard clauses of the question, as the judge of an answer needs them."""
        return clauses_of(self.num_variables, self.lines)

    @cached_property
    def text(self) -> bytes:
        """The contents of the question's file."""
        return self.layout.text(self.num_variables, self.lines)

    @property
    def known(self) -> Known:
        """The proven optimum in the form that a judge needs; an empty `Known` if undecided."""
        if not self.is_decided:
            return Known()
        return Known(self.optimum, self.optimum, is_infeasible=self.optimum is None)

    @property
    def says(self) -> str:
        """A text that states the question's optimum, or that it is not known."""
        if not self.is_decided:
            return "optimum not known"
        return "hard clauses unsatisfiable" if self.optimum is None else f"optimum {self.optimum}"


def clauses_of(num_variables: int, lines: tuple[Line, ...]) -> ClauseFile:
    """Convert the lines of a file to soft and hard clauses."""
    soft = tuple((weight, literals) for weight, literals in lines if weight is not None)
    hard = tuple(literals for weight, literals in lines if weight is None)
    return ClauseFile(num_variables, soft, hard)
