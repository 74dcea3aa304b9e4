"""`glasshouse draw`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def draw(
    file: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    force: bool = False,
) -> None:
    """Draw a planted instance: its weight matrix, as handed out and gauged; or its graph.

    For instance:

    ```
    glasshouse plant structured -n 40 -f 0.23 --loop-density 3 --block 0.3 -o hard.npz
    glasshouse draw hard.npz -o hard.png
    ```

    Args:
        file: a planted instance: .npz, or any file whose comments hold its recipe.
        output: the picture; .png, .svg or .pdf.
        force: overwrite what is there.
    """
    from glasshouse.files import read_planted
    from glasshouse.files.streams import refuse_existing
    from glasshouse.studies.figures.drawing import draw as draw_plant

    if output.suffix not in (".png", ".svg", ".pdf"):
        raise ValueError(f"{output} is no picture; use a name that ends in .png, .svg or .pdf")
    refuse_existing(output, overwrite=force)
    draw_plant(read_planted(file)).savefig(output, dpi=150)
    print(output)
