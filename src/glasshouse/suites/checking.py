"""Checks of suites: each line of a manifest is proven from files and certificates alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from glasshouse.certificates import CertificateError
from glasshouse.files import Document, FileError, read_document, read_side_car
from glasshouse.files.known import verify_document
from glasshouse.files.replanting import regrow
from glasshouse.files.text.streams import opened
from glasshouse.suites.manifest import (
    MANIFEST,
    OPTIMA,
    REGRESSION,
    Entry,
    RegressionRow,
    belongs,
    check_row,
    optima_table,
    read_manifest,
    read_regression,
    refuse_changed,
)
from glasshouse.suites.writing import UNPLANTED


def check_suite(
    manifest: str | os.PathLike[str], *, files: str | os.PathLike[str] | None = None
) -> list[Entry]:
    """Prove every line of a manifest; raise a ValueError at the first false line.

    A file must have the listed SHA-256. The recipe must grow a plant that its loops prove, and the
    file must contain exactly this problem and optimum. All statements of the file and its side-car
    (cost, model, recipe, loops) must be true, except for the names of shuffled variables. A listed
    certificate must have the listed bytes and prove the same optimum. For an instance without a
    plant, the certificate is the whole proof, and the recipe is not checked. The tables next to the
    manifest must agree with it. `iter_check_suite` yields each entry as soon as it is proven.

    Args:
        manifest: the `manifest.jsonl` of the suite.
        files: the folder of the instances, if it is not the folder of the manifest.

    >>> import tempfile
    >>> from glasshouse.suites import write_suite
    >>> from glasshouse.planting import random_loops
    >>> folder = tempfile.TemporaryDirectory()
    >>> plants = [random_loops(4, 4, frustration="1/5", loops=3, rng=seed) for seed in range(2)]
    >>> _ = write_suite(Path(folder.name) / "suite", plants)
    >>> checked = check_suite(Path(folder.name) / "suite" / "manifest.jsonl")
    >>> [(entry.file, entry.optimum) for entry in checked]
    [('instance-00000.wcnf', 9), ('instance-00001.wcnf', 9)]
    >>> folder.cleanup()
    """
    return list(iter_check_suite(manifest, files=files))


def iter_check_suite(
    manifest: str | os.PathLike[str], *, files: str | os.PathLike[str] | None = None
) -> Iterator[Entry]:
    """Prove the lines of a manifest as `check_suite` does, and yield each entry once it is proven.

    >>> import tempfile
    >>> from glasshouse.suites import write_suite
    >>> from glasshouse.planting import random_loops
    >>> folder = tempfile.TemporaryDirectory()
    >>> plants = [random_loops(4, 4, frustration="1/5", loops=3, rng=seed) for seed in range(2)]
    >>> _ = write_suite(Path(folder.name) / "suite", plants)
    >>> for entry in iter_check_suite(Path(folder.name) / "suite" / "manifest.jsonl"):
    ...     print(entry.file, entry.optimum)
    instance-00000.wcnf 9
    instance-00001.wcnf 9
    >>> folder.cleanup()
    """
    manifest = Path(manifest)
    folder = manifest.parent if files is None else Path(files)
    proven, rows = [], read_regression(manifest.with_name(REGRESSION))
    for entry in read_manifest(manifest):
        path = folder / entry.file
        refuse_changed(path, entry.sha256)
        held = read_document(path)
        if entry.recipe.get("method") not in UNPLANTED:
            planted, reduction = regrow(path, held, entry.recipe)
            optimum = reduction.target_energy(planted.proven.verdict.energy)
            if entry.optimum != optimum:
                raise FileError(
                    path, f"the optimum is {optimum}, but the manifest states {entry.optimum}"
                )
        _check_certificate(manifest.parent, path, held, entry)
        if rows and belongs(entry.file):
            row = rows.get(entry.file, RegressionRow(entry.file, "", "", "", ""))
            check_row(manifest.with_name(REGRESSION), row, held, entry)
        _check_statements(path, held, entry)
        _check_measure(path, held, entry)
        proven.append(entry)
        yield entry
    table = manifest.with_name(OPTIMA)
    if table.is_file():
        with opened(table) as source:
            if source.read_all().replace(b"\r\n", b"\n") != optima_table(proven).encode():
                raise source.error(f"differs from the optima in {MANIFEST}; write the suite again")


def _check_certificate(folder: Path, path: Path, held: Document, entry: Entry) -> None:
    """Raise unless a certificate has the SHA-256 and proves the optimum in the manifest."""
    if entry.certificate is None:
        if entry.recipe.get("method") in UNPLANTED:
            raise FileError(path, "was not planted, so the manifest must list a certificate for it")
        return
    proof = folder / entry.certificate
    refuse_changed(proof, entry.certificate_sha256)
    try:
        verdict = held.examined(read_side_car(proof)).verdict
    except CertificateError as lie:
        raise FileError(proof, str(lie)) from None
    known = (verdict.lower_bound, verdict.energy)
    bounds = (entry.bound, entry.best) if entry.optimum is None else (entry.optimum,) * 2
    if known != bounds or verdict.optimal == (entry.optimum is None):
        raise FileError(
            proof, f"proves {known[0]} ≤ optimum ≤ {known[1]}, but the manifest states "
            f"{bounds[0]} ≤ optimum ≤ {bounds[1]}",
        )  # fmt: skip


def _check_measure(path: Path, held: Document, entry: Entry) -> None:
    """Raise if the manifest states a wrong value in the file's measure, such as a cut."""
    if entry.measure is None:  # older manifests state no measure
        return
    known = entry.in_words_of(held.measure)
    if entry != known:
        raise FileError(
            path, f"the optimum is {held.measure.said(entry.value)}, but the manifest states "
            f"{entry.measure} {entry.measured}",
        )  # fmt: skip


def _check_statements(path: Path, held: Document, entry: Entry) -> None:
    """Raise if a statement in the file contradicts the file's line in the manifest."""
    stated = held.stated
    if stated.recipe not in (None, entry.recipe):
        raise FileError(path, "states a recipe that differs from the recipe in the manifest")
    if stated.cost not in (None, entry.optimum):
        raise FileError(path, f"states a cost of {stated.cost}, but the optimum is {entry.optimum}")
    if stated.model is not None:
        reached = stated.cost_of_model(held.problem)
        if reached != entry.optimum:
            raise FileError(path, f"the model costs {reached}, but the optimum is {entry.optimum}")
    if held.planted is not None or held.load_proof is not None:
        verify_document(held)
