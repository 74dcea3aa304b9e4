"""The bounds and costs that are known of a file, because they were proven here and now."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from glasshouse.certificates import Certificate, CertificateError
from glasshouse.certificates.exact_form import ExactForm, exact_energy
from glasshouse.certificates.verdict import check_fit, examined
from glasshouse.files.certificate.reading import has_side_car, read_side_car, side_car
from glasshouse.files.claims import certified_optimum, examine
from glasshouse.files.clause_file import ClauseFile, literal_pairs, read_clauses
from glasshouse.files.document import Document
from glasshouse.files.reading import read_document
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.streams import format_suffix, refuse_pipe
from glasshouse.problems import Max2Sat
from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError, satisfy
from glasshouse.problems.naming import Units
from glasshouse.summaries import Summarised

CLAUSE_SUFFIXES = (".wcnf", ".cnf")


@dataclass(frozen=True, repr=False)
class Truth(Summarised):
    """What is known about the optimum of a file.

    Attributes:
        bound: proven: no assignment costs less; None where nothing is.
        best: the cost of a known assignment; None where there is none.
        is_infeasible: proven: no assignment satisfies the hard clauses.
    """

    bound: int | None = None
    best: int | None = None
    is_infeasible: bool = field(default=False, repr=False)

    @property
    def optimum(self) -> int | None:
        """The least cost, where it is proven."""
        return self.best if self.best is not None and self.best == self.bound else None


def truth_of(
    path: str | os.PathLike[str], certificate: str | os.PathLike[str] | None = None
) -> Truth:
    """What the certificate beside a file of clauses, or another one, proves about it.

    Without a certificate little is known: empty soft clauses are always violated; hard clauses of
    two literals are decided; and the model that the file states is evaluated, which shows that some
    assignment costs so much, and no more than that. Then clauses may be of any length. Weights that
    add up to 2^63 or more need a certificate of loops alone.

    Raises:
        CertificateError: something stated is false.
        FileError: a file cannot be read.
    """
    path = Path(path)
    refuse_pipe(path)
    try:
        document = read_document(path)
    except ValueError:
        if not is_of_clauses(path):
            raise
        clauses = read_clauses(path)
        if clauses.is_one_of_ours:
            raise  # then something else is wrong with the file
        if certificate is None and not has_side_car(path):
            return _evident(clauses)
        return _proven_by_loops(clauses, Path(certificate or side_car(path)))
    if not isinstance(document.problem, Max2Sat) or not document.problem.is_integer:
        raise FileError(path, f"holds {document.problem!r}; expected clauses with whole weights")
    if certificate is not None:
        proof = Path(certificate)
        document = replace(document, load_proof=lambda: read_side_car(proof))
    try:
        if document.load_proof is not None:
            return _proven(document)
        return _stated(document, _evident(read_clauses(path)))
    except CertificateError as lie:
        raise CertificateError(f"{path}: {lie}") from None


def is_of_clauses(path: Path) -> bool:
    """Whether a file's suffix says that it holds clauses."""
    return format_suffix(path) in CLAUSE_SUFFIXES


def _proven(document: Document) -> Truth:
    assert document.load_proof is not None
    verdict = examine(document, document.load_proof())
    return Truth(math.ceil(verdict.lower_bound), int(verdict.energy))


def proven_truth(clauses: ClauseFile, certificate: Certificate) -> Truth:
    """What a certificate proves about clauses of at most two literals, with weights of any size.

    The same computation as `verify`, of which the library's problems are the smaller case.

    Raises:
        CertificateError: the certificate does not fit, or its state breaks a hard clause.

    >>> clauses = ClauseFile(1, ((2**64, (1,)), (3, (-1,))), ())
    >>> proven_truth(clauses, Certificate([1], [], [0], []))
    Truth(bound=3, best=3)
    """
    check_fit(certificate, clauses.num_variables)
    if broken := clauses.broken((certificate.state > 0).tolist()):
        raise CertificateError(f"the certificate's state breaks {broken} hard clauses")
    weights = np.array([weight for weight, _ in clauses.soft], dtype=object)
    penalty = 1 + sum(weights.tolist())
    soft, hard = literal_pairs([clause for _, clause in clauses.soft]), literal_pairs(clauses.hard)
    form = ExactForm.of_clauses(clauses.num_variables, soft, weights, hard, penalty)
    value, _, lowest = examined(form, certificate)
    cost, rest = divmod(value, form.scale)
    least, other = divmod(lowest, form.scale)
    if rest or other:
        raise CertificateError(
            "the certificate proves a fraction of a weight, but costs of whole weights are integers"
        )
    return Truth(least, cost)


def _proven_by_loops(clauses: ClauseFile, path: Path) -> Truth:
    """What a certificate file proves about clauses that the library's problems cannot hold."""
    beside = read_side_car(path)
    if beside.certificate.tree is not None or beside.certificate.squares:
        raise FileError(
            path, "has branches or squares; weights of 2^63 or more in sum need loops alone"
        )
    try:
        truth = proven_truth(clauses, beside.certificate)
    except ValueError as fault:
        raise CertificateError(f"{path}: {fault}") from None
    if beside.cost not in (None, truth.best):
        raise CertificateError(
            f"{path}: the certificate states a cost of {beside.cost}, but its state costs "
            f"{truth.best}"
        )
    return truth


def _evident(clauses: ClauseFile) -> Truth:
    """What any file shows by itself."""
    bound = sum(weight for weight, clause in clauses.soft if not clause)
    if not all(clauses.hard):
        return Truth(is_infeasible=True)
    if any(len(clause) > 2 for clause in clauses.hard):
        return Truth(bound)
    try:
        model = satisfy(clauses.num_variables, literal_pairs(clauses.hard))
    except HardClausesUnsatisfiableError:
        return Truth(is_infeasible=True)
    return Truth(bound, clauses.cost(model.tolist()))


def _stated(document: Document, evident: Truth) -> Truth:
    """A stated model shows that its own cost can be had; a stated cost alone shows nothing."""
    problem, model = document.problem, document.metadata.planted_model
    assert isinstance(problem, Max2Sat)
    if model is None or problem.broken(model):
        return evident
    cost = int(document.metadata.cost_of_model(problem))
    return replace(evident, best=cost if evident.best is None else min(cost, evident.best))


@dataclass(frozen=True, repr=False)
class KnownProblem(Summarised):
    """A problem with what is proven of its energies.

    Attributes:
        document: the file as it was read.
        bound: no state has a lower energy; None where nothing is proven.
        best: the energy of a state that is known; None where none is.
    """

    document: Document
    bound: Fraction | None = None
    best: Fraction | None = None


def known_problem(
    path: str | os.PathLike[str],
    certificate: str | os.PathLike[str] | None = None,
    *,
    units: Units | None = None,
) -> KnownProblem:
    """A problem file, and what its certificate proves.

    Args:
        path: any problem file.
        certificate: of the file, if it is not beside it.
        units: those of a matrix.

    Raises:
        CertificateError: something stated is false.
        FileError: a file cannot be read.

    >>> import tempfile
    >>> from glasshouse.files import write
    >>> from glasshouse.planting import random_loops
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plant = random_loops(4, 4, frustration="1/5", loops=3, rng=1)
    ...     _ = write(f"{folder}/inst.coo", plant)
    ...     known = known_problem(f"{folder}/inst.coo")
    >>> known.bound == known.best == plant.energy
    True
    """
    document = read_document(path, units=units)
    if certificate is not None:
        proof = Path(certificate)
        document = replace(document, planted=None, load_proof=lambda: read_side_car(proof))
    try:
        if document.load_proof is not None:
            verdict = examine(document, document.load_proof())
            return KnownProblem(document, Fraction(verdict.lower_bound), verdict.exact_energy)
        optimum = certified_optimum(document)
    except CertificateError as lie:
        raise CertificateError(f"{path}: {lie}") from None
    if optimum is not None:
        return KnownProblem(document, optimum.exact_energy, optimum.exact_energy)
    return KnownProblem(document, None, _of_stated_model(document))


def _of_stated_model(document: Document) -> Fraction | None:
    """The energy of the model that a file states: some state has it, which shows no more."""
    problem, model = document.problem, document.metadata.planted_model
    if model is None or (isinstance(problem, Max2Sat) and problem.broken(model)):
        return None
    return exact_energy(problem, problem.space.from_bits(model))
