"""Suites: a folder of instances with a manifest that states the optimum of each.

`manifest.jsonl` has one JSON object a line: the file's name, its SHA-256, the recipe that grows it
again, and the optimum in the file's own weights. It is written last, so a folder with a manifest
holds a whole suite. The files may be blind; then the manifest is the key, to be kept apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from glasshouse.files.document import Document
from glasshouse.files.errors import FileError
from glasshouse.files.formats import Dialect
from glasshouse.files.reading import read_document
from glasshouse.files.registry import format_of
from glasshouse.files.streams import opened, refuse_existing, replacing
from glasshouse.files.writing import write
from glasshouse.planting import Planted, Recipe
from glasshouse.problems.checks import Number

MANIFEST = "manifest.jsonl"


@dataclass(frozen=True)
class Entry:
    """One line of a manifest.

    Attributes:
        file: the instance, in the manifest's own folder.
        sha256: of the file's bytes.
        recipe: as `Recipe.to_json` writes it.
        optimum: the least cost (or energy) in the file's own weights.
    """

    file: str
    sha256: str
    recipe: dict[str, Any]
    optimum: Number


def write_suite(
    folder: Path,
    instances: Iterable[Planted],
    *,
    stem: str = "instance",
    suffix: str = ".wcnf",
    dialect: Dialect = "classic",
    blind: bool = False,
    overwrite: bool = False,
) -> Iterator[Entry]:
    """Write each instance as `stem-00000` + suffix, and the manifest when all are done.

    Yields each entry as its file is written, so that a caller can show progress.
    """
    manifest = folder / MANIFEST
    format_ = format_of(Path(stem + suffix))
    refuse_existing(manifest, overwrite=overwrite)
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, planted in enumerate(instances):
        path = folder / f"{stem}-{number:05d}{suffix}"
        write(path, planted, dialect=dialect, blind=blind, overwrite=overwrite)
        _, reduction = format_.convert(planted.problem)
        entry = Entry(
            path.name,
            sha256_of(path),
            json.loads(planted.recipe.to_json()),
            reduction.target_energy(planted.energy),
        )
        lines.append(json.dumps(asdict(entry), sort_keys=True) + "\n")
        yield entry
    with replacing(manifest, overwrite=overwrite) as file:
        file.write("".join(lines).encode("ascii"))


def read_manifest(manifest: Path) -> list[Entry]:
    """The entries of a manifest, in order."""
    entries = []
    with opened(manifest) as source:
        for number, line in enumerate(source.read().splitlines(), start=1):
            try:
                entry = Entry(**json.loads(line))
            except (ValueError, TypeError, RecursionError):
                raise source.error(
                    "expected a JSON object with file, sha256, recipe and optimum", number
                ) from None
            if Path(entry.file).name != entry.file or not isinstance(entry.recipe, dict):
                raise source.error("expected the plain name of a file, and a recipe", number)
            entries.append(entry)
    return entries


def check_suite(manifest: Path) -> Iterator[Entry]:
    """Prove every line of a manifest, or raise a ValueError at the first lie.

    For each instance: the file's bytes are the ones listed; the recipe grows a plant that its
    loops prove; the file holds that very problem; and the optimum is the plant's.
    """
    for entry in read_manifest(manifest):
        path = manifest.parent / entry.file
        if sha256_of(path) != entry.sha256:
            raise FileError(path, "its SHA-256 is not the one in the manifest; it was changed")
        planted = Planted.from_recipe(Recipe.from_json(json.dumps(entry.recipe)))
        planted.verify()
        problem, reduction = format_of(path).convert(planted.problem)
        held = read_document(path)
        if _ordered(held) != _ordered(Document(problem)):
            raise FileError(path, "does not hold the problem that its recipe grows")
        optimum = reduction.target_energy(planted.energy)
        if entry.optimum != optimum:
            raise FileError(
                path, f"its optimum is {optimum}, but the manifest says {entry.optimum}"
            )
        yield entry


def sha256_of(path: Path) -> str:
    """Hash of a file's bytes."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise FileError(path, "there is no such file") from None


def _ordered(document: Document) -> Any:
    """Clauses in one order, whatever order they stand in; other problems as they are."""
    problem = document.problem
    return problem.simplified() if hasattr(problem, "simplified") else problem
