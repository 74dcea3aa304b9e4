"""Suites: a folder of instances with a manifest that states the optimum of each.

`manifest.jsonl` has one JSON object per line: the name of the file, its SHA-256, the recipe that
grows it again, and the optimum in the file's own weights. It is written last, so a folder with a
manifest holds a whole suite. `optima.csv` says the same in short. The files may be blind; then
these two are the key, to be kept apart: `answers` puts them, and the certificates, into another
folder.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from glasshouse.files.document import Document
from glasshouse.files.errors import FileAccessError, FileError
from glasshouse.files.formats import Dialect
from glasshouse.files.notes import parse_object
from glasshouse.files.reading import read_document
from glasshouse.files.registry import FORMATS
from glasshouse.files.regrowing import regrow
from glasshouse.files.sidecar import side_car
from glasshouse.files.streams import COMPRESSED, Source, opened, refuse_existing, replacing
from glasshouse.files.verification import verify_file
from glasshouse.files.writing import write
from glasshouse.planting import Planted
from glasshouse.problems.reduction import Reduction
from glasshouse.problems.validation import Number
from glasshouse.summaries import Summarised

MANIFEST = "manifest.jsonl"
OPTIMA = "optima.csv"


@dataclass(frozen=True, repr=False)
class Entry(Summarised):
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
    folder: str | os.PathLike[str],
    instances: Iterable[Planted],
    *,
    stem: str = "instance",
    suffix: str = ".wcnf",
    dialect: Dialect = "classic",
    blind: bool = False,
    answers: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> list[Entry]:
    """Write each instance as `stem-00000` + suffix, and the manifest when all are done.

    The same call goes on after an interruption: files that are there already stay if they are the
    very same. `iter_write_suite` yields each entry as its file is written.

    Args:
        folder: where the files go; made if need be.
        instances: what to write.
        stem: how the names of the files begin.
        suffix: the format.
        dialect: of WCNF.
        blind: leave out of the files all that tells the optimum.
        answers: for blind files, the folder of manifest, optima and certificates; else `folder`.
        overwrite: replace what is there.

    >>> import tempfile
    >>> from glasshouse.planting import random_loops
    >>> plants = [random_loops(5, 5, frustration="1/5", loops=3, rng=seed) for seed in range(2)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_suite(folder, plants)
    ...     proven = check_suite(Path(folder) / "manifest.jsonl")
    >>> [entry.file for entry in written], [entry.optimum for entry in proven]
    (['instance-00000.wcnf', 'instance-00001.wcnf'], [9, 9])
    """
    return list(
        iter_write_suite(
            folder, instances, stem=stem, suffix=suffix, dialect=dialect, blind=blind,
            answers=answers, overwrite=overwrite,
        )
    )  # fmt: skip


def iter_write_suite(
    folder: str | os.PathLike[str],
    instances: Iterable[Planted],
    *,
    stem: str = "instance",
    suffix: str = ".wcnf",
    dialect: Dialect = "classic",
    blind: bool = False,
    answers: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Iterator[Entry]:
    """The same one by one, so that a caller can show progress; nothing happens unless iterated."""
    folder, suffix = Path(folder), suffix.lower()
    key = _key_folder(folder, answers, blind)
    _refuse_names(folder, stem, suffix)
    for name in (MANIFEST, OPTIMA):
        refuse_existing(key / name, overwrite=overwrite)
    for one in (folder, key):
        _make(one)
    for name in (MANIFEST, OPTIMA):
        (key / name).unlink(missing_ok=True)  # from now on the folder holds no whole suite
    entries = []
    for number, planted in enumerate(instances):
        path = folder / f"{stem}-{number:05d}{suffix}"
        certificate = None if answers is None else side_car(key / path.name)
        reduction = _write_once(
            path, planted, dialect=dialect, blind=blind, certificate=certificate,
            overwrite=overwrite,
        )  # fmt: skip
        entry = Entry(
            path.name,
            sha256_of(path),
            json.loads(planted.recipe.to_json()),
            reduction.target_energy(planted.energy),
        )
        entries.append(entry)
        yield entry
    lines = [json.dumps(asdict(entry), sort_keys=True) + "\n" for entry in entries]
    for name, text in ((OPTIMA, _table(entries)), (MANIFEST, "".join(lines))):
        with replacing(key / name, overwrite=overwrite) as file:
            file.write(text.encode("ascii"))


def _key_folder(folder: Path, answers: str | os.PathLike[str] | None, blind: bool) -> Path:
    """Where the optima are told."""
    if answers is None:
        return folder
    if not blind:
        raise ValueError("answers is for blind files; these tell their optima themselves")
    if Path(answers).resolve() == folder.resolve():
        raise ValueError(f"the answers would lie beside the files in {folder}; name another folder")
    return Path(answers)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise FileAccessError(
            folder, f"is no folder, and cannot become one ({cause.strerror})"
        ) from None


def _table(entries: Iterable[Entry]) -> str:
    """The optima as CSV."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["name", "optimum", "method", "sha256"])
    table.writerows([e.file, e.optimum, e.recipe.get("method"), e.sha256] for e in entries)
    return text.getvalue()


def _refuse_names(folder: Path, stem: str, suffix: str) -> None:
    """Refuse names that lead elsewhere, and formats that cannot be checked."""
    if not stem or Path(stem).name != stem:
        raise FileError(folder / stem, "expected the plain beginning of a file's name")
    known = [s for s, format_ in FORMATS.items() if format_.read and format_.write]
    if suffix not in [s + packed for s in known for packed in ("", *COMPRESSED)]:
        raise FileError(
            folder / f"{stem}{suffix}",
            f"a suite is checked by reading it; expected one of {' '.join(known)} (+ .gz or .xz)",
        )


def _write_once(
    path: Path, planted: Planted, *, certificate: Path | None, overwrite: bool, **options: Any
) -> Reduction:
    """Write an instance, unless an interrupted run left the very same one."""
    beside = certificate or side_car(path)
    if overwrite or not (path.exists() or beside.exists() or side_car(path).exists()):
        return write(path, planted, certificate=certificate, overwrite=overwrite, **options)
    with TemporaryDirectory(dir=path.parent) as folder:
        draft = Path(folder) / path.name
        proof = side_car(draft)
        reduction = write(draft, planted, certificate=certificate and proof, **options)
        pairs = [(draft, path), (proof, beside)]
        if certificate is not None:
            refuse_existing(side_car(path), overwrite=False)
        for new, old in pairs:
            if old.exists() and not (new.exists() and sha256_of(new) == sha256_of(old)):
                refuse_existing(old, overwrite=False)
        for new, old in pairs:
            if new.exists():
                shutil.move(new, old)  # also onto another disk
    return reduction


def read_manifest(manifest: Path) -> Iterator[Entry]:
    """The entries of a manifest, in order, one after the other as they are read; at least one."""
    number = 0
    with opened(Path(manifest)) as source:
        for text in source.blocks():
            for line in io.BytesIO(text):
                number += 1
                yield _entry(source, number, line)
        if not number:
            raise source.error("lists no instances; expected one per line")


def _entry(source: Source, number: int, line: bytes) -> Entry:
    values = parse_object(line)
    if values is None or set(values) != {one.name for one in fields(Entry)}:
        raise source.error("expected a JSON object with file, sha256, recipe and optimum", number)
    entry = Entry(**values)
    if isinstance(entry.optimum, bool) or not isinstance(entry.optimum, (int, float)):
        raise source.error("expected an optimum that is a number", number)
    if not _is_plain_name(entry.file) or not isinstance(entry.recipe, dict):
        raise source.error("expected the plain name of a file, and a recipe", number)
    return entry


def check_suite(
    manifest: str | os.PathLike[str], *, files: str | os.PathLike[str] | None = None
) -> list[Entry]:
    """Prove every line of a manifest, or raise a ValueError at the first that is not true.

    For each instance: the file's bytes are the ones listed; the recipe grows a plant that its
    loops prove; the file holds that very problem; the optimum is the plant's; and all that the file
    and its side-car state (cost, model, recipe, loops) is true, the names of shuffled variables
    apart. A CSV of optima beside the manifest must agree with it. `iter_check_suite` yields each
    entry as it is proven.

    Args:
        manifest: its `manifest.jsonl`.
        files: the folder of the instances, where that is not the manifest's own.
    """
    return list(iter_check_suite(manifest, files=files))


def iter_check_suite(
    manifest: str | os.PathLike[str], *, files: str | os.PathLike[str] | None = None
) -> Iterator[Entry]:
    """The same one by one; nothing is proven unless iterated."""
    manifest = Path(manifest)
    folder = manifest.parent if files is None else Path(files)
    proven = []
    for entry in read_manifest(manifest):
        path = folder / entry.file
        if sha256_of(path) != entry.sha256:
            raise FileError(path, "its SHA-256 is not the one in the manifest; it was changed")
        held = read_document(path)
        planted, reduction = regrow(path, held, entry.recipe)
        planted.verify()
        optimum = reduction.target_energy(planted.energy)
        if entry.optimum != optimum:
            raise FileError(
                path, f"its optimum is {optimum}, but the manifest says {entry.optimum}"
            )
        _check_statements(path, held, entry)
        proven.append(entry)
        yield entry
    _check_table(manifest.with_name(OPTIMA), proven)


def _check_table(path: Path, proven: list[Entry]) -> None:
    """Refuse a CSV of optima beside a manifest that says anything else."""
    if not path.exists():
        return
    with opened(path) as source:
        if source.read_all().replace(b"\r\n", b"\n") != _table(proven).encode():
            raise source.error(f"does not say what {MANIFEST} says")


def _check_statements(path: Path, held: Document, entry: Entry) -> None:
    """Refuse a file that states anything else than its line of the manifest."""
    stated = held.metadata
    if stated.recipe not in (None, entry.recipe):
        raise FileError(path, "states another recipe than the manifest")
    if stated.planted_cost not in (None, entry.optimum):
        raise FileError(path, f"states {stated.planted_cost}, but its optimum is {entry.optimum}")
    if stated.planted_model is not None:
        reached = stated.cost_of_model(held.problem)
        if reached != entry.optimum:
            raise FileError(path, f"its model costs {reached}, its optimum is {entry.optimum}")
    if held.planted is not None or held.load_proof is not None:
        verify_file(path)


def sha256_of(path: Path) -> str:
    """Hash of a file's bytes."""
    with opened(path) as source:
        try:
            digest = hashlib.sha256()
            while data := source.file.read(1 << 20):
                digest.update(data)
            return digest.hexdigest()
        except OSError as cause:
            raise FileAccessError(path, f"cannot be read ({cause.strerror})") from None


def _is_plain_name(name: object) -> bool:
    return isinstance(name, str) and name not in ("", ".", "..") and Path(name).name == name
