"""Hand a fault over: the file, its certificate, and the line that shows the fault."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from glasshouse.files.sidecar import side_car, write_certificate
from glasshouse.files.streams import refuse_existing, replacing
from glasshouse.files.suite import make_folder
from glasshouse.problems.validation import INT64_MAX
from glasshouse.races.fuzzing import Corners
from glasshouse.races.hunting import Fault
from glasshouse.races.judging import RunVerdict
from glasshouse.races.question import Question
from glasshouse.races.trial import CommandTrial, Trial


@dataclass(frozen=True)
class HandedOver:
    """Where a fault was written.

    Attributes:
        file: the instance.
        certificate: what proves its optimum; None where all assignments were looked at.
        report: a text that tells of the fault.
        command: one line for a shell that shows it.
    """

    file: Path
    certificate: Path | None
    report: Path
    command: str


def write_question(path: Path, question: Question, *, overwrite: bool = False) -> Path | None:
    """Write a file, and its certificate beside it if there is one; tells where that is."""
    beside = side_car(path)
    refuse_existing(beside, overwrite=overwrite)
    with replacing(path, overwrite=overwrite) as file:
        file.write(question.text)
    if question.certificate is None:
        beside.unlink(missing_ok=True)  # whatever it proved, it was not this file
        return None
    write_certificate(beside, question.certificate, cost=question.optimum, overwrite=overwrite)
    return beside


def hand_over(fault: Fault, trial: Trial, folder: Path, corners: Corners) -> HandedOver:
    """Write a fault into a folder, under a name that nothing there has."""
    make_folder(folder)
    path = _free_name(folder, f"{re.sub('[^a-z]+', '-', fault.judgement.verdict)}-{fault.seed}")
    command = trial.reproduction(path.absolute(), fault.seed, corners)
    beside = write_question(path, fault.question)
    if isinstance(trial, CommandTrial) and beside is not None and _can_be_judged(fault):
        command += f" | glasshouse judge {shlex.quote(str(path.absolute()))} -"
    report = path.with_suffix(".txt")
    with replacing(report, overwrite=False) as file:
        file.write(_report(fault, command).encode())
    return HandedOver(path, beside, report, command)


def _can_be_judged(fault: Fault) -> bool:
    """Whether the output alone shows the fault, and weights are within the library's limit."""
    not_in_the_output = (RunVerdict.CRASH, RunVerdict.WRONG_EXIT_CODE)
    total = sum(weight for weight, _ in fault.question.clauses.soft)
    return fault.judgement.verdict not in not_in_the_output and total <= INT64_MAX


def _report(fault: Fault, command: str) -> str:
    proof = (
        "proven by the certificate beside it"
        if fault.question.certificate is not None
        else "found by looking at all assignments"
    )
    size = "no clause can be left out" if fault.is_minimal else "not shrunk to the end"
    return (
        f"{fault.judgement}\noptimum {fault.question.optimum}, {proof}\n"
        f"{len(fault.question.lines)} clauses, {size}; from fuzz seed {fault.seed}, one of "
        f"{fault.times} such faults\n\n{command}\n"
    )


def _free_name(folder: Path, stem: str) -> Path:
    for number in count(1):
        path = folder / f"{stem}{f'-{number}' * (number > 1)}.wcnf"
        if not any(p.exists() for p in (path, side_car(path), path.with_suffix(".txt"))):
            return path
    raise AssertionError
