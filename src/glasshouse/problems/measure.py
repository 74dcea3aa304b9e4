"""Measures: the value that a file reports (a cut, an objective), derived from the energy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from glasshouse.problems.convert import Problem
from glasshouse.problems.max2sat import WeightedClauses
from glasshouse.problems.reduction import nearest_float
from glasshouse.problems.validation import Number, shown

Rational = Number | Fraction


@dataclass(frozen=True)
class Measure:
    """A value that follows exactly from the energy: `value = factor · energy + shift`.

    Attributes:
        name: the name of the value, such as "cut".
        is_integer: whether values are integers; others are rounded once, to a float.
        factor: the factor of the energy; below 0 if the largest value is the best.
        shift: the value at energy 0.

    >>> cut = Measure("cut", True, Fraction(-1, 2), Fraction(17))
    >>> cut.of(-1094), cut.energy_of(564), cut.said(-1094)
    (564, -1094, 'a cut of 564')
    >>> cut.bound(-1098), cut.bound_name, cut.best
    (566, 'upper bound', 'largest')
    """

    name: str
    is_integer: bool
    factor: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)

    @classmethod
    def own(cls, problem: Problem) -> Measure:
        """Return the measure that is the problem's energy (or cost) itself."""
        return cls("cost" if isinstance(problem, WeightedClauses) else "energy", problem.is_integer)

    @classmethod
    def objective(cls, problem: Problem, sign: int = 1) -> Measure:
        """Return the measure for a model's objective; `sign` is -1 if it is maximised."""
        return cls("objective", problem.is_integer, Fraction(sign))

    @property
    def is_energy(self) -> bool:
        """Whether values are the energies (or costs) themselves."""
        return self.factor == 1 and self.shift == 0

    @property
    def best(self) -> str:
        """Whether the optimum is the "least" or the "largest" value."""
        return "least" if self.factor > 0 else "largest"

    @property
    def bound_name(self) -> str:
        """The kind of bound that a lower energy bound implies: "lower bound" or "upper bound"."""
        return "lower bound" if self.factor > 0 else "upper bound"

    @property
    def beyond(self) -> str:
        """The side of the bound on which no value can lie: "below" or "above"."""
        return "below" if self.factor > 0 else "above"

    def of(self, energy: Rational) -> Number:
        """Return the value that corresponds to an energy."""
        return self._plain(self._exact(energy))

    def bound(self, lower: Rational) -> Number:
        """Return the bound on values that a lower bound on the energy implies, rounded outwards."""
        exact = self._exact(lower)
        value = self._plain(exact)
        if self.factor > 0:
            return value if value <= exact else math.nextafter(value, -math.inf)
        return value if value >= exact else math.nextafter(value, math.inf)

    def gap(self, energies: Rational) -> Number:
        """Return the difference of two values whose energies differ by `energies`."""
        return self._plain(abs(self.factor) * Fraction(energies))

    def energy_of(self, value: Rational) -> Number:
        """Return the energy that corresponds to a value."""
        return self._plain((Fraction(value) - self.shift) / self.factor)

    @property
    def phrase(self) -> str:
        """The name with its article, such as "a cut"."""
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name}"

    def said(self, energy: Rational) -> str:
        """Return the value for an energy as text, such as "a cut of 564"."""
        return f"{self.phrase} of {shown(self.of(energy))}"

    def _exact(self, energy: Rational) -> Fraction:
        return self.factor * Fraction(energy) + self.shift

    def _plain(self, exact: Fraction) -> Number:
        is_whole = self.is_integer and exact.denominator == 1
        return int(exact) if is_whole else nearest_float(exact)
