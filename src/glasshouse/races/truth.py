"""What is known about the optimum of a file, because it was proven here and now."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path

from glasshouse.certificates import CertificateError
from glasshouse.files.document import Document
from glasshouse.files.reading import read_document
from glasshouse.files.sidecar import read_side_car
from glasshouse.files.verification import examine
from glasshouse.problems import Max2Sat
from glasshouse.summaries import Summarised


@dataclass(frozen=True, repr=False)
class Truth(Summarised):
    """What is known about the optimum of a file.

    Attributes:
        bound: proven: no assignment costs less; None where nothing is.
        best: the cost of a known assignment; None where there is none.
    """

    bound: int | None = None
    best: int | None = None

    @property
    def optimum(self) -> int | None:
        """The least cost, where it is proven."""
        return self.best if self.best is not None and self.best == self.bound else None


def truth_of(
    path: str | os.PathLike[str], certificate: str | os.PathLike[str] | None = None
) -> Truth:
    """What the certificate beside a file of clauses, or another one, proves about it.

    Without a certificate the model that the file states is evaluated, which shows that some
    assignment costs so much, and no more than that.

    Raises:
        CertificateError: something stated is false.
        FileError: a file cannot be read.
    """
    path = Path(path)
    document = read_document(path)
    if not isinstance(document.problem, Max2Sat) or not document.problem.is_integer:
        raise ValueError(f"{path} holds {document.problem!r}; expected clauses with whole weights")
    if certificate is not None:
        proof = Path(certificate)
        document = replace(document, load_proof=lambda: read_side_car(proof))
    try:
        return _proven(document) if document.load_proof is not None else _stated(document)
    except CertificateError as lie:
        raise CertificateError(f"{path}: {lie}") from None


def _proven(document: Document) -> Truth:
    assert document.load_proof is not None
    verdict = examine(document, document.load_proof())
    return Truth(math.ceil(verdict.lower_bound), int(verdict.energy))


def _stated(document: Document) -> Truth:
    """A stated model shows that its own cost can be had; a stated cost alone shows nothing."""
    problem, model = document.problem, document.metadata.planted_model
    assert isinstance(problem, Max2Sat)
    if model is None or problem.broken(model):
        return Truth()
    return Truth(best=int(document.metadata.cost_of_model(problem)))
