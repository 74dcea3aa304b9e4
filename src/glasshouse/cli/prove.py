"""`glasshouse prove`: prove an optimum or a bound, and write the certificate."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from glasshouse.cli import clock
from glasshouse.cli.collecting import executor_of, refuse_both
from glasshouse.cli.console import flush, terminal
from glasshouse.cli.errors import CheckFailedError, FalseClaimError, false_claim
from glasshouse.cli.options import Dask, Force, MaybeWhole, SourceFormat, Units, is_pipe, source
from glasshouse.cli.output import measured, model_of, show_json, standard_line, standard_values

if TYPE_CHECKING:
    from glasshouse.certificates import Certificate, Proven, Verdict
    from glasshouse.problems import Measure, Problem
    from glasshouse.proofs import Bounds, Proof


def prove(
    file: Path,
    /,
    *,
    certificate: Path | None = None,
    veripb: Path | None = None,
    veripb_form: Literal["wcnf", "opb"] = "wcnf",
    veripb_version: Literal["3.0", "2.0"] = "3.0",
    qoblib: Path | None = None,
    time_limit: float | None = None,
    node_limit: MaybeWhole = None,
    memory_limit: MaybeWhole = None,
    workers: MaybeWhole = None,
    dask: Dask = None,
    units: Units = None,
    format: SourceFormat = None,
    force: Force = False,
    json: bool = False,
) -> None:
    """Prove the optimum of any problem, or the best bound.

    Writes the certificate, and needs no knowledge of a plant. The linear relaxation with cycle
    inequalities is tight on every sum of frustrated loops. If it leaves a gap, a tree is searched:
    it branches on pairs of spins until every leaf is closed. Ctrl-C and --time-limit keep the tree
    so far in the certificate, and the same command resumes from there, even after a kill. Numbers
    are the file's own: the cut of a .mc file, the objective of a .qubo file. Ends with exit code 1
    if the certificate leaves a gap, 2 if it cannot be written, and 3 if the file states an optimum
    other than the one found. The answer is printed before the certificate is written.

    For instance:

    ```
    glasshouse prove inst.wcnf
    glasshouse prove spins.coo --time-limit 60 --certificate spins.cert
    glasshouse prove torus.mc --time-limit 600 --workers 2
    glasshouse convert inst.wcnf new.wcnf --dialect mse22
    glasshouse prove new.wcnf --veripb new.pbp && veripb --wcnf new.wcnf new.pbp
    glasshouse prove model.qs --qoblib submission/
    ```

    Args:
        file: any problem file, planted or not.
        certificate: the certificate file, FILE.cert by default (`-` needs this option). The search
            resumes from an existing certificate, and only a better one replaces it; --force starts
            from scratch.
        veripb: also write a proof for VeriPB, the MaxSAT community's proof checker. The certificate
            then has only loops, which VeriPB can follow.
        veripb_form: the file that VeriPB will read: the WCNF in its 2022 dialect, or its OPB
            (`convert`).
        veripb_version: the syntax of the proof.
        qoblib: also write a result for the QOBLIB into this folder: solution, summary with the
            proven bound, and objective over time, in a folder named after the instance.
        time_limit: seconds of the whole command, after which the best bound and state so far are
            shown. The start of Python and reading the file count, compilation does not.
        node_limit: the most nodes of a tree to bound; 1 is the root, without branching.
        memory_limit: megabytes that the tree may use, 4096 by default; beyond that, the search
            stops. An elimination that needs more is not begun.
        workers: the number of processes that search the tree; one by default.
        json: print one JSON object.
    """
    from glasshouse.certificates import Proven
    from glasshouse.files import FileError, read_document, side_car, write_if_better
    from glasshouse.files.text.streams import refuse_existing, replacing
    from glasshouse.problems import Max2Sat
    from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError
    from glasshouse.proofs import prove as find_proof
    from glasshouse.proofs.qoblib import TO_FILL_IN, QoblibPackage
    from glasshouse.proofs.veripb.writing import veripb_proof

    if is_pipe(file) and certificate is None:
        raise ValueError("standard input (-) has no certificate next to it; add --certificate FILE")
    refuse_both(workers, dask)
    target = certificate or side_car(file)
    _refuse_same(file, target, veripb)
    _refuse_nowhere(target, veripb)
    if veripb is not None:
        refuse_existing(veripb, overwrite=force)
    package = None if qoblib is None else QoblibPackage.of_file(qoblib, file)
    if package is not None and not force:
        package.refuse_existing()
    document = read_document(source(file, format), format=format, units=units)
    problem = document.problem
    before = _before(target, problem, force)
    start = None if before is None or force else before.certificate
    if veripb is not None and start is not None and start.tree and start.tree.num_orders:
        start = None  # VeriPB does not support elimination orders
    is_done = before is not None and before.verdict.optimal

    kept = False  # whether the file there is from this run

    def keep_on_the_way(tree: Certificate) -> None:
        nonlocal kept
        try:
            proven = Proven(problem, tree)
            kept |= write_if_better(target, proven, overwrite=force, or_as_good=True)
        except (FileError, OSError) as fault:  # the search is worth more than its checkpoint
            print(f"warning: no checkpoint written: {fault}; the search continues", file=sys.stderr)

    def write(proof: Proof) -> None:
        nonlocal kept
        kept |= write_if_better(target, proof.proven, overwrite=force, or_as_good=True)
        if veripb is not None and clauses is not None and proof.optimal:
            text = veripb_proof(
                clauses, proof.certificate, form=veripb_form, version=veripb_version
            )
            with replacing(veripb, overwrite=force) as out:
                out.write(text.encode("ascii"))
        if package is not None:
            resumed = before is not None and not force
            remark = "Times cover only the last part of a resumed search." * resumed
            package.write(document, proof, remark=remark, overwrite=force)

    clauses = problem if isinstance(problem, Max2Sat) else None
    if veripb is not None and clauses is None:
        raise ValueError(f"--veripb applies to clauses; {file} contains {problem!r}")
    try:
        with _progress(document.measure) as progress, executor_of(dask) as executor:
            proof = find_proof(
                problem, time_limit=clock.seconds_left(time_limit), node_limit=node_limit,
                progress=progress,
                memory_limit=None if memory_limit is None else memory_limit << 20,
                certificate=start,
                checkpoint=None if is_done and not force else keep_on_the_way, workers=workers,
                executor=executor, loops_only=veripb is not None,
            )  # fmt: skip
    except HardClausesUnsatisfiableError as error:
        raise CheckFailedError(f"{file}: {error}") from error
    lie = false_claim(document, proof.energy, proof.optimal)
    found = _Found.of(document.measure, proof.verdict)
    if json:
        try:
            write(proof)
        finally:  # the JSON object is complete, including what could not be written
            values = {"certificate": target, "certificate_written": kept, "false_claim": bool(lie)}
            values |= standard_values(document)
            show_json({"file": file, **_values(proof, found), **values})
    else:
        for name, value in _rows(proof, found):
            print(f"{name:<11}  {value}")
        for line in standard_line(document):
            print(line)
        flush()
        write(proof)
        print(_certificate_line(target, proof, found, before, kept))
        for line in _veripb_line(veripb, proof):
            print(line)
        if package is not None:
            print(f"{package.summary_path.parent} is the result for the QOBLIB; fill in "
                  f"{', '.join(TO_FILL_IN)}")  # fmt: skip
    if lie:
        raise FalseClaimError(f"{file}: {lie}")
    if proof.statistics.stopped == "Ctrl-C" and not proof.optimal:
        raise KeyboardInterrupt(f"a gap of {found.gap} remains")
    if not proof.optimal and not (is_done and not kept):
        how = "optimal up to the rounding of floats" if proof.is_within_rounding else "not proven"
        raise CheckFailedError(f"{file}: {how}; a gap of {found.gap} remains")


class _Found(NamedTuple):
    """The value of the best state, and the proven bound, in the file's measure."""

    measure: Measure
    value: Any
    bound: Any
    gap: Any

    @classmethod
    def of(cls, measure: Measure, verdict: Verdict) -> _Found:
        value = measure.of(verdict.exact_energy)
        bound = value if verdict.optimal else measure.bound(verdict.lower_bound)
        return cls(measure, value, bound, measure.gap(verdict.gap))


def _refuse_same(file: Path, target: Path, veripb: Path | None) -> None:
    """Refuse to write a certificate or proof over the problem, or both to one file."""
    places = [file, target] if veripb is None else [file, target, veripb]
    for k, place in enumerate(places):
        if place.resolve() in [other.resolve() for other in places[:k]]:
            raise ValueError(f"{place} is named twice; problem, certificate and proof must be "
                             "different files")  # fmt: skip


def _refuse_nowhere(*places: Path | None) -> None:
    """Refuse a path that cannot be written to, so that hours of work are not lost."""
    for place in places:
        if place is None:
            continue
        folder = place.parent
        if place.is_dir():
            raise ValueError(f"{place} is a directory; name a file in it")
        if not folder.is_dir():
            raise ValueError(f"{place} cannot be written: there is no directory {folder}")
        if not os.access(folder, os.W_OK):
            raise ValueError(f"cannot write {place}: {folder} is read-only; choose "
                             "another file with --certificate")  # fmt: skip


def _before(target: Path, problem: Problem, force: bool) -> Proven | None:
    """Return the existing certificate, unless it will be replaced."""
    from glasshouse.files import FileError, standing_certificate

    try:
        standing = standing_certificate(target, problem)
    except FileError:
        if not force:
            raise
        return None
    return None if standing is None else standing[0]


def _certificate_line(
    target: Path, proof: Proof, found: _Found, before: Proven | None, written: bool
) -> str:
    """Return a line about the certificate."""
    if not written:
        return f"{target} already proves as much and was not changed; --force starts from scratch"
    instead = ""
    if before is not None:
        gap = found.measure.gap(before.verdict.gap)
        kind = "an equal" if gap == found.gap else "a better" if gap < found.gap else "a weaker"
        instead = f", in place of {kind} one (gap {gap})"
    if proof.optimal:
        return f"{target} is the certificate{instead}; `glasshouse check` verifies it"
    more = "; the same command resumes from there" if proof.certificate.tree is not None else ""
    return f"{target} is the certificate of the bound {found.bound}{instead}{more}"


def _veripb_line(veripb: Path | None, proof: Proof) -> list[str]:
    """Return a line about the proof for VeriPB."""
    if veripb is None:
        return []
    if proof.optimal:
        return [f"{veripb} is the proof for VeriPB"]
    return ["no proof for VeriPB was written: the optimum is not proven"]


def _rows(proof: Proof, found: _Found) -> Iterator[tuple[str, Any]]:
    """Yield the rows to print, the value in the file's measure first."""
    measure = found.measure
    yield measure.name, found.value
    yield measure.bound_name, found.bound
    yield "optimal", proof.verdict_in_words(found.gap)
    if not measure.is_energy:
        yield "energy", f"{proof.energy} (lower bound {proof.lower_bound})"
    yield from proof.work_rows().items()
    yield "model", model_of(proof.state)


def _values(proof: Proof, found: _Found) -> dict[str, Any]:
    work = proof.statistics
    return measured(found.measure, found.value, proof.energy) | {
        f"{found.measure.name}_bound": found.bound,
        "lower_bound": proof.lower_bound,
        "optimal": proof.optimal,
        "optimal_within_rounding": proof.is_within_rounding,
        "model": model_of(proof.state),
        "seconds": work.seconds,
        "stopped": work.stopped,
        "method": work.method,
        "nodes": work.nodes,
        "leaves": work.leaves,
        "history": [_at(found.measure, bounds) for bounds in work.history],
    }


def _at(measure: Measure, bounds: Bounds) -> dict[str, Any]:
    """Return intermediate bounds in the file's measure."""
    return {"seconds": bounds.seconds, measure.name: measure.of(bounds.upper),
            f"{measure.name}_bound": measure.of(bounds.lower), "nodes": bounds.nodes}  # fmt: skip


@contextmanager
def _progress(measure: Measure) -> Iterator[Any]:
    """Yield a function that shows the bounds so far; None without a terminal."""
    console = terminal()
    if console is None:
        yield None
        return

    def report(bounds: Any) -> None:
        low, high = sorted(float(measure.of(x)) for x in (bounds.lower, bounds.upper))
        nodes = f", {bounds.nodes} nodes, {bounds.open_nodes} open" if bounds.nodes else ""
        status.update(f"proving: {low:.12g} ≤ {measure.name} ≤ {high:.12g}, "
                      f"gap {high - low:.6g}{nodes}, {bounds.seconds:.0f} s")  # fmt: skip

    with console.status("proving") as status:
        yield report
