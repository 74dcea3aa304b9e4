"""Documents: a problem with what is known about it, also after a reduction to another problem.

A proof is carried by reductions that keep the variables in their order: loops stay, multipliers are
scaled. Where it is not the plant's own, it is checked against the new problem and left out if it
proves less there (hard clauses that became soft ones can cost it its last grain of precision).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import CertificateError, Verdict, verify
from glasshouse.certificates.exact_form import exact_energy
from glasshouse.files.certificate.reading import SideCar
from glasshouse.files.certificate.writing import loop_units, rescaled
from glasshouse.planting import Planted, shuffling
from glasshouse.problems import Problem
from glasshouse.problems.convert import Given, given_problem
from glasshouse.problems.measure import Measure
from glasshouse.problems.reduction import Reduction, to_bits
from glasshouse.problems.validation import Number
from glasshouse.summaries import Summarised


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


def carry(document: Document, problem: Problem, reduction: Reduction) -> Document:
    """All that is known about a problem, stated for the one that it was reduced to.

    >>> from glasshouse.planting import random_loops
    >>> from glasshouse.problems.convert import to_qubo
    >>> plant = Document.of(random_loops(5, 5, frustration="1/5", loops=3, rng=1))
    >>> qubo = carry(plant, *to_qubo(plant.problem))
    >>> qubo.metadata.planted_cost, qubo.load_proof().certificate
    (-27, Certificate(10 spins, 3 loops))
    """
    moved = replace(
        document,
        problem=problem,
        metadata=document.metadata.reduced(document.problem, reduction),
        planted=None,
        load_proof=None,
        stated=None,
        measured=Measure.own,
    )
    proof = carried_proof(document, problem, reduction)
    if proof is None:
        moved = replace(moved, metadata=still_true(moved.metadata, document, problem))
    else:
        moved = replace(moved, load_proof=lambda: proof)
    return moved.as_verified() if document.is_verified else moved


def still_true(stated: Metadata, source: Document, target: Problem) -> Metadata:
    """What may be stated without a proof: not what was proven of floats, if they were rounded."""
    was_proven = source.planted is not None or source.load_proof is not None
    is_exact = source.problem.is_integer and target.is_integer
    return stated if is_exact or not was_proven else Metadata(recipe=stated.recipe)


def carried_proof(document: Document, problem: Problem, reduction: Reduction) -> SideCar | None:
    """The proof of a document for what it was reduced to; None where it cannot be carried.

    A plant that the caller states is not verified, and neither is its proof.
    """
    proof = scaled_proof(document, problem, reduction)
    if proof is None or (document.planted is not None and not document.is_verified):
        return proof
    own = _proof_of(document)
    assert own is not None
    before, after = verify(document.problem, own.certificate), _verdict(problem, proof)
    return proof if after is not None and after.optimal >= before.optimal else None


def scaled_proof(document: Document, problem: Problem, reduction: Reduction) -> SideCar | None:
    """The proof with its multipliers in units of another problem of the same variables."""
    proof = _proof_of(document)
    if proof is None or len(proof.certificate.state) != problem.num_variables:
        return None
    factor = reduction.factor * loop_units(problem) / loop_units(document.problem)
    cost = None if proof.cost is None else reduction.target_energy(proof.cost)
    return SideCar(rescaled(proof.certificate, factor), cost, proof.names)


def _proof_of(document: Document) -> SideCar | None:
    """A plant's own loops, or what stands beside the file."""
    planted = document.planted
    if planted is None:
        return None if document.load_proof is None else document.load_proof()
    names = None
    if planted.recipe.parameters.get("shuffled"):
        names = np.argsort(shuffling.names(planted.recipe, len(planted.state)))
    return SideCar(planted.certificate, planted.energy, names)


def _verdict(problem: Problem, proof: SideCar) -> Verdict | None:
    """What the proof shows there; None if it does not fit."""
    try:
        return verify(problem, proof.certificate)
    except CertificateError:  # for instance a state that breaks hard clauses
        return None
