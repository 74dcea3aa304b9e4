"""Verification of the optimum that a file states, and proven bounds and costs."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from glasshouse.certificates import Certificate, CertificateError, ExactForm, Proven, exact_energy
from glasshouse.certificates.verdict import check_fit, examined
from glasshouse.files.certificate.reading import has_side_car, read_side_car, side_car
from glasshouse.files.claims import beyond
from glasshouse.files.clause_file import ClauseFile, literal_pairs, read_clauses
from glasshouse.files.document import Document
from glasshouse.files.reading import read_document
from glasshouse.files.replanting import grown
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.streams import Place, format_suffix, name_of, refuse_pipe
from glasshouse.problems import Max2Sat, MaxSat, Measure, Number, Units
from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError, satisfy
from glasshouse.summaries import Summarised

CLAUSE_SUFFIXES = (".wcnf", ".cnf")


@dataclass(frozen=True, repr=False)
class Verification(Summarised):
    """The result of `verify_file`: the cost of the certified or stated state, and the proof if any.

    Attributes:
        cost: the energy of the certified state in the problem read; the least energy if `proven`.
        value: the cost in the file's own measure: a cut, an objective, a cost.
        measure: the file's measure, and how it follows from the energy.
        proven: the proof that no state costs less; None if the file has no proof, and its stated
            model was found to have the stated cost.
        certificate: the side-car that was read; None for native files and without a proof.
    """

    cost: Number
    value: Number
    measure: Measure
    proven: Proven | None
    certificate: Path | None = None

    @property
    def loops(self) -> int:
        """The number of loops in the proof."""
        return 0 if self.proven is None else self.proven.certificate.num_loops

    @property
    def squares(self) -> int:
        """The number of squares in the proof."""
        return 0 if self.proven is None else self.proven.certificate.num_squares

    @property
    def leaves(self) -> int:
        """The number of leaves in the proof's tree; 1 if there is no tree."""
        return 1 if self.proven is None else self.proven.certificate.num_leaves

    def summary(self) -> str:
        """Return one human-readable line, which begins with the value in the file's measure."""
        energy = "" if self.measure.is_energy else f"energy {self.cost}, "
        if self.proven is not None:
            how = f"{energy}proven by {self.proven.certificate.parts}"
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
    recipe: bool = False,
) -> Verification:
    """Verify a file's statements about its optimum, without trusting the program that wrote it.

    A native file proves itself with its loops and squares; any other file is checked against its
    side-car, `path` + ".cert", or the given certificate. All statements (cost, model) must
    agree with what is proven. Without a certificate, only the stated cost is checked against the
    stated model.

    The names of a shuffled file are not verified, nor is its recipe unless `recipe` is True.

    Args:
        place: the file, or an open stream of bytes.
        certificate: the certificate file, if it is not next to the file.
        format: the file's format, if it has no suffix.
        units: the units of a matrix, see `read`.
        recipe: also grow the stated recipe, and compare the result with the file. This proves the
            optimum of a file without a certificate.

    Raises:
        CertificateError: a statement is false, or not proven by loops and squares; or the recipe
            does not grow the file.
        FileError: a file cannot be read, or states nothing that can be verified.

    >>> import tempfile
    >>> from glasshouse.files import write
    >>> from glasshouse.planting import random_loops
    >>> folder = tempfile.TemporaryDirectory()
    >>> place = Path(folder.name) / "inst.wcnf"
    >>> _ = write(place, random_loops(4, 4, frustration="1/5", loops=3, rng=1))
    >>> result = verify_file(place, recipe=True)
    >>> result.proven, result.cost, result.loops
    (Proven(9 is the optimum, by 3 loops), 9, 3)
    >>> folder.cleanup()
    """
    document = read_document(place, format=format, units=units).with_certificate(certificate)
    beside = None if document.load_proof is None else Path(certificate or side_car(name_of(place)))
    document = grown(document) if recipe else document
    return replace(verify_document(document), certificate=beside)


def verify_document(document: Document) -> Verification:
    """Verify a document's statements about its optimum, as `verify_file` does for a file."""
    path, proven, measure = document.path, document.proven, document.measure
    if proven is None:
        return _by_model(path or Path("document"), document)
    verdict = proven.verdict
    if not verdict.optimal:
        raise CertificateError(
            f"{path}: the certificate proves that no state has {beyond(measure, verdict)}, but its "
            f"state has {measure.said(verdict.exact_energy)}, so no optimum is proven"
        )
    return Verification(verdict.energy, measure.of(verdict.exact_energy), measure, proven)


def _by_model(path: Path, document: Document) -> Verification:
    problem, stated, measure = document.problem, document.stated, document.measure
    if stated.cost is None or stated.model is None:
        raise FileError(
            path, f"states no optimum, and {side_car(path).name} is missing; pass a certificate"
        )
    try:
        reached = stated.energy_of_model(problem, measure)
    except CertificateError as lie:
        raise CertificateError(f"{path}: {lie}") from None
    return Verification(stated.cost_of_model(problem), measure.of(reached), measure, None)


@dataclass(frozen=True, repr=False)
class Known(Summarised):
    """A lower bound and the energy of a known state, which enclose the optimum of a file.

    Attributes:
        bound: a lower bound on the energy (or cost) of all states; None if no bound is known.
        best: the energy (or cost) of a known state; None if no state is known.
        is_infeasible: whether no assignment satisfies the hard clauses.
    """

    bound: Any = None
    best: Any = None
    is_infeasible: bool = field(default=False, repr=False)

    @classmethod
    def of(cls, proven: Proven) -> Known:
        """Return the bound and best energy of a proof, exactly (as integers if possible)."""
        verdict = proven.verdict
        best, is_integer = verdict.exact_energy, proven.problem.is_integer
        bound = best if verdict.optimal else Fraction(verdict.lower_bound)
        return cls(math.ceil(bound), int(best)) if is_integer else cls(bound, best)

    @property
    def optimum(self) -> Any:
        """The optimum, if `bound` and `best` are equal; otherwise None."""
        return self.best if self.best is not None and self.best == self.bound else None


def known_of(document: Document) -> Known:
    """Return the bound and best energy that the document's proof or its stated model shows.

    A stated model shows only that some state has its energy.

    Raises:
        CertificateError: a statement is false.

    >>> import tempfile
    >>> from glasshouse.files import write
    >>> from glasshouse.planting import random_loops
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plant = random_loops(4, 4, frustration="1/5", loops=3, rng=1)
    ...     _ = write(f"{folder}/inst.coo", plant)
    ...     known_of(read_document(f"{folder}/inst.coo"))
    Known(bound=-27, best=-27)
    """
    if document.proven is not None:
        return Known.of(document.proven)
    problem, model = document.problem, document.stated.model
    if model is None or (isinstance(problem, (Max2Sat, MaxSat)) and problem.broken(model)):
        return Known()
    energy = exact_energy(problem, problem.space.from_bits(model))
    return Known(None, int(energy) if problem.is_integer else energy)


def known_file(
    path: str | os.PathLike[str], certificate: str | os.PathLike[str] | None = None
) -> Known:
    """Return the bound and best cost of a clause file, proven by its certificate if it has one.

    The default certificate is the `.cert` file. Without a certificate little is known: empty
    soft clauses are always violated; hard clauses of two literals are decided; and the model that
    the file states is evaluated, which shows only that some assignment has this cost. Weights that
    add up to 2^63 or more need a certificate of loops alone.

    Raises:
        CertificateError: a statement is false.
        FileError: a file cannot be read.
    """
    path = Path(path)
    refuse_pipe(path)
    try:
        document = read_document(path).with_certificate(certificate)
    except ValueError:
        if not is_of_clauses(path):
            raise
        clauses = read_clauses(path)
        if clauses.is_one_of_ours:
            raise  # another part of the file is wrong
        if certificate is None and not has_side_car(path):
            return _evident(clauses)
        return _known_by_loops(clauses, Path(certificate or side_car(path)))
    if not isinstance(document.problem, (Max2Sat, MaxSat)) or not document.problem.is_integer:
        raise FileError(path, f"contains {document.problem!r}; expected clauses of integer weight")
    stated = known_of(document)
    if document.load_proof is not None:
        return stated
    evident = _evident(read_clauses(path))
    costs = [cost for cost in (evident.best, stated.best) if cost is not None]
    return replace(evident, best=min(costs, default=None))


def is_of_clauses(path: Path) -> bool:
    """Return whether a file has the suffix of a clause format (.wcnf, .cnf)."""
    return format_suffix(path) in CLAUSE_SUFFIXES


def known_by(clauses: ClauseFile, certificate: Certificate) -> Known:
    """Return the bound and cost that a certificate proves for two-literal clauses of any weight.

    This computes what `verify` computes, for integers of any size.

    Raises:
        CertificateError: the certificate does not fit, or its state violates a hard clause.

    >>> clauses = ClauseFile(1, ((2**64, (1,)), (3, (-1,))), ())
    >>> known_by(clauses, Certificate([1], [], [0], []))
    Known(bound=3, best=3)
    """
    check_fit(certificate, clauses.num_variables)
    if broken := clauses.broken((certificate.state > 0).tolist()):
        raise CertificateError(f"the certificate's state violates {broken} hard clauses")
    weights = np.array([weight for weight, _ in clauses.soft], dtype=object)
    penalty = 1 + sum(weights.tolist())
    soft, hard = literal_pairs([clause for _, clause in clauses.soft]), literal_pairs(clauses.hard)
    form = ExactForm.of_clauses(clauses.num_variables, soft, weights, hard, penalty)
    value, _, lowest = examined(form, certificate)
    cost, rest = divmod(value, form.scale)
    least, other = divmod(lowest, form.scale)
    if rest or other:
        raise CertificateError(
            "the certificate's cost or bound is a fraction; integer weights require integers"
        )
    return Known(least, cost)


def _known_by_loops(clauses: ClauseFile, path: Path) -> Known:
    """Return the bound and cost that a certificate file proves for weights that exceed int64."""
    beside = read_side_car(path)
    held = beside.certificate
    if held.tree is not None or held.squares or held.num_cores:
        raise FileError(path, "must have only loops if the weights add up to 2^63 or more")
    try:
        known = known_by(clauses, beside.certificate)
    except ValueError as fault:
        raise CertificateError(f"{path}: {fault}") from None
    if beside.cost not in (None, known.best):
        raise CertificateError(
            f"{path}: the certificate states a cost of {beside.cost}, but its state costs "
            f"{known.best}"
        )
    return known


def _evident(clauses: ClauseFile) -> Known:
    """Return the bound and cost that follow from the clauses, without a certificate."""
    bound = sum(weight for weight, clause in clauses.soft if not clause)
    if not all(clauses.hard):
        return Known(is_infeasible=True)
    if any(len(clause) > 2 for clause in clauses.hard):
        return Known(bound)
    try:
        model = satisfy(clauses.num_variables, literal_pairs(clauses.hard))
    except HardClausesUnsatisfiableError:
        return Known(is_infeasible=True)
    return Known(bound, clauses.cost(model.tolist()))
