"""Instances like the standard ones, made by the tests, as their own table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.library import Instance as Found
from benchmarks.library import found_instances

from glasshouse.files import read_document
from glasshouse.library.table import Instance, parsed
from glasshouse.proofs import prove

_COLUMNS = (
    "name,family,variables,edges,vertices,sense,value,bound,proven,seconds,nodes,limit,version,"
    "date,fingerprint,factor,shift,certificate,bytes"
)


def torus(folder: Path, name: str, length: int, seed: int) -> Path:
    """A square torus with weights -3 to 3, one of which is 0, in the format of rudy."""
    rng = np.random.default_rng(seed)
    grid = 1 + np.arange(length * length).reshape(length, length)
    rows = [
        f"{i} {j} {rng.integers(-3, 4)}"
        for axis in (0, 1)
        for i, j in zip(grid.ravel(), np.roll(grid, -1, axis).ravel(), strict=True)
    ]
    rows[0] = rows[0].rsplit(" ", 1)[0] + " 0"
    return written(folder / name, [f"{grid.size} {len(rows)}", *rows])


def matrix(folder: Path, name: str, size: int, seed: int) -> Path:
    """A QUBO of half of all entries, in the format of the Biq Mac library."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(-50, 51, (size, size)) * (rng.random((size, size)) < 0.5))
    rows = [f"{i + 1} {j + 1} {upper[i, j]}" for i, j in zip(*np.nonzero(upper), strict=True)]
    return written(folder / name, [f"{size} {len(rows)}", *rows])


def written(path: Path, lines: list[str]) -> Path:
    """The lines as a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def table_of(folder: Path) -> tuple[Instance, ...]:
    """The instances below a folder as a table has them, all of them proven."""
    return parsed([_COLUMNS, *(_row(found) for found in found_instances(folder))])


def _row(found: Found) -> str:
    document = read_document(found.path)
    value = document.measure.of(prove(document.problem).energy)
    words = [found.name, found.family, found.variables, found.edges, found.vertices, found.sense,
             value, value, "yes", 0.5, 1, 60, "0.1.0", "2026-11-18", found.fingerprint,
             found.factor, found.shift, "ab" * 32, 1000]  # fmt: skip
    return ",".join(map(str, words))
