"""What a file holds: a problem, and what is known about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.exact_form import exact_energy
from glasshouse.planting import Planted
from glasshouse.problems import Problem
from glasshouse.problems.convert import Given, given_problem
from glasshouse.problems.measure import Measure
from glasshouse.problems.reduction import Reduction, to_bits
from glasshouse.problems.validation import Number
from glasshouse.summaries import Summarised

if TYPE_CHECKING:
    from glasshouse.files.certificate_reading import SideCar


@dataclass(frozen=True, eq=False, repr=False)
class Metadata(Summarised):
    """What a file says about its problem in comments, or next to it.

    Attributes:
        planted_cost: energy or cost of the planted model, in the weights of the problem it is with.
        planted_model: the planted state as 0 and 1 (spin down and up), one for each variable.
        recipe: how the instance was grown, as `Recipe.to_json` writes it.
    """

    planted_cost: Number | None = None
    planted_model: npt.NDArray[np.int8] | None = None
    recipe: dict[str, Any] | None = None

    @classmethod
    def of(cls, planted: Planted) -> Metadata:
        """All that a plant knows."""
        return cls(planted.energy, to_bits(planted.state), json.loads(planted.recipe.to_json()))

    def reduced(self, source: Problem, reduction: Reduction) -> Metadata:
        """The same, stated for the problem that `source` was reduced to."""
        cost, model = self.planted_cost, self.planted_model
        if cost is not None:
            cost = reduction.target_energy(cost)
        if model is not None:
            model = to_bits(reduction.forward(source.space.from_bits(model)))
        return Metadata(cost, model, self.recipe)

    def cost_of_model(self, problem: Problem) -> Number:
        """What the stated model costs in the problem."""
        assert self.planted_model is not None
        cost: Number = problem.energy(problem.space.from_bits(self.planted_model))
        return cost

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Metadata):
            return NotImplemented
        return (
            self.planted_cost == other.planted_cost
            and _same_model(self.planted_model, other.planted_model)
            and self.recipe == other.recipe
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, repr=False)
class Document(Summarised):
    """A problem with its metadata; with all of its plant where the file holds that.

    Attributes:
        problem: what the file states.
        metadata: what else it tells; empty for files from elsewhere.
        planted: only from native files: the loops are not in any other format.
        load_proof: reads the side-car that stands beside the file, if there is one. Its multipliers
            and its cost are in units of `problem` (see `docs/certificate.md`).
        path: the file that it was read from.
        stated: the planted cost as the file spells it, in terms of its measure; None where it is
            spelled as in the metadata, or not at all.
        measured: what gives the measure of a problem in this file.
        suffix: of the format that it was read in.
        is_verified: whether all of that was verified (see `verified`); all else is only stated. A
            copy that `dataclasses.replace` makes is not verified, because anything may differ.
    """

    problem: Problem
    metadata: Metadata = field(default_factory=Metadata)
    planted: Planted | None = None
    load_proof: Callable[[], SideCar] | None = field(default=None, compare=False, repr=False)
    path: Path | None = field(default=None, compare=False)
    stated: Number | None = field(default=None, compare=False)
    measured: Callable[[Any], Measure] = field(default=Measure.own, compare=False, repr=False)
    suffix: str = field(default="", compare=False)
    is_verified: bool = field(default=False, compare=False, init=False)

    @cached_property
    def measure(self) -> Measure:
        """The number by which readers of the file know a state: a cut, an objective, a cost."""
        return self.measured(self.problem)

    @property
    def stated_value(self) -> Number | None:
        """The optimum that the file states, in its own words."""
        cost = self.metadata.planted_cost
        return self.stated if self.stated is not None or cost is None else self.measure.of(cost)

    def value_of(self, state: npt.ArrayLike) -> Number:
        """What a state is worth in the file's own words: exact, and rounded once for floats."""
        try:
            energy = exact_energy(self.problem, state)
        except ValueError:  # floats of so different sizes that exact sums take gigabytes
            energy = Fraction(self.problem.energy(state).item())
        return self.measure.of(energy)

    @classmethod
    def of(cls, thing: Given | Document) -> Document:
        """A problem or plant with whatever the caller states about it."""
        if isinstance(thing, Document):
            return thing
        if isinstance(thing, Planted):
            return cls(thing.problem, Metadata.of(thing), thing)
        return cls(given_problem(thing))

    def as_verified(self) -> Document:
        """The same document, marked as verified: only for code that has just verified it."""
        twin = replace(self)
        object.__setattr__(twin, "is_verified", True)
        return twin


def _same_model(mine: npt.NDArray[np.int8] | None, theirs: npt.NDArray[np.int8] | None) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    return np.array_equal(mine, theirs)
