"""`glasshouse info`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glasshouse.cli.output import show, show_json
from glasshouse.cli.pipes import source
from glasshouse.cli.standard import standard_line, standard_values
from glasshouse.cli.types import SourceFormat, Units


def info(
    file: Path, /, *, format: SourceFormat = None, units: Units = None, json: bool = False
) -> None:
    """Show what a problem file holds: sizes, weights, graph, and what is stated about its plant.

    For instance:

    ```
    glasshouse info inst.wcnf
    glasshouse info inst.wcnf.xz --json
    glasshouse plant random -n 9 -f 1/5 --loops 4 -o - --format coo | glasshouse info - --format coo
    ```

    Args:
        file: any format that glasshouse reads, also compressed (.gz, .xz, .zip).
        json: print one JSON object.
    """
    from glasshouse.files import FileError, read_document
    from glasshouse.files.text.errors import printable
    from glasshouse.landscape import overview

    document = read_document(source(file, format), format=format, units=units)
    view, known = overview(document.problem), document.metadata
    if json:
        name = document.measure.name
        stated: dict[str, Any] = {"measure": name, f"planted_{name}": document.stated_value}
        stated |= {"planted_energy": known.planted_cost, "recipe": known.recipe}
        stated |= {"labels": document.problem.labels}
        show_json({"file": str(file), **vars(view), **stated, **standard_values(document)})
        return
    show(view.rows())
    for line in standard_line(document):
        print(line)
    if document.problem.labels is not None:
        first, last = document.problem.labels[0], document.problem.labels[-1]
        show([("labels", printable(f"{first!r:.40} to {last!r:.40}"))])
    if known.planted_cost is not None:
        doubt = "stated; `glasshouse check` tells whether it is true"
        if not document.measure.is_energy:
            doubt = f"energy {known.planted_cost}; {doubt}"
        show([(f"planted {document.measure.name}", f"{document.stated_value} ({doubt})")])
    if document.planted is not None:
        try:
            print(document.planted.summary())
        except ValueError as fault:  # a recipe from anywhere
            raise FileError(file, f"its recipe is not one of ours: {fault}") from None
    elif known.recipe is not None:
        for name, key in (("grown by", "method"), ("seed", "seed")):
            show([(name, printable(str(known.recipe.get(key))[:200]))])
