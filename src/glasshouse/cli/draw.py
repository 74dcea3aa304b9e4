"""`glasshouse draw`."""

from __future__ import annotations

from pathlib import Path

from glasshouse.cli.pictures import free_pictures, save_pictures
from glasshouse.cli.pipes import source
from glasshouse.cli.types import Force, Picture, SourceFormat


def draw(
    file: Path,
    /,
    *,
    output: Picture,
    format: SourceFormat = None,
    force: Force = False,
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
    """
    from glasshouse.charts.instance import draw as draw_plant
    from glasshouse.files import read_planted

    paths = free_pictures(output, file, force=force)
    save_pictures(draw_plant(read_planted(source(file, format), format=format)), paths)
