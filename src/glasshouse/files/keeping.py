"""Certificates that get better: a stronger one replaces a weaker one, never the reverse."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from glasshouse.certificates import Certificate, CertificateError, Verdict, verify
from glasshouse.files.certificate_reading import SideCar, read_side_car
from glasshouse.files.document import Document
from glasshouse.files.errors import FileError
from glasshouse.files.sidecar import write_certificate
from glasshouse.files.streams import refuse_existing, refuse_pipe
from glasshouse.files.verification import examine
from glasshouse.problems import Problem
from glasshouse.summaries import Summarised


@dataclass(frozen=True, repr=False)
class Standing(Summarised):
    """A certificate that stands somewhere already, and what it proves."""

    beside: SideCar
    verdict: Verdict


def standing_certificate(path: str | os.PathLike[str], problem: Problem) -> Standing | None:
    """The certificate at a place, if it is one of a problem; None where nothing stands there.

    Raises:
        FileError: something else stands there, or a certificate of another problem.
    """
    path = Path(path)
    if not path.exists():
        return None
    try:
        refuse_pipe(path)
        beside = read_side_car(path)
        return Standing(beside, examine(Document(problem), beside))
    except (FileError, CertificateError) as fault:
        reason = str(fault).removeprefix(str(path)).lstrip(",: ")
        raise FileError(
            path,
            f"exists already and is no certificate of this problem ({reason}); say overwrite=True "
            "to replace it",
        ) from None


def write_if_better(
    path: str | os.PathLike[str],
    problem: Problem,
    certificate: Certificate,
    *,
    overwrite: bool = False,
    or_as_good: bool = False,
) -> bool:
    """Write a certificate unless one that proves as much stands there; True if it was written.

    The names of a shuffled file's variables, which a proof cannot find again, stay in it.

    Args:
        path: where it goes.
        problem: what it is about.
        certificate: the new one.
        overwrite: replace whatever is there.
        or_as_good: replace also what proves the same: a tree may have more of its leaves closed.
    """
    new = verify(problem, certificate)
    return write_verified(Path(path), problem, certificate, new, overwrite, or_as_good)


def write_verified(
    path: Path,
    problem: Problem,
    certificate: Certificate,
    new: Verdict,
    overwrite: bool,
    or_as_good: bool,
) -> bool:
    """Do the same with a certificate whose verdict `verify` has just returned.

    A large certificate takes seconds to verify.
    """
    if path.is_dir():
        refuse_existing(path, overwrite=overwrite)
    old = None if overwrite else standing_certificate(path, problem)
    if old is not None and not is_better(new, old.verdict, or_as_good):
        return False
    names = None if old is None else old.beside.names
    write_certificate(path, certificate, cost=new.energy, names=names, overwrite=True)
    return True


def is_better(new: Verdict, old: Verdict, or_as_good: bool = False) -> bool:
    """Whether a verdict says more: that a state is optimal; or a higher bound or a lower energy.

    Neither may be lost for the other: then the old one stays.
    """
    if new.optimal or old.optimal:
        return new.optimal > old.optimal
    no_worse = new.bound >= old.bound and new.exact_energy <= old.exact_energy
    return no_worse and (
        or_as_good or (new.bound, new.exact_energy) != (old.bound, old.exact_energy)
    )
