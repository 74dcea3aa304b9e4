"""Detection of the dialect that a command reads, by runs on a two-variable instance.

Only dialects that keep the meaning of an instance are tried. Plain CNF has neither weights nor hard
clauses, so a solver could answer there and would be accused of wrong optima.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from glasshouse.files.clause_file import SUFFIXES, ClauseFile, Dialect, text_in
from glasshouse.files.known import Known
from glasshouse.races.judging.answer import Answer, read_answer, read_from
from glasshouse.races.judging.clauses import Judgement, RunVerdict, judge
from glasshouse.races.running.command import Limits, SolverCommand
from glasshouse.races.running.compiling import Words
from glasshouse.races.running.guardian import scratch_folder
from glasshouse.races.running.runner import Outcome, run
from glasshouse.summaries import Summarised

SECONDS = 10.0  # the time limit of each probe, whatever the limit of the race
_PROBED: tuple[Dialect, ...] = ("mse22", "classic", "opb")
# Verdicts about solvers that were given a file they cannot read.
_NOT_UNDERSTOOD = (RunVerdict.CRASH, RunVerdict.NO_ANSWER, RunVerdict.MALFORMED)
_LONGEST_QUOTE = 120
_HARDLY_ANYTHING = ClauseFile(2, ((3, (-1,)), (2, (-2,))), ((1, 2),))
_WITHOUT_WEIGHTS = ClauseFile(2, ((1, (-1,)), (1, (-2,)), (1, (1, 2))), ())


@dataclass(frozen=True, repr=False)
class Probed(Summarised):
    """The dialect that a solver reads, and the verdict on its answer in that dialect.

    Attributes:
        name: the name of the solver.
        dialect: the dialect that the solver reads.
        judgement: the verdict about the answer; None if the dialect was not detected now.
    """

    name: str
    dialect: Dialect
    judgement: Judgement | None = None


@dataclass(frozen=True)
class _Heard:
    """A solver's answer to the two-variable instance in one dialect."""

    outcome: Outcome
    answer: Answer
    judgement: Judgement

    @property
    def is_answer(self) -> bool:
        """Return whether the answer shows that the solver has read the file."""
        verdict = self.judgement.verdict
        is_silent = verdict is RunVerdict.TIME_OUT and not self.answer.incumbents
        return verdict not in _NOT_UNDERSTOOD and not is_silent


def probe(name: str, command: SolverCommand, limits: Limits) -> Probed:
    """Detect a solver's dialect: the first in which it answers the two-variable instance correctly.

    If no answer is right, return the first dialect with any answer: a wrong solver may race.

    Raises:
        ValueError: the solver does not answer in any dialect.
    """
    heard: dict[Dialect, _Heard] = {}
    for dialect in _PROBED:
        heard[dialect] = _ask(command, dialect, limits)
        if heard[dialect].judgement.is_right:
            return Probed(name, dialect, heard[dialect].judgement)
    for dialect, one in heard.items():
        if one.is_answer:
            return Probed(name, dialect, one.judgement)
    raise ValueError(
        f"the solver {name} did not answer in any dialect ({_told(heard)}); check that the command "
        "prints o, s and v lines, or pass a dialect, such as dialect='classic', to race it anyway"
    )


def understood(command: SolverCommand, limits: Limits, dialects: Iterable[Dialect]) -> set[Dialect]:
    """Return all dialects in which a solver answers the two-variable instance, right or wrong."""
    return {dialect for dialect in dialects if _ask(command, dialect, limits).is_answer}


def try_out(
    command: SolverCommand,
    dialect: Dialect,
    limits: Limits,
    execute: Callable[[Words, Limits], Outcome] | None = None,
) -> tuple[Outcome, Answer, Judgement]:
    """Run a solver on the two-variable instance, and judge its answer.

    Args:
        command: the solver.
        dialect: the format that the solver reads.
        limits: the limits of the run.
        execute: the function that runs the solver; by default `run`.
    """
    clauses = _WITHOUT_WEIGHTS if dialect == "cnf" else _HARDLY_ANYTHING
    least = 1 if dialect == "cnf" else 2
    with scratch_folder("glasshouse-probe-") as folder:
        path = folder / f"instance{SUFFIXES[dialect]}"
        path.write_bytes(text_in(dialect, clauses))
        outcome = (execute or _run)(partial(command.arguments, path, 1), limits)
    answer = read_from(dialect, read_answer(outcome.transcript), clauses)
    return outcome, answer, judge(clauses, answer, Known(least, least), outcome)


def _run(words: Words, limits: Limits) -> Outcome:
    return run(words(limits.seconds), limits)


def _ask(command: SolverCommand, dialect: Dialect, limits: Limits) -> _Heard:
    return _Heard(*try_out(command, dialect, replace(limits, seconds=SECONDS, cpu_seconds=None)))


def _told(heard: dict[Dialect, _Heard]) -> str:
    """Describe the solver's answer in each dialect, for an error message."""
    said: dict[str, list[str]] = {}
    for dialect, one in heard.items():
        said.setdefault(str(one.judgement), []).append(dialect)
    told = "; ".join(f"{', '.join(dialects)}: {what}" for what, dialects in said.items())
    lines = [_first_line(bytes(one.outcome.transcript.errors)) for one in heard.values()]
    first = next(filter(None, lines), "")
    if first and first not in told:
        told += f"; its standard error begins with {first!r}"
    return told


def _first_line(text: bytes) -> str:
    """Return the first non-empty line of a text, truncated to `_LONGEST_QUOTE` characters."""
    lines = (line.strip() for line in text.decode("ascii", "replace").splitlines())
    return next((line[:_LONGEST_QUOTE] for line in lines if line), "")
