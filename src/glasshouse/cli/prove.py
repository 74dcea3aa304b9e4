"""`glasshouse prove`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from glasshouse.cli.claims import false_claim
from glasshouse.cli.errors import CheckFailedError, FalseClaimError
from glasshouse.cli.output import model_of, show_json
from glasshouse.cli.pipes import is_pipe, source
from glasshouse.cli.types import Units

if TYPE_CHECKING:
    from glasshouse.certificates import Verdict
    from glasshouse.problems import Problem
    from glasshouse.proofs import Proof


def prove(
    file: Path,
    /,
    *,
    certificate: Path | None = None,
    veripb: Path | None = None,
    veripb_form: Literal["wcnf", "opb"] = "wcnf",
    veripb_version: Literal["3.0", "2.0"] = "3.0",
    time_limit: float | None = None,
    units: Units = None,
    format: str | None = None,
    force: bool = False,
    json: bool = False,
) -> None:
    """Prove the optimum of any problem, or the best bound there is; write the certificate.

    Works without knowing a plant: the linear relaxation with cycle inequalities is tight on every
    sum of frustrated loops. Ctrl-C and --time-limit keep the best bound so far. Ends with exit code
    1 where a gap remains, and 3 where the file states another optimum than was proven.

    For instance:

    ```
    glasshouse prove inst.wcnf
    glasshouse prove spins.coo --time-limit 60 --certificate spins.cert
    glasshouse convert inst.wcnf new.wcnf --dialect mse22
    glasshouse prove new.wcnf --veripb new.pbp && veripb --wcnf new.wcnf new.pbp
    ```

    Args:
        file: any problem file, planted or not.
        certificate: where the certificate goes, FILE.cert by default (`-` needs this option). One
            that is there already is replaced by a better one only, unless --force is given.
        veripb: also write a proof for VeriPB, the MaxSAT community's proof checker.
        veripb_form: what VeriPB will read: the WCNF in its 2022 dialect, or its OPB (`convert`).
        veripb_version: syntax of the proof.
        time_limit: seconds, after which the best bound and state so far are shown.
        units: what the units of a matrix are (.npy, .csv, .npz of W, a, b), which does not say it:
            ±1, or 0 and 1.
        format: the format of `-` (standard input), or of a file whose suffix does not tell it.
        force: overwrite what is there.
        json: print one JSON object.
    """
    from glasshouse.files import read_document, side_car, write_if_better
    from glasshouse.files.streams import refuse_existing, replacing
    from glasshouse.problems import Max2Sat
    from glasshouse.proofs import HardClausesUnsatisfiableError
    from glasshouse.proofs import prove as find_proof
    from glasshouse.proofs.veripb import veripb_proof

    if is_pipe(file) and certificate is None:
        raise ValueError(
            "no certificate can stand beside standard input (-); add --certificate FILE"
        )
    target = certificate or side_car(file)
    if veripb is not None:
        refuse_existing(veripb, overwrite=force)
    document = read_document(source(file, format), format=format, units=units)
    problem = document.problem
    before = _before(target, problem, force)
    clauses = problem if isinstance(problem, Max2Sat) else None
    if veripb is not None and clauses is None:
        raise ValueError(f"--veripb is for clauses; {file} holds {problem!r}")
    try:
        with _progress() as progress:
            proof = find_proof(problem, time_limit=time_limit, progress=progress)
    except HardClausesUnsatisfiableError as error:
        raise CheckFailedError(f"{file}: {error}") from error
    written = write_if_better(target, problem, proof.certificate, overwrite=force)
    if veripb is not None and clauses is not None and proof.optimal:
        text = veripb_proof(clauses, proof.certificate, form=veripb_form, version=veripb_version)
        with replacing(veripb, overwrite=force) as out:
            out.write(text.encode("ascii"))
    lie = false_claim(document, proof.energy, proof.optimal)
    lines = [_certificate_line(target, proof, before, written), *_veripb_line(veripb, proof)]
    if json:
        show_json(_values(file, proof, target, written) | {"false_claim": bool(lie)})
    else:
        print(proof.summary())
        print(f"{'model':<11}  {model_of(proof.state)}")
        print("\n".join(lines))
    if lie:
        raise FalseClaimError(f"{file}: this file's claim is false: {lie}")
    if not proof.optimal and not (before is not None and before.optimal and not written):
        raise CheckFailedError(f"{file}: not proven, a gap of {proof.gap} remains")


def _before(target: Path, problem: Problem, force: bool) -> Verdict | None:
    """What the certificate proves that stands there already."""
    from glasshouse.files import FileError, standing_verdict

    try:
        return standing_verdict(target, problem)
    except FileError:
        if not force:
            raise
    return None


def _certificate_line(target: Path, proof: Proof, before: Verdict | None, written: bool) -> str:
    """What became of the certificate."""
    if not written:
        return f"{target} proves as much or more already and was left alone"
    instead = ""
    if before is not None:
        better = before.gap < proof.gap
        instead = f", in place of a {'better' if better else 'weaker'} one (gap {before.gap})"
    if proof.optimal:
        return f"{target} is the certificate{instead}; `glasshouse check` verifies it"
    return f"{target} is the certificate of the bound {proof.lower_bound}{instead}"


def _veripb_line(veripb: Path | None, proof: Proof) -> list[str]:
    """What became of the proof for VeriPB."""
    if veripb is None:
        return []
    if proof.optimal:
        return [f"{veripb} is the proof for VeriPB"]
    return ["no proof for VeriPB was written: the optimum is not proven"]


def _values(file: Path, proof: Proof, target: Path, written: bool) -> dict[str, Any]:
    return {
        "file": file,
        "lower_bound": proof.lower_bound,
        "energy": proof.energy,
        "optimal": proof.optimal,
        "model": model_of(proof.state),
        "seconds": proof.statistics.seconds,
        "stopped": proof.statistics.stopped,
        "certificate": target,
        "certificate_written": written,
    }


@contextmanager
def _progress() -> Iterator[Any]:
    """A line with the bounds so far, where there is a terminal to see it."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("proving") as status:
        yield lambda b: status.update(f"proving: {b.lower:g} ≤ optimum ≤ {b.upper:g}")
