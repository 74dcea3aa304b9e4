"""Targets for a file with a certificate: no false optimum is verified, and two checkers agree."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from fuzz import judge
from fuzz.promises import (
    BrokenPromiseError,
    Run,
    attempt,
    or_refused,
    require,
    require_one_line,
)
from glasshouse.certificates import CertificateError, checker
from glasshouse.files import FileError, read_document, side_car, verify_file
from glasshouse.problems import Problem

# The optimum that a checker verifies, or None; and the error with which it refused, or None.
Verdict = tuple[Any, Exception | None]

_TITLE = re.compile(rb"^glasshouse-certificate", re.MULTILINE)


def certified_file(suffix: str) -> Run:
    """Return a target for a file followed by its certificate, which starts at its title line."""
    return lambda data, folder: _certified(data, folder / f"pair{suffix}")


def _certified(data: bytes, path: Path) -> bool:
    title = _TITLE.search(data)
    cut = title.start() if title else len(data)
    file, certificate = data[:cut], data[cut:]
    path.write_bytes(file)
    side_car(path).write_bytes(certificate)
    verified, refusal = attempt((FileError, CertificateError), verify_file, path)
    if verified is not None and verified.proven:
        _require_optimum(verified.cost, path, file, "the library")
    if path.suffix == ".wcnf":
        second = _stand_alone(path, file.decode("latin1"), certificate.decode("latin1"))
        _require_agreement((None if verified is None else verified.cost, refusal), second)
    return verified is not None


def _stand_alone(path: Path, file: str, certificate: str) -> Verdict:
    """Return the verdict of the stand-alone checker, which must not be false either."""
    try:
        cost, least = checker.check(file, certificate)
    except (LookupError, RecursionError, TypeError, ValueError) as refusal:  # as in its main()
        require_one_line(f"REFUSED {refusal}")
        return None, refusal
    if cost != least:
        return None, None
    _require_optimum(cost, path, file.encode("latin1"), "checker.py")
    return cost, None


def _require_optimum(cost: Any, path: Path, file: bytes, who: str) -> None:
    wrong = judge.contradicts(cost, _problem(path, file))
    require(not wrong, f"{who}: VERIFIED {cost}, but {wrong}")


@lru_cache(maxsize=100)
def _problem(path: Path, file: bytes) -> Problem | None:
    """Return the problem of a file, cached so that the judge enumerates it once."""
    assert path.read_bytes() == file
    document = or_refused((FileError,), read_document, path)
    return None if document is None else document.problem


def _require_agreement(first: Verdict, second: Verdict) -> None:
    if first[0] != second[0]:
        message = f"the library verifies {first[0]}, checker.py {second[0]}"
        raise BrokenPromiseError(message) from first[1] or second[1]
