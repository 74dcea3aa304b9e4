"""Lines of a proof for VeriPB, and sums of them in reverse Polish notation.

A literal is a variable's name, "x3", or its negation, "~x3".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property

# The coefficients of literals.
Terms = dict[str, int]


class Script:
    """The lines of a proof in one of two dialects, and the number of the last constraint."""

    def __init__(self, num_constraints: int, version: str) -> None:
        self.is_new, self.last = version == "3.0", num_constraints
        self.lines: list[str] = [self._ended(f"f {num_constraints}")]

    def pol(self, words: str) -> int:
        """Write a line in reverse Polish notation; return the number of the derived constraint."""
        return self._add(self._ended(f"pol {words}"))

    def define(self, terms: Terms, degree: int, variable: str, value: int) -> int:
        """Write a constraint that a new variable can always satisfy; return the line's number."""
        mark = ":" if self.is_new else ";"
        return self._add(self._ended(f"red {_spelled(terms, degree)} {mark} {variable} -> {value}"))

    def by_contradiction(self, terms: Terms, degree: int, words: Callable[[int], str]) -> int:
        """Write a constraint proven by contradiction; `words` gets the number of its negation."""
        rule, mark = ("pbc", ": subproof") if self.is_new else ("red", "; ; begin")
        self.lines.append(f"{rule} {_spelled(terms, degree)} {mark}\n")
        self.last += 1
        self.pol(words(self.last))
        return self._add("qed pbc : -1 ;\n" if self.is_new else "end -1\n")

    def conclude(self, lower: int, upper: int, assignment: str) -> None:
        """Write the conclusion: the last line proves `lower`, and the assignment proves `upper`."""
        ends = [
            "output NONE",
            f"conclusion BOUNDS {lower} : {self.last} {upper} : {assignment}",
            "end pseudo-Boolean proof",
        ]
        self.lines += map(self._ended, ends)

    def _add(self, line: str) -> int:
        self.lines.append(line)
        self.last += 1
        return self.last

    def _ended(self, line: str) -> str:
        return line + (" ;\n" if self.is_new else "\n")


class Line:
    """A constraint Σ terms ≥ degree that the proof contains, or will contain when it is first used.

    Args:
        terms: the coefficients of literals.
        degree: the least value of their sum.
        write: writes the line to the proof and returns its number; called at the first use.
    """

    def __init__(self, terms: Terms, degree: int, write: Callable[[], int | str]) -> None:
        self.terms, self.degree, self._write = terms, degree, write

    @classmethod
    def given(cls, terms: Terms, degree: int, number: int) -> Line:
        """Return a line for a constraint that the proof already contains."""
        return cls(terms, degree, lambda: number)

    @classmethod
    def axiom(cls, literal: str) -> Line:
        """Return the axiom that a literal is at least 0."""
        return cls({literal: 1}, 0, lambda: literal)

    @cached_property
    def name(self) -> str:
        """The name of the line in a sum: its number, or its literal if it is an axiom."""
        return str(self._write())


class Row:
    """A sum of proof lines that is built step by step: the constraint Σ terms ≥ degree.

    Attributes:
        terms: the coefficient of each variable itself. VeriPB writes the magnitude of a negative
            coefficient before the negated literal.
        degree: the right-hand side, in the same terms.

    >>> row = Row()
    >>> row.add(Line.given({"x1": 3, "~x2": 2}, 3, number=7), 5)
    >>> row.add(Line.axiom("~x1"), 1)
    >>> row.round(10)
    >>> row.words(), dict(row.terms), row.degree
    ('7 5 * ~x1 + 10 d 10 *', {'x1': 20, 'x2': -10}, 10)
    """

    def __init__(self) -> None:
        self.terms, self.degree = defaultdict[str, int](int), 0
        self._steps: list[tuple[Line | None, int]] = []  # a line to add, or None to divide

    def add(self, line: Line, times: int = 1) -> None:
        """Add a multiple of a line to the row."""
        self._steps.append((line, times))
        self.degree += times * line.degree
        for literal, amount in line.terms.items():
            if literal.startswith("~"):
                self.degree -= times * amount
                amount = -amount
            self.terms[literal.removeprefix("~")] += times * amount

    def add_row(self, other: Row) -> None:
        """Add another row to this row; the other row must not contain a division."""
        self._steps += other._steps
        self.degree += other.degree
        for variable, amount in other.terms.items():
            self.terms[variable] += amount

    def round(self, divisor: int) -> None:
        """Round all coefficients and the right-hand side up to multiples of `divisor`."""
        self._divide(divisor, divisor)

    def divide(self, divisor: int) -> None:
        """Divide by `divisor`, rounding all coefficients and the right-hand side up."""
        self._divide(divisor, 1)

    def _divide(self, divisor: int, times: int) -> None:
        if divisor == 1:
            return
        self._steps.append((None, divisor))
        if times > 1:
            self._steps.append((None, -times))
        degree = -(-self.literal_degree // divisor) * times
        for variable, amount in self.terms.items():
            rounded = -(-abs(amount) // divisor) * times
            self.terms[variable] = rounded if amount > 0 else -rounded
            degree -= rounded * (amount < 0)
        self.degree = degree

    def give_away(self, variable: str) -> None:
        """Eliminate a variable by assuming its worst value."""
        amount = self.terms[variable]
        if amount:
            self.add(Line.axiom(f"~{variable}" if amount > 0 else variable), abs(amount))

    def literals(self) -> Terms:
        """Return the coefficients of literals in VeriPB's form, in which they are all positive."""
        return {f"~{variable}" if amount < 0 else variable: abs(amount)
                for variable, amount in self.terms.items() if amount}  # fmt: skip

    @property
    def literal_degree(self) -> int:
        """The right-hand side of the sum in VeriPB's form."""
        return self.degree + sum(-amount for amount in self.terms.values() if amount < 0)

    def words(self) -> str:
        """Write the lines that the sum uses, and return the sum in reverse Polish notation."""
        words: list[str] = []
        for line, times in self._steps:
            if line is None:
                words.append(f"{times} d" if times > 0 else f"{-times} *")
                continue
            words.append(line.name + (f" {times} *" if times != 1 else "") + " +" * bool(words))
        return " ".join(words)

    def line(self, script: Script) -> Line:
        """Return the sum as one line, written to the script when it is first used."""
        return Line(self.literals(), self.literal_degree, lambda: script.pol(self.words()))


def literal_of(number: int) -> str:
    """Return the literal of spin k, or its negation for -k."""
    return f"x{number}" if number > 0 else f"~x{-number}"


def negated(literal: str) -> str:
    """Return the opposite literal."""
    return literal.removeprefix("~") if literal.startswith("~") else f"~{literal}"


def _spelled(terms: Terms, degree: int) -> str:
    return " ".join(f"{amount} {literal}" for literal, amount in terms.items()) + f" >= {degree}"
