"""`glasshouse judge`: judge the output of solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from glasshouse.cli.errors import FalseClaimError
from glasshouse.cli.options import Units
from glasshouse.cli.output import show_json

if TYPE_CHECKING:
    from glasshouse.races.judging.answer_files import AnswerFiles
    from glasshouse.races.judging.clauses import Judgement
    from glasshouse.races.running.transcript import Transcript


def judge(
    file: Path,
    /,
    *answers: Annotated[Path, Parameter(name="ANSWER", allow_leading_hyphen=True)],
    certificate: Path | None = None,
    units: Units = None,
    json: bool = False,
) -> int:
    """Judge a solver's output by the proof of the optimum.

    The solver prints o, s and v lines. Its model is evaluated again, the cost of the model is
    compared with the last o line, and the claim with what the certificate next to the file proves.
    For problems other than clauses, numbers are the file's own (the cut of a .mc file, the
    objective of a .qubo file), a state may be 0 and 1, ±1 or JSON, and o and s lines are optional.
    A state without the claim that it is optimal is right if it is valid; the verdict then states
    the optimum, if that is proven.

    Name several answers, or folders of answers, to judge them all: one line each, and a summary. If
        FILE is a folder of problem files or a suite, each answer is named after the file that it
        answers: inst.wcnf.txt, inst.wcnf.solver-2.log and inst.out answer inst.wcnf. Ends with exit
        code 1 unless every answer is right, and every file of a folder is answered. All verdicts go
        to standard output.

    For instance:

    ```
    glasshouse judge inst.wcnf answer.txt
    mysolver inst.wcnf | glasshouse judge inst.wcnf -
    glasshouse judge inst.wcnf runs/*.txt
    glasshouse judge suite runs
    glasshouse judge torus.mc spins.txt
    glasshouse judge suite/blind.coo spins.txt --certificate answers/blind.coo.cert
    ```

    Args:
        file: any problem file, such as .wcnf, .cnf, .mc or .coo; or a folder of them, or a suite.
        answers: the output of the solver, as files or folders of files; - reads standard input.
        certificate: the certificate of the file, or a folder of certificates, if it is not next to
            the file.
        json: print one JSON object.
    """
    from glasshouse.certificates import CertificateError
    from glasshouse.files.text.errors import printable
    from glasshouse.races.judging.answer_files import find_answers

    if not answers:
        raise ValueError(
            f"no answer to {file} was given; name a file with an answer, or - for standard input"
        )
    found = find_answers(file, answers)
    is_single = len(answers) == 1 and not file.is_dir() and not answers[0].is_dir()
    shown = []
    try:
        for problem, answer, judgement, bound in _judged(found, certificate, units):
            values = {"right": judgement.is_right, "bound": bound, **vars(judgement)}
            shown.append({"file": problem, **({} if is_single else {"answer": answer}), **values})
            if not json:
                print(printable(f"{problem if is_single else answer}: {judgement}"))
    except CertificateError as lie:
        raise FalseClaimError(lie) from lie
    right = sum(bool(one["right"]) for one in shown)
    if json:
        show_json(shown[0] if is_single else _summary(found, shown, right))
    elif not is_single:
        print(printable(_last_line(found, len(shown), right)))
    return 0 if right == len(shown) and not found.unanswered else 1


def _judged(
    found: AnswerFiles, certificate: Path | None, units: Units
) -> Iterator[tuple[Path, Path, Judgement, Any]]:
    """Yield problem file, answer file, verdict and bound; each proof is verified only once."""
    from glasshouse.files.known import is_of_clauses
    from glasshouse.races.judging.answer_files import certificate_of
    from glasshouse.races.running.transcript import read_transcript

    known: _Known | None = None
    for problem, answer in found.pairs:
        if known is None or known.file != problem:
            proof = certificate_of(problem, certificate)
            known = (_clauses if is_of_clauses(problem) else _any_problem)(problem, proof, units)
        yield problem, answer, known.judged(read_transcript(answer)), known.bound


@dataclass(frozen=True)
class _Known:
    """A problem file, the proven bound on its optimum, and a function that judges an answer."""

    file: Path
    bound: Any
    is_certified: bool
    judge: Callable[[Transcript], Judgement]

    def judged(self, transcript: Transcript) -> Judgement:
        """Return the verdict; if a certificate could decide more, note that it is missing."""
        from glasshouse.races.judging.clauses import RunVerdict

        judgement = self.judge(transcript)
        if self.is_certified:
            return judgement
        missing = "; without a certificate next to the file (or --certificate), glasshouse cannot "
        if judgement.verdict is RunVerdict.UNDECIDED:
            return replace(judgement, reason=f"{judgement.reason}{missing}decide it")
        if judgement.verdict is RunVerdict.FOUND and self.bound is None:
            return replace(judgement, reason=f"{judgement.reason}{missing}show the optimum")
        return judgement


def _clauses(file: Path, certificate: Path | None, units: Units) -> _Known:
    """Read a MaxSAT problem of any clause length and weight; return it with its proven bound."""
    from glasshouse.files.certificate.reading import has_side_car
    from glasshouse.files.clause_file import read_clauses
    from glasshouse.files.known import known_file
    from glasshouse.races.judging.answer import read_answer
    from glasshouse.races.judging.clauses import judge as judge_answer

    if units is not None:
        raise ValueError(f"--units applies to matrices; {file} contains clauses")
    known, clauses = known_file(file, certificate), read_clauses(file)
    is_certified = certificate is not None or has_side_car(file)
    return _Known(
        file,
        known.bound,
        is_certified,
        lambda said: judge_answer(clauses, read_answer(said), known),
    )


def _any_problem(file: Path, certificate: Path | None, units: Units) -> _Known:
    """Read a problem other than clauses; return it with its proven bound in the file's measure."""
    from glasshouse.files.certificate.reading import has_side_car
    from glasshouse.files.known import known_of
    from glasshouse.files.reading import read_document
    from glasshouse.races.judging.states import judge_state

    document = read_document(file, units=units).with_certificate(certificate)
    known = known_of(document)
    bound = None if known.bound is None else document.measure.bound(known.bound)
    is_certified = certificate is not None or has_side_car(file)
    return _Known(file, bound, is_certified, lambda said: judge_state(document, known, said))


def _summary(found: AnswerFiles, shown: list[dict[str, Any]], right: int) -> dict[str, Any]:
    return {
        "answers": shown, "right": right, "wrong": len(shown) - right,
        "unanswered": list(found.unanswered), "unmatched": list(found.unmatched),
    }  # fmt: skip


def _last_line(found: AnswerFiles, judged: int, right: int) -> str:
    from glasshouse.races.judging.answer_files import shortened

    line = f"{judged} answer{'s' * (judged != 1)}: {right} right, {judged - right} not"
    if found.unanswered:
        line += f"; without an answer: {shortened(found.unanswered)}"
    if found.unmatched:
        line += f"; not named like a problem file: {shortened(found.unmatched)}"
    return line
