"""A library of two small instances, like those of the field, for tests."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from glasshouse.files import read_document, write, write_certificate
from glasshouse.library import Instance, ReducedGraph
from glasshouse.problems import Ising
from glasshouse.proofs import prove


@dataclass(frozen=True)
class Library:
    """Instances, and a folder with their files."""

    instances: tuple[Instance, ...]
    folder: Path
    certificates: Path


def a_problem(seed: int, size: int = 8) -> Ising:
    rng = np.random.default_rng(seed)
    edges = list(itertools.combinations(range(size), 2))
    weights = 3 * rng.integers(1, 9, len(edges)) * rng.choice([-1, 1], len(edges))
    return Ising.from_edges(size, edges, weights)


def an_instance(name: str, path: Path, *, is_open: bool = False) -> Instance:
    """The result that the run of the library would find for a file."""
    document = read_document(path)
    graph = ReducedGraph(document.problem)
    proof = prove(document.problem)
    assert proof.optimal
    value = document.measure.of(proof.energy)
    return Instance(
        name, "toys:graphs", document.problem.num_variables, graph.num_edges, graph.num_vertices,
        "largest cut", value, value + 3 * is_open, 0.1, 0, 60.0, "0.1.0", "2026-11-18",
        graph.fingerprint(), graph.scale.measured(document.measure), "0" * 64, 0,
    )  # fmt: skip


def made_library(folder: Path) -> Library:
    """T1, whose optimum is proven, and T2, which has only a known bound."""
    files, certificates = folder / "files", folder / "certificates"
    files.mkdir()
    certificates.mkdir()
    known = []
    for seed, name in enumerate(("T1", "T2")):
        path = files / f"some-{seed}.mc"
        write(path, a_problem(seed))
        known.append(an_instance(name, path, is_open=seed == 1))
        proof = prove(read_document(path).problem)
        write_certificate(certificates / f"{name}.cert.xz", proof.certificate)
    return Library(tuple(known), files, certificates)
