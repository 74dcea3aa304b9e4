"""Loops, their sums, and the certificates made of them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import energies_of

from glasshouse.planting import Loops, decompose_loop
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
        ([0, 1], [0, 2], [1, -1], "at least 3 nodes"),
        ([0, 1, 0], [0, 3], [1, 1, -1], "visits a node twice"),
        ([0, 1, -2], [0, 3], [1, 1, -1], "node -2"),
        ([0, 1, 2**31], [0, 3], [1, 1, -1], "which is out of range"),
        ([0, 1, 2], [0, 2], [1, 1, -1], "from 0 to 3"),
        ([0, 1, 2], [1, 3], [1, 1, -1], "from 0 to 3"),
        ([0, 1, 2], [], [1, 1, -1], "from 0 to 3"),
        ([0, 1, 2, 3], [0, 4, 0, 4], [1, 1, 1, -1], "non-decreasing order"),
        ([0, 1, 2], [0, 3], [1, 1], "3 nodes need 3 weights, not 2"),
        ([0, 1, 2], [0, 3], [1, 1, 1], "last must be at most 0"),
        ([0, 1, 2], [0, 3], [1, 2, -2], "no smaller in magnitude"),
        ([0, 1, 2], [0, 3], [0, 1, 0], "others positive"),
        ([0, 1, 2], [0, 3], [1.5, 1.5, -1.0], "must be integers"),
        ([0.0, 1.0, 2.0], [0, 3], [1, 1, -1], "array of integers"),
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
    with pytest.raises(ValueError, match=r"node 4, .* nodes 0 to 2, and the ghost is node 3"):
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
