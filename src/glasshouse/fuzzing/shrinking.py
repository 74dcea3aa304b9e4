"""Shrinking: the search for the smallest instance on which a solver fails.

Whole parts are removed first: the remaining parts are proven by their own loops. Then single
clauses are removed, weights lowered and variables renamed; after each such step the optimum is
decided again, by enumeration or by `prove`. Shrinking ends when no clause can be removed, or when
time is up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from glasshouse.certificates import CertificateError
from glasshouse.files.clause_file import Layout, Line
from glasshouse.fuzzing.deciding import decide, proven_optimum
from glasshouse.fuzzing.question import MOST_WEIGHT, Question, clauses_of
from glasshouse.fuzzing.specimen import Specimen

Fails = Callable[[Question], bool]
T = TypeVar("T")

_LARGE = 2**31  # from here on, a solver may fail because of the weight


class Shrinker:
    """One run of shrinking; `best` is the smallest instance so far on which the solver fails.

    Args:
        question: the instance to shrink, on which a solver fails.
        fails: a function that asks the solver, and returns whether it fails as before.
        seconds: the time limit, after which the smallest instance so far is used.
        heaviest: the largest weight that a soft clause may get.
    """

    def __init__(
        self, question: Question, fails: Fails, seconds: float, heaviest: int = MOST_WEIGHT
    ) -> None:
        self.best = question
        self._heaviest = heaviest
        self.is_minimal = False
        self._fails = fails
        self._asked: set[bytes] = set()
        self._deadline = time.monotonic() + seconds

    def run(self, specimen: Specimen | None) -> Question:
        """Shrink the instance until nothing more can be removed or time is up; return the result.

        Without a specimen, single literals are removed, too.
        """
        if specimen is not None:
            self._fewer_parts(specimen)
        while not self.is_over:
            before = self.best
            plain = Layout(self.best.layout.dialect)
            if self.best.layout != plain:
                self._accept(replace(self.best, layout=plain))
            self._fewer_lines()
            if specimen is None:
                self._fewer_literals()
            self._lower_weights()
            self._rename()
            if self.best == before:
                self.is_minimal = not self.is_over
                break
        return self.finished()

    def _fewer_parts(self, specimen: Specimen) -> None:
        def accepted(parts: Sequence[int]) -> Sequence[int] | None:
            question = None if self.is_over else _question_of(specimen.only(parts))
            return parts if question is not None and self._accept(question) else None

        _fewest(specimen.parts, accepted)

    def finished(self) -> Question:
        """Return the smallest instance, with loops that prove its optimum if `prove` finds any."""
        if not self.best.is_decided or self.best.optimum is None:
            return self.best
        if self.best.certificate is None and (proof := proven_optimum(self.best.clauses)):
            if proof.optimum != self.best.optimum:
                raise CertificateError(
                    f"two exact methods disagree: enumeration gives {self.best.optimum}, "
                    f"but a proof gives {proof.optimum}; please report this with the file"
                )
            self.best = replace(self.best, certificate=proof.certificate)
        return self.best

    @property
    def is_over(self) -> bool:
        """Whether the time limit of the run has been reached."""
        return time.monotonic() >= self._deadline

    def _accept(self, question: Question) -> bool:
        if self.is_over or question.text in self._asked:
            return False
        self._asked.add(question.text)
        if not self._fails(question):
            return False
        self.best = question
        return True

    def _with(self, lines: Sequence[Line], num_variables: int | None = None) -> bool:
        """If the solver still fails on these lines, make them `best`; return whether it fails."""
        if self.is_over:
            return False
        size = self.best.num_variables if num_variables is None else num_variables
        decision = decide(clauses_of(size, tuple(lines)))
        if decision is None and self.best.is_decided:
            return False
        layout = self.best.layout
        if decision is None:  # nor was the optimum known before: the fault shows without it
            return self._accept(Question(size, tuple(lines), None, layout, is_decided=False))
        found = Question(size, tuple(lines), decision.optimum, layout, decision.certificate)
        return self._accept(found)

    def _fewer_lines(self) -> None:
        def accepted(lines: Sequence[Line]) -> Sequence[Line] | None:
            heavier = gathered(lines, self.best.lines, self._heaviest)
            found = self._with(lines) or (heavier != lines and self._with(heavier))
            return self.best.lines if found else None

        _fewest(self.best.lines, accepted)

    def _fewer_literals(self) -> None:
        for place, (weight, literals) in enumerate(self.best.lines):

            def accepted(
                left: Sequence[int], place: int = place, weight: int | None = weight
            ) -> Sequence[int] | None:
                lines = list(self.best.lines)
                lines[place] = weight, tuple(left)
                return left if left and self._with(lines) else None

            _fewest(literals, accepted)

    def _lower_weights(self) -> None:
        self._with_weights(lambda weight: min(weight, 1))
        while self._with_weights(lambda weight: (weight + 1) // 2):
            pass
        for place, (weight, _) in enumerate(self.best.lines):
            if weight is not None and weight > 1 and not self._with_weight(place, 1):
                self._lower(place, weight)

    def _lower(self, place: int, weight: int) -> None:
        """Lower a clause's weight, in decreasing steps, as long as the solver still fails."""
        step = weight // 2
        while step and not self.is_over:
            if weight - step >= 1 and self._with_weight(place, weight - step):
                weight -= step
            else:
                step //= 2

    def _with_weights(self, new: Callable[[int], int]) -> bool:
        lines = [(weight and new(weight), literals) for weight, literals in self.best.lines]
        return lines != list(self.best.lines) and self._with(lines)

    def _with_weight(self, place: int, weight: int) -> bool:
        lines = list(self.best.lines)
        lines[place] = weight, lines[place][1]
        return self._with(lines)

    def _rename(self) -> None:
        """Renumber the variables in order of first occurrence, and drop unused variables."""
        names: dict[int, int] = {}
        for _, literals in self.best.lines:
            for literal in literals:
                names.setdefault(abs(literal), len(names) + 1)
        size = max(1, len(names))
        lines = [
            (weight, tuple(names[abs(x)] if x > 0 else -names[abs(x)] for x in literals))
            for weight, literals in self.best.lines
        ]
        if (size, tuple(lines)) != (self.best.num_variables, self.best.lines):
            self._with(lines, size)


def _question_of(specimen: Specimen) -> Question | None:
    """Convert a specimen to a `Question`; None if neither loops nor `decide` give an optimum."""
    try:
        return specimen.question()
    except CertificateError:  # a hard clause weighs less than it did in the proof
        size = len(specimen.model)
        decision = decide(clauses_of(size, specimen.lines))
    if decision is None:
        return None
    return Question(size, specimen.lines, decision.optimum, specimen.layout, decision.certificate)


def gathered(lines: Sequence[Line], before: Sequence[Line], most: int) -> Sequence[Line]:
    """Return the lines; add all removed weight to the heaviest clause if the sum is in range.

    The sum must be at least 2^31 and at most `most`. If a solver fails because of the sum of all
    weights, no single clause could be removed otherwise.
    """
    missing = _total(before) - _total(lines)
    heaviest = max((weight or 0 for weight, _ in lines), default=0)
    if not heaviest or not _LARGE <= missing + heaviest <= most:
        return lines
    place = next(k for k, (weight, _) in enumerate(lines) if weight == heaviest)
    literals = lines[place][1]
    return [*lines[:place], (heaviest + missing, literals), *lines[place + 1 :]]


def _total(lines: Sequence[Line]) -> int:
    return sum(weight or 0 for weight, _ in lines)


def _fewest(things: Sequence[T], accepted: Callable[[Sequence[T]], Sequence[T] | None]) -> None:
    """Remove blocks of items, of decreasing size, until no single item can be removed.

    `accepted` takes the remaining items, and returns the items to continue with; None rejects them.
    """
    kept = list(things)
    size = len(kept)
    while size:
        start = 0
        changed = False
        while start < len(kept):
            left = accepted(kept[:start] + kept[start + size :])
            if left is not None:
                kept, changed = list(left), True
            else:
                start += size
        if size > 1 or not changed:
            size //= 2
