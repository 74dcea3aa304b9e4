"""Elimination orders: exact for every problem and path, and hostile ones are refused at once."""

from __future__ import annotations

import tracemalloc
from time import process_time

import numpy as np
import pytest
from tests.certificates.adversary import least_cost, some_problem
from tests.certificates.test_checker import library, stand_alone

from glasshouse import files
from glasshouse.certificates import (
    Branch,
    Certificate,
    CertificateError,
    Elimination,
    ExactForm,
    Order,
    Tree,
    checker,
    verify,
)
from glasshouse.certificates.elimination import MOST_HELD
from glasshouse.planting import Planted
from glasshouse.problems import Ising, MaxSat, Polynomial, Rbm
from glasshouse.problems.convert import to_max2sat, to_maxsat, to_qubo
from glasshouse.proofs.preparation import Prepared

SECONDS, MEGABYTES = 10.0, 200


def ordered(size: int, tree: Tree, state=None) -> Certificate:
    """A certificate of a tree of orders alone."""
    return Certificate(np.ones(size) if state is None else state, [], [0], [], tree=tree)


def some_tree(size: int, rng: np.random.Generator) -> Tree:
    """Orders under a few branches, which tie spins to each other and to the ghost."""
    rows: list[list] = [
        [Order(tuple(rng.permutation(size + rng.integers(2)).tolist()))]
        for _ in range(int(rng.integers(1, 5)))
    ]
    while len(rows) > 1:
        pair = rng.choice(size + 1, 2, replace=False).tolist()
        rows.append([Branch(*pair), *rows.pop(0), *rows.pop(0)])
    return Tree(tuple(rows[0]))


def problems(count: int, seed: int):
    """Problems of all kinds: fields, offsets, floats, hard clauses, and every reduction."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        drawn = some_problem(rng)
        problem = drawn.problem if isinstance(drawn, Planted) else drawn
        if isinstance(problem, Ising) and k % 3 == 0:
            problem = to_qubo(problem)[0]
        elif isinstance(problem, Ising) and k % 3 == 1 and problem.is_integer:
            problem = to_max2sat(problem)[0]
        elif k % 7 == 0:
            weights = rng.integers(-5, 6, (2, 3))
            problem = Rbm(weights, rng.integers(-3, 4, 2), rng.integers(-3, 4, 3))
        yield problem, rng


@pytest.mark.parametrize("count", [300, pytest.param(2000, marks=pytest.mark.slow)])
def test_orders_find_the_least_value_of_every_problem(count):
    found = 0
    for problem, rng in problems(count, count):
        size = problem.num_variables
        least = least_cost(problem)
        if least is None:
            continue  # the hard clauses cannot be satisfied
        state = Prepared(problem, None, None).best[:-1]
        verdict = verify(problem, ordered(size, some_tree(size, rng), state))
        assert verdict.bound == least, problem
        found += 1
    assert found > 0.9 * count


def glass(size: int, edges, seed: int = 1, weights=None) -> Ising:
    rng = np.random.default_rng(seed)
    weights = rng.choice([-1, 1], len(edges)) if weights is None else weights
    return Ising.from_edges(size, edges, weights)


def clique(size: int) -> list[tuple[int, int]]:
    return [(a, b) for b in range(size) for a in range(b)]


def written(folder, problem: Ising, order, more: str = "") -> tuple[str, str]:
    """A graph file, and a certificate with one order, as texts."""
    path = folder / "hostile.mc"
    files.write(path, problem, overwrite=True)
    words = " ".join(str(node + 1) for node in order)
    state = "1" * problem.num_variables
    text = (
        f"glasshouse-certificate 6\ndenominator 1\nstate {state}\ntree 1\norder {words}\nloops 0\n"
    )
    files.side_car(path).write_text(text + more)
    return path, text


def refused(path, text: str, match: str) -> None:
    """Both checkers refuse a file quickly and with little memory."""
    for check in (
        lambda: files.verify_file(path),
        lambda: checker.check(path.read_text(), text, True),
    ):
        tracemalloc.start()
        began = process_time()
        with pytest.raises(ValueError, match=match):
            check()
        assert process_time() - began < SECONDS
        assert tracemalloc.get_traced_memory()[1] < MEGABYTES << 20
        tracemalloc.stop()


def test_a_clique_is_refused(tmp_path):
    refused(*written(tmp_path, glass(60, clique(60)), range(60)), "24")


def test_a_star_from_its_centre_is_refused(tmp_path):
    size = 100_000
    star = glass(size, [(0, k) for k in range(1, size)])
    refused(*written(tmp_path, star, range(size)), "24")


def test_many_large_tables_at_once_are_refused(tmp_path):
    groups, size = 5, 25
    pairs = [(size * g + a, size * g + b) for g in range(groups) for a, b in clique(size)]
    firsts = [size * g for g in range(groups)]
    order = [*firsts, *(k for k in range(groups * size) if k not in firsts)]
    path, text = written(tmp_path, glass(groups * size, pairs), order)
    with pytest.raises(ValueError, match=f"{MOST_HELD}"):
        checker.check(path.read_text(), text, True)
    form = ExactForm.of(files.read(path))
    with pytest.raises(CertificateError, match="numbers in memory"):
        Elimination(form, order).least_value()
    assert Elimination(form, range(groups * size)).is_within_limits


def test_a_long_check_needs_a_higher_limit(tmp_path):
    size = 25
    path, _ = written(tmp_path, glass(40 * size, [
        (size * g + a, size * g + b) for g in range(40) for a, b in clique(size)
    ]), range(40 * size))  # fmt: skip
    with pytest.raises(CertificateError, match="too long to check; raise GLASSHOUSE_READ_LIMIT"):
        files.verify_file(path)


@pytest.mark.parametrize(
    ("order", "match"),
    [
        ([0, 1], r"lacks (node|a vertex)"),
        ([0, 1, 2, 2], r"twice|wrong tree row"),
        ([0, 1, 2, 7], r"only 3 variables|wrong tree row"),
    ],
)
def test_incomplete_orders_are_refused(tmp_path, order, match):
    refused(*written(tmp_path, glass(3, clique(3)), order), match)


def test_vertices_without_edges_and_the_ghost_may_be_omitted_or_named(tmp_path):
    problem = Ising.from_edges(4, [(0, 1)], [1], fields=[1, 0, 0, 0])
    for nodes in ((0, 1), (3, 1, 0), (4, 0, 1, 2)):
        assert verify(problem, ordered(4, Tree((Order(nodes),)))).optimal


def test_a_path_may_omit_tied_vertices():
    triangle = Ising.from_edges(3, clique(3), [-1, -1, -1])
    tree = Tree((Branch(0, 1), Order((0, 2)), Order((1, 2))))
    with pytest.raises(CertificateError, match="lacks node 0"):  # its class is named after 0
        verify(triangle, ordered(3, Tree((Order((1, 2)),))))
    assert verify(triangle, ordered(3, tree, [1, 1, -1])).optimal


def test_a_chain_of_a_million_vertices_is_checked_quickly(tmp_path):
    size = 1_000_000
    problem = glass(size, np.stack([np.arange(size - 1), np.arange(1, size)], axis=1))
    began = process_time()
    verdict = verify(problem, ordered(size, Tree((Order(tuple(range(size))),))))
    assert verdict.bound == 1 - size
    assert process_time() - began < SECONDS


@pytest.mark.parametrize("scale", [1, 2**55, 0.1, 1e300, 1e-300])
def test_weights_of_any_size_are_exact(scale):
    rng = np.random.default_rng(5)
    edges = clique(7)
    for mixed in (False, True):
        weights = rng.integers(-9, 10, len(edges)) * scale
        if mixed:
            weights = weights * 10.0 ** rng.integers(-8, 1, len(edges))
        problem = Ising.from_edges(7, edges, weights)
        verdict = verify(problem, ordered(7, Tree((Order(tuple(rng.permutation(7).tolist())),))))
        assert verdict.bound == least_cost(problem)


def test_weights_beyond_64_bits_are_exact_in_the_stand_alone_checker(tmp_path):
    path = tmp_path / "wide.wcnf"
    top = (2**63 - 1) // 6
    clauses = [
        f"{top - k} {x} {y} 0"
        for k, (x, y) in enumerate([(1, 2), (-1, -2), (2, 3), (-2, -3), (1, 3), (-1, -3)])
    ]
    path.write_text("\n".join(["p wcnf 3 6 9223372036854775807", *clauses, ""]))
    text = "glasshouse-certificate 6\ndenominator 1\nstate 011\ntree 1\norder 3 1 2\nloops 0\n"
    files.side_car(path).write_text(text)
    assert stand_alone(path.read_text(), text) == library(path, files.side_car(path))


def test_orders_need_pairs(tmp_path):
    path = tmp_path / "cubic.hubo"
    cubic = Polynomial.from_terms(3, [[0, 1, 2], [0, 1]], [1, 2])
    files.write(path, cubic)
    certificate = ordered(3, Tree((Order((0, 1, 2)),)))
    with pytest.raises(CertificateError, match="products of two spins"):
        verify(cubic, certificate)
    halves = Tree((Branch(2, 3), Order((0, 1)), Order((0, 1))))  # with one spin fixed, pairs remain
    assert verify(cubic, ordered(3, halves, [1, -1, 1])).optimal
    files.write_certificate(files.side_car(path), ordered(3, halves, [1, -1, 1]))
    texts = path.read_text(), files.side_car(path).read_text()
    assert checker.check(*texts, is_hubo=True)[1] == files.verify_file(path).value == -3


def test_orders_of_another_problem_are_refused(tmp_path):
    path, text = written(tmp_path, glass(5, clique(5)), range(5))
    text = text.replace("state 11111", "state 1111111")
    text = text.replace("tree 1\n", "tree 3\nbranch 6 7\norder 6 7 1 2 3 4 5\n")
    files.side_car(path).write_text(text)
    with pytest.raises(CertificateError, match="is for 7 variables"):
        files.verify_file(path)
    with pytest.raises(ValueError, match="not 5 bits"):
        checker.check(path.read_text(), text, True)


def test_orders_need_version_6(tmp_path):
    path, text = written(tmp_path, glass(3, clique(3)), range(3))
    for version in "345":
        files.side_car(path).write_text(text.replace("certificate 6", f"certificate {version}"))
        with pytest.raises(files.FileError):
            files.read_certificate(files.side_car(path))
        with pytest.raises(ValueError, match="certificate"):
            checker.check(path.read_text(), files.side_car(path).read_text(), True)


def test_clauses_that_need_cores_refuse_orders():
    clauses = to_maxsat(to_max2sat(Ising.from_edges(2, [(0, 1)], [1]))[0])[0]
    assert isinstance(clauses, MaxSat)
    with pytest.raises(CertificateError, match="may contain only cores"):
        verify(clauses, ordered(2, Tree((Order((0, 1)),))))
