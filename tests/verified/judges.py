"""Three checkers behind one question: what is the state's value, and what is the best possible?"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from tests.children import PATIENCE
from tests.verified.corpus import Case

from glasshouse import files
from glasshouse.certificates import CertificateError, checker
from glasshouse.cli.verified import find_program
from glasshouse.files.formats.maxcut import cut_of

Answer = tuple[Fraction, Fraction] | None


def find_verified() -> str | None:
    """The program that `make verified` builds, or one that is installed."""
    try:
        return find_program()
    except ValueError:
        return None


def stand_alone(case: Case) -> Answer:
    """The stand-alone checker's value and bound; None if it refuses."""
    texts = (text.decode("latin1") for text in case[1:])
    try:
        kinds = (case.suffix == suffix for suffix in (".sparse", ".hubo"))
        return checker.check(*texts, case.suffix in (".mc", ".sparse"), *kinds)
    except (RecursionError, ValueError):  # the errors that its command catches
        return None


def library(case: Case, folder: Path) -> Answer:
    """The library's value and bound; None if it refuses."""
    path = folder / f"case{case.suffix}"
    path.write_bytes(case.problem)
    (folder / "case.cert").write_bytes(case.certificate)
    try:
        document = files.read_document(path)
        verdict = document.examined(files.read_side_car(folder / "case.cert")).verdict
    except (CertificateError, files.FileError):
        return None
    found = verdict.exact_energy, Fraction(verdict.lower_bound)
    if case.suffix != ".mc":
        return found
    cut = cut_of(document.problem)
    return found[0] * cut.factor + cut.shift, found[1] * cut.factor + cut.shift


def verified_ones(program: str, cases: Sequence[Case], folder: Path) -> list[Answer]:
    """The verified checker's answers, by one call for all cases."""
    paths = []
    for number, case in enumerate(cases):
        for suffix, text in ((case.suffix, case.problem), (".cert", case.certificate)):
            paths.append(folder / f"{number}{suffix}")
            paths[-1].write_bytes(text)
    done = subprocess.run(
        [program, *paths], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert not done.stderr, done.stderr
    answers = [_answer(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(cases)
    return answers


def _answer(line: str) -> Answer:
    if line.startswith("REFUSED"):
        return None
    best, found = map(Fraction, re.fullmatch(
        r"VERIFIED (?:optimum|only an? \w+ bound: (-?\d+); the assignment \w+) (-?\d+)", line
    ).groups(re.search(r"-?\d+$", line)[0]))  # fmt: skip
    return found, best
