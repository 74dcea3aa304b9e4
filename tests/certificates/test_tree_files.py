"""Certificates with a tree in files: read as written, and both checkers say the same."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies
from tests.certificates.test_checker import library, stand_alone
from tests.certificates.trees import trees

from glasshouse import files, planting
from glasshouse.certificates import Certificate, CertificateError, Cover, Leaf, Tree, checker
from glasshouse.problems import Ising
from glasshouse.problems.convert import to_max2sat


def write_both(folder: Path, name: str, problem, certificate: Certificate) -> tuple[Path, Path]:
    """A file and a certificate beside it."""
    path = folder / name
    files.write(path, problem, overwrite=True)
    files.write_certificate(files.side_car(path), certificate, overwrite=True)
    return path, files.side_car(path)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_a_tree_is_read_as_it_was_written(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "tree.cert"
    certificate = data.draw(trees(data.draw(st.integers(2, 6))))
    files.write_certificate(path, certificate, overwrite=True)
    once = files.read_certificate(path)  # loops may be turned, for the ghost to stand last
    assert once.tree == certificate.tree
    assert once.squares == certificate.squares
    files.write_certificate(path, once, overwrite=True)
    assert files.read_certificate(path) == once


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_both_checkers_say_the_same_of_clauses(tmp_path_factory, data):
    problem = data.draw(strategies.max2sats(max_variables=5))
    certificate = data.draw(trees(problem.num_variables))
    folder = tmp_path_factory.getbasetemp()
    wcnf, cert = write_both(folder, "tree.wcnf", problem, certificate)
    assert stand_alone(wcnf.read_text(), cert.read_text()) == library(wcnf, cert)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_both_checkers_say_the_same_of_graphs(tmp_path_factory, data):
    drawn = data.draw(strategies.isings(max_spins=6, min_spins=2, exact=None))
    problem = replace(drawn, fields=np.zeros_like(drawn.fields))
    certificate = data.draw(trees(problem.num_variables))
    folder = tmp_path_factory.getbasetemp()
    graph, cert = write_both(folder, "tree.mc", problem, certificate)
    try:
        document = files.read_document(graph)
        verdict = document.examined(files.read_side_car(cert)).verdict
    except CertificateError:
        with pytest.raises(ValueError, match=r"leaves the edge|lacks a vertex"):
            checker.check(graph.read_text(), cert.read_text(), True)
        return
    cut, most = checker.check(graph.read_text(), cert.read_text(), True)
    exact = document.measure.of(verdict.exact_energy)
    assert Fraction(exact) == pytest.approx(cut)
    assert (cut == most) == verdict.optimal


def test_the_checker_reads_graphs_from_the_command_line(tmp_path):
    problem = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-0.5, -0.5, -0.25])
    certificate = Certificate([1, -1, 1], [], [0], [], tree=Tree((Cover((0, 1)),)))
    graph, cert = write_both(tmp_path, "triangle.mc", problem, certificate)
    done = subprocess.run([sys.executable, checker.__file__, graph, cert],
                          capture_output=True, text=True)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "VERIFIED optimum 1\n")
    certificate = Certificate([1, -1, 1], [], [0], [])
    _, cert = write_both(tmp_path, "triangle.mc", problem, certificate)
    done = subprocess.run([sys.executable, checker.__file__, graph, cert],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 2
    assert done.stdout == "VERIFIED only an upper bound: 5/4; the assignment cuts 1\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("tree 1", "tree 2"), "differs from the number of rows, 1"),
        (("tree 1\nleaf 0 0\n", "tree 0\nleaf 0 0\n"), "more lines than the line .tree. states"),
        (("tree 1\nleaf 0 0\n", "tree 0\n"), "lacks 1 of its subtrees"),
        (("leaf 0 0", "leaf 1 0"), "the leaves of the tree have 1 loop"),
        (("leaf 0 0", "leaf 0"), "expected two"),
        (("leaf 0 0", "leaf 0 +0"), "integers"),
        (("leaf 0 0", "cover 9"), "has vertex 9"),
        (("leaf 0 0", "branch 1 2"), "of its subtrees"),
        (("certificate 3", "certificate 2"), "must not be in a certificate of version"),
        (("tree 1\nleaf 0 0\n", ""), "no line 'tree"),
    ],
)
def test_damaged_trees_are_refused_by_both(tmp_path, change, message):
    problem = to_max2sat(Ising.from_edges(2, [(0, 1)], [3]))[0]
    certificate = Certificate([1, 1], [], [0], [], tree=Tree((Leaf(0),)))
    wcnf, cert = write_both(tmp_path, "a.wcnf", problem, certificate)
    assert library(wcnf, cert) == stand_alone(wcnf.read_text(), cert.read_text()) == (0, 0)
    text = cert.read_text()
    assert change[0] in text
    cert.write_text(text.replace(*change))
    assert stand_alone(wcnf.read_text(), cert.read_text()) is None
    with pytest.raises(files.FileError, match=message):
        files.read_side_car(cert)


def test_a_tree_that_would_keep_us_busy_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GLASSHOUSE_READ_LIMIT", "1K")
    edges = [(k, k + 1) for k in range(2000)]
    problem = Ising.from_edges(2001, edges, [1] * 2000)
    cover = Tree((Cover(tuple(range(20))),))
    certificate = Certificate([1] * 2001, [], [0], [], tree=cover)
    graph, cert = write_both(tmp_path, "chain.mc", problem, certificate)
    with pytest.raises(CertificateError, match="too long to check"):
        files.read_document(graph).examined(files.read_side_car(cert))


HANGS = {
    "a deep tree": (
        ["3 1", "1 2 1"], ["tree 60001", *["branch 2 3", "leaf 0 0"] * 30000, "leaf 0 0"],
    ),
    "a wide cover": (
        ["30 435", *(f"{i} {j} {w}" for i in range(1, 31) for j in range(1, i)
                     for w in [("1e300", "1e-300", "0.1")[(i + j) % 3]])],
        ["tree 1", "cover " + " ".join(map(str, range(1, 25)))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HANGS)
def test_small_files_that_would_keep_us_busy_are_refused(tmp_path, name):
    graph, tree = HANGS[name]
    path = tmp_path / "busy.mc"
    path.write_text("\n".join([*graph, ""]))
    size = int(graph[0].split()[0])
    head = ["glasshouse-certificate 3", "denominator 1", f"state {'1' * size}"]
    files.side_car(path).write_text("\n".join([*head, *tree, "loops 0", ""]))
    with pytest.raises(CertificateError, match="too long to check"):
        files.verify_file(path)


def test_coefficients_that_ties_make_too_large_are_refused_by_both(tmp_path):
    path = tmp_path / "b.mc"
    path.write_text("2 1\n1 2 1\n")
    lines = ["glasshouse-certificate 3", "denominator 1", "state 10", "tree 3", "branch 1 2",
             "leaf 0 0", "leaf 0 1", "loops 0", "squares 1",
             f"1 {2**62} 1 {-(2**62)} 2", ""]  # fmt: skip
    files.side_car(path).write_text("\n".join(lines))
    with pytest.raises(CertificateError, match="in a leaf, a square's coefficient"):
        files.verify_file(path)
    with pytest.raises(ValueError, match="coefficient"):
        checker.check(path.read_text(), "\n".join(lines), True)


def test_fields_of_a_graph_are_edges_to_its_ghost(tmp_path):
    path = tmp_path / "x.mc"
    files.write(path, planting.xorsat(12, rng=1))
    found = checker.check(path.read_text(), files.side_car(path).read_text(), True)
    assert found[0] == found[1] == files.verify_file(path).value
