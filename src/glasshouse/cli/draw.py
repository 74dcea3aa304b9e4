"""`glasshouse draw`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from glasshouse.cli.pipes import source


def draw(
    file: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    format: str | None = None,
    force: bool = False,
) -> None:
    """Draw a planted instance: its weight matrix, as handed out and gauged; or its graph.

    Lattices and chips are drawn as they are built, with dead qubits and biases.

    For instance:

    ```
    glasshouse plant structured -n 40 -f 0.23 --loop-density 3 --block 0.3 -o hard.npz
    glasshouse draw hard.npz -o hard.png
    ```

    Args:
        file: a planted instance: .npz, or any file whose comments hold its recipe.
        output: the picture; .png, .svg or .pdf. Without a suffix, PNG and SVG are written.
        format: the format of `-` (standard input), or of a file whose suffix does not tell it.
        force: overwrite what is there.
    """
    from glasshouse.files import read_planted
    from glasshouse.files.streams import refuse_existing
    from glasshouse.studies.figures.drawing import draw as draw_plant
    from glasshouse.studies.figures.style import picture_paths, save

    paths = picture_paths(output)
    for path in paths:
        refuse_existing(path, overwrite=force and path.resolve() != file.resolve())
    for path in save(draw_plant(read_planted(source(file, format), format=format)), paths):
        print(path)
