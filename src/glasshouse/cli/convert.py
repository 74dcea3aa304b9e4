"""`glasshouse convert`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.output import show_json

if TYPE_CHECKING:
    from glasshouse.files import Document

Kind = Literal["ising", "rbm", "qubo", "max2sat", "maxcut"]


def convert(
    source: Path,
    target: Path,
    /,
    *,
    kind: Kind | None = None,
    dialect: Literal["classic", "mse22"] = "classic",
    encoding: Literal["clause", "edge"] = "clause",
    blind: bool = False,
    force: bool = False,
    json: bool = False,
) -> None:
    """Convert a problem file into another format, told by its suffix.

    Integers are converted exactly and stay integers; floats are rounded to their last bit. An
    optimum that the file states and proves is carried over into the weights of the new file, with
    its proof. What cannot be carried, or is stated without proof, is left out and named; what is
    stated falsely is refused.

    For instance:

    ```
    glasshouse convert inst.wcnf inst.qubo
    glasshouse convert spins.coo inst.wcnf --dialect mse22
    glasshouse convert any.wcnf machine.npz --kind rbm
    ```

    Args:
        source: the file to read.
        target: the file to write.
        kind: what the problem shall become before it is written; else what the format holds.
        dialect: how to write WCNF: `p wcnf` header, or the form of the MaxSAT Evaluation 2022.
        encoding: how to write WCNF: two clauses per edge, or one relaxation variable per edge.
        blind: leave out all that is known of the optimum.
        force: overwrite an existing file.
        json: print one JSON object.
    """
    from glasshouse.certificates import CertificateError
    from glasshouse.files import FileError, carry, read_document, verified, write
    from glasshouse.problems import convert as reductions
    from glasshouse.problems.convert import unchanged

    document = read_document(source)
    left_out: tuple[str, ...] = ()
    if not blind:
        try:
            document, left_out = verified(document)
        except CertificateError as lie:
            raise CheckFailedError(f"{lie}; --blind converts the problem alone") from lie
    try:
        first = unchanged(document.problem)
        if kind is not None:
            problem, first = getattr(reductions, f"to_{kind}")(document.problem)
            if problem is not document.problem:
                document = carry(document, problem, first)
        second = write(
            target, document, dialect=dialect, encoding=encoding, blind=blind, overwrite=force
        )
    except FileError:
        raise
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    reduction = first.then(second)
    if not blind:
        left_out += _lost(document, target, encoding)
    for what in left_out:
        print(f"glasshouse: left out: {what}", file=sys.stderr)
    if json:
        show_json({"source": source, "target": target, "from": str(reduction.source),
                   "to": str(reduction.target), "identity": reduction.identity,
                   "left_out": left_out})  # fmt: skip
    else:
        print(f"{target}: {reduction}")


def _lost(document: Document, target: Path, encoding: str) -> tuple[str, ...]:
    """What is known about the problem and did not come along, with the reason."""
    from glasshouse.files import Metadata, side_car
    from glasshouse.files.registry import format_of

    kind, lost = format_of(target), []
    if document.metadata != Metadata() and not kind.has_notes:
        lost.append(f"stated cost, model and recipe ({kind.suffix} files have no place for them)")
    proven = document.planted is not None or document.load_proof is not None
    if proven and not side_car(target).exists() and not (kind.native and document.planted):
        why = "it proves less about the new file"
        if encoding == "edge":
            why = "no checker reads the edge encoding"
        lost.append(f"the certificate ({why})")
    return tuple(lost)
