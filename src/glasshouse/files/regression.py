"""The table of the MaxSAT Evaluation's regression suite: what a solver should answer.

Its script `testSolver.py --csv` splits lines at a comma and a space, and looks for the files in the
folder where it is started.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from glasshouse.files.document import Document
from glasshouse.files.manifest import Entry
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.number_rows import bit_string, parse_bits
from glasshouse.files.text.streams import format_suffix, opened
from glasshouse.problems.reduction import to_bits

REGRESSION = "regression.csv"
_HEAD = ("WCNFFile", "BestOValue", "Satisfiable", "CertifiedResult", "Model")


class RegressionRow(NamedTuple):
    """One file: its least or best known cost, whether that is proven, and a model of that cost."""

    file: str
    value: str
    satisfiable: str
    certified: str
    model: str

    @classmethod
    def of(cls, entry: Entry, state: np.ndarray[Any, Any]) -> RegressionRow:
        """The row of an instance that a state is best for."""
        certified = "NO" if entry.optimum is None else "YES"
        return cls(entry.file, str(entry.value), "YES", certified, bit_string(to_bits(state)))


def belongs(file: str) -> bool:
    """Whether a file is one for the table."""
    return format_suffix(Path(file)) == ".wcnf"


def regression_table(rows: Iterable[RegressionRow]) -> str:
    """All of it as text."""
    return "".join(", ".join(row) + "\n" for row in (_HEAD, *rows))


def read_regression(path: Path) -> dict[str, RegressionRow]:
    """The rows by their files; none where there is no such table."""
    if not path.is_file():
        return {}
    with opened(path) as source:
        lines = source.read_all().decode("ascii", "replace").splitlines()
        rows = {}
        for number, line in enumerate(lines[1:], 2):
            words = line.split(", ")
            if tuple(lines[0].split(", ")) != _HEAD or len(words) != len(_HEAD):
                raise source.error(f"expected the columns {', '.join(_HEAD)}", number)
            rows[words[0]] = RegressionRow(*words)
        return rows


def check_row(path: Path, row: RegressionRow, held: Document, entry: Entry) -> None:
    """Refuse a row that states anything else than its line of the manifest."""
    model = parse_bits(row.model.encode())
    is_fitting = model is not None and len(model) == held.problem.num_variables
    if model is None or not is_fitting or row != RegressionRow.of(entry, model):
        raise FileError(path, f"does not say of {entry.file} what the manifest says")
    reached = held.problem.energy(held.problem.space.from_bits(model))
    if reached != entry.value:
        raise FileError(path, f"its model of {entry.file} costs {reached}, not {entry.value}")
