"""Trials, which ask a solver under test one question and judge its answer."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from glasshouse.files.clause_file import Dialect
from glasshouse.fuzzing.drawing import Corners
from glasshouse.fuzzing.question import Question
from glasshouse.proofs.exact import RefusedError
from glasshouse.races.commands.builtin import NAMES, built_in
from glasshouse.races.commands.probing import understood
from glasshouse.races.judging.answer import read_answer
from glasshouse.races.judging.clauses import Judgement, RunVerdict, judge
from glasshouse.races.running.command import Limits, SolverCommand
from glasshouse.races.running.guardian import scratch_folder
from glasshouse.races.running.runner import Outcome, run

_MOST_KEPT = 10_000  # bytes of an output that shows a fault


@dataclass(frozen=True, repr=False)
class Reply(Judgement):
    """A verdict and, if the verdict is a fault, the solver's output.

    Attributes:
        output: the end of standard output; None for a solver in this process.
        errors: the end of standard error.
        exit_code: the exit code of the command; negative for the signal that ended it.
    """

    output: bytes | None = None
    errors: bytes = b""
    exit_code: int = 0

    @classmethod
    def of(cls, judgement: Judgement, outcome: Outcome) -> Reply:
        """Return the verdict on a run and, if the verdict is a fault, the run's output."""
        if not judgement.verdict.is_fault:
            return cls(**vars(judgement))
        printed = outcome.transcript
        return cls(
            **vars(judgement),
            output=bytes(printed.output[-_MOST_KEPT:]),
            errors=bytes(printed.errors[-_MOST_KEPT:]),
            exit_code=outcome.exit_code,
        )


class Trial(Protocol):
    """The interface of a solver under test."""

    def ask(self, question: Question, seed: int) -> Judgement:
        """Ask the solver a question, and return the verdict on its answer."""

    def reproduction(self, path: Path, seed: int | None, corners: Corners) -> str:
        """Return a shell command that runs the solver on the same instance again."""


@dataclass(frozen=True)
class CommandTrial:
    """A trial of a command that reads a file.

    Attributes:
        command: the solver.
        limits: the limits of every run.
        strict: whether a wrong exit code alone is a fault.
    """

    command: SolverCommand
    limits: Limits
    strict: bool = False

    def ask(self, question: Question, seed: int) -> Reply:
        """Write the file, run the command, and judge its output."""
        with scratch_folder("glasshouse-fuzz-") as folder:
            path = folder / "instance.wcnf"
            path.write_bytes(question.text)
            outcome = run(self.command.arguments(path, seed, self.limits.seconds), self.limits)
        answer = read_answer(outcome.transcript)
        judgement = judge(question.clauses, answer, question.known, outcome, strict=self.strict)
        return Reply.of(judgement, outcome)

    def reproduction(self, path: Path, seed: int | None, corners: Corners) -> str:
        """Return a shell command that runs the solver on a file."""
        return shlex.join(self.command.arguments(path, seed or 0, self.limits.seconds))


@dataclass(frozen=True)
class BuiltInTrial:
    """A trial of a built-in solver, which runs in this process.

    Attributes:
        name: the name of the solver.
        seconds: the time limit for each question.
    """

    name: str
    seconds: float = 10.0

    def ask(self, question: Question, seed: int) -> Judgement:
        """Ask the solver; a refusal counts as no answer, any other exception as a crash."""
        try:
            answer = built_in(self.name)(question.clauses, self.seconds)
        except RefusedError as refusal:
            return Judgement(RunVerdict.NO_ANSWER, str(refusal).partition(";")[0])
        except Exception as fault:  # third-party code can raise anything
            return Judgement(RunVerdict.CRASH, f"{type(fault).__name__}: {str(fault)[:200]}")
        return judge(question.clauses, answer, question.known)

    def reproduction(self, path: Path, seed: int | None, corners: Corners) -> str:
        """Return a shell command that draws or reads the instance, and runs the solver again."""
        if seed is None:
            return shlex.join(["glasshouse", "fuzz", "shrink", str(path), "--solver", self.name])
        words = ["glasshouse", "fuzz", "run", "--solver", self.name]
        words += ["--seed", str(seed), "--count", "1"]
        return shlex.join([*words, *corners.options])


def spoken_dialect(trial: Trial) -> Dialect | None:
    """Return the WCNF dialect that a command reads; None if it reads both dialects or neither."""
    if not isinstance(trial, CommandTrial):
        return None
    found = understood(trial.command, trial.limits, ("classic", "mse22"))
    return found.pop() if len(found) == 1 else None


def trial_of(solver: str, limits: Limits, *, strict: bool = False) -> Trial:
    """Return a trial of `solver`, which is a command or the name of a built-in solver.

    Raises:
        ValueError: the solver is not installed, or the program does not exist.
    """
    if solver.strip() in NAMES:
        built_in(solver.strip())
        return BuiltInTrial(solver.strip(), limits.seconds)
    return CommandTrial(SolverCommand.parse(solver), limits, strict)
