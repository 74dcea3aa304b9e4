"""Hand a fault over: the file, its certificate, and a report that its reader can act on.

The report is for the author of a solver, on another computer: it holds the solver's answer, a right
answer, and the lines that show both. It names no folder of this computer.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from glasshouse.certificates import CertificateError
from glasshouse.files.certificate.reading import side_car
from glasshouse.files.certificate.writing import write_certificate
from glasshouse.files.clause_file import read_clauses
from glasshouse.files.known import truth_of
from glasshouse.files.text.streams import refuse_existing, replacing
from glasshouse.files.writing import make_folder
from glasshouse.problems.validation import INT64_MAX
from glasshouse.races.deciding import enumerated_best
from glasshouse.races.fuzzing import Corners
from glasshouse.races.hunting import Fault
from glasshouse.races.judging import RunVerdict
from glasshouse.races.question import Question
from glasshouse.races.trial import CommandTrial, Reply, Trial
from glasshouse.version import __version__

_FOLDERS = re.compile(r"(?<![\w.~:/-])(?:/[^\s/'\":,;()<>|]+)+/")  # not those of a web address


@dataclass(frozen=True)
class HandedOver:
    """Where a fault was written.

    Attributes:
        file: the instance.
        certificate: what proves its optimum; None where all assignments were looked at.
        report: a text that describes the fault.
        command: one line for a shell that shows it.
    """

    file: Path
    certificate: Path | None
    report: Path
    command: str


def write_question(path: Path, question: Question, *, overwrite: bool = False) -> Path | None:
    """Write a file and its certificate, if it has one, then read both back and verify them.

    Returns:
        The path of the certificate, which proves the optimum of the file; None without one.

    Raises:
        CertificateError: the files that were written do not prove the question's optimum.
    """
    beside = side_car(path)
    refuse_existing(beside, overwrite=overwrite)
    with replacing(path, overwrite=overwrite) as file:
        file.write(question.text)
    if question.certificate is None:
        beside.unlink(missing_ok=True)  # whatever it proved, it was not this file
        _refuse_other_clauses(path, question)
        return None
    write_certificate(beside, question.certificate, cost=question.optimum, overwrite=overwrite)
    found = truth_of(path).optimum
    if found != question.optimum:
        raise CertificateError(f"{beside} proves {found}, but the optimum is {question.optimum}")
    return beside


def _refuse_other_clauses(path: Path, question: Question) -> None:
    """Refuse a file that does not contain the clauses whose assignments were enumerated."""
    if read_clauses(path) != question.clauses:
        raise CertificateError(f"{path} does not contain the clauses that were enumerated")


def hand_over(fault: Fault, trial: Trial, folder: Path, corners: Corners) -> HandedOver:
    """Write a fault into a folder, under a name that nothing there has."""
    make_folder(folder)
    path = _free_name(folder, f"{re.sub('[^a-z]+', '-', fault.judgement.verdict)}-{fault.seed}")
    beside = write_question(path, fault.question)
    line = trial.reproduction(path.absolute(), fault.seed, corners)
    is_judged = isinstance(trial, CommandTrial) and beside is not None and _is_in_the_output(fault)
    report = path.with_suffix(".txt")
    names = shlex.join(map(_named, shlex.split(line)))
    with replacing(report, overwrite=False) as file:
        file.write(_report(fault, path.name, _piped(names, Path(path.name), is_judged)).encode())
    return HandedOver(path, beside, report, _piped(line, path.absolute(), is_judged))


def without_folders(text: str) -> str:
    """A text in which files are named without their folders.

    >>> without_folders("c reading /home/me/x.wcnf; see https://example.org/a/b, about 1/2")
    'c reading x.wcnf; see https://example.org/a/b, about 1/2'
    """
    return _FOLDERS.sub("", text)


def _named(word: str) -> str:
    """A word of a command, a file without its folders; these may have spaces in their names."""
    return Path(word).name if Path(word).is_absolute() else without_folders(word)


def _piped(line: str, path: Path, is_judged: bool) -> str:
    return f"{line} | glasshouse judge {shlex.quote(str(path))} -" if is_judged else line


def _is_in_the_output(fault: Fault) -> bool:
    """Whether the output alone shows the fault."""
    return fault.judgement.verdict not in (RunVerdict.CRASH, RunVerdict.WRONG_EXIT_CODE)


def _report(fault: Fault, name: str, command: str) -> str:
    question = fault.question
    size = "no clause can be left out" if fault.is_minimal else "not shrunk to the end"
    proof = (
        f"proven by {name}.cert"
        if question.certificate is not None
        else "found by looking at all assignments"
    )
    return "\n\n".join([
        f"{without_folders(str(fault.judgement))}\noptimum {question.optimum}, {proof}\n"
        f"{len(question.lines)} clauses, {size}; from fuzz seed {fault.seed}, one of "
        f"{fault.times} such faults\nfound by glasshouse {__version__}",
        f"This line shows the fault:\n{command}",
        _how_to_check(question, name),
        f"A right answer:\n{_right_answer(question)}",
        *_answer(fault),
    ]) + "\n"  # fmt: skip


def _how_to_check(question: Question, name: str) -> str:
    if question.certificate is None:
        return (
            f"glasshouse check {name} cannot check the optimum: there is no certificate, because "
            "all assignments were looked at."
        )
    if sum(weight for weight, _ in question.clauses.soft) > INT64_MAX:
        return (
            f"glasshouse check {name} does not read the file, because its weights add up to 2^63 "
            "or more. glasshouse judge does, and verifies the certificate in exact integers."
        )
    return f"This line checks the optimum:\nglasshouse check {name}"


def _right_answer(question: Question) -> str:
    """A model of the least cost, as a solver would print it."""
    if question.certificate is not None:
        model = (question.certificate.state > 0).astype(int).tolist()
    else:
        found = enumerated_best(question.clauses)
        model = [] if found is None else found[1]
    return f"o {question.optimum}\ns OPTIMUM FOUND\nv {''.join(map(str, model))}"


def _answer(fault: Fault) -> list[str]:
    """What the solver printed, and how it ended."""
    reply = fault.judgement
    if not isinstance(reply, Reply) or reply.output is None:
        return []
    ended = f"signal {-reply.exit_code}" if reply.exit_code < 0 else f"exit code {reply.exit_code}"
    parts = [f"The solver's answer, which ended with {ended}:\n{_shown(reply.output)}"]
    if reply.errors.strip():
        parts.append(f"Its standard error:\n{_shown(reply.errors)}")
    return parts


def _shown(printed: bytes) -> str:
    text = printed.decode("utf-8", "replace").rstrip()
    return "\n".join(map(without_folders, text.split("\n"))) or "(nothing)"


def _free_name(folder: Path, stem: str) -> Path:
    for number in count(1):
        path = folder / f"{stem}{f'-{number}' * (number > 1)}.wcnf"
        if not any(p.exists() for p in (path, side_car(path), path.with_suffix(".txt"))):
            return path
    raise AssertionError
