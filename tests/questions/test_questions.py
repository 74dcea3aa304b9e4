"""The paper's open questions, answered by computation (ERRATA, section 2)."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.certificates import Certificate, verify
from glasshouse.landscape import frustration_index
from glasshouse.planting.methods import random_loops
from glasshouse.problems import Rbm
from glasshouse.proofs import prove
from glasshouse.questions.cone import conic_decomposition
from glasshouse.questions.extremes import maximum_frustration
from glasshouse.questions.families import frustration_bound, hadamard_matrix, paley_matrix
from glasshouse.questions.gauged import ground_state, is_gauged


def counter_example(size: int) -> np.ndarray:
    return np.array([[size, -1, -1, 2], [-1, size, -1, 2], [-1, -1, size, 2], [2, 2, 2, -2]])


def gauged_matrix(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Random weights, gauged by their ground state, which enumeration finds."""
    matrix = rng.integers(-5, 6, (rows, columns))
    smaller = matrix if rows <= columns else matrix.T
    spins = ground_state(smaller)[1]
    other = np.where(spins @ smaller >= 0, 1, -1)
    gauged = smaller * np.outer(spins, other)
    return gauged if rows <= columns else gauged.T


@pytest.mark.parametrize("size", [3, 4, 7])
def test_the_counter_example_is_gauged_and_no_sum_of_loops(size):
    matrix = counter_example(size)
    assert is_gauged(matrix)
    ones = np.ones(8, dtype=np.int8)
    assert frustration_index(Rbm(matrix), ones) == Fraction(8, 3 * size + 20)
    for length in (4, 6, 8):
        answer = conic_decomposition(matrix, max_length=length)
        assert not answer.exists
        assert (answer.witness * matrix).sum() < 0
    assert np.array_equal(answer.witness, [[0, 2, 2, 1], [2, 0, 2, 1], [2, 2, 0, 1], [1, 1, 1, 2]])


@given(st.integers(2, 3), st.integers(2, 6), st.integers(0, 10**6))
@settings(max_examples=25)
def test_three_rows_are_always_loops(rows, columns, seed):
    matrix = gauged_matrix(rows, columns, np.random.default_rng(seed))
    assert is_gauged(matrix)
    answer = conic_decomposition(matrix, max_length=2 * rows)
    assert answer.exists
    assert min(answer.rest.ravel()) >= 0
    # The loops are a certificate that the matrix is gauged.
    problem = Rbm(matrix)
    ones = np.ones(rows + columns, dtype=np.int8)
    denominator = math.lcm(*(x.denominator for x in answer.multipliers))
    nodes = [node for loop in answer.loops for node in loop]
    starts = np.cumsum([0, *map(len, answer.loops)])
    whole = np.array([int(x * denominator) for x in answer.multipliers], dtype=np.int64)
    if not len(whole):
        assert (matrix >= 0).all()
        return
    certificate = Certificate(ones, nodes, starts, whole, denominator)
    assert verify(problem, certificate).bound == -matrix.sum()


def test_plants_are_loops_and_other_gauges_are_not():
    planted = random_loops(5, 5, frustration="1/4", loop_density=2, state=np.ones(10), rng=3)
    matrix = np.asarray(planted.problem.matrix)
    assert conic_decomposition(matrix, max_length=4).exists
    flipped = matrix.copy()
    flipped[0] *= -1
    assert not conic_decomposition(flipped, max_length=10).exists


def test_the_cone_refuses_what_it_cannot_mean():
    with pytest.raises(ValueError, match="max_length=5"):
        conic_decomposition([[1, 1], [1, -1]], max_length=5)
    with pytest.raises(ValueError, match="a matrix of integers"):
        conic_decomposition([[1.5, 1], [1, -1]])


@pytest.mark.parametrize(
    ("rows", "columns", "value"),
    [(2, 2, "1/4"), (2, 5, "1/4"), (3, 4, "1/4"), (4, 4, "7/24"), (4, 5, "3/10")],
)
def test_maximum_frustration(rows, columns, value):
    found = maximum_frustration(rows, columns)
    assert found.value == Fraction(value)
    total = int(np.abs(found.weights).sum())
    assert Fraction(total + ground_state(found.weights)[0], 2 * total) == found.value
    assert found.weights.shape == (rows, columns)


def test_the_known_4x4_matrix_reaches_the_maximum():
    known = np.array([[1, 1, 2, 2], [1, 2, 1, -2], [2, 1, -2, 1], [2, -2, 1, -1]])
    assert exact_frustration(known) == Fraction(7, 24) == maximum_frustration(4, 4).value


def test_patterns_of_signs_are_all_there():
    # Burnside by hand for 2×2: all signs, or one loop; 3 patterns of 2×5 (0, 1 or 2 of 5 turned).
    assert maximum_frustration(2, 2).patterns == 2
    assert maximum_frustration(2, 5).patterns == 3


def test_no_search_without_end():
    with pytest.raises(ValueError, match=r"2\^25 sign patterns"):
        maximum_frustration(6, 6)
    with pytest.raises(ValueError, match="has no loop"):
        maximum_frustration(1, 6)


@pytest.mark.parametrize("order", [1, 2, 4, 8, 12, 20, 24, 32, 48, 64])
def test_hadamard_matrices_are_orthogonal(order):
    matrix = hadamard_matrix(order)
    assert np.array_equal(matrix @ matrix.T, order * np.eye(order))
    assert frustration_bound(matrix) == pytest.approx((1 - order**-0.5) / 2)


def test_orders_without_a_construction_are_refused():
    for order in (0, 3, 6, 92):
        with pytest.raises(ValueError, match=f"order={order}"):
            hadamard_matrix(order)
    with pytest.raises(ValueError, match="order=9 must be an odd prime"):
        paley_matrix(9)


@pytest.mark.parametrize("wrong", [4.0, "4"])
def test_sizes_are_integers_of_any_type(wrong):
    assert np.array_equal(hadamard_matrix(np.int64(4)), hadamard_matrix(4))
    for call in (
        lambda: hadamard_matrix(wrong),
        lambda: paley_matrix(wrong),
        lambda: maximum_frustration(wrong, 4),
        lambda: conic_decomposition([[1, 1], [1, -1]], max_length=wrong),
    ):
        with pytest.raises(ValueError, match="is not an integer"):
            call()


def test_a_bound_needs_a_matrix():
    with pytest.raises(ValueError, match="a matrix of finite numbers"):
        frustration_bound([1, 2, 3])


def exact_frustration(matrix: np.ndarray) -> Fraction:
    total = int(np.abs(matrix).sum())
    return Fraction(total + ground_state(matrix)[0], 2 * total)


def test_frustration_grows_towards_one_half():
    hadamard = [exact_frustration(hadamard_matrix(n)) for n in (2, 4, 8, 16)]
    paley = [exact_frustration(paley_matrix(q)) for q in (3, 5, 7, 11, 13, 17)]
    assert hadamard == sorted(hadamard)
    assert paley[-1] > paley[0]
    for matrix, f in ((hadamard_matrix(16), hadamard[-1]), (paley_matrix(17), paley[-1])):
        assert f >= frustration_bound(matrix)
        assert f > Fraction(1, 4)
    bounds = [frustration_bound(hadamard_matrix(2**k)) for k in (2, 6, 8)]
    assert bounds == pytest.approx([0.25, 0.4375, 0.46875])


def test_gauged_by_enumeration_and_by_proof():
    rng = np.random.default_rng(8)
    for _ in range(20):
        matrix = gauged_matrix(4, 5, rng)
        assert is_gauged(matrix)
        energies = [
            -np.array(v) @ matrix @ np.array(h)
            for v in product((-1, 1), repeat=4)
            for h in product((-1, 1), repeat=5)
        ]
        assert min(energies) == -matrix.sum() == ground_state(matrix)[0]
    large = random_loops(30, 30, frustration="1/5", loop_density=1, state=np.ones(60), rng=1)
    matrix = large.problem.matrix
    matrix = np.asarray(matrix.toarray() if large.problem.is_sparse else matrix)
    assert is_gauged(matrix)
    turned = matrix.copy()
    turned[int(np.flatnonzero(np.abs(matrix).sum(axis=1))[0])] *= -1
    assert is_gauged(turned) is False
    assert is_gauged(paley_matrix(23), time_limit=5) is False


def test_prove_agrees_with_enumeration_on_hadamard():
    proof = prove(Rbm(hadamard_matrix(8)))
    assert proof.energy == ground_state(hadamard_matrix(8))[0]
    assert -hadamard_matrix(8).size < proof.lower_bound <= proof.energy
