"""Verdicts on solvers' answers, based on the MaxSAT Evaluation's rules and on the proof.

No statement of a solver is trusted: its model is evaluated again, its value is compared with the
cost of its model, and its claim with what is proven about the instance.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from glasshouse.certificates import CertificateError
from glasshouse.files.clause_file import ClauseFile
from glasshouse.files.known import Known
from glasshouse.problems.validation import Number
from glasshouse.races.judging.answer import Answer, AnswerError, IncompleteError
from glasshouse.races.running.command import LARGEST_FOLDER, MEGABYTE, MOST_PROCESSES
from glasshouse.summaries import Summarised

if TYPE_CHECKING:
    from glasshouse.races.running.runner import Outcome

EXIT_CODES = {"OPTIMUM FOUND": 30, "UNSATISFIABLE": 20, "SATISFIABLE": 10, "UNKNOWN": 0}


class RunVerdict(StrEnum):
    """The possible verdicts on one run."""

    OPTIMAL = "optimal"  # a right claim, including that nothing satisfies the hard clauses
    FOUND = "found"  # a valid model, without the claim that it is optimal
    UNDECIDED = "undecided"  # a claim that the known proof neither confirms nor refutes
    NO_ANSWER = "no answer"  # UNKNOWN, or no output
    TIME_OUT = "time-out"
    CPU_TIME_OUT = "CPU time-out"
    OUT_OF_MEMORY = "out of memory"
    TOO_MUCH_OUTPUT = "too much output"
    CRASH = "crash"
    WRONG_OPTIMUM = "wrong optimum"
    INVALID_MODEL = "invalid model"
    NO_VALUE = "no o line"
    MALFORMED = "malformed output"
    WRONG_EXIT_CODE = "wrong exit code"

    @property
    def is_fault(self) -> bool:
        """Whether the verdict is a fault of the solver; a time-out is not."""
        return self in _FAULTS


# Limits at which a solver may still print an answer: the verdict if it does not, and the name.
_AT_A_LIMIT = {
    "time": (RunVerdict.TIME_OUT, "time limit"),
    "cpu": (RunVerdict.CPU_TIME_OUT, "CPU time limit"),
}
_FAULTS = {
    RunVerdict.CRASH,
    RunVerdict.WRONG_OPTIMUM,
    RunVerdict.INVALID_MODEL,
    RunVerdict.NO_VALUE,
    RunVerdict.MALFORMED,
    RunVerdict.WRONG_EXIT_CODE,
}


@dataclass(frozen=True, repr=False)
class Judgement(Summarised):
    """A verdict on a solver's answer, with the reason for the verdict.

    Attributes:
        verdict: the verdict.
        reason: the reason, as one line.
        cost: the cost of the solver's model, evaluated by glasshouse; None without a valid model.
        stated: the last `o` value, which is not verified.
        remarks: deviations that are not faults.
    """

    verdict: RunVerdict
    reason: str
    cost: Number | None = None
    stated: Number | None = None
    remarks: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether the answer is right: a true claim, or a valid model without a claim."""
        return self.verdict in (RunVerdict.OPTIMAL, RunVerdict.FOUND)

    def __str__(self) -> str:
        remarks = "".join(f" ({remark})" for remark in self.remarks)
        return f"{self.verdict}: {self.reason}{remarks}"


class FaultError(Exception):
    """Raised, with the final verdict, to stop judging an answer.

    Args:
        verdict: the verdict.
        reason: the reason, as one line.
        is_incomplete: whether the fault is only that a part of the answer is missing.
    """

    def __init__(self, verdict: RunVerdict, reason: str, *, is_incomplete: bool = False) -> None:
        super().__init__(reason)
        self.verdict, self.is_incomplete = verdict, is_incomplete


def judge(
    clauses: ClauseFile,
    answer: Answer,
    known: Known,
    outcome: Outcome | None = None,
    *,
    strict: bool = False,
) -> Judgement:
    """Judge a solver's answer by the proven bounds and, if given, by the outcome of its run.

    Args:
        clauses: the file that the solver was given.
        answer: the answer that the solver printed.
        known: what is proven about the file.
        outcome: the outcome of the run; None for an answer from a file.
        strict: whether a wrong exit code alone is a fault, as in the Evaluation since 2024.
    """
    cost = None
    try:
        status = answer.status
        cost = _cost_of_model(clauses, answer)
        _compare(answer, cost, known)
        ended = _ended_badly(outcome, status)
        if ended is not None:
            verdict, reason = ended
        else:
            verdict, reason = _claim(status, answer, cost, known)
    except FaultError as fault:
        verdict, reason = fault.verdict, str(fault)
        if fault.is_incomplete and _was_cut_off(outcome):
            verdict, limit = _limit_of(outcome)
            reason = f"stopped at the {limit}, while it printed its answer"
    except AnswerError as fault:
        verdict, reason = RunVerdict.MALFORMED, str(fault)
    remarks = [f"{fault!r} is not a valid line of an answer" for fault in answer.faults[:3]]
    if outcome is not None and outcome.stopped in _AT_A_LIMIT and answer.statuses:
        remarks.append(f"stopped at the {_limit_of(outcome)[1]}")
    if (wrong_code := _exit_code_fault(answer, outcome)) is not None:
        if strict and not verdict.is_fault:
            verdict, reason = RunVerdict.WRONG_EXIT_CODE, wrong_code
        else:
            remarks.append(wrong_code)
    return Judgement(verdict, reason, cost, answer.value, tuple(remarks))


def _cost_of_model(clauses: ClauseFile, answer: Answer) -> int | None:
    try:
        model = answer.model(clauses.num_variables, clauses.used)
    except AnswerError as fault:
        is_incomplete = isinstance(fault, IncompleteError)
        raise FaultError(
            RunVerdict.INVALID_MODEL, str(fault), is_incomplete=is_incomplete
        ) from None
    if model is None:
        return None
    broken = clauses.broken(model)
    if broken:
        raise FaultError(RunVerdict.INVALID_MODEL, f"the model violates {broken} hard clauses")
    return clauses.cost(model)


def _compare(answer: Answer, cost: int | None, known: Known) -> None:
    """Raise if a model's cost or an `o` value is below the proven bound."""
    if cost is not None and known.bound is not None and cost < known.bound:
        raise CertificateError(f"a model costs {cost}, but the proven bound is {known.bound}")
    lowest = min((value for _, value in answer.incumbents), default=None)
    if lowest is not None and known.bound is not None and lowest < known.bound:
        raise FaultError(
            RunVerdict.WRONG_OPTIMUM,
            f"an o line states {lowest}, but every assignment costs at least {known.bound}",
        )


def _ended_badly(outcome: Outcome | None, status: str | None) -> tuple[RunVerdict, str] | None:
    if outcome is None:
        return None
    if outcome.stopped == "memory":
        return RunVerdict.OUT_OF_MEMORY, "stopped at the memory limit"
    if outcome.stopped == "output":
        return RunVerdict.TOO_MUCH_OUTPUT, "stopped at the output limit"
    if outcome.stopped == "folder":
        most = f"{LARGEST_FOLDER // MEGABYTE} MB"
        return RunVerdict.TOO_MUCH_OUTPUT, f"stopped with more than {most} of files in its folder"
    if outcome.stopped == "processes":
        return RunVerdict.CRASH, f"stopped with more than {MOST_PROCESSES} processes"
    if outcome.stopped == "parent":
        return RunVerdict.CRASH, "stopped because it has killed the process that started it"
    if outcome.stopped is not None:
        verdict, limit = _limit_of(outcome)
        return (verdict, f"stopped at the {limit}") if status is None else None
    if outcome.exit_code < 0:
        return RunVerdict.CRASH, f"ended by signal {-outcome.exit_code}{_last_error(outcome)}"
    if status is None and outcome.exit_code not in EXIT_CODES.values():
        return RunVerdict.CRASH, f"exit code {outcome.exit_code}, no s line{_last_error(outcome)}"
    return None


def _was_cut_off(outcome: Outcome | None) -> bool:
    """Return whether a solver was killed at a time limit, perhaps while it printed its answer."""
    return outcome is not None and outcome.stopped in _AT_A_LIMIT and outcome.exit_code < 0


def _limit_of(outcome: Outcome | None) -> tuple[RunVerdict, str]:
    return _AT_A_LIMIT["cpu" if outcome is not None and outcome.stopped == "cpu" else "time"]


def _last_error(outcome: Outcome) -> str:
    """Return the last line of standard error, which may show why a solver crashed."""
    text = outcome.transcript.errors.decode("ascii", "replace").split("\n")
    last = next((line.strip() for line in reversed(text) if line.strip()), "")
    return f": {last[:200]}" if last else ""


def _claim(
    status: str | None, answer: Answer, cost: int | None, known: Known
) -> tuple[RunVerdict, str]:
    """Return the verdict on the claim in the `s` line, and the reason."""
    if status is None:
        return RunVerdict.NO_ANSWER, "no s line"
    if status == "UNKNOWN":
        return RunVerdict.NO_ANSWER, "s UNKNOWN"
    if status == "UNSATISFIABLE":
        if known.is_infeasible:
            return RunVerdict.OPTIMAL, "no assignment satisfies the hard clauses"
        if known.best is not None:
            raise FaultError(
                RunVerdict.WRONG_OPTIMUM, f"claims UNSATISFIABLE, but a model costs {known.best}"
            )
        return RunVerdict.UNDECIDED, "claims UNSATISFIABLE, which is neither proven nor refuted"
    if status not in EXIT_CODES:
        raise FaultError(
            RunVerdict.MALFORMED,
            f"{status!r} is not a status line; expected s and one of {', '.join(EXIT_CODES)}, "
            "in this spelling",
        )
    cost = _checked_value(answer, cost)
    if status == "SATISFIABLE":
        return RunVerdict.FOUND, f"cost {cost}{_distance(cost, known)}"
    if known.best is not None and cost > known.best:
        raise FaultError(
            RunVerdict.WRONG_OPTIMUM,
            f"claims that {cost} is optimal, but a model costs {known.best}",
        )
    if known.optimum is None and cost != known.bound:
        return RunVerdict.UNDECIDED, f"claims that {cost} is optimal{_distance(cost, known)}"
    return RunVerdict.OPTIMAL, f"cost {cost}"


def _checked_value(answer: Answer, cost: int | None) -> int:
    """Return the cost of the model; raise unless the last `o` line states the same value."""
    if answer.unread is not None:
        raise FaultError(
            RunVerdict.MALFORMED,
            f"the last o line is {answer.unread!r}; expected 'o ' and an integer",
        )
    if answer.value is None:
        raise FaultError(RunVerdict.NO_VALUE, "the answer has no o line", is_incomplete=True)
    if cost is None:
        raise FaultError(RunVerdict.INVALID_MODEL, "the answer has no v line", is_incomplete=True)
    if cost != answer.value:
        raise FaultError(
            RunVerdict.INVALID_MODEL,
            f"the model costs {cost}, but the last o line states {answer.value}",
        )
    return cost


def _distance(cost: int, known: Known) -> str:
    if known.optimum is not None:
        return f", the optimum is {known.optimum}"
    return "" if known.bound is None else f", but the proven bound is {known.bound}"


def _exit_code_fault(answer: Answer, outcome: Outcome | None) -> str | None:
    """Return a remark if a command that ended by itself has a wrong exit code; otherwise None."""
    if outcome is None or outcome.stopped is not None or len(answer.statuses) != 1:
        return None
    expected = EXIT_CODES.get(answer.statuses[0])
    if expected is None or outcome.exit_code == expected:
        return None
    return f"exit code {outcome.exit_code} with s {answer.statuses[0]}, expected {expected}"
