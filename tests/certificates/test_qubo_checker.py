"""QUBOs of the Biq Mac library: the stand-alone checker and the library give the same verdict."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.certificates.mutations import mutate
from tests.oracles import optimum

from glasshouse import files
from glasshouse.certificates import CertificateError, checker
from glasshouse.proofs import prove


def stand_alone(matrix: bytes, certificate: bytes):
    """The objective, the bound rounded as in the library, and whether it is optimal, or None."""
    try:
        texts = matrix.decode("latin1"), certificate.decode("latin1")
        value, least = checker.check(*texts, is_graph=True, is_qubo=True)
        lower = float(least) if checker.read_graph(texts[0], is_qubo=True)[-1] else least
        lower = math.nextafter(lower, -math.inf) if lower > least else lower
        return value, lower, value == least
    except (RecursionError, ValueError):  # the errors that its command catches
        return None


def library(matrix: Path, certificate: Path):
    """The verdict of the library's own readers."""
    try:
        document = files.read_document(matrix)
        verdict = document.examined(files.read_side_car(certificate)).verdict
    except (CertificateError, files.FileError):
        return None
    return verdict.exact_energy, verdict.lower_bound, verdict.optimal


def matrix_text(rng: np.random.Generator, size: int, kind: str) -> str:
    upper = np.triu(rng.integers(-9, 10, (size, size))) * (rng.random((size, size)) < 0.7)
    numbers = upper * 0.25 if kind == "floats" else upper
    rows = [f"{j + 1} {i + 1} {numbers[i, j]}" for i, j in zip(*np.nonzero(upper), strict=True)]
    return "\n".join([f"{size} {len(rows)}", *rng.permutation(rows).tolist(), ""])


def proven(folder: Path, text: str) -> tuple[bytes, bytes]:
    path = folder / "d.sparse"
    path.write_text(text)
    problem = files.read(path)
    proof = prove(problem)
    files.write_certificate(folder / "d.cert", proof.certificate, cost=proof.energy, overwrite=True)
    return path.read_bytes(), (folder / "d.cert").read_bytes()


@pytest.mark.parametrize("kind", ["integers", "floats"])
def test_proofs_of_matrices_are_accepted(tmp_path, kind):
    rng = np.random.default_rng(28)
    for size in range(1, 10):
        matrix, certificate = proven(tmp_path, matrix_text(rng, size, kind))
        value, _, is_optimal = stand_alone(matrix, certificate)
        assert is_optimal
        assert value == optimum(files.read(tmp_path / "d.sparse"))[0]


@pytest.mark.parametrize("kind", ["integers", "floats"])
def test_bounds_of_states_alone_agree(tmp_path, kind):
    rng = np.random.default_rng(3)
    seen = set()
    for size in range(2, 40):
        (tmp_path / "d.sparse").write_text(matrix_text(rng, size, kind))
        bits = "".join(map(str, rng.integers(0, 2, size)))
        (tmp_path / "d.cert").write_text(
            f"glasshouse-certificate 1\ndenominator 1\nstate {bits}\nloops 0\n"
        )
        mine = stand_alone(*((tmp_path / f"d.{x}").read_bytes() for x in ("sparse", "cert")))
        assert mine == library(tmp_path / "d.sparse", tmp_path / "d.cert")
        seen.add(mine[2])
    assert False in seen


@pytest.mark.parametrize("kind", ["integers", "floats"])
def test_both_say_the_same_of_changed_files(tmp_path, kind):
    rng = np.random.default_rng(7)
    accepted = refused = 0
    for _ in range(6):
        matrix, certificate = proven(tmp_path, matrix_text(rng, 5, kind))
        for _ in range(60):
            changed = [matrix, certificate]
            which = int(rng.integers(2))
            changed[which] = mutate(changed[which].decode("latin1"), rng).encode("latin1")
            (tmp_path / "e.sparse").write_bytes(changed[0])
            (tmp_path / "e.cert").write_bytes(changed[1])
            mine = stand_alone(*changed)
            assert mine == library(tmp_path / "e.sparse", tmp_path / "e.cert"), changed
            accepted, refused = accepted + (mine is not None), refused + (mine is None)
    assert accepted > 5
    assert refused > 5


def command(*words: object) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-I", checker.__file__, *map(str, words)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_the_command_tells_kinds_apart_by_name_or_by_the_first_line(tmp_path):
    text = "3 5\n1 1 5\n2 2 3\n3 3 -1\n1 2 -6\n2 3 -1\n"
    proven(tmp_path, text)
    assert command(tmp_path / "d.sparse", tmp_path / "d.cert") == (0, "VERIFIED optimum -7\n")
    graph = "3 3\n1 2 1\n2 3 1\n1 3 1\n"
    cert = "glasshouse-certificate 1\ndenominator 1\nstate 011\nloops 1\n1 2 3 1\n"
    (tmp_path / "g.cert").write_text(cert)
    for name in ("g05_60.0", "G62.txt", "torus.dat", "graph", "x.mc"):
        for content in (graph, graph.partition("\n")[2], f"# MQLib\n\n{graph}"):
            (tmp_path / name).write_text(content)
            assert command(tmp_path / name, tmp_path / "g.cert") == (0, "VERIFIED optimum 2\n")
    (tmp_path / "clauses.txt").write_text("p wcnf 1 2 9\n3 1 0\n4 -1 0\n")
    (tmp_path / "c.cert").write_text("glasshouse-certificate 1\ndenominator 1\nstate 0\nloops 0\n")
    assert command(tmp_path / "clauses.txt", tmp_path / "c.cert") == (0, "VERIFIED optimum 3\n")
    (tmp_path / "clauses.wcnf").write_text("3 1 0\n4 -1 0\n")
    assert command(tmp_path / "clauses.wcnf", tmp_path / "c.cert") == (0, "VERIFIED optimum 3\n")
