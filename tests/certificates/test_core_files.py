"""Files with cores: both checkers say the same of them, whatever happened to them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.certificates.mutations import every_number, mutate, mutate_numbers, rewrite
from tests.certificates.test_cores import (
    FALSE_TREES,
    PROBLEM,
    STATE,
    TREE,
    best_state,
    least_cost,
    whole_tree,
)

from glasshouse import files
from glasshouse.certificates import Certificate, CertificateError, Cores, checker
from glasshouse.planting.methods import cores
from glasshouse.problems import MaxSat

HEAD = "glasshouse-certificate 5\ndenominator 1\nstate 101\n"
ROW = f"2 {' '.join(map(str, TREE))}\n"


def small(rng):
    """A problem of some kind with a certificate of cores, of one large tree or of planted ones."""
    if rng.random() < 0.5:
        shape = str(rng.choice(["ring", "chain", "tetrahedron"]))
        plant = cores(
            10, width=3, cores=int(rng.integers(1, 4)), shape=shape, max_weight=3, harden="1/5",
            rng=int(rng.integers(1000)),
        )  # fmt: skip
        return plant.problem, plant.certificate
    while True:
        size, number = 5, int(rng.integers(6, 14))
        clauses = [
            (rng.choice(size, k, replace=False) + 1) * rng.choice([-1, 1], k)
            for k in rng.integers(0, 4, number)
        ]
        problem = MaxSat(size, clauses, rng.integers(1, 6, number), hard=[[1, -2, 3]])
        least = least_cost(problem)
        if least:
            return problem, Certificate.of_cores(best_state(problem), whole_tree(problem, least))


def damage_and_compare(folder, rounds, each, seed):
    """Damage files and certificates; both checkers say the same, and what they say is true."""
    rng = np.random.default_rng(seed)
    refused = true = 0
    wcnf = folder / "x.wcnf"
    cert = files.side_car(wcnf)
    for _ in range(rounds):
        problem, certificate = small(rng)
        dialect = str(rng.choice(["classic", "mse22"]))
        files.write(wcnf, problem, dialect=dialect, overwrite=True)
        cost = problem.cost((certificate.state > 0).astype(np.int8))
        files.write_certificate(cert, certificate, cost=cost, overwrite=True)
        texts = [wcnf.read_text(), cert.read_text()]
        for _ in range(each):
            damaged = list(texts)
            target = int(rng.random() < 0.8)
            change = mutate_numbers if rng.random() < 0.7 else mutate
            damaged[target] = change(damaged[target], rng)
            rewrite(wcnf, damaged[0])
            rewrite(cert, damaged[1])
            mine, alone = library(wcnf, cert), stand_alone(*damaged)
            assert mine == alone, damaged
            refused += mine is None
            if mine is not None:
                true += 1
                least = least_cost(files.read(wcnf))
                assert mine[1] <= least <= mine[0], damaged
    return refused, true


def library(wcnf, cert):
    try:
        verdict = files.read_document(wcnf).examined(files.read_side_car(cert)).verdict
    except (CertificateError, files.FileError):
        return None
    return verdict.energy, verdict.lower_bound


def stand_alone(wcnf, certificate):
    try:
        return checker.check(wcnf, certificate)
    except (RecursionError, ValueError):
        return None


def test_a_thousand_damaged_files_are_refused_or_true(tmp_path):
    refused, true = damage_and_compare(tmp_path, 25, 40, seed=1)
    assert refused > 400
    assert true > 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 7))
def test_ten_thousand_damaged_files_are_refused_or_true(tmp_path, seed):
    refused, true = damage_and_compare(tmp_path, 50, 50, seed)
    assert refused > 1000
    assert true > 100


def test_every_number_of_a_certificate_counts(tmp_path):
    wcnf, cert = tmp_path / "x.wcnf", tmp_path / "x.wcnf.cert"
    files.write(wcnf, PROBLEM)
    files.write_certificate(cert, Certificate.of_cores(STATE, Cores.of([(2, TREE)])), cost=2)
    text = wcnf.read_text()
    for damaged in every_number(cert.read_text()):
        cert.write_text(damaged)
        assert library(wcnf, cert) == stand_alone(text, damaged), damaged


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}cores 0\n",
        f"{HEAD}loops 0\n",
        f"{HEAD}loops 0\ncores 1\n{ROW}",
        f"{HEAD}squares 0\ncores 1\n{ROW}",
        f"{HEAD.replace('5', '4')}cores 1\n{ROW}",
        f"{HEAD.replace('5', '6')}cores 1\n{ROW}",
        f"{HEAD.replace('5', '1')}loops 0\ncores 0\n",
        f"{HEAD.replace('denominator 1', 'denominator 0')}cores 1\n{ROW}",
        f"{HEAD}cores 2\n{ROW}",
        f"{HEAD}cores 1\n0{ROW[1:]}",
        f"{HEAD}cores 1\n-2{ROW[1:]}",
        f"{HEAD}cores 1\n2\n",
    ],
)
def test_lines_that_do_not_belong_together_are_refused(text, tmp_path):
    wcnf, cert = tmp_path / "x.wcnf", tmp_path / "x.wcnf.cert"
    files.write(wcnf, PROBLEM)
    cert.write_text(text)
    assert library(wcnf, cert) is None
    assert stand_alone(wcnf.read_text(), text) is None


@pytest.mark.parametrize(("tree", "message"), FALSE_TREES)
def test_a_false_core_in_a_file_is_refused(tree, message, tmp_path):
    wcnf, cert = tmp_path / "x.wcnf", tmp_path / "x.wcnf.cert"
    files.write(wcnf, PROBLEM)
    text = f"{HEAD}cores 1\n2 {' '.join(map(str, tree))}\n"
    cert.write_text(text)
    with pytest.raises(ValueError, match="core"):
        checker.check(wcnf.read_text(), text)
    assert library(wcnf, cert) is None


def test_a_deep_tree_is_checked_without_recursion_from_a_file(tmp_path):
    depth, path = 100_000, tmp_path / "deep.wcnf"
    rows = [[1], *([-k, k + 1] for k in range(1, depth)), [-depth]]
    tree = [token for k in range(depth) for token in (k + 1, -k - 1)] + [-depth - 1]
    certificate = Certificate.of_cores(np.ones(depth, dtype=np.int8), Cores.of([(1, tree)]))
    files.write(path, MaxSat(depth, rows, np.ones(len(rows), dtype=np.int64)))
    files.write_certificate(files.side_car(path), certificate, cost=1)
    found = checker.check(path.read_text(), files.side_car(path).read_text())
    assert found == library(path, files.side_car(path)) == (1, 1)
