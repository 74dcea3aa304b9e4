"""`glasshouse convert`, and `glasshouse back`, which converts a solution of the new file back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from glasshouse.cli import options
from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.options import Dialect, Force, Units
from glasshouse.cli.output import model_of, show, show_json

if TYPE_CHECKING:
    from glasshouse.files import Document, Written

Kind = Literal["ising", "rbm", "qubo", "max2sat", "maxcut", "maxsat", "polynomial"]


def convert(
    source: Path,
    target: Path,
    /,
    *,
    kind: Kind | None = None,
    source_format: Annotated[str | None, Parameter(name="--from")] = None,
    target_format: Annotated[str | None, Parameter(name="--to")] = None,
    dialect: Dialect = "classic",
    encoding: Literal["clause", "edge"] = "clause",
    units: Units = None,
    certificate: Path | None = None,
    blind: bool = False,
    recipe: bool = False,
    force: Force = False,
    json: bool = False,
) -> None:
    """Convert a problem file into another format.

    The suffixes of the files choose the formats. Integers are converted exactly and stay integers;
    floats are rounded to their last bit. An optimum that the file states and proves is converted to
    the weights of the new file, with its proof, which is verified for both files. Anything that
    cannot be converted, or is stated without proof, is left out and named; a false statement is
    refused. A recipe is copied as it is stated: `glasshouse check --recipe` compares it with the
    file.

    `glasshouse back` converts a solution of the new file back.

    For instance:

    ```
    glasshouse convert inst.wcnf inst.qubo
    glasshouse convert spins.coo inst.wcnf --dialect mse22
    glasshouse convert any.wcnf machine.npz --kind rbm
    glasshouse convert trained.npy machine.qplib --units binary
    glasshouse convert cubic.hubo pairs.qubo
    glasshouse convert - - --from coo --to wcnf < spins.coo | glasshouse solve - --format wcnf
    ```

    Args:
        source: the file to read, or `-` for standard input.
        target: the file to write, or `-` for standard output.
        kind: convert to this kind of problem first; by default, to the kind that the format holds.
        source_format: the format of SOURCE, if it has no suffix: wcnf, coo, qubo.gz, …
        target_format: the format of TARGET, if it has no suffix.
        certificate: the file of the proof, TARGET.cert by default; `-` has none without this
            option.
        dialect: the dialect of WCNF: classic (`p wcnf` header), or that of the MaxSAT Evaluation
            2022.
        encoding: the encoding of WCNF: two clauses per edge, or one relaxation variable per edge.
        blind: leave out everything that is known about the optimum.
        recipe: grow the recipe that SOURCE states, and compare the result with SOURCE. This proves
            the optimum of a file that has no certificate.
        json: print one JSON object.
    """
    from glasshouse.certificates import CertificateError
    from glasshouse.files import FileError, read_document, write
    from glasshouse.files.replanting import grown

    options.refuse_json(target, json)
    place = options.source(source, source_format, "--from")
    document = read_document(place, format=source_format, units=units)
    left_out: tuple[str, ...] = ()
    if recipe and blind:
        raise ValueError("--recipe proves an optimum, but --blind leaves it out; use only one")
    if not blind:
        try:
            document = grown(document) if recipe else document
            _, left_out = document.kept
        except CertificateError as lie:
            raise CheckFailedError(f"{lie}; use --blind to convert only the problem") from lie
    try:
        written = write(
            options.target(target, target_format, "--to"), document, format=target_format,
            kind=kind, dialect=dialect, encoding=encoding, blind=blind, certificate=certificate,
            overwrite=force,
        )  # fmt: skip
    except FileError:
        raise
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    reduction = written.reduction
    if not blind:
        left_out += _lost(document, written, target, target_format, encoding)
    for what in left_out:
        print(f"glasshouse: left out: {what}", file=sys.stderr)
    if json:
        show_json({"source": source, "target": target, "from": str(reduction.source),
                   "to": str(reduction.target), "identity": reduction.identity,
                   "left_out": left_out})  # fmt: skip
    else:
        options.say(f"{target}: {reduction}", target)


def back(
    source: Path,
    target: Path,
    solution: Path,
    /,
    *,
    source_format: Annotated[str | None, Parameter(name="--from")] = None,
    target_format: Annotated[str | None, Parameter(name="--to")] = None,
    certificate: Path | None = None,
    units: Units = None,
    json: bool = False,
) -> None:
    """Convert a solution of a converted file back to its source.

    Prints the solution in the variables of SOURCE, with its energy there. TARGET is the file that
    was made from SOURCE: it may be of another kind, doubled, edge-encoded or shuffled. Ends with
    exit code 1 if the solution violates hard clauses.

    For instance:

    ```
    glasshouse back spins.coo inst.wcnf solution.txt
    mysolver inst.wcnf | glasshouse back spins.coo inst.wcnf -
    ```

    Args:
        source: the file that was converted, or `-` for standard input.
        target: the file that was made from it.
        solution: a solution of TARGET: a solver's v lines, 0 and 1, ±1, or JSON; or `-` for
            standard input.
        source_format: the format of SOURCE, if it has no suffix: wcnf, coo, qubo.gz, …
        target_format: the format of TARGET, if it has no suffix.
        certificate: the certificate of TARGET, which has the order of shuffled variables;
            TARGET.cert by default.
        json: print one JSON object.
    """
    from glasshouse.files import bring_back
    from glasshouse.problems import Max2Sat, MaxSat

    if options.is_pipe(target) or (options.is_pipe(source) and options.is_pipe(solution)):
        raise ValueError("TARGET must be a file; use `-` for at most one of the other files")
    found = bring_back(
        options.source(source, source_format, "--from"), target, options.source(solution, "txt"),
        format=source_format, converted_format=target_format, certificate=certificate, units=units,
    )  # fmt: skip
    broken = 0
    if isinstance(found.problem, (Max2Sat, MaxSat)):
        broken = int(found.problem.broken(found.state))
    name, value, there = found.measure.name, found.measure.of(found.energy), None
    if found.converted_measure is not None and found.converted_energy is not None:
        there = found.converted_measure.of(found.converted_energy)
    if json:
        show_json({"source": source, "target": target, "measure": name, name: value,
                   "energy": found.energy, "model": model_of(found.state),
                   "labels": found.problem.labels, "target_value": there,
                   "target_energy": found.converted_energy, "identity": found.reduction.identity,
                   "broken_hard_clauses": broken})  # fmt: skip
    else:
        show([(name, value), ("model", model_of(found.state))])
        in_target = "" if there is None else f", {there} in {target}"
        print(f"{value} in {source}{in_target}; {found.reduction}")
    if broken:
        raise CheckFailedError(f"{source}: the assignment violates {broken} hard clauses")


def _lost(
    document: Document, written: Written, target: Path, format: str | None, encoding: str
) -> tuple[str, ...]:
    """Return the known facts about the problem that were not written, each with the reason."""
    from glasshouse.files import Stated
    from glasshouse.files.formats import format_of

    form, lost = format_of(target, format), []
    if document.kept[0] != Stated() and not form.has_notes:
        lost.append(f"stated cost, model and recipe ({form.suffix} files cannot hold them)")
    if document.proven is not None and written.certificate is None and not written.is_whole:
        why = "it proves less about the new file"
        if options.is_pipe(target):
            why = "standard output has none next to it; --certificate FILE writes it"
        if encoding == "edge":
            why = "no checker reads the edge encoding"
        lost.append(f"the certificate ({why})")
    return tuple(lost)
