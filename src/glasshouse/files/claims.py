"""A file's statements about its optimum, and their comparison with a proof."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import CertificateError, ExactForm, Proven, Verdict, exact_energy
from glasshouse.planting import Planted
from glasshouse.problems import Measure, Number, Problem, Reduction, to_bits, validation
from glasshouse.summaries import Summarised


@dataclass(frozen=True, eq=False, repr=False)
class Stated(Summarised):
    """A file's unproven statements about its problem: a cost, a model and a recipe.

    Attributes:
        cost: the energy or cost of the planted model, in the weights of the problem.
        model: the planted state as 0 and 1 (spin down and up), one value per variable.
        recipe: the recipe of the instance, as `Recipe.to_json` writes it.
        spelled: the cost as the file spells it, for instance a cut; None if it follows from `cost`.
    """

    cost: Number | None = None
    model: npt.NDArray[np.int8] | None = None
    recipe: dict[str, Any] | None = None
    spelled: Number | None = None

    def __post_init__(self) -> None:
        if self.model is not None:  # it must not change after it was compared with a proof
            object.__setattr__(self, "model", validation.read_only(self.model))

    @classmethod
    def of(cls, planted: Planted) -> Stated:
        """Return the statements of a file about a plant: its cost, model and recipe."""
        return cls(planted.energy, to_bits(planted.state), json.loads(planted.recipe.to_json()))

    def reduced(self, source: Problem, reduction: Reduction) -> Stated:
        """Return the statements, converted for the problem to which `source` was reduced."""
        cost, model = self.cost, self.model
        if cost is not None:
            cost = reduction.target_energy(cost)
        if model is not None:
            model = to_bits(reduction.forward(source.space.from_bits(model)))
        return Stated(cost, model, self.recipe)

    @property
    def recipe_alone(self) -> Stated:
        """The statements without cost and model, because these two would need a proof."""
        return Stated(recipe=self.recipe)

    def value(self, measure: Measure) -> Number | None:
        """Return the stated optimum in the file's measure, such as a cut; None if not stated."""
        if self.spelled is not None or self.cost is None:
            return self.spelled
        return measure.of(self.cost)

    def cost_of_model(self, problem: Problem) -> Number:
        """Return the energy or cost of the stated model."""
        assert self.model is not None
        cost: Number = problem.energy(problem.space.from_bits(self.model))
        return cost

    def energy_of_model(self, problem: Problem, measure: Measure) -> Fraction:
        """Return the exact energy of the stated model; raise if it differs from the stated cost."""
        assert self.model is not None
        reached = exact_energy(problem, problem.space.from_bits(self.model))
        if self.cost is not None and not agrees(problem, self.cost, reached):
            said = f"but its model has {measure.said(reached)}"
            raise CertificateError(f"the file states {self._in_words(measure)}, {said}")
        return reached

    def refuse_false(self, proven: Proven, measure: Measure) -> None:
        """Raise a CertificateError if a proof refutes the stated cost or model."""
        problem, verdict = proven.problem, proven.verdict
        best, stated = verdict.exact_energy, f"the file states {self._in_words(measure)}"
        is_equal = self.cost is None or agrees(problem, self.cost, best)
        if not verdict.optimal:
            if self.cost is not None and Fraction(self.cost) < verdict.lower_bound:
                raise CertificateError(f"{stated}, but no state has {beyond(measure, verdict)}")
            if not is_equal and Fraction(self.cost or 0) > best:
                raise CertificateError(
                    f"{stated}, but the certificate's state has {measure.said(best)}"
                )
            return
        optimum = f"the {measure.best} {measure.name} is {validation.shown(measure.of(best))}"
        if not is_equal:
            raise CertificateError(f"{stated}, but {optimum}")
        if self.model is None or np.array_equal(self.model, proven.certificate.state > 0):
            return
        reached = exact_energy(problem, problem.space.from_bits(self.model))
        if reached != best:
            raise CertificateError(f"the stated model has {measure.said(reached)}, but {optimum}")

    def _in_words(self, measure: Measure) -> str:
        return f"{measure.phrase} of {self.value(measure)}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stated):
            return NotImplemented
        if self.model is None or other.model is None:
            has_same_model = self.model is other.model
        else:
            has_same_model = np.array_equal(self.model, other.model)
        return has_same_model and (self.cost, self.recipe) == (other.cost, other.recipe)

    __hash__ = None  # type: ignore[assignment]


def beyond(measure: Measure, verdict: Verdict) -> str:
    """Return a text about the values that a bound excludes, such as "a cut above 12"."""
    return f"{measure.phrase} {measure.beyond} {measure.bound(verdict.lower_bound)}"


def agrees(problem: Problem, stated: Number, cost: Fraction) -> bool:
    """Return whether a stated cost equals the exact cost, up to rounding of floats.

    A stated float may differ by the rounding error of adding up the terms.
    """
    error = abs(Fraction(stated) - cost)
    if problem.is_integer or error == 0:
        return error == 0
    form = ExactForm.of(problem)
    largest = Fraction(form.total + abs(form.constant), form.scale)
    return error <= Fraction(len(form.edges) + 1, 2**52) * largest
