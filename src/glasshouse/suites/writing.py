"""Writing of suites: folders of instances, with a manifest that states each optimum.

`manifest.jsonl` has one JSON object per line: the name of the file, its SHA-256, the recipe that
grows it again, and the optimum in the file's own weights, with the cut or objective if the file has
such a measure. It is written last, so a folder with a manifest contains a complete suite.
`optima.csv` is a short form, `regression.csv` the form of the MaxSAT Evaluation. If the files are
blind, these tables are the answers, and must not be published with them: `answers` writes the
tables and the certificates into another folder.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import CertificateError, Proven
from glasshouse.files import FileError, SideCar, read_document, read_side_car, side_car
from glasshouse.files.document import Document, scaled_proof
from glasshouse.files.formats import FORMATS, format_of
from glasshouse.files.formats.format import Dialect
from glasshouse.files.text.streams import COMPRESSED, refuse_existing, replacing
from glasshouse.files.writing import Written, make_folder, write
from glasshouse.planting import Planted, Recipe
from glasshouse.problems import Polynomial
from glasshouse.suites.manifest import (
    MANIFEST,
    OPTIMA,
    REGRESSION,
    Entry,
    RegressionRow,
    belongs,
    optima_table,
    regression_table,
    sha256_of,
)

# Methods whose problems have no plant, so that only a certificate proves their optima.
UNPLANTED = ("plus_minus_j",)


@dataclass(frozen=True)
class Unplanted:
    """A problem without a plant, with its proven bound and best known state.

    Attributes:
        proven: the problem, the best known state, and loops that bound all energies.
        recipe: the recipe that drew the problem; its method is one of `UNPLANTED`.
    """

    proven: Proven
    recipe: Recipe

    @property
    def state(self) -> npt.NDArray[np.int8]:
        """The best known state, in the problem's own units."""
        return self.proven.problem.space.from_spins(self.proven.certificate.state)

    def document(self) -> Document:
        """Return the problem with its proof, as a document to write."""
        proof = SideCar(self.proven.certificate, self.proven.verdict.energy)
        return Document(self.proven.problem, load_proof=lambda: proof)


Instance: TypeAlias = Planted | Unplanted


def write_suite(
    folder: str | os.PathLike[str],
    instances: Iterable[Instance],
    *,
    names: Iterable[str] | None = None,
    stem: str = "instance",
    suffix: str | Sequence[str] = ".wcnf",
    dialect: Dialect = "classic",
    blind: bool = False,
    answers: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> list[Entry]:
    """Write each instance to a file such as `instance-00000.wcnf`, and then the manifest.

    The same call resumes after an interruption: existing files are kept if they are identical.
    `iter_write_suite` yields each entry as its file is written.

    Args:
        folder: the target folder; created if needed.
        instances: the instances to write.
        names: the names of the instances in the manifest.
        stem: the beginning of the file names.
        suffix: the format, or a list of formats; one file is written per instance and format.
        dialect: the dialect of WCNF.
        blind: omit everything that reveals the optimum from the files.
        answers: for blind files, the folder of manifest, optima and certificates; else `folder`.
        overwrite: replace existing files.

    >>> import tempfile
    >>> from glasshouse.planting import random_loops
    >>> plants = [random_loops(5, 5, frustration="1/5", loops=3, rng=seed) for seed in range(2)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_suite(folder, plants)
    ...     files = sorted(path.name for path in Path(folder).iterdir())
    >>> [(entry.file, entry.optimum) for entry in written]
    [('instance-00000.wcnf', 9), ('instance-00001.wcnf', 9)]
    >>> files[-3:]
    ['manifest.jsonl', 'optima.csv', 'regression.csv']
    """
    return list(
        iter_write_suite(
            folder, instances, names=names, stem=stem, suffix=suffix, dialect=dialect, blind=blind,
            answers=answers, overwrite=overwrite,
        )
    )  # fmt: skip


def iter_write_suite(
    folder: str | os.PathLike[str],
    instances: Iterable[Instance],
    *,
    names: Iterable[str] | None = None,
    stem: str = "instance",
    suffix: str | Sequence[str] = ".wcnf",
    dialect: Dialect = "classic",
    blind: bool = False,
    answers: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Iterator[Entry]:
    """Write a suite as `write_suite` does, and yield each entry once its file is written.

    >>> import tempfile
    >>> from glasshouse.planting import random_loops
    >>> folder = tempfile.TemporaryDirectory()
    >>> plants = (random_loops(4, 4, frustration="1/5", loops=3, rng=seed) for seed in range(2))
    >>> for entry in iter_write_suite(Path(folder.name) / "suite", plants):
    ...     print(entry.file, entry.optimum)
    instance-00000.wcnf 9
    instance-00001.wcnf 9
    >>> folder.cleanup()
    """
    folder = Path(folder)
    suffixes = [s.lower() for s in ([suffix] if isinstance(suffix, str) else suffix)]
    key = _key_folder(folder, answers, blind)
    refuse_names(folder, stem, suffixes)
    refuse_existing(key / MANIFEST, overwrite=overwrite)
    for one in (folder, key):
        make_folder(one)
    for name in (MANIFEST, OPTIMA, REGRESSION) if overwrite else ():
        (key / name).unlink(missing_ok=True)  # from now on, the suite is incomplete
    writer = _Writer(
        folder, key, stem, is_apart=answers is not None, is_mixed=len(suffixes) > 1,
        overwrite=overwrite,
    )  # fmt: skip
    options: dict[str, Any] = {"dialect": dialect, "blind": blind}
    titles = itertools.repeat(None) if names is None else iter(names)
    for number, instance in enumerate(instances):
        title = next(titles)
        own = _suffixes_of(instance, suffixes)
        if own != suffixes:
            options["dialect"] = "classic"  # no other format has dialects
        for kind in own:
            yield writer.write(number, kind, instance, title, **options)
    for name, text in writer.tables():
        path, table = key / name, text.encode("ascii")
        # An interrupted run may have left an identical file.
        if overwrite or not path.is_file() or path.read_bytes() != table:
            with replacing(path, overwrite=overwrite) as file:
                file.write(table)


class _Writer:
    """A writer for the instances of a suite; it also collects the rows of the tables."""

    def __init__(
        self, folder: Path, key: Path, stem: str, *, is_apart: bool, is_mixed: bool, overwrite: bool
    ) -> None:
        self.folder, self.key, self.stem = folder, key, stem
        self.is_apart, self.is_mixed, self.overwrite = is_apart, is_mixed, overwrite
        self.entries: list[Entry] = []
        self.rows: list[RegressionRow] = []

    def write(
        self, number: int, suffix: str, instance: Instance, name: str | None, **options: Any
    ) -> Entry:
        """Write one file of an instance, and return its manifest entry."""
        path = self.folder / f"{self.stem}-{number:05d}{suffix}"
        proof = side_car(self.key / path.name) if self.is_apart else None
        thing = instance if isinstance(instance, Planted) else instance.document()
        if belongs(path.name) < self.is_mixed:
            options["dialect"] = "classic"  # other formats have no dialects
        written = _write_once(path, thing, certificate=proof, overwrite=self.overwrite, **options)
        reduction, recipe = written.reduction, json.loads(instance.recipe.to_json())
        values = _values(path, instance, written)
        if proof is not None:
            values |= {"certificate": proof.name, "certificate_sha256": sha256_of(proof)}
        entry = Entry(path.name, sha256_of(path), recipe, name=name, **values)
        if not belongs(entry.file) and not format_of(path).native:
            entry = entry.in_words_of(written.measure)
        self.entries.append(entry)
        if belongs(entry.file):
            # Plants of clauses have spins as their state, too, but the problem has bits.
            state = reduction.forward(reduction.source.from_spins(instance.state))
            self.rows.append(RegressionRow.of(entry, state))
        return entry

    def tables(self) -> Iterator[tuple[str, str]]:
        """Yield the name and text of each table, the manifest last."""
        yield OPTIMA, optima_table(self.entries)
        if self.rows:
            yield REGRESSION, regression_table(self.rows)
        yield MANIFEST, "".join(entry.to_json() + "\n" for entry in self.entries)


def _suffixes_of(instance: Instance, suffixes: list[str]) -> list[str]:
    """Return the suffixes of an instance's files: polynomials need .hubo instead of .wcnf."""
    if not (isinstance(instance, Planted) and isinstance(instance.problem, Polynomial)):
        return suffixes
    return list(dict.fromkeys(suffix.replace(".wcnf", ".hubo") for suffix in suffixes))


def _values(path: Path, instance: Instance, written: Written) -> dict[str, Any]:
    """Return the optimum or the bounds that the written files of an instance prove.

    Raises:
        CertificateError: the files do not prove the optimum of the plant.
    """
    document, beside = read_document(path), written.certificate
    energy = written.reduction.target_energy
    proven = document.proven if beside is None else document.examined(read_side_car(beside))
    if proven is None:  # a blind file, which the plant proves
        assert isinstance(instance, Planted)
        proof = scaled_proof(Document.of(instance), document.problem, written.reduction)
        if proof is None:  # no certificate fits the variables of the file
            return {"optimum": energy(instance.proven.verdict.energy)}
        proven = document.examined(proof)
    verdict = proven.verdict
    optimum = energy(instance.energy) if isinstance(instance, Planted) else None
    if optimum is not None and not (verdict.optimal and verdict.energy == optimum):
        raise CertificateError(
            f"{path}: the plant's optimum is {optimum}, but the written files prove "
            f"{verdict.lower_bound} ≤ optimum ≤ {verdict.energy}"
        )
    if verdict.optimal:
        return {"optimum": verdict.energy}
    return {"optimum": None, "bound": verdict.lower_bound, "best": verdict.energy}


def _key_folder(folder: Path, answers: str | os.PathLike[str] | None, blind: bool) -> Path:
    """Return the folder for the tables of optima; raise if `answers` is unsuitable."""
    if answers is None:
        return folder
    if not blind:
        raise ValueError("answers requires blind=True, because non-blind files state their optima")
    if Path(answers).resolve() == folder.resolve():
        raise ValueError(f"answers={answers} is the folder of the instances; use another folder")
    return Path(answers)


def refuse_names(folder: Path, stem: str, suffixes: list[str]) -> None:
    """Reject a stem that contains folders, and formats that cannot be read back."""
    if not stem or Path(stem).name != stem:
        raise FileError(folder / stem, "must be the beginning of a file name, without folders")
    known = [s for s, format_ in FORMATS.items() if format_.read and format_.write]
    for suffix in suffixes:
        if suffix not in [s + packed for s in known for packed in ("", *COMPRESSED)]:
            raise FileError(
                folder / f"{stem}{suffix}",
                "a suite needs a format that can be read and written; use one of "
                f"{' '.join(known)} (+ .gz or .xz)",
            )


def _write_once(
    path: Path,
    thing: Planted | Document,
    *,
    certificate: Path | None,
    overwrite: bool,
    **options: Any,
) -> Written:
    """Write an instance, unless its files already exist and are identical."""
    beside = certificate or side_car(path)
    if overwrite or not (path.exists() or beside.exists() or side_car(path).exists()):
        return write(path, thing, certificate=certificate, overwrite=overwrite, **options)
    with TemporaryDirectory(dir=path.parent) as folder:
        draft = Path(folder) / path.name
        proof = side_car(draft)
        written = write(draft, thing, certificate=certificate and proof, **options)
        pairs = [(draft, path), (proof, beside)]
        if certificate is not None:
            refuse_existing(side_car(path), overwrite=False)
        for new, old in pairs:
            if old.exists() and not (new.exists() and sha256_of(new) == sha256_of(old)):
                refuse_existing(old, overwrite=False)
        for new, old in pairs:
            if new.exists():
                shutil.move(new, old)  # this also works across disks
    return replace(written, certificate=written.certificate and beside)
