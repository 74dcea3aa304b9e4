"""`glasshouse convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from glasshouse.cli.output import show_json

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
    """Convert a problem file exactly into another format, told by its suffix.

    Weights stay integers; a stated optimum is carried over into the weights of the new file.

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
        encoding: how to write WCNF: two clauses an edge, or one relaxation variable an edge.
        blind: leave out all that is known of the optimum.
        force: overwrite an existing file.
        json: print one JSON object.
    """
    from glasshouse.files import read_document, write
    from glasshouse.files.document import Document
    from glasshouse.landscape.overview import KINDS
    from glasshouse.problems import convert as reductions

    document = read_document(source)
    identity = "E_target = E_source"
    if kind is not None:
        problem, reduction = getattr(reductions, f"to_{kind}")(document.problem)
        identity = reduction.identity
        if problem is not document.problem:
            known = document.metadata.reduced(document.problem, reduction)
            document = Document(problem, known)
    write(target, document, dialect=dialect, encoding=encoding, blind=blind, overwrite=force)
    if json:
        made = {"source": str(source), "target": str(target), "kind": KINDS[type(document.problem)]}
        show_json(made | {"identity": identity})
    else:
        print(f"{target}: {document.problem!r}")
        if kind is not None:
            print(identity)
