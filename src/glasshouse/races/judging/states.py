"""Verdicts on states of any problem: spins, a cut, or the variables of an objective.

Values are in the file's own measure, and a state may be in any form that `read_solution` accepts.
`o` and `s` lines are those of the MaxSAT Evaluation; without them, only the state is judged.
"""

from __future__ import annotations

import io
from fractions import Fraction

from glasshouse.certificates.exact_form import exact_energy
from glasshouse.files import Document, FileError, Known
from glasshouse.files.claims import agrees
from glasshouse.files.solutions import read_solution
from glasshouse.files.text.number_rows import parse_number
from glasshouse.problems import Max2Sat
from glasshouse.problems.validation import Number, shown
from glasshouse.races.judging.answer import Answer, AnswerError, read_answer
from glasshouse.races.judging.clauses import FaultError, Judgement, RunVerdict
from glasshouse.races.running.transcript import Transcript


def judge_state(document: Document, known: Known, transcript: Transcript) -> Judgement:
    r"""Judge a solver's output for any problem; the judgement's `cost` is in the file's measure.

    >>> from glasshouse.problems import Ising
    >>> pair, known = Document.of(Ising.from_edges(2, [(0, 1)], [3])), Known(-3, -3)
    >>> print(judge_state(pair, known, Transcript.of(b"o -3\ns OPTIMUM FOUND\nv 1 1")))
    optimal: an energy of -3
    >>> print(judge_state(pair, known, Transcript.of(b"+1 -1")))
    found: an energy of 3, the optimum is -3
    """
    answer = read_answer(transcript)
    stated = value = None
    try:
        status, stated = answer.status, _stated_value(answer)
        _refuse_impossible(document, known, stated)
        if status in ("UNKNOWN", "UNSATISFIABLE") or not transcript.output.strip():
            verdict, reason = _without_state(document, known, status)
        else:
            energy = _energy(document, transcript)
            value = document.measure.of(energy)
            verdict, reason = _claim(document, known, status, stated, energy)
    except FaultError as fault:
        verdict, reason = fault.verdict, str(fault)
    except AnswerError as fault:
        verdict, reason = RunVerdict.MALFORMED, str(fault)
    return Judgement(verdict, reason, value, stated)


def _stated_value(answer: Answer) -> Number | None:
    """Return the value of the last `o` line, which need not be an integer here."""
    if answer.unread is None:
        return answer.value
    number = parse_number(answer.unread.removeprefix("o ").strip().encode("ascii", "replace"))
    if number is None:
        raise AnswerError(f"the last o line is {answer.unread!r}; expected 'o ' and a number")
    return number


def _refuse_impossible(document: Document, known: Known, stated: Number | None) -> None:
    """Raise if a solver states a value that the proven bound rules out."""
    if stated is None or known.bound is None:
        return
    measure, problem = document.measure, document.problem
    energy = measure.energy_of(stated)
    if Fraction(energy) < known.bound and not agrees(problem, energy, known.bound):
        limit = f"{measure.phrase} {measure.beyond} {shown(measure.bound(known.bound))}"
        raise FaultError(RunVerdict.WRONG_OPTIMUM, f"claims {shown(stated)}; no state has {limit}")


def _energy(document: Document, transcript: Transcript) -> Fraction:
    """Return the exact energy of the state that a solver printed."""
    problem = document.problem
    try:
        bits = read_solution(
            io.BytesIO(bytes(transcript.output)), [problem.num_variables], problem.labels
        )
    except FileError as fault:
        raise FaultError(RunVerdict.INVALID_MODEL, str(fault).partition(": ")[2]) from None
    state = problem.space.from_bits(bits)
    if isinstance(problem, Max2Sat) and (broken := int(problem.broken(state))):
        raise FaultError(RunVerdict.INVALID_MODEL, f"the model violates {broken} hard clauses")
    return exact_energy(problem, state)


def _without_state(document: Document, known: Known, status: str | None) -> tuple[RunVerdict, str]:
    if status != "UNSATISFIABLE":
        return RunVerdict.NO_ANSWER, "nothing was printed" if status is None else f"s {status}"
    if known.best is None:
        return RunVerdict.UNDECIDED, "claims UNSATISFIABLE, which is neither proven nor refuted"
    said = document.measure.said(known.best)
    raise FaultError(RunVerdict.WRONG_OPTIMUM, f"claims UNSATISFIABLE, but a state has {said}")


def _claim(
    document: Document, known: Known, status: str | None, stated: Number | None, energy: Fraction
) -> tuple[RunVerdict, str]:
    """Return the verdict on a state and on the solver's claims about it, and the reason."""
    measure, problem = document.measure, document.problem
    said = measure.said(energy)
    if stated is not None and not agrees(problem, measure.energy_of(stated), energy):
        raise FaultError(
            RunVerdict.INVALID_MODEL,
            f"the state has {said}, but the last o line states {shown(stated)}",
        )
    if status in (None, "SATISFIABLE"):
        optimum = known.optimum
        rest = "" if optimum is None else f", the optimum is {shown(measure.of(optimum))}"
        return RunVerdict.FOUND, said + rest
    if status != "OPTIMUM FOUND":
        raise AnswerError(f"{status!r} is not a status line of the MaxSAT Evaluation")
    if known.best is not None and energy > known.best:
        raise FaultError(
            RunVerdict.WRONG_OPTIMUM,
            f"claims that {said} is optimal, but a state has {measure.said(known.best)}",
        )
    if energy != known.bound:
        return RunVerdict.UNDECIDED, f"claims that {said} is optimal"
    return RunVerdict.OPTIMAL, said
