"""Where pictures go that commands draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def free_pictures(output: Path | None, source: Path, *, force: bool) -> list[Path]:
    """The files of a picture; refuses those that are there, and always the one it is drawn from.

    Args:
        output: the picture's name; a PNG and an SVG under the source's name where it is None.
        source: what is drawn.
        force: overwrite what is there.
    """
    from glasshouse.charts.style import picture_paths
    from glasshouse.files.streams import refuse_existing

    if output is None:
        paths = [source.with_suffix(suffix) for suffix in (".png", ".svg")]
    else:
        paths = picture_paths(output)
    for path in paths:
        refuse_existing(path, overwrite=force and path.resolve() != source.resolve())
    return paths


def save_pictures(figure: Any, paths: list[Path]) -> None:
    """Write a figure to its files, and say which they are."""
    from glasshouse.charts.style import save

    for path in save(figure, paths):
        print(path)
