"""Targets that read problems, plants, graphs and suites from untrusted files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import judge
from fuzz.packing import first_bytes
from fuzz.promises import Run, or_refused, require
from glasshouse.certificates import CertificateError
from glasshouse.files import (
    Document,
    FileError,
    Sheet,
    Verification,
    read_document,
    read_planted,
    read_side_car,
    verify_file,
    write_certificate,
)
from glasshouse.files.formats import format_of
from glasshouse.files.graphs import read_graph
from glasshouse.files.text.streams import writing
from glasshouse.planting import Planted, Recipe
from glasshouse.planting.graphs import Graph
from glasshouse.planting.methods import random_loops
from glasshouse.suites import write_suite
from glasshouse.suites.checking import check_suite

# Larger problems are read, but not written, because that would take long.
_MOST_TO_WRITE = 10_000


def problem_file(suffix: str) -> Run:
    """Return a target that reads, writes and reads again a problem file, and verifies claims."""
    return lambda data, folder: _problem_file(data, folder / f"input{suffix}")


def packed_file(kind: str) -> Run:
    """Return a target for compressed problem files, whose content determines the format."""
    return lambda data, folder: _problem_file(data, folder / f"input{_inner(data, kind)}{kind}")


def _inner(data: bytes, kind: str) -> str:
    """Return the suffix of the format of compressed data, by its first bytes."""
    head = first_bytes(data, kind)
    for magic, suffix in ((b"PK", ".npz"), (b"DIMOD", ".bqm"), (b"#", ".coo")):
        if head.startswith(magic):
            return suffix
    return ".wcnf"


def _problem_file(data: bytes, path: Path) -> bool:
    path.write_bytes(data)
    document = or_refused((FileError,), read_document, path)
    if document is None:
        return False
    require(bool(np.isfinite(document.problem.total_weight)), "its weights have no finite sum")
    if document.problem.num_variables < _MOST_TO_WRITE:
        _require_rewritten(path, document)
    if document.planted is None and document.stated.model is None:
        return True
    verified = or_refused((FileError, CertificateError), verify_file, path)
    _require_true(document, verified)
    if document.planted is not None:
        planted = or_refused((FileError, CertificateError), read_planted, path)
        if planted is not None:
            _require_proven(planted)
    return verified is not None


def _require_rewritten(path: Path, document: Document) -> None:
    """Raise unless a document can be written and is the same when it is read again."""
    is_written = format_of(path).write is not None
    again = path.with_name(f"again-{path.name}" if is_written else "again.npz")
    dialects = ("classic", "mse22") if again.suffix == ".wcnf" else ("classic",)
    for dialect in dialects:
        _write_stated(again, document, dialect)
        twin = read_document(again)
        require(twin.problem == document.problem, f"another problem in {dialect} {again.suffix}")
        require(twin.planted == document.planted, f"another plant in {again.suffix}")
        if ".bqm" not in again.suffixes:  # which has no comments
            require(twin.stated == document.stated, f"other statements in {again.suffix}")


def _write_stated(path: Path, document: Document, dialect: Any) -> None:
    """Write a document with all its claims, proven or not, and without a side-car file."""
    format_ = format_of(path)
    problem, reduction = format_.convert(document.problem)
    stated = document.stated.reduced(document.problem, reduction)
    assert format_.write is not None
    with writing(path, None, overwrite=True) as file:
        format_.write(file, Sheet(problem, stated, (), dialect, document.planted))


def _require_true(document: Document, verified: Verification | None) -> None:
    """Raise if a verified optimum is not the least cost of all states."""
    if verified is not None and verified.proven:
        wrong = judge.contradicts(verified.cost, document.problem)
        require(not wrong, f"VERIFIED {verified.cost}, but {wrong}")


def _require_proven(planted: Planted) -> None:
    """Raise unless a plant that `read_planted` returned is proven."""
    try:
        planted.verify()
    except CertificateError as lie:
        require(False, f"read_planted gave a plant that is not proven: {lie}")


def side_car_file(data: bytes, folder: Path) -> bool:
    """Read a certificate, write it, and require that it is the same when it is read again."""
    path = folder / "input.wcnf.cert"
    path.write_bytes(data)
    beside = or_refused((FileError,), read_side_car, path)
    if beside is None:
        return False
    again = folder / "again.cert"
    write_certificate(
        again, beside.certificate, cost=beside.cost, names=beside.names, overwrite=True
    )
    twin = read_side_car(again)
    require(twin.certificate == beside.certificate, "another certificate")
    require(twin.cost == beside.cost, "another cost")
    same_names = beside.names is None or np.array_equal(beside.names, twin.names)
    require(same_names and (beside.names is None) == (twin.names is None), "other names")
    return True


def graph_file(data: bytes, folder: Path) -> bool:
    """Read a list of edges, as `plant --graph` does, and check the graph."""
    path = folder / "input.edges"
    path.write_bytes(data)
    edges = or_refused((FileError,), read_graph, path)
    if edges is None:
        return False
    graph = or_refused((ValueError,), Graph.of, edges)
    if graph is None:
        return False
    require(graph.num_nodes > int(graph.edges.max(initial=-1)), "an edge to no node")
    again = Graph.parse(graph.name)
    require(np.array_equal(again.edges, graph.edges), "its name means another graph")
    return True


def manifest(data: bytes, folder: Path) -> bool:
    """Check a manifest of one valid instance; @SHA@ in the manifest stands for its hash."""
    instance = _instance(folder)
    path = folder / "manifest.jsonl"
    sha = hashlib.sha256(instance.read_bytes()).hexdigest().encode()
    path.write_bytes(data.replace(b"@SHA@", sha))
    entries = or_refused((FileError, CertificateError), lambda: check_suite(path))
    for entry in entries or ():
        require(entry.optimum == 9, f"VERIFIED {entry.optimum}, but the optimum is 9")
    return entries is not None


def recipe(data: bytes, folder: Path) -> bool:
    """Read a recipe in the comment of a valid instance, and check the plant that it grows."""
    instance = _instance(folder)
    path = folder / "input.wcnf"
    note = b"c recipe " + data.replace(b"\n", b" ") + b"\n"
    path.write_bytes(note + instance.read_bytes())
    planted = or_refused((FileError, CertificateError), read_planted, path)
    if planted is None:
        return False
    _require_proven(planted)
    require(Recipe.from_json(planted.recipe.to_json()) == planted.recipe, "another recipe")
    return True


def _instance(folder: Path) -> Path:
    """Return the instance of a blind suite, whose bytes do not depend on our version."""
    path = folder / "instance-00000.wcnf"
    if not path.exists():
        write_suite(folder, [_plant()], blind=True, overwrite=True)
    return path


def _plant() -> Planted:
    return random_loops(5, 5, frustration="1/5", loops=3, rng=1)


def manifest_line() -> bytes:
    """Return a valid line of a manifest for `manifest`."""
    entry = {
        "file": "instance-00000.wcnf", "sha256": "@SHA@", "optimum": 9,
        "recipe": json.loads(_plant().recipe.to_json()),
    }  # fmt: skip
    return json.dumps(entry, sort_keys=True).encode() + b"\n"


def recipe_text() -> bytes:
    """Return the recipe of the valid instance as JSON."""
    return _plant().recipe.to_json().encode()
