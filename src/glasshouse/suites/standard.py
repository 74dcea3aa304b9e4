"""Suites of standard instances: the user's own files, recognised by their content.

Each file is converted to clauses through its reduced graph: the same bytes for every copy of an
instance, in any format. The optimum comes from the instance's certificate, if there is one,
which is then verified when the suite is loaded. Otherwise it comes from the table of
glasshouse, whose certificates were verified when the table was made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from glasshouse.certificates import CertificateError
from glasshouse.files import Document, FileError, Known, read_document, write
from glasshouse.files.certificate.reading import has_side_car, read_side_car, side_car
from glasshouse.files.writing import make_folder
from glasshouse.library import Instance, Recognition, ReducedGraph, instances, recognise
from glasshouse.problems import to_max2sat
from glasshouse.summaries import Summarised

BY_CERTIFICATE = "certificate"  # verified when the suite was loaded
TRUTH_BY, VALUE, PER_COST = "truth_by", "known_value", "value_per_cost"  # keys of parameters
_CERTIFICATES = (".cert", ".cert.xz", ".cert.gz")


@dataclass(frozen=True, repr=False)
class SuiteInstance(Summarised):
    """One instance of a suite: a file, its parameters, and the proven bounds on its optimum.

    Attributes:
        name: for a standard instance, its name in the literature; otherwise its family, parameters
            and number if they are known, or its file.
        path: a file of clauses.
        parameters: the method and parameters that grew it; for a standard instance, its family,
            size and best known value, and the source of its optimum; empty if unknown.
        known: the bounds of its optimum, as costs of the clauses.
    """

    name: str
    path: Path
    parameters: Mapping[str, Any]
    known: Known


def standard_families() -> dict[str, int]:
    """Return the names of all families of standard instances, with the number of instances in each.

    >>> families = standard_families()
    >>> families["biqmac"] >= families["biqmac:ising"] > 0
    True
    """
    parts = [k.family.split(":") for k in instances()]
    names = sorted({":".join(one[: n + 1]) for one in parts for n in range(len(one))})
    return {name: sum(k.is_of(name) for k in instances()) for name in names}


def standard_copies(
    family: str, folder: Path, cache: Path, certificates: Path | None = None
) -> tuple[list[SuiteInstance], list[str]]:
    """Return a family's instances in a folder, and the names of the instances that it lacks.

    Args:
        family: one of `standard_families()`.
        folder: a folder with any files and subfolders; files that are not an instance of the
            family are ignored.
        cache: the folder for the clauses.
        certificates: a folder with certificates `NAME.cert`, plain or compressed; subfolders are
            searched, too.

    Raises:
        CertificateError: a certificate does not prove what it states about its file.
        ValueError: the folder has no instance of the family.
    """
    for place in (folder, certificates):
        if place is not None and not place.is_dir():
            raise ValueError(f"{place} is not a folder; pass an existing folder")
    members = tuple(k for k in instances() if k.is_of(family))
    proofs = {
        path.name.removesuffix(suffix): path
        for path in (() if certificates is None else sorted(certificates.rglob("*.cert*")))
        for suffix in _CERTIFICATES
        if path.name.endswith(suffix)
    }
    place = cache / family.replace(":", "-")
    copies: dict[str, SuiteInstance] = {}
    for document, found in _recognised(folder, members):
        if found.instance.name not in copies:  # A folder may contain an instance in two formats.
            own = document.path
            beside = side_car(own) if own is not None and has_side_car(own) else None
            proof = proofs.get(found.instance.name, beside)
            copies[found.instance.name] = _copy(document, found, place, proof)
    if not copies:
        raise ValueError(f"{folder} contains none of the {len(members)} instances of {family}")
    there = [copies[k.name] for k in members if k.name in copies]
    return there, [k.name for k in members if k.name not in copies]


def _recognised(
    folder: Path, among: tuple[Instance, ...]
) -> Iterator[tuple[Document, Recognition]]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.name.endswith(_CERTIFICATES):
            continue
        try:
            document = read_document(path)
        except FileError:  # for instance a README, or an instance of another kind
            continue
        if (found := recognise(document.problem, among)) is not None:
            yield document, found


def _copy(document: Document, found: Recognition, place: Path, proof: Path | None) -> SuiteInstance:
    instance = found.instance
    spins = ReducedGraph(document.problem).problem(instance.variables)
    clauses, reduction = to_max2sat(spins)
    path = place / f"{instance.name}.wcnf"
    make_folder(place)
    write(path, clauses, overwrite=True)
    sums = instance.reduced(instance.bound), instance.reduced(instance.value)
    by = f"table of glasshouse {instance.version}"
    if proof is not None and (proven := _proven(document, found, proof)) is not None:
        sums, by = proven, BY_CERTIFICATE
    bound, best = (Fraction(reduction.target_energy(each)) for each in sums)
    parameters = {
        "family": instance.family, "variables": instance.variables, TRUTH_BY: by,
        VALUE: str(instance.value), PER_COST: str(instance.scale.factor / reduction.factor),
    }  # fmt: skip
    return SuiteInstance(instance.name, path, parameters, Known(math.ceil(bound), int(best)))


def _proven(
    document: Document, found: Recognition, proof: Path
) -> tuple[Fraction, Fraction] | None:
    """Return a certificate's bound and value; None if those in the table are better."""
    try:
        verdict = document.examined(read_side_car(proof)).verdict
    except CertificateError as fault:
        raise CertificateError(f"{proof} does not certify {document.path}: {fault}") from None
    scale, instance = found.scale, found.instance
    bound, value = (
        (Fraction(energy) - scale.shift) / scale.factor
        for energy in (verdict.lower_bound, verdict.exact_energy)
    )
    is_weaker = bound < instance.reduced(instance.bound) or value > instance.reduced(instance.value)
    return None if is_weaker else (bound, value)
