"""Manifests and tables of optima, which state the optimum of each instance in a suite.

The table of the MaxSAT Evaluation's regression suite states what a solver should answer. The
Evaluation's script `testSolver.py --csv` splits lines at a comma and a space, and searches for the
files in the current folder.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from glasshouse.files import Document, parse_object
from glasshouse.files.text.errors import FileAccessError, FileError
from glasshouse.files.text.number_rows import bit_string, parse_bits
from glasshouse.files.text.streams import Source, format_suffix, opened, refuse_pipe
from glasshouse.problems import Measure, Number, to_bits
from glasshouse.summaries import Summarised

MANIFEST = "manifest.jsonl"
OPTIMA = "optima.csv"
REGRESSION = "regression.csv"
_HEAD = ("WCNFFile", "BestOValue", "Satisfiable", "CertifiedResult", "Model")


@dataclass(frozen=True, repr=False)
class Entry(Summarised):
    """One line of a manifest: a file of a suite, its recipe, and its optimum or bounds.

    Attributes:
        file: the instance, in the folder of the manifest or of the blind files.
        sha256: the SHA-256 of the file's bytes.
        recipe: the recipe, as `Recipe.to_json` writes it.
        optimum: the least cost (or energy) in the file's own weights; None if it is not proven.
        name: the name of the instance: its family, parameters and number.
        certificate: the certificate file, in the folder of the manifest.
        certificate_sha256: the SHA-256 of the certificate's bytes.
        bound: a proven lower bound on the cost, if the optimum is not proven.
        best: the cost of the best known state, if the optimum is not proven.
        measure: the name of the file's own measure (objective, cut) if it is not the energy or
            cost.
        measured: the value of this measure at the optimum, or at the best known state.
        measured_bound: the bound as a value of this measure, if the optimum is not proven.
    """

    file: str
    sha256: str
    recipe: dict[str, Any]
    optimum: Number | None
    name: str | None = None
    certificate: str | None = None
    certificate_sha256: str | None = None
    bound: Number | None = None
    best: Number | None = None
    measure: str | None = None
    measured: Number | None = None
    measured_bound: Number | None = None

    @property
    def value(self) -> Number:
        """The cost of the best known state, which is the optimum if it is proven."""
        value = self.best if self.optimum is None else self.optimum
        assert value is not None
        return value

    def in_words_of(self, measure: Measure) -> Entry:
        """Return a copy of the entry with its value and bound also in a measure, such as a cut."""
        if measure.name in ("energy", "cost"):
            return self
        bound = None if self.bound is None else measure.bound(self.bound)
        return replace(
            self, measure=measure.name, measured=measure.of(self.value), measured_bound=bound
        )

    def to_json(self) -> str:
        """Return the entry as one line of JSON, omitting unknown values."""
        known = {key: value for key, value in asdict(self).items() if value is not None}
        return json.dumps({"optimum": None} | known, sort_keys=True)


_NEEDED = {"file", "sha256", "recipe", "optimum"}
_TEXTS = ("name", "certificate_sha256", "measure")
_NUMBERS = ("optimum", "bound", "best", "measured", "measured_bound")


def read_manifest(manifest: Path) -> Iterator[Entry]:
    """Yield a manifest's entries in order; raise if a line is invalid or there are no lines."""
    for source, number, values in read_lines(Path(manifest)):
        yield _entry(source, number, values)


def read_lines(path: Path) -> Iterator[tuple[Source, int, dict[str, Any] | None]]:
    """Yield each line's JSON object, or None for an invalid line; raise if the file is empty."""
    number = 0
    refuse_pipe(path)
    with opened(path) as source:
        for text in source.blocks():
            for line in io.BytesIO(text):
                number += 1
                yield source, number, parse_object(line)
        if not number:
            raise source.error("lists no instances; expected one instance per line")


def _entry(source: Source, number: int, values: dict[str, Any] | None) -> Entry:
    known = {one.name for one in fields(Entry)}
    if values is None or not _NEEDED <= set(values) <= known:
        raise source.error("must be a JSON object with file, sha256, recipe and optimum", number)
    entry = Entry(**values)
    for name in _NUMBERS:
        value = values.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise source.error(f"{name} must be a number", number)
    is_open = entry.optimum is None
    if is_open and (entry.bound is None or entry.best is None):
        raise source.error("must have an 'optimum', or both a 'bound' and a 'best' value", number)
    if (entry.measure is None) != (entry.measured is None):
        raise source.error("must have both 'measure' and 'measured', or neither", number)
    names = [entry.file] + ([] if entry.certificate is None else [entry.certificate])
    if not all(map(is_plain_name, names)) or not isinstance(entry.recipe, dict):
        raise source.error("needs file names without folders and a JSON object as 'recipe'", number)
    for name in _TEXTS:
        if not isinstance(values.get(name, ""), (str, type(None))):
            raise source.error(f"{name} must be a string", number)
    return entry


def optima_table(entries: Iterable[Entry]) -> str:
    """Return the table of optima as CSV, with an empty cell for an unproven optimum.

    If a file has its own measure, there are two more columns: its name, and its optimum.
    """
    listed = list(entries)
    has_measures = any(entry.measure is not None for entry in listed)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    names = ["name", "optimum", "method", "sha256"]
    table.writerow([*names, "measure", "measured"] if has_measures else names)
    for e in listed:
        own = [e.measure, None if e.optimum is None else e.measured] if has_measures else []
        table.writerow([e.file, e.optimum, e.recipe.get("method"), e.sha256, *own])
    return text.getvalue()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    refuse_pipe(path)
    with opened(path) as source:
        try:
            digest = hashlib.sha256()
            while data := source.file.read(1 << 20):
                digest.update(data)
            return digest.hexdigest()
        except OSError as cause:
            raise FileAccessError(path, f"cannot be read ({cause.strerror})") from None


def refuse_changed(path: Path, sha256: str | None, where: str = "the manifest") -> None:
    """Raise if the SHA-256 of a file differs from `sha256`, which the file `where` states."""
    if sha256_of(path) != sha256:
        raise FileError(path, f"the SHA-256 differs from the one in {where}; restore the file")


def is_plain_name(name: object) -> bool:
    """Return whether a value is the name of a file without folders."""
    return isinstance(name, str) and name not in ("", ".", "..") and Path(name).name == name


class RegressionRow(NamedTuple):
    """A row of the regression table: a file, its best known cost, its proof status and a model."""

    file: str
    value: str
    satisfiable: str
    certified: str
    model: str

    @classmethod
    def of(cls, entry: Entry, state: np.ndarray[Any, Any]) -> RegressionRow:
        """Return the row of an instance, with its best state as the model."""
        certified = "NO" if entry.optimum is None else "YES"
        return cls(entry.file, str(entry.value), "YES", certified, bit_string(to_bits(state)))


def belongs(file: str) -> bool:
    """Return whether a file belongs in the regression table: only WCNF files do."""
    return format_suffix(Path(file)) == ".wcnf"


def regression_table(rows: Iterable[RegressionRow]) -> str:
    """Return the whole regression table as text."""
    return "".join(", ".join(row) + "\n" for row in (_HEAD, *rows))


def read_regression(path: Path) -> dict[str, RegressionRow]:
    """Read the regression table as a dict from file name to row; empty if there is no table."""
    if not path.is_file():
        return {}
    with opened(path) as source:
        lines = source.read_all().decode("ascii", "replace").splitlines()
        rows = {}
        for number, line in enumerate(lines[1:], 2):
            words = line.split(", ")
            if tuple(lines[0].split(", ")) != _HEAD or len(words) != len(_HEAD):
                raise source.error(f"must have the columns {', '.join(_HEAD)}", number)
            rows[words[0]] = RegressionRow(*words)
        return rows


def check_row(path: Path, row: RegressionRow, held: Document, entry: Entry) -> None:
    """Raise if a row of the regression table contradicts the instance's line in the manifest."""
    model = parse_bits(row.model.encode())
    is_fitting = model is not None and len(model) == held.problem.num_variables
    if model is None or not is_fitting or row != RegressionRow.of(entry, model):
        raise FileError(path, f"the row of {entry.file} differs from the manifest")
    reached = held.problem.energy(held.problem.space.from_bits(model))
    if reached != entry.value:
        raise FileError(path, f"the model of {entry.file} costs {reached}, not {entry.value}")
