"""Squares: what they are, and what they prove."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.certificates import (
    Certificate,
    CertificateError,
    Squares,
    checker,
    kernels,
    square_sums,
    verify,
)
from glasshouse.certificates.square_sums import SquareSums
from glasshouse.files.certificate.reading import read_certificate
from glasshouse.files.certificate.writing import write_certificate
from glasshouse.problems import Ising
from glasshouse.problems.convert import to_max2sat

LARGE = 2**40


@st.composite
def squares_over(draw: Any, size: int, most: int = 4) -> Squares:
    """Squares over `size` nodes, some of them with huge numbers."""
    numbers = st.integers(-4, 4).filter(bool) | st.integers(-LARGE, LARGE).filter(bool)
    square = st.dictionaries(st.integers(0, size - 1), numbers, min_size=1, max_size=size)
    found = draw(st.lists(square, max_size=most))
    multipliers = draw(
        st.lists(
            st.integers(1, 5) | st.integers(1, 2**80), min_size=len(found), max_size=len(found)
        )
    )
    return Squares.of([list(s.items()) for s in found], np.array(multipliers, dtype=object))


def least_value(squares: Squares, k: int, size: int) -> int:
    """The least value of square k, over all spins, by brute force; the ghost is the last node."""
    part = slice(squares.starts[k], squares.starts[k + 1])
    nodes, a = squares.nodes[part].tolist(), squares.coefficients[part].tolist()
    states = ([*spins, 1] for spins in product((-1, 1), repeat=size - 1))
    sums = (sum(x * spins[node] for x, node in zip(a, nodes, strict=True)) for spins in states)
    return int(squares.multipliers[k]) * min(total**2 for total in sums)


@given(squares_over(5))
@settings(max_examples=150, deadline=None)
def test_no_square_gets_below_its_depth(squares: Squares) -> None:
    constants = sum(
        int(c) * sum(x * x for x in squares.coefficients[i:j].tolist())
        for c, i, j in zip(
            squares.multipliers, squares.starts[:-1], squares.starts[1:], strict=True
        )
    )
    assert constants - squares.depth <= sum(least_value(squares, k, 5) for k in range(len(squares)))


@given(squares_over(6))
@settings(max_examples=150, deadline=None)
def test_sums_of_pairs_are_those_of_plain_python(squares: Squares) -> None:
    expected: dict[tuple[int, int], int] = {}
    for k, c in enumerate(squares.multipliers.tolist()):
        part = range(squares.starts[k], squares.starts[k + 1])
        for p, q in product(part, part):
            i, j = int(squares.nodes[p]), int(squares.nodes[q])
            if i < j:
                amount = 2 * int(c) * int(squares.coefficients[p]) * int(squares.coefficients[q])
                expected[i, j] = expected.get((i, j), 0) + amount
    for size in (99, 6):  # squares that are sparse, and dense
        sums = SquareSums(squares, size)
        pairs, amounts = sums.pairs()
        found = dict(zip(map(tuple, pairs.tolist()), amounts.tolist(), strict=True))
        assert found == {pair: amount for pair, amount in expected.items() if amount}
        assert list(found) == sorted(found)
    everywhere = np.array([(i, j) for i in range(6) for j in range(i + 1, 6)])
    for at_once in (1, 5, square_sums._PAIRS_AT_ONCE):  # many pieces, some, and one
        with patch.object(square_sums, "_PAIRS_AT_ONCE", at_once):
            on_all, total = sums.on(everywhere)
            pairs, amounts = SquareSums(squares, 99).pairs()
        assert on_all.tolist() == [expected.get((i, j), 0) for i, j in everywhere.tolist()]
        assert total == sum(map(abs, on_all.tolist()))
        assert dict(zip(map(tuple, pairs.tolist()), amounts.tolist(), strict=True)) == found


def test_sums_of_many_pairs_are_made_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python handles no signal while a kernel works."""
    calls: list[tuple[int, int]] = []
    add = kernels.add_squares
    monkeypatch.setattr(
        kernels, "add_squares", lambda *given: (calls.append(given[:2]), add(*given))[1]
    )
    squares = Squares.of([[(k, 1) for k in range(40)]] * 10)
    monkeypatch.setattr(square_sums, "_PAIRS_AT_ONCE", 1000)
    SquareSums(squares, 41).on(np.array([[0, 1]]))
    assert len(calls) == 9
    assert [calls[0][0], calls[-1][1]] == [0, 41]
    assert all(one[1] == two[0] for one, two in pairwise(calls))


@st.composite
def problems_with_certificates(draw: Any) -> tuple[Ising, Certificate]:
    """Small integer problems, and certificates with loops and squares of any quality."""
    size = draw(st.integers(3, 6))
    pairs = [(i, j) for i in range(size) for j in range(i + 1, size)]
    weights = draw(st.lists(st.integers(-9, 9), min_size=len(pairs), max_size=len(pairs)))
    fields = draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size))
    problem = Ising.from_edges(size, pairs, weights, fields)
    state = draw(st.lists(st.sampled_from([-1, 1]), min_size=size, max_size=size))
    numbers = st.integers(-3, 3).filter(bool)
    square = st.dictionaries(st.integers(0, size), numbers, min_size=1, max_size=size + 1)
    found = [list(s.items()) for s in draw(st.lists(square, max_size=3))]
    multipliers = draw(st.lists(st.integers(1, 9), min_size=len(found), max_size=len(found)))
    squares = Squares.of(found, np.array(multipliers, dtype=np.int64))
    loops = draw(st.booleans())
    cycle = draw(st.permutations(range(size + 1))) if loops else []
    starts, weight = ([0, len(cycle)], [draw(st.integers(1, 5))]) if loops else ([0], [])
    scale = draw(st.sampled_from([1, 2, 7]))
    return problem, Certificate(state, cycle, starts, weight, scale, None, squares)


@given(problems_with_certificates())
@settings(max_examples=200, deadline=None)
def test_a_bound_is_never_above_the_least_energy(pair: tuple[Ising, Certificate]) -> None:
    problem, certificate = pair
    least = min(
        int(problem.energy(np.array(s, dtype=np.int8)))
        for s in product((-1, 1), repeat=problem.num_variables)
    )
    verdict = verify(problem, certificate)
    assert verdict.bound <= verdict.lower_bound <= least
    assert not verdict.optimal or verdict.energy == least
    assert verdict.bound >= -int(np.abs(problem.weights).sum() + np.abs(problem.fields).sum())


@given(problems_with_certificates())
@settings(max_examples=100, deadline=None)
def test_files_keep_squares_and_both_checkers_agree(
    tmp_path_factory: Any, pair: tuple[Ising, Certificate]
) -> None:
    problem, certificate = pair
    folder: Path = tmp_path_factory.mktemp("squares")
    clauses, reduction = to_max2sat(problem)
    from glasshouse.files import write
    from glasshouse.files.certificate.writing import rescaled

    scaled = rescaled(certificate, Fraction(reduction.factor) * 2)
    write(folder / "a.wcnf", clauses)
    write_certificate(folder / "a.cert", scaled)
    assert read_certificate(folder / "a.cert") == scaled
    text, proof = (folder / "a.wcnf").read_text(), (folder / "a.cert").read_text()
    cost, least = checker.check(text, proof)
    verdict = verify(clauses, scaled)
    assert (cost, least) == (verdict.energy, verdict.lower_bound)
    assert proof.startswith(f"glasshouse-certificate {2 if scaled.num_squares else 1}\n")


def test_what_is_no_square_is_refused() -> None:
    for square, fault in (
        ([], "empty"),
        ([(0, 1), (0, 2)], "twice"),
        ([(0, 0)], "coefficient 0"),
        ([(-1, 1)], "node -1"),
    ):
        with pytest.raises(ValueError, match=fault):
            Squares.of([square])
    with pytest.raises(ValueError, match="must be above 0"):
        Squares.of([[(0, 1)]], [0])
    with pytest.raises(ValueError, match="2\\^63-1"):
        Squares([0], [0, 1], np.array([2**64], dtype=object), [1])
    with pytest.raises(CertificateError, match="a square names node 4"):
        verify(
            Ising.from_edges(3, [(0, 1)], [1]),
            Certificate.of_squares([1, 1, 1], Squares.of([[(4, 1)]])),
        )


def test_dense_products_stop_where_floats_would_round() -> None:
    large = 2**25 + 1  # its square has 51 bits
    for rows in ([[large, large]], [[large, large], [1, 1]], [[large, large, 1]] * 9):
        squares = Squares.of_rows(rows)
        pairs, amounts = SquareSums(squares, len(rows[0])).pairs()
        wanted = {
            (i, j): 2 * sum(row[i] * row[j] for row in rows)
            for i in range(len(rows[0]))
            for j in range(i + 1, len(rows[0]))
        }
        assert dict(zip(map(tuple, pairs.tolist()), amounts.tolist(), strict=True)) == wanted


def test_rows_become_squares_without_their_zeros() -> None:
    assert Squares.of_rows([[0, 2, 0, -1]]) == Squares.of([[(1, 2), (3, -1)]])
    with pytest.raises(ValueError, match="square 1 is empty"):
        Squares.of_rows([[1, 1], [0, 0]])
    with pytest.raises(ValueError, match="pass one row per square"):
        Squares.of_rows([1, 1])
