"""The writer of problems and plants: the suffix determines the format.

A stronger certificate replaces a weaker certificate, never the reverse.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from glasshouse.certificates import CertificateError, Proven, Verdict
from glasshouse.files.certificate.reading import SideCar, read_side_car, side_car
from glasshouse.files.certificate.writing import write_certificate
from glasshouse.files.claims import Stated
from glasshouse.files.document import Document, scaled_proof
from glasshouse.files.formats import format_of
from glasshouse.files.formats.cnf import WCNF
from glasshouse.files.formats.edge_wcnf import EDGE_WCNF
from glasshouse.files.formats.format import Dialect, Encoding, Format, Sheet
from glasshouse.files.text.errors import FileAccessError, FileError
from glasshouse.files.text.streams import (
    Place,
    is_stream,
    name_of,
    refuse_existing,
    refuse_pipe,
    writing,
)
from glasshouse.planting import Planted, shuffling
from glasshouse.problems import Given, Max2Sat, MaxSat, Measure, Problem, Reduction, convert
from glasshouse.summaries import Summarised

Kind = Literal["ising", "rbm", "qubo", "max2sat", "maxcut", "maxsat", "polynomial"]


@dataclass(frozen=True, repr=False)
class Written(Summarised):
    """The result of `write`: the reduction, the file's measure, and its certificate.

    Attributes:
        reduction: the reduction from the given problem to the one in the file: how their energies
            and states correspond.
        measure: the measure of the file: a cut, an objective, a cost.
        certificate: the certificate file; None if none was written.
        is_whole: whether the file itself contains the plant, with loops and squares (`.npz`).
    """

    reduction: Reduction
    measure: Measure
    certificate: Path | None
    is_whole: bool = False


def write(
    place: Place,
    thing: Given | Document,
    *,
    format: str | None = None,
    kind: Kind | None = None,
    blind: bool = False,
    dialect: Dialect = "classic",
    encoding: Encoding = "clause",
    certificate: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Written:
    """Write a problem or a plant in the format that the file's suffix gives.

    A problem of another kind is converted exactly. A plant's cost, model and recipe are written as
    comments, the cost in the file's own weights. Its loops are written into `.npz` files; for all
    other formats, they are written into a side-car, `path` + ".cert". An optimum of a document is
    copied only if the document's proof proves it (see `Document.kept`); the proof goes into the new
    side-car if it proves as much of the new file. A recipe is copied as stated, and so is a
    caller's plant; `verify_file` checks whether they are true. The file appears complete or not at
    all.

    Args:
        place: a file, whose suffix gives the format; `.gz` or `.xz` may follow. Or an open stream
            of bytes, which receives all bytes at once.
        thing: any problem, a plant, a dimod model, or a document from `read_document`.
        format: the format, if the file has no suffix: "wcnf", "npz", "qubo.gz", …
        kind: convert the problem to this kind first; by default, to the kind that the format holds.
        blind: leave out everything that reveals the optimum, including the side-car.
        dialect: the dialect of WCNF: "classic" (`p wcnf`, read by every tool) or "mse22" (`h`
            lines).
        encoding: "clause", or "edge" (only WCNF, for solvers; see `files.formats.edge_wcnf`).
        certificate: write the certificate to this file instead of a side-car, even for a blind
            file. The certificate of a stream is written only if this is given.
        overwrite: replace an existing file and its side-car.

    Raises:
        CertificateError: a document states something false.

    >>> import tempfile
    >>> from glasshouse.problems import Ising
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "bond.wcnf"
    ...     print(write(path, Ising.from_edges(2, [(0, 1)], [3])).reduction)
    ...     print(path.read_text(), end="")
    Ising → MAX-2-SAT: E_target = 1/2·E_source + 3/2
    c converted from Ising: energy = 2 * cost - 3
    p wcnf 2 2 7
    3 1 -2 0
    3 -1 2 0
    """
    format_ = _chosen(name_of(place), format_of(place, format), dialect, encoding)
    document = Document.of(thing)
    chosen, first = _of_kind(document.problem, kind)
    problem, second = format_.convert(chosen)
    reduction, plant = first.then(second), document.planted if chosen is document.problem else None
    is_wanted = not blind or certificate is not None
    proven = document.proven if isinstance(thing, Document) and is_wanted else None
    stated = document.kept[0] if isinstance(thing, Document) and is_wanted else document.stated
    known = Stated() if blind else stated.reduced(document.problem, reduction)
    planted, proof = None if blind else plant, None
    is_whole = format_.native and planted is not None
    if encoding == "clause" and (certificate is not None or (is_wanted and not is_whole)):
        proof = _carried_proof(document, problem, reduction, proven, format_)
        was_proven = document.planted is not None or document.load_proof is not None
        is_exact = document.problem.is_integer and problem.is_integer
        if proof is None and was_proven and not is_exact:
            known = known.recipe_alone  # a proof for floats may be false after rounding
    if proof is None and certificate is not None:
        raise FileError(certificate, "cannot be written, because no proof of the file is known")
    sheet = Sheet(_mixed(problem, plant), known, _remarks(second), dialect, planted)
    beside = None if is_stream(place) else side_car(name_of(place))
    goal = beside if certificate is None else Path(certificate)
    if goal is not None and goal == name_of(place):
        raise FileError(goal, "cannot be both the file and its certificate; use two file names")
    for one in (beside, goal):
        if one is not None:
            refuse_existing(one, overwrite=overwrite)
    assert format_.write is not None
    with writing(place, format, overwrite=overwrite) as file:
        format_.write(file, sheet)
    if beside is not None and (proof is None or goal != beside):
        beside.unlink(missing_ok=True)  # the old side-car does not belong to the new file
    if goal is None or proof is None:
        goal = None
    else:
        cost, names = proof.cost, proof.names
        write_certificate(goal, proof.certificate, cost=cost, names=names, overwrite=overwrite)
    return Written(reduction, (format_.measure or Measure.own)(problem), goal, is_whole)


def _of_kind(problem: Problem, kind: str | None) -> tuple[Problem, Reduction]:
    if kind is None:
        return convert.unchanged(problem)
    if kind not in get_args(Kind):
        raise ValueError(f"kind={kind!r} is not one of {', '.join(get_args(Kind))}")
    made: tuple[Problem, Reduction] = getattr(convert, f"to_{kind}")(problem)
    return made


def _carried_proof(
    document: Document,
    problem: Problem,
    reduction: Reduction,
    proven: Proven | None,
    format_: Format,
) -> SideCar | None:
    """Return the document's proof in units of `problem`; None if it proves less for `problem`.

    The plant of a caller is not verified.
    """
    if document.proof is None:
        return None
    if isinstance(problem, MaxSat) and problem.longest <= 2 and not format_.native:
        problem = convert.to_max2sat(problem)[0]  # as files with such clauses are read
    proof = scaled_proof(document, problem, reduction)
    if proof is None or proven is None:
        return proof
    try:
        after = Proven(problem, proof.certificate)
    except CertificateError:  # for instance, the state violates hard clauses
        return None
    return proof if after.verdict.optimal >= proven.verdict.optimal else None


def _mixed(problem: Any, planted: Planted | None) -> Any:
    """Reorder the clauses of a shuffled plant at random; return other problems unchanged."""
    if planted is None or not planted.recipe.parameters.get("shuffled"):
        return problem
    if not isinstance(problem, Max2Sat):
        return problem
    order = shuffling.clause_order(planted.recipe, problem.num_clauses)
    return Max2Sat(
        problem.num_variables, problem.clauses[order], problem.weights[order], problem.hard,
        problem.labels,
    )  # fmt: skip


def _chosen(path: Path, format_: Format, dialect: str, encoding: str) -> Format:
    if format_.write is None:
        raise FileError(path, f"{format_.suffix} files cannot be written; use .npz instead")
    if dialect not in ("classic", "mse22"):
        raise ValueError(f'dialect={dialect!r} is not known; use "classic" or "mse22"')
    if encoding not in ("clause", "edge"):
        raise ValueError(f'encoding={encoding!r} is not known; use "clause" or "edge"')
    if format_ is not WCNF and (dialect != "classic" or encoding != "clause"):
        raise ValueError(f"dialect and encoding require a .wcnf file, not {format_.suffix}")
    return EDGE_WCNF if encoding == "edge" else format_


def _remarks(reduction: Reduction) -> tuple[str, ...]:
    """Return a remark with the formula for the source's energy, unless this energy is the cost."""
    if reduction.factor == 1 and reduction.shift == 0:
        return ()
    source = reduction.source
    scale, shift = 1 / reduction.factor, -reduction.shift / reduction.factor
    sign = "-" if shift < 0 else "+"
    tail = f" {sign} {abs(shift)}" if shift else ""
    return (f"converted from {source}: energy = {scale} * cost{tail}",)


def standing_certificate(
    path: str | os.PathLike[str], problem: Problem
) -> tuple[Proven, SideCar] | None:
    """Verify the existing certificate at `path` for a problem; return None if there is no file.

    Raises:
        FileError: the file is not a certificate, or belongs to another problem.
    """
    path = Path(path)
    if not path.exists():
        return None
    try:
        refuse_pipe(path)
        beside = read_side_car(path)
        return Document(problem).examined(beside), beside
    except (FileError, CertificateError) as fault:
        reason = str(fault).removeprefix(str(path)).lstrip(",: ")
        raise FileError(
            path,
            f"already exists and is not a certificate of this problem ({reason}); pass "
            "overwrite=True to replace it",
        ) from None


def write_if_better(
    path: str | os.PathLike[str],
    proven: Proven,
    *,
    overwrite: bool = False,
    or_as_good: bool = False,
) -> bool:
    """Write a certificate if it is stronger than the one in `path`; return whether it was written.

    The names of a shuffled file's variables are kept, because a proof cannot recover them.

    Args:
        path: the certificate file.
        proven: the problem and the new certificate.
        overwrite: replace any existing file.
        or_as_good: also replace a certificate that proves the same; the new tree may have more
            closed leaves.
    """
    path = Path(path)
    if path.is_dir():
        refuse_existing(path, overwrite=overwrite)
    old = None if overwrite else standing_certificate(path, proven.problem)
    if old is not None and not is_better(proven.verdict, old[0].verdict, or_as_good):
        return False
    names = None if old is None else old[1].names
    write_certificate(
        path, proven.certificate, cost=proven.verdict.energy, names=names, overwrite=True
    )
    return True


def is_better(new: Verdict, old: Verdict, or_as_good: bool = False) -> bool:
    """Return whether `new` is stronger than `old`: it is optimal, or improves bound or energy.

    A higher bound with a higher energy is not stronger, nor is a lower energy with a lower bound.
    """
    if new.optimal or old.optimal:
        return new.optimal > old.optimal
    no_worse = new.bound >= old.bound and new.exact_energy <= old.exact_energy
    return no_worse and (
        or_as_good or (new.bound, new.exact_energy) != (old.bound, old.exact_energy)
    )


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, unless it exists."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise FileAccessError(
            folder, f"is not a folder, and cannot be created ({cause.strerror})"
        ) from None
