"""Results of commands: text, JSON for scripts, figures."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshouse.files import Document
    from glasshouse.problems.measure import Measure

# The most bits of an integer that Python prints in decimal.
_LONGEST = 10_000


def show(rows: Iterable[tuple[str, object]]) -> None:
    """Print names and values in aligned columns."""
    for name, value in rows:
        print(f"{name:<18}{value}")


def show_json(value: Any) -> None:
    """Print one JSON object, with exact fractions as strings and arrays as lists."""
    print(json.dumps(_plain(value)))


def measured(measure: Measure, value: Any, energy: Any) -> dict[str, Any]:
    """Return a value under the name of the file's measure, and the energy if it differs."""
    return {"measure": measure.name, measure.name: value, "energy": energy}


def model_of(state: Any) -> str:
    """Return a state as files spell it: 1 for true or up, 0 for false or down."""
    return "".join("1" if x > 0 else "0" for x in state.tolist())


def standard_line(document: Document) -> list[str]:
    """Return a list with one line about a standard instance, or an empty list."""
    from glasshouse.library import recognise

    found = recognise(document.problem)
    return [] if found is None else [found.told(document.measure)]


def standard_values(document: Document) -> dict[str, Any]:
    """Return value, bound and name for JSON; null for a file that is not a standard instance."""
    from glasshouse.library import recognise

    found = recognise(document.problem)
    if found is None:
        return {"standard_instance": None}
    values = {
        "name": found.instance.name, "family": found.instance.family,
        "value": found.value_in(document.measure), "bound": found.bound_in(document.measure),
        "proven": found.instance.proven,
    }  # fmt: skip
    return {"standard_instance": values}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else str(value)
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has neither infinity nor NaN
    if type(value) is int and value.bit_length() > _LONGEST:
        return hex(value)
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return value


def free_pictures(output: Path | None, source: Path, *, force: bool) -> list[Path]:
    """Return the paths of a figure; refuse the source file, and existing files without `force`.

    Args:
        output: the figure's name; None writes a PNG and an SVG under the source's name.
        source: the file that is drawn.
        force: overwrite existing files.
    """
    from glasshouse.charts.style import picture_paths
    from glasshouse.files.text.streams import refuse_existing

    if output is None:
        paths = [source.with_suffix(suffix) for suffix in (".png", ".svg")]
    else:
        paths = picture_paths(output)
    for path in paths:
        refuse_existing(path, overwrite=force and path.resolve() != source.resolve())
    return paths


def save_pictures(figure: Any, paths: list[Path]) -> None:
    """Write a figure to its files, and print their names."""
    from glasshouse.charts.style import save

    for path in save(figure, paths):
        print(path)
