"""`glasshouse report`: write a report page."""

from __future__ import annotations

import sys
from pathlib import Path

from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.options import Force, OutputPath


def report(
    *files: Path,
    output: OutputPath = Path("report.html"),
    title: str | None = None,
    force: Force = False,
) -> None:
    """Write one HTML page about stores, files and proofs.

    The page needs no network. Every file becomes a section: figures with values, tables to sort and
    filter, parameters, seeds, versions, and the command that makes it again. Instances are
    verified, and the page shows what is verified and what is only stated. Ends with exit code 1 if
    a file states something false; the page then shows it.

    For instance:

    ```
    glasshouse report race.sqlite -o race.html
    glasshouse report peak.sqlite run.sqlite inst.wcnf -o all.html
    glasshouse prove cube.mc --json > proof.json; glasshouse report cube.mc proof.json -o cube.html
    ```

    Args:
        files: stores of studies, races and training runs; instances of any format, with the
            certificates next to them; models and checkpoints of training runs; the output of
            `glasshouse prove --json`.
        output: the page.
        title: the title of the page; the names of the files by default.
    """
    from glasshouse.reports import report as write_report

    if not files:
        raise ValueError("no FILE to report; name at least one store or file")
    made = write_report(*files, output=output, title=title, overwrite=force)
    size = made.path.stat().st_size
    print(f"{made.path}: {made.sections} section{'s' * (made.sections != 1)}, {size / 1e6:.1f} MB")
    if made.lack:
        print(f"warning: tables instead of charts: {made.lack}", file=sys.stderr)
    if made.refuted:
        raise CheckFailedError("; ".join(made.refuted))
