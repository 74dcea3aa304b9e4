"""`glasshouse judge`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from glasshouse.cli.errors import FalseClaimError
from glasshouse.cli.output import show_json


def judge(
    file: Path,
    answer: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    certificate: Path | None = None,
    json: bool = False,
) -> int:
    """Judge what a solver printed (o, s and v lines) against the proof of a file's optimum.

    The model is evaluated again, its cost compared with the last o line, and the claim with what
    the certificate beside the file proves. Ends with exit code 1 unless the answer is right; the
    verdict is on standard output, whatever it is.

    For instance:

    ```
    glasshouse judge inst.wcnf answer.txt
    mysolver inst.wcnf | glasshouse judge inst.wcnf -
    ```

    Args:
        file: clauses (.wcnf or .cnf).
        answer: what the solver printed; - reads standard input.
        certificate: the certificate of the file, if it is not beside it.
        json: print one JSON object.
    """
    from glasshouse.certificates import CertificateError
    from glasshouse.files.errors import printable
    from glasshouse.files.sidecar import has_side_car
    from glasshouse.races.answer import read_answer
    from glasshouse.races.clause_file import read_clauses
    from glasshouse.races.judging import RunVerdict
    from glasshouse.races.judging import judge as judge_answer
    from glasshouse.races.transcript import read_transcript
    from glasshouse.races.truth import truth_of

    try:
        truth = truth_of(file, certificate)
    except CertificateError as lie:
        raise FalseClaimError(lie) from lie
    said = read_answer(read_transcript(answer))
    judgement = judge_answer(read_clauses(file), said, truth)
    if judgement.verdict is RunVerdict.UNDECIDED and certificate is None and not has_side_car(file):
        reason = f"{judgement.reason}; there is no certificate beside the file that could decide it"
        judgement = replace(judgement, reason=reason)
    if json:
        show_json(
            {"file": file, "right": judgement.is_right, "bound": truth.bound, **vars(judgement)}
        )
    else:
        print(printable(f"{file}: {judgement}"))
    return 0 if judgement.is_right else 1
