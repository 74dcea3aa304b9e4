"""Loading of suites of instances for races; bounds are proven during loading."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from glasshouse.files import FileError, read_document, side_car
from glasshouse.files.known import CLAUSE_SUFFIXES, Known, is_of_clauses, known_file, known_of
from glasshouse.files.replanting import regrow
from glasshouse.files.text.streams import format_suffix
from glasshouse.suites.folder import INSTANCES, SuiteFolder, iter_build_suite
from glasshouse.suites.manifest import MANIFEST, Entry, read_manifest, refuse_changed, sha256_of
from glasshouse.suites.standard import SuiteInstance, standard_copies, standard_families
from glasshouse.suites.suite_file import find_suite, ready_made
from glasshouse.summaries import Summarised
from glasshouse.version import __version__

MOST_NAME = 4000  # characters; the names of instances contain their parameters
# Files of spins or bits, which samplers race on.
_SPIN_SUFFIXES = (".bqm", ".coo", ".json", ".npz", ".qubo")


@dataclass(frozen=True, repr=False)
class Suite(Summarised):
    """The instances of a race or study, with their proven bounds.

    Attributes:
        name: the name of the suite.
        digest: the SHA-256 over the names and bytes of all files.
        instances: the instances, in order.
        source: the name, file or folder that was loaded, as on the command line.
        answers: the folder of the answers, as on the command line; empty if none was given.
        files: the folder of the user's own files, as on the command line; empty if none was given.
        missing: the names of standard instances that are not among the user's files.
    """

    name: str
    digest: str
    instances: Sequence[SuiteInstance]
    source: str = ""
    answers: str = ""
    files: str = ""
    missing: Sequence[str] = ()


def load_suite(
    source: str | Path,
    cache: str | Path,
    grown: Callable[[int, int], object] | None = None,
    answers: str | Path | None = None,
    instances: str | Path | None = None,
    any_format: bool = False,
) -> Suite:
    """Load a suite by its name, from a TOML file, or from a folder.

    The folder can be an output of `glasshouse suite write` or `glasshouse plant --count`, or any
    folder with .wcnf or .cnf files; nothing is known about files without a proof. Samplers also
    race on folders of spins and bits, such as .coo and .bqm files.

    Args:
        source: one of `ready_made()`, a TOML file, a folder, a manifest, or one file of clauses; a
            family of standard instances, such as gset or biqmac:rudy, with `instances`.
        cache: the folder into which suites by name or file are written, once.
        grown: called while a suite is grown, with the numbers of finished and of all instances.
        answers: the folder with the manifest and the certificates of a folder of blind files, or
            the certificates of standard instances.
        instances: a folder with files of standard instances, under any names, in any format.
        any_format: load files of spins or bits, if there are no files of clauses.

    Raises:
        CertificateError: a certificate does not prove what is stated.
        ValueError: there is no such suite, or it is wrong.

    >>> import tempfile
    >>> from glasshouse.suites import write_suite
    >>> from glasshouse.planting import random_loops
    >>> folder = tempfile.TemporaryDirectory()
    >>> plants = [random_loops(4, 4, frustration="1/5", loops=4, rng=seed) for seed in range(3)]
    >>> _ = write_suite(Path(folder.name) / "tiny", plants)
    >>> suite = load_suite(Path(folder.name) / "tiny", cache=Path(folder.name))
    >>> len(suite.instances), suite.instances[0].known
    (3, Known(bound=12, best=12))
    >>> folder.cleanup()
    """
    path, suffixes = Path(source), CLAUSE_SUFFIXES + (_SPIN_SUFFIXES if any_format else ())
    if instances is not None:
        return _standard(str(source), Path(instances), Path(cache), answers)
    if answers is not None:
        found, elsewhere = _answered(path, Path(answers), suffixes), _typed(Path(answers))
        return replace(found, source=_typed(path), answers=elsewhere)
    return replace(_loaded(source, path, Path(cache), grown, suffixes), source=_typed(path))


def _standard(family: str, folder: Path, cache: Path, answers: str | Path | None) -> Suite:
    """Return a suite of those files in a folder that are standard instances of a family."""
    if family not in (known := standard_families()):
        raise ValueError(
            f"{family} is not a family of standard instances, so {folder} cannot be used; use "
            f"one of {', '.join(known)}"
        )
    certificates = None if answers is None else Path(answers)
    copies, missing = standard_copies(family, folder, cache, certificates)
    found = _suite(family, copies)
    elsewhere = "" if certificates is None else _typed(certificates)
    return replace(
        found, source=family, answers=elsewhere, files=_typed(folder), missing=tuple(missing)
    )


def _typed(path: Path) -> str:
    """Return a relative path unchanged, or the last component of an absolute path."""
    if not path.is_absolute():
        return str(path)
    return path.parent.name if path.name == MANIFEST else path.name


def _loaded(
    source: str | Path, path: Path, cache: Path, grown: Callable[[int, int], object] | None,
    suffixes: Sequence[str],
) -> Suite:  # fmt: skip
    if str(source) in ready_made() or path.suffix == ".toml":
        suite = find_suite(source)
        key = hashlib.sha256(f"{suite.canonical()} {__version__}".encode()).hexdigest()
        folder = cache / f"{suite.name}-{key[:16]}"
        for number, _ in enumerate(iter_build_suite(source, folder), 1):
            if grown is not None:
                grown(number, len(suite))
        return _loaded(folder, folder, cache, None, suffixes)
    if path.is_file() and format_suffix(path) in suffixes:
        return _suite(path.name, [_stranger(path)])
    place = SuiteFolder(path)
    if place.manifest.is_file():
        plan = place.plan() or {}
        name = str(plan.get("name", path.name))
        return _listed(name, place.manifest, place.instances, suffixes)
    manifest = path if path.name == MANIFEST else path / MANIFEST
    if manifest.is_file():
        return _listed(manifest.parent.resolve().name, manifest, manifest.parent, suffixes)
    for folder in (path / INSTANCES, path):
        files = sorted(p for p in folder.iterdir() if p.is_file()) if folder.is_dir() else []
        for kinds in (CLAUSE_SUFFIXES, *((one,) for one in suffixes)):
            if raced := [file for file in files if format_suffix(file) in kinds]:
                return _suite(path.resolve().name, [_stranger(file) for file in raced])
    if str(source) in standard_families():
        raise ValueError(
            f"{source} needs the files of its instances, which are not part of glasshouse; pass "
            "their folder with --instances (instances= in Python)"
        )
    raise ValueError(
        f"{path} is not a suite; expected {', '.join(ready_made())}, a TOML file, or a folder "
        f"with {' or '.join(suffixes)} files"
    )


def _answered(path: Path, answers: Path, suffixes: Sequence[str]) -> Suite:
    """Return the suite of blind files whose answers are in another folder."""
    place = SuiteFolder(path, answers)
    if not path.is_dir():
        raise ValueError(f"{path} must be a folder of instances, because answers were given")
    if not place.manifest.is_file():
        raise ValueError(f"{answers} has no {MANIFEST}; expected a suite's answers folder")
    plan = place.plan() or {}
    folder = place.instances if place.instances.is_dir() else path
    return _listed(str(plan.get("name", path.resolve().name)), place.manifest, folder, suffixes)


def _listed(name: str, manifest: Path, folder: Path, suffixes: Sequence[str]) -> Suite:
    found = list(read_manifest(manifest))
    # The suite may contain the same instance in several formats.
    for suffix in suffixes:
        if entries := [entry for entry in found if format_suffix(Path(entry.file)) == suffix]:
            return _suite(name, [_instance(entry, manifest.parent, folder) for entry in entries])
    raise FileError(manifest, f"must list {' or '.join(suffixes)} files, which this race needs")


def refuse_other_bytes(text: str) -> None:
    """Raise if a name is not UTF-8, because stores and tables contain text only."""
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = text.encode("utf-8", "backslashreplace").decode()
        raise ValueError(f"the name {shown} is not UTF-8; rename the file or its folder") from None


def _refuse_unfit(one: SuiteInstance) -> None:
    """Raise, before any run, if a store could not hold an instance's name or parameters."""
    if len(one.name) > MOST_NAME:
        raise FileError(one.path, f"the name in the manifest has {len(one.name)} characters; "
                        f"use at most {MOST_NAME}")  # fmt: skip
    try:
        json.dumps([one.name, dict(one.parameters)], ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise FileError(
            one.path, f"the name {one.name[:100]!r} or the parameters in the manifest contain lone "
            "surrogates, which are not valid Unicode; use valid text"
        ) from None  # fmt: skip


def _suite(name: str, instances: Sequence[SuiteInstance]) -> Suite:
    twice = [name for name, times in Counter(one.name for one in instances).items() if times > 1]
    if twice:
        raise ValueError(f"two instances of {name} are named {twice[0]!r}; give each its own name")
    refuse_other_bytes(name)
    if len(name) > MOST_NAME:
        raise ValueError(f"the suite's name has {len(name)} characters; use at most {MOST_NAME}")
    for one in instances:
        refuse_other_bytes(one.path.name)
        _refuse_unfit(one)
    lines = (f"{sha256_of(one.path)}  {one.path.name}\n" for one in instances)
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    return Suite(name, digest, tuple(instances))


def _instance(entry: Entry, answers: Path, folder: Path) -> SuiteInstance:
    path, recipe = folder / entry.file, entry.recipe
    refuse_changed(path, entry.sha256)
    given = recipe.get("parameters")
    parameters = {"method": recipe.get("method")} | (given if isinstance(given, dict) else {})
    known = _proven(entry, path, answers)
    return SuiteInstance(entry.name or entry.file, path, parameters, known)


def _proven(entry: Entry, path: Path, answers: Path) -> Known:
    """Return the bounds proven by the certificate or, if there is none, by the recipe's plant."""
    proof = side_car(answers / entry.file)
    if proof.is_file() and not is_of_clauses(path):
        return known_of(read_document(path).with_certificate(proof))
    if proof.is_file():
        return known_file(path, proof)
    planted, reduction = regrow(path, read_document(path), entry.recipe)
    optimum = reduction.target_energy(planted.proven.verdict.energy)
    return Known(math.ceil(optimum), int(optimum))


def _stranger(path: Path) -> SuiteInstance:
    """Return the instance in a file that no manifest lists; clauses may have any length."""
    known = known_file(path) if is_of_clauses(path) else known_of(read_document(path))
    return SuiteInstance(path.name, path, {}, known)
