"""The search for a solver's wrong answers, which keeps and shrinks one fault of each kind.

A fault is written as the file, its certificate, and a report. The report is for the author of a
solver, on another computer: it contains the solver's answer, a right answer, and the commands that
show both. It does not name folders of this computer.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from glasshouse.certificates import CertificateError
from glasshouse.files import side_car, write_certificate
from glasshouse.files.clause_file import read_clauses
from glasshouse.files.known import known_file
from glasshouse.files.text.streams import refuse_existing, replacing
from glasshouse.files.writing import make_folder
from glasshouse.fuzzing.brought import brought_question
from glasshouse.fuzzing.deciding import enumerated_best
from glasshouse.fuzzing.drawing import DEFAULT, Corners, fuzz_question, fuzz_specimen
from glasshouse.fuzzing.question import Question
from glasshouse.fuzzing.shrinking import Shrinker
from glasshouse.fuzzing.specimen import Specimen
from glasshouse.fuzzing.trial import CommandTrial, Reply, Trial
from glasshouse.pool import WorkerPool, ending_cleanly
from glasshouse.problems import INT64_MAX, validation
from glasshouse.races.judging.clauses import Judgement, RunVerdict
from glasshouse.version import __version__
from glasshouse.waiting import result_of

_AT_ONCE = 16  # instances that a worker takes at a time
_UNANSWERED = (RunVerdict.NO_ANSWER, RunVerdict.TIME_OUT, RunVerdict.CPU_TIME_OUT,
               RunVerdict.OUT_OF_MEMORY, RunVerdict.TOO_MUCH_OUTPUT)  # fmt: skip
_MOST_KINDS = 12  # kinds of faults; further ones are counted by their verdict alone
_FOLDERS = re.compile(r"(?<![\w.~:/-])(?:/[^\s/'\":,;()<>|]+)+/")  # except those of a web address


@dataclass(frozen=True)
class Tried:
    """One instance that was given to a solver, and the verdict on the answer.

    Attributes:
        seed: the seed of the instance and of the run.
        judgement: the verdict about the answer.
        num_clauses: the number of clauses of the instance.
        corners: the options with which the instance was drawn.
    """

    seed: int
    judgement: Judgement
    num_clauses: int
    corners: Corners = DEFAULT


@dataclass(frozen=True)
class Fault:
    """One kind of fault, and the smallest instance that shows it.

    Attributes:
        kind: the common text of all faults of this kind.
        times: the number of instances that showed it.
        seed: the seed of the original instance; None for a user's file.
        judgement: the verdict about the shrunk instance.
        question: the shrunk instance.
        is_minimal: whether no clause can be removed; False if time ran out.
        is_interrupted: whether Ctrl-C ended the shrinking.
    """

    kind: str
    times: int
    seed: int | None
    judgement: Judgement
    question: Question
    is_minimal: bool
    is_interrupted: bool = False


@dataclass
class Catch:
    """The findings of a fuzzing run so far.

    Attributes:
        verdicts: the count of each verdict.
        smallest: the smallest instance of each kind of fault.
        times: the count of each kind of fault.
        unanswered: reasons for missing answers, with their counts.
    """

    verdicts: Counter[RunVerdict] = field(default_factory=Counter)
    smallest: dict[str, Tried] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)

    @property
    def is_hardly_answered(self) -> bool:
        """Whether the solver gave no answer to more than half of the instances."""
        return 2 * self.unanswered.total() > self.verdicts.total()

    @property
    def is_unanswered(self) -> bool:
        """Whether the solver answered none of the instances, so that nothing was tested."""
        return self.unanswered.total() == self.verdicts.total()

    def add(self, tried: Tried) -> None:
        """Count a verdict, and keep its instance if it is the smallest with that kind of fault."""
        verdict = tried.judgement.verdict
        self.verdicts[verdict] += 1
        if verdict in _UNANSWERED:
            self.unanswered[fault_kind(tried.judgement)] += 1
        if not verdict.is_fault:
            return
        kind = fault_kind(tried.judgement)
        if kind not in self.smallest and len(self.smallest) >= _MOST_KINDS:
            kind = str(verdict)
        self.times[kind] += 1
        known = self.smallest.get(kind, tried)
        self.smallest[kind] = min(known, tried, key=lambda t: (t.num_clauses, t.seed))


def fault_kind(judgement: Judgement) -> str:
    """Return the kind of a fault: its verdict and reason as text, without numbers.

    >>> fault_kind(Judgement(RunVerdict.INVALID_MODEL, "a model costs 6, but its o line states 7"))
    'invalid model: a model costs N, but its o line states N'
    >>> fault_kind(Judgement(RunVerdict.NO_ANSWER, "it is exact only up to 8: here are 9"))
    'no answer: it is exact only up to 8'
    """
    reason = judgement.reason.partition(":")[0]
    # Numbers in crashes are signals or exit codes, and those in refusals are a solver's limits.
    if judgement.verdict not in (RunVerdict.CRASH, RunVerdict.NO_ANSWER):
        reason = re.sub(r"'.*?'|[0-9]+", "N", reason)
    return f"{judgement.verdict}: {reason}"


def hunt(
    trial: Trial, *, count: int, seed: int = 0, corners: Corners = DEFAULT, workers: int = 1
) -> Iterator[Tried]:
    """Test a solver on the instances for the seeds `seed`, `seed + 1`, …, in any order.

    Args:
        trial: the solver.
        count: the number of instances.
        seed: the first seed.
        corners: the instances to draw. If `corners.clauses` is None, each seed has two instances:
            one of clauses with at most two literals, and one of long clauses.
        workers: the number of concurrent processes; 1 tests in this process.
    """
    count, seed = validation.count(count, "count", 1), validation.count(seed, "seed")
    if validation.count(workers, "workers", 1) == 1:
        yield from (_tried(trial, seed, number, corners) for number in range(count))
        return
    firsts = iter(range(0, count, _AT_ONCE))
    running: deque[tuple[int, Future[Any]]] = deque()
    with closing(WorkerPool(workers)) as pool:
        while True:
            while len(running) < 2 * workers and (first := next(firsts, None)) is not None:
                numbers = range(first, min(first + _AT_ONCE, count))
                running.append((first, pool.submit(_batch, trial, seed, numbers, corners)))
            if not running:
                return
            first, future = running.popleft()
            yield from _result(instance(seed, first, corners)[0], future)


def instance(seed: int, number: int, corners: Corners) -> tuple[int, Corners]:
    """Return an instance's seed and options; if `clauses` is None, the kinds of clauses alternate.

    >>> [instance(7, number, Corners(clauses=None))[0] for number in range(4)]
    [7, 7, 8, 8]
    """
    if corners.clauses is not None:
        return seed + number, corners
    return seed + number // 2, replace(corners, clauses="long" if number % 2 else "pairs")


def shrunk_fault(trial: Trial, tried: Tried, kind: str, times: int, corners: Corners,
                 seconds: float) -> Fault:  # fmt: skip
    """Shrink the instance that shows a fault; Ctrl-C keeps the smallest instance so far."""
    specimen = None if corners.clauses == "long" else fuzz_specimen(tried.seed, corners)
    question = fuzz_question(tried.seed, corners) if specimen is None else specimen.question()
    found = _shrunk(trial, question, specimen, tried.judgement, tried.seed, seconds, corners)
    return replace(found, kind=kind, times=times)


def shrunk_file(trial: Trial, path: Path, seconds: float) -> tuple[Fault | None, Judgement]:
    """Shrink a user's file if the solver fails on it; return the fault, if any, and the verdict.

    The optimum is decided without the solver, if that is possible. A fault such as a crash or a
    model of a different cost shows even if the optimum is unknown.
    """
    question = brought_question(path)
    judgement = trial.ask(question, 0)
    if not judgement.verdict.is_fault:
        return None, judgement
    fault = _shrunk(trial, question, None, judgement, None, seconds, DEFAULT)
    return fault, judgement


def _shrunk(
    trial: Trial, question: Question, specimen: Specimen | None, judgement: Judgement,
    seed: int | None, seconds: float, corners: Corners,
) -> Fault:  # fmt: skip
    last, wanted = judgement, fault_kind(judgement)

    def fails(question: Question) -> bool:
        nonlocal last
        found = trial.ask(question, seed or 0)
        if fault_kind(found) != wanted:
            return False
        last = found
        return True

    shrinker = Shrinker(question, fails, seconds, corners.heaviest)
    is_interrupted = False
    try:
        shrinker.run(specimen)
    except KeyboardInterrupt:
        is_interrupted = True
    question = shrinker.finished()
    return Fault(wanted, 1, seed, last, question, shrinker.is_minimal, is_interrupted)


def _tried(trial: Trial, first: int, number: int, corners: Corners) -> Tried:
    seed, corners = instance(first, number, corners)
    question = fuzz_question(seed, corners)
    return Tried(seed, trial.ask(question, seed), len(question.lines), corners)


def _batch(trial: Trial, seed: int, numbers: range, corners: Corners) -> list[Tried]:
    """Test a batch of instances in a worker; SIGTERM ends the solver before the worker."""
    with ending_cleanly():
        return [_tried(trial, seed, number, corners) for number in numbers]


def _result(first: int, future: Future[Any]) -> Iterator[Tried]:
    try:
        yield from result_of(future)
    except BrokenExecutor:
        raise ValueError(
            f"the solver ended its process; use seed={first} and workers=1 to find the instance"
        ) from None


@dataclass(frozen=True)
class HandedOver:
    """The files that were written for a fault, and the command that reproduces the fault.

    Attributes:
        file: the instance.
        certificate: the proof of its optimum; None if all assignments were enumerated.
        report: a text that describes the fault.
        command: a shell command that shows the fault.
    """

    file: Path
    certificate: Path | None
    report: Path
    command: str


def write_question(path: Path, question: Question, *, overwrite: bool = False) -> Path | None:
    """Write an instance and its certificate, if it has one; read both files back and verify them.

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
        beside.unlink(missing_ok=True)  # the old certificate does not belong to this file
        if read_clauses(path) != question.clauses:
            raise CertificateError(f"{path} does not contain the enumerated clauses; report this")
        return None
    write_certificate(beside, question.certificate, cost=question.optimum, overwrite=overwrite)
    found = known_file(path).optimum
    if found != question.optimum:
        raise CertificateError(f"{beside} proves {found}, but the optimum is {question.optimum}")
    return beside


def hand_over(fault: Fault, trial: Trial, folder: Path, corners: Corners) -> HandedOver:
    """Write the files of a fault into a folder, under an unused name."""
    make_folder(folder)
    source = "file" if fault.seed is None else fault.seed
    path = _free_name(folder, f"{re.sub('[^a-z]+', '-', fault.judgement.verdict)}-{source}")
    beside = write_question(path, fault.question)
    line = trial.reproduction(path.absolute(), fault.seed, corners)
    is_printed = fault.judgement.verdict not in (RunVerdict.CRASH, RunVerdict.WRONG_EXIT_CODE)
    is_judged = isinstance(trial, CommandTrial) and beside is not None and is_printed
    report = path.with_suffix(".txt")
    names = shlex.join(map(_named, shlex.split(line)))
    with replacing(report, overwrite=False) as file:
        file.write(_report(fault, path.name, _piped(names, Path(path.name), is_judged)).encode())
    return HandedOver(path, beside, report, _piped(line, path.absolute(), is_judged))


def without_folders(text: str) -> str:
    """Remove the folders from all file names in a text.

    >>> without_folders("c reading /home/me/x.wcnf; see https://example.org/a/b, about 1/2")
    'c reading x.wcnf; see https://example.org/a/b, about 1/2'
    """
    return _FOLDERS.sub("", text)


def _named(word: str) -> str:
    """Return a word of a command, reduced to the file name if the word names a file."""
    return Path(word).name if Path(word).is_absolute() else without_folders(word)


def _piped(line: str, path: Path, is_judged: bool) -> str:
    return f"{line} | glasshouse judge {shlex.quote(str(path))} -" if is_judged else line


def _report(fault: Fault, name: str, command: str) -> str:
    question = fault.question
    size = "no clause can be left out" if fault.is_minimal else "shrinking was not finished"
    proof = ""
    if question.is_decided:
        proof = ", found by enumerating all assignments"
    if question.certificate is not None:
        proof = f", proven by {name}.cert"
    source = f"from fuzz seed {fault.seed}, one of {fault.times} such faults"
    if fault.seed is None:
        source = "from the user's file"
    return "\n\n".join([
        f"{without_folders(str(fault.judgement))}\n{question.says}{proof}\n"
        f"{len(question.lines)} clauses, {size}; {source}\nfound by glasshouse {__version__}",
        f"This line shows the fault:\n{command}",
        *([_how_to_check(question, name), f"A correct answer:\n{_right_answer(question)}"]
          if question.is_decided else []),
        *_answer(fault),
    ]) + "\n"  # fmt: skip


def _how_to_check(question: Question, name: str) -> str:
    if question.certificate is None:
        return (
            f"glasshouse check {name} cannot check the optimum: there is no certificate, because "
            "all assignments were enumerated."
        )
    if sum(weight for weight, _ in question.clauses.soft) > INT64_MAX:
        return (
            f"glasshouse check {name} does not read the file, because its weights add up to 2^63 "
            "or more. glasshouse judge reads it, and verifies the certificate in exact integers."
        )
    return f"This line checks the optimum:\nglasshouse check {name}"


def _right_answer(question: Question) -> str:
    """Return a correct answer to a question, in the format in which solvers print it."""
    if question.optimum is None:
        return "s UNSATISFIABLE"
    if question.certificate is not None:
        model = (question.certificate.state > 0).astype(int).tolist()
    else:
        found = enumerated_best(question.clauses)
        model = [] if found is None else found[1]
    return f"o {question.optimum}\ns OPTIMUM FOUND\nv {''.join(map(str, model))}"


def _answer(fault: Fault) -> list[str]:
    """Return the parts of a report that show what the solver printed and how it ended."""
    reply = fault.judgement
    if not isinstance(reply, Reply) or reply.output is None:
        return []
    ended = f"signal {-reply.exit_code}" if reply.exit_code < 0 else f"exit code {reply.exit_code}"
    parts = [f"The answer of the solver, which ended with {ended}:\n{_shown(reply.output)}"]
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
