"""Loops, their sums, and the certificates made of them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import energies_of
from tests.strategies import isings

from glasshouse.planting import Certificate, CertificateError, Loops, decompose_loop
from glasshouse.problems import Ising

SPINS = 6


@st.composite
def cycles(draw: st.DrawFn, size: int = SPINS + 1) -> list[list[int]]:
    """Cycles over `size` nodes, the last of which may be the ghost."""
    cycle = st.lists(st.integers(0, size - 1), min_size=3, max_size=size, unique=True)
    return draw(st.lists(cycle, max_size=8))


@st.composite
def loops(draw: st.DrawFn) -> Loops:
    found = draw(cycles())
    positive = draw(st.integers(1, 9))
    count = len(found)
    negatives = draw(st.lists(st.integers(-positive, 0), min_size=count, max_size=count))
    return Loops.from_cycles(found, positive=positive, negatives=negatives)


@given(loops())
@settings(deadline=None)
def test_sum_adds_up_edge_by_edge_and_all_up_is_its_ground_state(loops: Loops) -> None:
    weights: Counter[tuple[int, int]] = Counter()
    for nodes, values in loops:
        cycle = [*nodes.tolist(), int(nodes[0])]
        for (i, j), weight in zip(pairwise(cycle), values.tolist(), strict=True):
            weights[min(i, j), max(i, j)] += weight
    total = loops.sum(SPINS)
    fields = [weights.pop((i, SPINS), 0) for i in range(SPINS)]
    assert total.fields.tolist() == fields
    pairs = zip(map(tuple, total.edges.tolist()), total.weights.tolist(), strict=True)
    assert dict(pairs) == {edge: weight for edge, weight in weights.items() if weight}
    assert energies_of(total).min() == total.energy([1] * SPINS) == -int(loops.weights.sum())


def test_loops_behave_like_a_sequence() -> None:
    loops = Loops.from_cycles([[0, 1, 2], [3, 1, 0, 2]], positive=2, negatives=[-1, -2])
    assert len(loops) == loops.num_loops == 2
    assert loops.lengths.tolist() == [3, 4]
    assert loops.negative_weights.tolist() == [-1, -2]
    assert loops.positive_weights.tolist() == [2] * 5
    assert loops[-1].nodes.tolist() == [3, 1, 0, 2]
    assert [loop.weights.tolist() for loop in loops] == [[2, 2, -1], [2, 2, 2, -2]]
    assert repr(loops) == "Loops(2 loops of lengths 3 to 4, weights -2 to 2)"
    with pytest.raises(IndexError):
        loops[2]
    assert loops == Loops(loops.nodes.copy(), loops.starts.copy(), loops.weights.copy())
    assert loops != Loops.from_cycles([[0, 1, 2], [3, 1, 2, 0]], positive=2, negatives=[-1, -2])
    with pytest.raises(ValueError, match="read-only"):
        loops.nodes[0] = 5


def test_no_loops_are_loops_too() -> None:
    empty = Loops([], [0], [])
    assert len(empty) == 0
    assert empty.sum(3) == Ising.from_edges(3, [], np.array([], dtype=np.int64))


@pytest.mark.parametrize(
    ("nodes", "starts", "weights", "message"),
    [
        ([0, 1], [0, 2], [1, -1], "shorter than 3"),
        ([0, 1, 0], [0, 3], [1, 1, -1], "visits a node twice"),
        ([0, 1, -2], [0, 3], [1, 1, -1], "node -2"),
        ([0, 1, 2**31], [0, 3], [1, 1, -1], "which no problem has"),
        ([0, 1, 2], [0, 2], [1, 1, -1], "from 0 to 3"),
        ([0, 1, 2], [1, 3], [1, 1, -1], "from 0 to 3"),
        ([0, 1, 2], [], [1, 1, -1], "from 0 to 3"),
        ([0, 1, 2, 3], [0, 4, 0, 4], [1, 1, 1, -1], "ascend"),
        ([0, 1, 2], [0, 3], [1, 1], "3 nodes but 2 weights"),
        ([0, 1, 2], [0, 3], [1, 1, 1], "last edge must be negative"),
        ([0, 1, 2], [0, 3], [1, 2, -2], "at least as heavy"),
        ([0, 1, 2], [0, 3], [0, 1, 0], "others positive"),
        ([0, 1, 2], [0, 3], [1.5, 1.5, -1.0], "must be integers"),
        ([0.0, 1.0, 2.0], [0, 3], [1, 1, -1], "whole numbers"),
        ([0, 1, 2], [0, 3], [2**62, 2**62, -1], "2\\^63-1"),
    ],
)
def test_what_is_no_loop_is_refused(
    nodes: object, starts: object, weights: object, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Loops(nodes, starts, weights)


def test_loops_must_fit_the_problem() -> None:
    loops = Loops.of_length([[0, 1, 4]], positive=1, negative=-1)
    assert loops.sum(4).fields.tolist() == [-1, 1, 0, 0]
    with pytest.raises(ValueError, match="node 4, but 3 spins end at 2 and their ghost is 3"):
        loops.sum(3)


@given(st.integers(2, 8), st.integers(1, 5), st.randoms())
def test_a_long_loop_is_the_sum_of_its_atoms(half: int, weight: int, random: object) -> None:
    visible, hidden = list(range(10)), list(range(10, 20))
    random.shuffle(visible)
    random.shuffle(hidden)
    cycle = [node for pair in zip(visible[:half], hidden[:half], strict=True) for node in pair]
    atoms = decompose_loop(cycle, weight=weight)
    assert len(atoms) == half - 1
    assert set(atoms.lengths.tolist()) == {4}
    loop = Loops.of_length([cycle], positive=weight, negative=-weight)
    assert atoms.sum(20) == loop.sum(20)


@pytest.mark.parametrize("cycle", [[0, 1, 2], [0, 5, 1, 6, 2], [0, 5, 0, 6]])
def test_other_loops_have_no_atoms(cycle: list[int]) -> None:
    with pytest.raises(ValueError, match="loop"):
        decompose_loop(cycle)


# Certificates ------------------------------------------------------------------------------------


@st.composite
def certificates(draw: st.DrawFn, size: int) -> Certificate:
    found = draw(cycles(size + 1)) if size >= 2 else []
    state = draw(st.lists(st.sampled_from([-1, 1]), min_size=size, max_size=size))
    starts = np.cumsum([0, *map(len, found)])
    nodes = np.array([node for cycle in found for node in cycle], dtype=np.int64)
    count = len(found)
    multipliers = draw(st.lists(st.integers(1, 9), min_size=count, max_size=count))
    return Certificate(state, nodes, starts, multipliers, draw(st.integers(1, 4)))


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_a_bound_is_never_above_the_minimum(data: st.DataObject) -> None:
    problem = data.draw(isings(max_spins=SPINS, min_spins=2))
    certificate = data.draw(certificates(problem.num_spins))
    least = energies_of(problem).min()
    bound = certificate.bound(problem)
    assert bound <= least
    assert certificate.gap(problem) == problem.energy(certificate.state) - bound
    try:
        assert certificate.check(problem) == least
    except CertificateError:
        assert bound < problem.energy(certificate.state)


@given(st.data())
@settings(deadline=None, max_examples=50)
def test_bounds_of_huge_weights_are_exact(data: st.DataObject) -> None:
    problem = data.draw(isings(max_spins=SPINS, min_spins=2))
    certificate = data.draw(certificates(problem.num_spins))
    factor = 2**53  # with it, most sums times the denominator leave int64
    huge = Ising(
        problem.num_spins, problem.edges, problem.weights * factor, problem.fields * factor,
        problem.offset * factor,
    )  # fmt: skip
    c = certificate
    scaled = Certificate(c.state, c.nodes, c.starts, c.multipliers * factor, c.denominator)
    assert scaled.bound(huge) == factor * c.bound(problem)


def test_a_gap_below_the_least_difference_of_energies_still_proves() -> None:
    square = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [2, 2, 2, -2])
    almost = Certificate([1] * 4, [0, 1, 2, 3], [0, 4], [5], denominator=3)
    assert almost.bound(square) == -4 - Fraction(2, 3)
    assert almost.check(square) == -4
    poor = Certificate([1] * 4, [], [0], [])
    with pytest.raises(CertificateError, match="not shown optimal"):
        poor.check(square)


def test_a_certificate_must_fit_its_problem() -> None:
    triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1, 1, -1])
    with pytest.raises(CertificateError, match="for 4 spins, the problem has 3"):
        Certificate([1] * 4, [0, 1, 2], [0, 3], [1]).check(triangle)
    with pytest.raises(CertificateError, match="ghost is 3"):
        Certificate([1] * 3, [0, 1, 4], [0, 3], [1]).check(triangle)
    floats = Ising.from_edges(3, [(0, 1)], [0.5])
    with pytest.raises(CertificateError, match="floats"):
        Certificate([1] * 3, [], [0], []).check(floats)
    with pytest.raises(ValueError, match="1 loops but 2 multipliers"):
        Certificate([1] * 3, [0, 1, 2], [0, 3], [1, 1])
    with pytest.raises(ValueError, match="above 0"):
        Certificate([1] * 3, [0, 1, 2], [0, 3], [0])
