"""Verifying files: what a file states about its optimum, proven from the file and its side-car."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from glasshouse.certificates import Certificate, CertificateError, Verdict, verify
from glasshouse.certificates.exact_form import ExactForm, exact_energy
from glasshouse.extras import MissingPackageError
from glasshouse.files.certificate.reading import SideCar, read_side_car, side_car
from glasshouse.files.document import Document, Metadata, scaled_proof
from glasshouse.files.reading import read_document
from glasshouse.files.replanting import regrow
from glasshouse.files.text.allowance import VARIABLE
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.streams import Place, name_of
from glasshouse.problems import Problem, validation
from glasshouse.problems.measure import Measure
from glasshouse.problems.naming import Units
from glasshouse.problems.validation import Number
from glasshouse.summaries import Summarised

# How many times longer Python's integers take than those of 64 bits.
_WIDE = 128


@dataclass(frozen=True, repr=False)
class Verification(Summarised):
    """What was verified about a file.

    Attributes:
        cost: of the certified state, an energy of the problem read: the least there is if `proven`.
        value: the same in the file's own words (see `measure`): a cut, an objective, a cost.
        measure: what that is, and how it follows from the energy.
        proven: whether loops and squares showed that no state costs less; else a stated model
            reaches the stated cost, no more.
        loops: how many loops the proof has.
        squares: how many squares it has.
        leaves: those of its tree; 1 without one.
        parts: all these in words.
        certificate: the side-car it was read from; None for native files and for no proof.
    """

    cost: Number
    value: Number
    measure: Measure
    proven: bool
    loops: int
    certificate: Path | None
    squares: int = 0
    leaves: int = 1
    parts: str = "nothing"

    def summary(self) -> str:
        """One line for people, the file's own number first."""
        energy = "" if self.measure.is_energy else f"energy {self.cost}, "
        if self.proven:
            how = f"{energy}proven by {self.parts}"
            return f"{self.value} is the optimum {self.measure.name} ({how})"
        energy = energy and f" ({energy.removesuffix(', ')})"
        return (
            f"the stated model has the stated {self.measure.name} {self.value}{energy}, but there "
            "is no proof that it is the optimum"
        )


def verify_file(
    place: Place,
    certificate: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,
    units: Units | None = None,
) -> Verification:
    """Verify what a file says about its optimum, trusting nothing that made it.

    A native file proves itself with its loops and squares; any other file is checked against its
    side-car, `path` + ".cert", or the certificate given. All that is stated (cost, model) must
    agree with what is proven. Without a certificate only the stated cost is checked against the
    stated model.

    Not verified are a recipe (`Planted.from_recipe` grows it) and the names of a shuffled file.

    Args:
        place: the file, or an open stream of bytes.
        certificate: where its certificate is, if not beside it.
        format: the file's format where no suffix tells it.
        units: those of a matrix, see `read`.

    Raises:
        CertificateError: something stated is not true, or not proven by loops and squares.
        FileError: a file cannot be read, or states nothing that could be verified.

    >>> import tempfile
    >>> from glasshouse.files import write
    >>> from glasshouse.planting import random_loops
    >>> folder = tempfile.TemporaryDirectory()
    >>> place = Path(folder.name) / "inst.wcnf"
    >>> _ = write(place, random_loops(4, 4, frustration="1/5", loops=3, rng=1))
    >>> result = verify_file(place)
    >>> result.proven, result.cost, result.loops
    (True, 9, 3)
    >>> folder.cleanup()
    """
    path, document = name_of(place), read_document(place, format=format, units=units)
    beside = Path(certificate) if certificate is not None else side_car(path)
    try:
        if certificate is not None or document.load_proof is not None:
            proof = read_side_car(beside)
            verdict = examine(document, proof)
            _refuse_gap(document.measure, verdict)
            value = document.measure.of(verdict.exact_energy)
            certified = proof.certificate
            return Verification(
                verdict.energy, value, document.measure, True, certified.num_loops, beside,
                certified.num_squares, certified.num_leaves, certified.parts,
            )  # fmt: skip
        if document.planted is not None:
            document.planted.verify()
            plant = document.planted
            value = document.measure.of(plant.energy)
            return Verification(
                plant.energy, value, document.measure, True, plant.loops.num_loops, None,
                plant.squares.num_squares, 1, plant.certificate.parts,
            )  # fmt: skip
        return _by_model(path, document)
    except CertificateError as lie:
        raise CertificateError(f"{path}: {lie}") from None


def examine(document: Document, beside: SideCar) -> Verdict:
    """What a certificate proves about a document, or a CertificateError for anything untrue."""
    problem, stated, measure = document.problem, document.metadata, document.measure
    _refuse_work(problem, beside)
    verdict = verify(problem, beside.certificate)
    if beside.cost is not None and not agrees(problem, beside.cost, verdict.exact_energy):
        raise CertificateError(
            f"the certificate states a cost of {validation.shown(beside.cost)}, "
            f"but its state costs {verdict.energy}"
        )
    if verdict.optimal:
        _compare(document, verdict.exact_energy)
    elif stated.planted_cost is not None and Fraction(stated.planted_cost) < verdict.lower_bound:
        raise CertificateError(
            f"the file states {_statement(document)}, but no state has {_beyond(measure, verdict)}"
        )
    elif _is_beaten(document, verdict):
        raise CertificateError(
            f"the file states {_statement(document)}, but the certificate's state has "
            f"{measure.said(verdict.exact_energy)}"
        )
    return verdict


def _is_beaten(document: Document, verdict: Verdict) -> bool:
    """Whether a state is better than what the file states to be the least."""
    stated = document.metadata.planted_cost
    if stated is None or agrees(document.problem, stated, verdict.exact_energy):
        return False
    return Fraction(stated) > verdict.exact_energy


def _refuse_work(problem: Problem, beside: SideCar) -> None:
    """Refuse a tree that would keep us busy out of all proportion to its file.

    Every leaf looks at all edges and at all common parts; wide numbers take longer.
    """
    certificate, tree = beside.certificate, beside.certificate.tree
    if tree is None or beside.most_work is None:
        return
    common = int(certificate.starts[tree.common_loops])
    common += certificate.squares.chosen([slice(0, tree.common_squares)]).num_terms
    size, terms = problem.num_variables, problem.num_edges
    width = 1 + _most_digits(certificate) // 64
    if width > 1 or ExactForm.of(problem).weights.dtype == object:
        width *= _WIDE
    if tree.effort(size, terms + common) * width > beside.most_work:
        raise CertificateError(
            f"its tree of {tree.num_leaves} leaves would take too long to check; {VARIABLE} raises "
            "the limit, if you trust the file"
        )


def _most_digits(certificate: Certificate) -> int:
    """Binary digits of the largest number."""
    largest = [certificate.denominator, *certificate.multipliers.tolist()]
    return max(int(max(largest)).bit_length(), certificate.squares.most_digits)


def certified_optimum(document: Document) -> Verdict | None:
    """The optimum of a file that its parts or the certificate beside it prove; None without any.

    Raises:
        CertificateError: something stated is not true.
        FileError: the certificate cannot be read.
    """
    if document.planted is not None:
        verdict = verify(document.problem, document.planted.certificate)
        _compare(document, verdict.exact_energy)
    elif document.load_proof is not None:
        verdict = examine(document, document.load_proof())
    else:
        return None
    return verdict if verdict.optimal else None


def verified(document: Document) -> tuple[Document, tuple[str, ...]]:
    """A document with only what could be verified, and what was left out, in words.

    A plant is proven by its loops and squares, what a text file states by the certificate beside
    it, or by the plant that its recipe grows. What is stated without any proof is left out, and so
    is a recipe that does not grow the file's problem.

    Raises:
        CertificateError: something stated is false.
    """
    if document.is_verified:
        return document, ()
    try:
        return _verified(document)
    except CertificateError as lie:
        raise CertificateError(f"{document.path}: {lie}") from None


def _verified(document: Document) -> tuple[Document, tuple[str, ...]]:
    stated, left_out = document.metadata, []
    grown, fault = _grown(document)
    proof, is_optimal = grown, grown is not None
    if document.planted is not None:
        document.planted.verify()
        proof, is_optimal = None, True
    elif document.load_proof is not None:
        beside = document.load_proof()
        verdict = examine(document, beside)
        if verdict.optimal or not is_optimal:
            proof, is_optimal = beside, verdict.optimal
    if not is_optimal and stated.planted_cost is not None and stated.planted_model is not None:
        _reached_by_model(document)
    if not is_optimal and stated != Metadata(recipe=stated.recipe):
        why = "there is no proof" if proof is None else "the certificate proves a bound only"
        left_out.append(f"the optimum that {document.path} states ({why})")
        stated = Metadata(recipe=stated.recipe)
    planted = document.planted
    if fault is not None:
        left_out.append(f"the recipe of {document.path} ({fault})")
        stated = replace(stated, recipe=None)
        if planted is not None:  # a plant has a recipe; without it, its parts are still a proof
            proof, planted = SideCar(planted.certificate, planted.energy), None
    load = None if proof is None else (lambda: proof)
    kept = replace(document, metadata=stated, planted=planted, load_proof=load)
    return kept.as_verified(), tuple(left_out)


def _grown(document: Document) -> tuple[SideCar | None, str | None]:
    """The proof of the plant that the stated recipe grows, or why it does not grow this one."""
    recipe, path = document.metadata.recipe, document.path
    if recipe is None or path is None:
        return None, None if recipe is None else "it was not read from a file"
    try:
        planted, reduction = regrow(path, document, recipe)
    except (FileError, MissingPackageError) as fault:
        return None, str(fault).removeprefix(f"{path}: ")
    planted.verify()
    proof = scaled_proof(Document.of(planted), document.problem, reduction)
    # What else the file states must agree with it; and nothing is taken for proven unseen.
    if proof is None or not examine(document, proof).optimal:
        return None, None
    return proof, None


def _compare(document: Document, cost: Fraction) -> None:
    """Refuse a stated cost or model that is not the optimum's."""
    problem, stated, measure = document.problem, document.metadata, document.measure
    truth = f"the {measure.best} {measure.name} is {validation.shown(measure.of(cost))}"
    if stated.planted_cost is not None and not agrees(problem, stated.planted_cost, cost):
        raise CertificateError(f"the file states {_statement(document)}, but {truth}")
    if stated.planted_model is not None:
        reached = exact_energy(problem, problem.space.from_bits(stated.planted_model))
        if reached != cost:
            raise CertificateError(f"the stated model has {measure.said(reached)}, but {truth}")


def _statement(document: Document) -> str:
    """The stated optimum, as the file spells it."""
    return f"{document.measure.phrase} of {document.stated_value}"


def _beyond(measure: Measure, verdict: Verdict) -> str:
    """What no state has, by a bound."""
    return f"{measure.phrase} {measure.beyond} {measure.bound(verdict.lower_bound)}"


def agrees(problem: Problem, stated: Number, cost: Fraction) -> bool:
    """Whether a stated cost is the exact one.

    People add floats up: there the two may differ by what rounding each term can do.
    """
    error = abs(Fraction(stated) - cost)
    if problem.is_integer or error == 0:
        return error == 0
    form = ExactForm.of(problem)
    largest = Fraction(form.total + abs(form.constant), form.scale)
    return error <= Fraction(len(form.edges) + 1, 2**52) * largest


def _refuse_gap(measure: Measure, verdict: Verdict) -> None:
    if not verdict.optimal:
        raise CertificateError(
            f"the certificate proves that no state has {_beyond(measure, verdict)}, but its state "
            f"has {measure.said(verdict.exact_energy)}; it is not shown optimal"
        )


def _by_model(path: Path, document: Document) -> Verification:
    problem, stated, measure = document.problem, document.metadata, document.measure
    if stated.planted_cost is None or stated.planted_model is None:
        raise FileError(
            path, f"states no optimum and has no {side_car(path).name}; there is nothing to verify"
        )
    reached = _reached_by_model(document)
    cost = stated.cost_of_model(problem)
    return Verification(cost, measure.of(reached), measure, False, 0, None)


def _reached_by_model(document: Document) -> Fraction:
    """The energy of the model that a file states; a CertificateError if it states another."""
    problem, stated = document.problem, document.metadata
    assert stated.planted_cost is not None
    assert stated.planted_model is not None
    reached = exact_energy(problem, problem.space.from_bits(stated.planted_model))
    if not agrees(problem, stated.planted_cost, reached):
        said = document.measure.said(reached)
        raise CertificateError(f"the file states {_statement(document)}, but its model has {said}")
    return reached
