from fractions import Fraction

import numpy as np
import pytest

from glasshouse.landscape import expected_frustration
from glasshouse.planting import Graph
from glasshouse.planting.methods import classic_loops
from glasshouse.problems import Rbm


def test_a_pair_of_sizes_gives_an_rbm():
    plant = classic_loops((7, 5), loops=9, rng=1)
    assert isinstance(plant.problem, Rbm)
    assert (plant.loops.lengths % 2 == 0).all()
    assert plant.energy == -int((plant.loops.lengths - 2).sum())
    assert classic_loops([7, 5], loops=9, rng=1) == plant


def test_every_loop_has_one_edge_of_minus_one():
    plant = classic_loops("torus:6x6", loops=50, rng=1)
    assert set(plant.loops.negative_weights.tolist()) == {-1}
    assert set(plant.loops.positive_weights.tolist()) == {1}
    assert plant.loop_weight == 1


def test_loops_cancel_and_frustration_falls_as_expected():
    """Mean f of 20 instances; its standard error is below 0.002, the bound is five of them."""
    n = m = 40
    for loops in (100, 800, 3200):
        found = [
            float(classic_loops((n, m), length=4, loops=loops, rng=seed).summary().frustration)
            for seed in range(20)
        ]
        assert np.mean(found) == pytest.approx(expected_frustration(n, m, loops), abs=0.01)


def test_the_negative_edge_is_anywhere_on_the_loop():
    """The share of negative edges that leave node 0, of 2000 triangles: 2/3 ± 0.01."""
    plant = classic_loops("complete:3", loops=2000, rng=1)
    touching = sum(0 in (loop.nodes[0], loop.nodes[-1]) for loop in map(plant.loops.__getitem__,
                   range(2000)))  # fmt: skip
    assert touching / 2000 == pytest.approx(2 / 3, abs=0.06)


def test_options_hold():
    long = classic_loops(Graph.chimera(3), loops=60, min_length=8, rng=1)
    assert long.loops.lengths.min() >= 8
    assert classic_loops("torus:6x6", loops=30, length=6, rng=1).loops.lengths.tolist() == [6] * 30
    soft = classic_loops((9, 9), loops=30, length=4, frustration="1/5", rng=1)
    assert set(soft.loops.negative_weights.tolist()) == {-3}
    assert soft.loop_weight == 4
    for limit in (1, 2, 3):
        plant = classic_loops("torus:6x6", loops=12, max_weight=limit, rng=1)
        assert np.abs(plant.problem.weights).max() <= limit
        within = classic_loops((8, 8), loops=12, max_weight=limit, rng=1)
        assert np.abs(within.problem.weights).max() <= limit


def test_a_large_rbm_is_never_stored():
    plant = classic_loops((10**5, 10**5), length=4, loops=1000, rng=1)
    assert plant.problem.is_sparse
    plant.verify()
    assert plant.summary().frustration == Fraction(1, 4)


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        ((1, 5), {}, "n=1 is too small"),
        ("lattice:7", {}, "has no cycle"),
        ((5, 5), {"length": 5}, "no cycle of length 5"),
        ((5, 5), {"length": 12}, "no cycle of length 12; use at most 10"),
        ((5, 5), {"length": 2}, "length=2 is below 3"),
        ((5, 5), {"length": 4, "min_length": 4}, "pass one"),
        ((5, 5), {"min_length": 11}, "min_length=11 must be at most 10"),
        ((5, 5), {"frustration": "1/5"}, "needs loops of one length"),
        ((5, 5), {"frustration": "1/3", "length": 4}, "above 1/4"),
        ("torus:12", {"loops": 50, "max_weight": 2}, "no space for 50 loops under max_weight=2"),
        ("complete:3", {"min_length": 4}, "min_length=4 must be at most 3"),
        ("layers:1x1x20", {"min_length": 5}, "no loop of length 5 to 22 was found"),
    ],
)
def test_bad_input_is_refused(graph, options, message):
    with pytest.raises(ValueError, match=message):
        classic_loops(graph, **({"loops": 4, "rng": 1} | options))
