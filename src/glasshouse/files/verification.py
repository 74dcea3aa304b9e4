"""Verifying files: what a file states about its optimum, proven from the file and its side-car."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from glasshouse.files.certificate import SideCar, in_ising_units, read_side_car, side_car
from glasshouse.files.document import Document
from glasshouse.files.errors import FileError
from glasshouse.files.reading import read_document
from glasshouse.planting import CertificateError
from glasshouse.problems import Ising, Max2Sat, Problem, exact
from glasshouse.problems.checks import Number
from glasshouse.problems.convert import to_ising
from glasshouse.problems.reduction import Reduction


@dataclass(frozen=True)
class Verification:
    """What was verified about a file.

    Attributes:
        cost: of the certified state, in the file's own weights: the least there is if `proven`.
        proven: whether loops showed that no state costs less; else a stated model reaches the
            stated cost, no more.
        loops: how many loops the proof has.
        certificate: the side-car it was read from; None for native files and for no proof.
    """

    cost: Number
    proven: bool
    loops: int
    certificate: Path | None


def verify_file(
    path: str | os.PathLike[str], certificate: str | os.PathLike[str] | None = None
) -> Verification:
    """Verify what a file says about its optimum, trusting nothing that made it.

    A native file proves itself with its loops; any other file is checked against its side-car,
    `path` + ".cert", or the certificate given. All that is stated (cost, model) must agree with
    what is proven. Without a certificate only the stated cost is checked against the stated model.

    Raises:
        CertificateError: something stated is not true, or not proven by the loops.
        FileError: a file cannot be read, or states nothing that could be verified.
    """
    path = Path(path)
    document = read_document(path)
    beside = Path(certificate) if certificate is not None else side_car(path)
    try:
        if certificate is not None or document.load_proof is not None:
            cost, loops = verify_document(document, read_side_car(beside))
            return Verification(cost, True, loops, beside)
        if document.planted is not None:
            document.planted.verify()
            return Verification(
                document.planted.energy, True, document.planted.loops.num_loops, None
            )
        return _by_model(path, document)
    except CertificateError as lie:
        raise CertificateError(f"{path}: {lie}") from None


def verify_document(document: Document, beside: SideCar) -> tuple[Number, int]:
    """The least cost and the loops that prove it, or a CertificateError for anything untrue.

    Not verified are a recipe (`Planted.from_recipe` grows it) and the names of a shuffled file.
    """
    problem, proof = document.problem, beside.certificate
    ising, reduction = to_ising(problem)
    _refuse_broken_clauses(problem, proof.state)
    gap = in_ising_units(problem, proof, reduction).gap(ising) / reduction.factor
    cost: Number = reduction.source_energy(ising.energy(proof.state))
    step = _least_difference(problem, ising, reduction)
    if gap and gap >= step:
        raise CertificateError(
            f"the loops prove no cost below {cost - gap}, but the certificate's state costs "
            f"{cost}; costs differ by {step} at least, so it is not shown optimal"
        )
    for what, stated in (
        ("the certificate states", beside.cost),
        ("the file states", document.metadata.planted_cost),
    ):
        if stated is not None and stated != cost:
            raise CertificateError(f"{what} a cost of {stated}, but the least cost is {cost}")
    if document.metadata.planted_model is not None:
        reached = document.metadata.cost_of_model(problem)
        if reached != cost:
            raise CertificateError(
                f"the stated model costs {reached}, but the least cost is {cost}"
            )
    return cost, proof.num_loops


def _least_difference(problem: Problem, ising: Ising, reduction: Reduction) -> Fraction:
    """All differences of two costs are multiples of it; 0 where all states cost the same."""
    flip = Fraction(2 * exact.gcd(ising.weights, ising.fields)) / reduction.factor
    if not isinstance(problem, Max2Sat):
        return flip
    # A state that keeps the hard clauses costs a sum of soft weights, too.
    grain = exact.gcd(problem.weights)
    return Fraction(math.lcm(flip.numerator, grain * flip.denominator), flip.denominator)


def _by_model(path: Path, document: Document) -> Verification:
    stated = document.metadata
    if stated.planted_cost is None or stated.planted_model is None:
        raise FileError(
            path, f"states no optimum and has no {side_car(path).name}; there is nothing to verify"
        )
    reached = stated.cost_of_model(document.problem)
    if reached != stated.planted_cost:
        raise CertificateError(
            f"the file states a cost of {stated.planted_cost}, but its model costs {reached}"
        )
    return Verification(reached, False, 0, None)


def _refuse_broken_clauses(problem: Problem, state: np.ndarray) -> None:
    if isinstance(problem, Max2Sat) and problem.num_hard and len(state) == problem.num_variables:
        broken = problem.broken((state > 0).astype(np.int8))
        if broken:
            raise CertificateError(f"the certificate's state breaks {broken} hard clauses")
