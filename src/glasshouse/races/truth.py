"""What is known about the optimum of a file, because it was proven here and now."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from glasshouse.certificates import CertificateError
from glasshouse.files.document import Document
from glasshouse.files.reading import read_document
from glasshouse.files.sidecar import has_side_car, read_side_car
from glasshouse.files.streams import format_suffix, refuse_pipe
from glasshouse.files.verification import examine
from glasshouse.problems import Max2Sat
from glasshouse.proofs.two_sat import HardClausesUnsatisfiableError, satisfy
from glasshouse.races.clause_file import ClauseFile, read_clauses
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
    assignment costs so much, and no more than that. Then clauses may be of any length.

    Raises:
        CertificateError: something stated is false.
        FileError: a file cannot be read.
    """
    path = Path(path)
    refuse_pipe(path)
    try:
        document = read_document(path)
    except ValueError:
        if certificate is not None or has_side_car(path) or not is_of_clauses(path):
            raise
        clauses = read_clauses(path)
        if clauses.is_one_of_ours:
            raise  # then something else is wrong with the file
        return _evident(clauses)
    if not isinstance(document.problem, Max2Sat) or not document.problem.is_integer:
        raise ValueError(f"{path} holds {document.problem!r}; expected clauses with whole weights")
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


def _evident(clauses: ClauseFile) -> Truth:
    """What any file shows by itself."""
    bound = sum(weight for weight, clause in clauses.soft if not clause)
    if not all(clauses.hard):
        return Truth(is_infeasible=True)
    if any(len(clause) > 2 for clause in clauses.hard):
        return Truth(bound)
    pairs = np.array([(*clause, 0)[:2] for clause in clauses.hard], dtype=np.int32)
    try:
        model = satisfy(clauses.num_variables, pairs)
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
