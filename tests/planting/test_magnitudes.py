"""Weights and limits that int64 cannot hold are refused in one line, before a kernel sees them."""

import pytest

from glasshouse.planting.loops import Loops, decompose_loop
from glasshouse.planting.methods import graph_loops, random_loops

REFUSED = {
    "positive": lambda: Loops.of_length([[0, 1, 2, 3]], positive=2**63, negative=-1),
    "negative": lambda: Loops.of_length([[0, 1, 2, 3]], positive=2**62, negative=-(2**63)),
    "half": lambda: Loops.of_length([[0, 1, 2, 3]], positive=1.5, negative=-1),
    "cycles": lambda: Loops.from_cycles([[0, 1, 2]], positive=2**70, negatives=[-1]),
    "negatives": lambda: Loops.from_cycles([[0, 1, 2]], positive=2, negatives=[-(2**70)]),
    "nodes": lambda: Loops.from_cycles([[0, 1, 2**70]], positive=2, negatives=[-1]),
    "atoms": lambda: decompose_loop([0, 1, 2, 3], weight=2**70),
    "spins": lambda: Loops.of_length([[0, 1, 2]], positive=2, negative=-1).sum(2**31),
    "sum": lambda: Loops.of_length([[0, 1, 2]] * 3, positive=2**61, negative=-(2**61)),
    "normal": lambda: random_loops(
        4, 4, frustration="1/5", loops=1, weights="normal", spread="1e-30", resolution=10**30, rng=1
    ),
}  # fmt: skip


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
def test_what_int64_cannot_hold_is_refused(make):
    with pytest.raises(ValueError, match=r"2\^63|integers|above 2147483647"):
        make()


def test_a_limit_beyond_int64_is_none():
    free = random_loops(4, 4, frustration="1/5", loops=3, rng=1)
    limited = random_loops(4, 4, frustration="1/5", loops=3, max_weight=10**40, rng=1)
    assert limited.problem == free.problem
    plant = graph_loops("complete:5", frustration="1/5", loops=3, max_weight=10**40, rng=1)
    plant.verify()


def test_loops_at_the_end_of_int64_add_up_exactly():
    loops = Loops.of_length([[0, 1, 2, 3], [0, 1, 2, 3]], positive=2**60 - 1, negative=-3)
    problem = loops.sum(4)
    assert problem.weights.tolist() == [2**61 - 2, -6, 2**61 - 2, 2**61 - 2]
    assert problem.energy([1, 1, 1, 1]) == -3 * (2**61 - 2) + 6
