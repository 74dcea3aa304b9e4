"""A standard instance is recognised in every copy with the same numbering, and nothing else is."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import os
import time
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.library.standard_like import matrix, table_of, torus, written

from glasshouse.files import read, read_document, write
from glasshouse.library import ReducedGraph, instances, recognise
from glasshouse.library.table import parsed, rows_of, table_text
from glasshouse.problems import Ising, Max2Sat, Qubo
from glasshouse.problems.convert import to_max2sat, to_qubo
from glasshouse.problems.measure import Measure
from glasshouse.proofs import prove

CONVERTED = (".mc", ".qubo", ".coo", ".wcnf", ".json", ".qplib", ".npz", ".bqm")
REAL = os.environ.get("GLASSHOUSE_INSTANCES")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("standard")
    torus(folder / "gset", "T6.txt", 6, seed=1)
    torus(folder / "gset", "T7.txt", 7, seed=2)
    matrix(folder / "biqmac" / "be", "be12.1.sparse", 12, seed=3)
    return folder


@pytest.fixture(scope="module")
def table(folder):
    return table_of(folder)


def originals(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def copies(path: Path, folder: Path):
    """The same instance in another order, in other archives and under other names."""
    head, *rows = path.read_text().splitlines()
    rng, suffix = np.random.default_rng(9), path.suffix if path.suffix == ".sparse" else ".77"
    turned = [" ".join([row.split()[1], row.split()[0], row.split()[2]]) for row in rows]
    shuffled = "\n".join([head, *rng.permutation(turned).tolist()])
    yield written(folder / f"shuffled{suffix}", [shuffled])
    for kind, pack in ((".gz", gzip.compress), (".xz", lzma.compress)):
        packed = folder / f"packed{suffix}{kind}"
        packed.write_bytes(pack(shuffled.encode()))
        yield packed
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"other_name{suffix}", shuffled)
    (folder / "packed.zip").write_bytes(file.getvalue())
    yield folder / "packed.zip"
    tripled = [" ".join([*row.split()[:2], str(3 * int(row.split()[2]))]) for row in rows]
    yield written(folder / f"tripled{suffix}", [head, *tripled])


def require_recognised(path: Path, name: str, table, factor: int | None = None) -> None:
    document = read_document(path)
    found = recognise(document.problem, table)
    assert found is not None, path
    assert found.instance.name == name, path
    if factor is not None:  # a factor of the instance's own numbers
        assert found.value_in(document.measure) == factor * found.instance.value
        assert found.bound_in(document.measure) == factor * found.instance.bound


def test_copies_are_recognised(folder, table, tmp_path):
    for path in originals(folder):
        name = path.name.removesuffix(".txt").removesuffix(".sparse")
        for copy in (path, *copies(path, tmp_path)):
            require_recognised(copy, name, table, 3 if copy.stem == "tripled" else 1)


def test_converted_copies_are_recognised_with_their_own_optimum(folder, table, tmp_path):
    for path in originals(folder):
        document = read_document(path)
        name = path.name.removesuffix(".txt").removesuffix(".sparse")
        for suffix in CONVERTED:
            copy = tmp_path / f"copy{suffix}"
            write(copy, document.problem, overwrite=True)
            require_recognised(copy, name, table)
            again = read_document(copy)
            best = again.measure.of(prove(again.problem).energy)
            assert recognise(again.problem, table).value_in(again.measure) == best, suffix


def test_floats_a_constant_and_a_factor_do_not_matter(folder, table):
    problem = read(folder / "gset" / "T6.txt")
    fields = np.zeros(problem.num_variables)
    half = Ising(problem.num_variables, problem.edges, problem.weights * 0.5, fields, 3.25)
    found = recognise(half, table)
    assert found is not None
    least = Fraction(prove(problem).energy, 2) + Fraction(13, 4)
    assert found.value_in(Measure.own(half)) == least


def test_one_changed_weight_is_not_recognised(folder, table, tmp_path):
    for path in originals(folder):
        head, *rows = path.read_text().splitlines()
        for k in range(0, len(rows), 7):
            i, j, weight = rows[k].split()
            changed = [*rows]
            changed[k] = f"{i} {j} {int(weight) + 1}"
            copy = written(tmp_path / f"changed{path.suffix}", [head, *changed])
            assert recognise(read(copy), table) is None


def test_another_numbering_is_not_recognised(folder, table):
    problem = read(folder / "gset" / "T6.txt")
    names = np.random.default_rng(1).permutation(problem.num_variables)
    other = Ising.from_edges(problem.num_variables, names[problem.edges], problem.weights)
    assert recognise(other, table) is None


def test_hard_clauses_are_never_recognised(folder, table):
    clauses = to_max2sat(read(folder / "gset" / "T6.txt"))[0]
    assert recognise(clauses, table) is not None
    hard = Max2Sat(
        clauses.num_variables, clauses.clauses, clauses.weights, np.array([[1, 2]], np.int32)
    )
    assert recognise(hard, table) is None


def test_ten_thousand_random_problems_are_not_recognised(folder, table):
    rng = np.random.default_rng(28)
    known = [read(path) for path in originals(folder)]
    for k in range(10_000):
        twin = known[k % len(known)]  # an instance of the same size, with the same edges
        if isinstance(twin, Ising):
            weights = rng.choice([-3, -2, -1, 1, 2, 3], len(twin.weights)) * (twin.weights != 0)
            problem = Ising(twin.num_variables, twin.edges, weights, twin.fields)
            problem = to_qubo(problem)[0] if k % 5 == 0 else problem
        else:
            weights = rng.integers(1, 51, len(twin.weights)) * 2
            problem = Qubo(twin.num_variables, twin.edges, weights, twin.linear)
        assert recognise(problem, table) is None
        if k % 10 == 0:
            assert recognise(problem) is None


def test_others_cost_nothing():
    rng = np.random.default_rng(1)
    edges = np.sort(rng.integers(0, 30_000, (300_000, 2)), axis=1)
    edges = np.unique(edges[edges[:, 0] < edges[:, 1]], axis=0)
    large = Ising.from_edges(30_000, edges, rng.integers(1, 9, len(edges)))
    instances()
    begun = time.process_time()
    assert recognise(large) is None
    assert time.process_time() - begun < 0.1


def test_the_table_is_read_at_once():
    begun = time.process_time()
    parsed(table_text().splitlines())
    assert time.process_time() - begun < 0.1


def test_the_table_is_small_and_says_what_it_proves():
    rows = list(csv.DictReader(table_text().splitlines()))
    assert len({row["name"] for row in rows}) == len(rows) == len(instances())
    assert len({row["fingerprint"] for row in rows}) == len(rows)
    assert len(gzip.compress(table_text().encode())) < 300_000
    for k, row in zip(instances(), rows, strict=True):
        assert k.proven == (row["proven"] == "yes") == (k.value == k.bound), k.name
        worse = k.bound - k.value if k.sense.startswith("largest") else k.value - k.bound
        assert worse >= 0, k.name
        assert len(k.fingerprint) == len(k.certificate) == 64
    assert rows_of(instances()) == table_text()


def test_the_fingerprint_is_what_the_documentation_says():
    import hashlib

    problem = Ising.from_edges(3, [(0, 1), (1, 2)], [-4, 6], fields=[0, 0, 2])
    text = "0 3 -1\n1 2 2\n2 3 -3\n"
    assert ReducedGraph(problem).fingerprint() == hashlib.sha256(text.encode()).hexdigest()
    wide = Ising.from_edges(2, [(0, 1)], [2.0**600], fields=[2.0**-400, 0.0])
    assert ReducedGraph(wide).text() == f"0 1 -1\n1 2 -{2**1000}\n"


real = pytest.mark.skipif(
    REAL is None, reason="GLASSHOUSE_INSTANCES does not name a folder with the standard instances"
)


@real
def test_proven_optima_are_those_that_the_biq_mac_library_states():
    """This also shows that entries of `.sparse` files off the diagonal count twice."""
    assert REAL is not None
    stated = {}
    for file in Path(REAL).rglob("optimal_energy.txt"):
        for row in (line.split() for line in file.read_text().splitlines()):
            if len(row) == 2:
                stated[row[0]] = int(row[1])
    known = [k for k in instances() if k.proven and k.name in stated]
    assert {k.family for k in known} >= {"biqmac:rudy", "biqmac:gka", "biqmac:ising"}
    assert {k.name: k.value for k in known} == {k.name: stated[k.name] for k in known}


@real
def test_the_real_files_are_recognised_and_shuffled_copies_too(tmp_path):
    from benchmarks.library import found_instances

    assert REAL is not None
    known = {k.name: k for k in instances()}
    seen = set()
    for found in found_instances(Path(REAL)):
        if found.name not in known:
            continue
        for copy in (found.path, *copies(found.path, tmp_path)):
            require_recognised(copy, found.name, None, 3 if copy.stem == "tripled" else 1)
        seen.add(found.name)
    assert seen == set(known)
