"""`glasshouse judge`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from glasshouse.cli.errors import FalseClaimError
from glasshouse.cli.output import show_json
from glasshouse.cli.types import Units

if TYPE_CHECKING:
    from glasshouse.races.judging import Judgement
    from glasshouse.races.transcript import Transcript


def judge(
    file: Path,
    answer: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    certificate: Path | None = None,
    units: Units = None,
    json: bool = False,
) -> int:
    """Judge what a solver printed (o, s and v lines) against the proof of a file's optimum.

    The model is evaluated again, its cost compared with the last o line, and the claim with what
    the certificate beside the file proves. For problems other than clauses, numbers are the file's
    own (the cut of a .mc file, the objective of a .qubo file), a state may be 0 and 1, ±1 or JSON,
    and o and s lines may be left out. A state without the claim that it is optimal is right if it
    is valid; the verdict then says what the optimum is, where that is proven. Ends with exit code 1
    unless the answer is right; the verdict is on standard output, whatever it is.

    For instance:

    ```
    glasshouse judge inst.wcnf answer.txt
    mysolver inst.wcnf | glasshouse judge inst.wcnf -
    glasshouse judge torus.mc spins.txt
    glasshouse judge suite/blind.coo spins.txt --certificate answers/blind.coo.cert
    ```

    Args:
        file: any problem file, such as .wcnf, .cnf, .mc or .coo.
        answer: what the solver printed; - reads standard input.
        certificate: the certificate of the file, if it is not beside it.
        json: print one JSON object.
    """
    from glasshouse.certificates import CertificateError
    from glasshouse.files.errors import printable
    from glasshouse.files.sidecar import has_side_car
    from glasshouse.races.judging import RunVerdict
    from glasshouse.races.transcript import read_transcript
    from glasshouse.races.truth import is_of_clauses

    ways = _judge_clauses if is_of_clauses(file) else _judge_state
    try:
        judgement, bound = ways(file, certificate, units, lambda: read_transcript(answer))
    except CertificateError as lie:
        raise FalseClaimError(lie) from lie
    if certificate is None and not has_side_car(file):
        missing = "; there is no certificate beside the file that could "
        if judgement.verdict is RunVerdict.UNDECIDED:
            judgement = replace(judgement, reason=f"{judgement.reason}{missing}decide it")
        elif judgement.verdict is RunVerdict.FOUND and bound is None:
            judgement = replace(judgement, reason=f"{judgement.reason}{missing}tell the optimum")
    if json:
        show_json({"file": file, "right": judgement.is_right, "bound": bound, **vars(judgement)})
    else:
        print(printable(f"{file}: {judgement}"))
    return 0 if judgement.is_right else 1


def _judge_clauses(
    file: Path, certificate: Path | None, units: Units, read: Callable[[], Transcript]
) -> tuple[Judgement, Any]:
    """The verdict, and the proven bound; clauses may be of any length and weight."""
    from glasshouse.races.answer import read_answer
    from glasshouse.races.clause_file import read_clauses
    from glasshouse.races.judging import judge as judge_answer
    from glasshouse.races.truth import truth_of

    if units is not None:
        raise ValueError(f"--units is for a matrix; {file} holds clauses")
    truth = truth_of(file, certificate)
    return judge_answer(read_clauses(file), read_answer(read()), truth), truth.bound


def _judge_state(
    file: Path, certificate: Path | None, units: Units, read: Callable[[], Transcript]
) -> tuple[Judgement, Any]:
    """The verdict, and the proven bound, in the file's own numbers."""
    from glasshouse.races.state_judging import judge_state, known_problem

    known = known_problem(file, certificate, units=units)
    bound = None if known.bound is None else known.document.measure.bound(known.bound)
    return judge_state(known, read()), bound
