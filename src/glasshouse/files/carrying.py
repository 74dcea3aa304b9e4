"""Proofs on their way from one problem to another, and so from file to file.

A proof is carried by reductions that keep the variables in their order: loops stay, multipliers are
scaled. Where it is not the plant's own, it is checked against the new problem and left out if it
proves less there (hard clauses that became soft ones can cost it its last grain of precision).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from glasshouse.certificates import CertificateError, Verdict, verify
from glasshouse.files.certificate_reading import SideCar
from glasshouse.files.document import Document, Metadata
from glasshouse.files.sidecar import loop_units, rescaled
from glasshouse.planting import shuffling
from glasshouse.problems import Problem
from glasshouse.problems.measure import Measure
from glasshouse.problems.reduction import Reduction


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
