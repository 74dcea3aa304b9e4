"""The demand of a recipe is known before it grows, and a search can be limited in steps."""

from __future__ import annotations

from functools import partial

import pytest

from glasshouse.planting import METHODS, Graph, Plan, Planted, Seed
from glasshouse.planting.demand import EffortError
from glasshouse.planting.graph_names import GraphName
from glasshouse.planting.methods import (
    bias_loops,
    classic_loops,
    graph_loops,
    random_loops,
    structured_graph_loops,
    structured_loops,
    uniform_max2sat,
)

NAMES = [
    "complete:1", "complete:7", "layers:2x3x4", "layers:5", "deep:3x1x4", "deep:2", "lattice:3x4x2",
    "lattice:9", "torus:3x4", "torus:2x2", "torus:5", "chimera:2", "chimera:2x3", "chimera:2x3x5",
    "pegasus:2", "pegasus:4", "zephyr:1", "zephyr:3", "zephyr:2x3", "complete:6 without 0,3,3",
    "edges:5 0-1 1-2", "edges:3",
]  # fmt: skip

PLANTS = [
    partial(random_loops, 6, 5, frustration="1/5", loops=4, rng=1),
    partial(random_loops, 6, 5, frustration="1/5", loop_density="0.7", weights="normal", rng=1),
    partial(structured_loops, 9, 9, frustration="1/5", block="1/2", loop_density="1/2", rng=1),
    partial(bias_loops, 6, 5, frustration="1/4", loops=4, rng=1),
    partial(uniform_max2sat, 20, 10, clause_density="1.3", rng=1),
    partial(classic_loops, (6, 5), loop_density="0.9", rng=1),
    partial(classic_loops, "torus:4x4", loops=5, max_weight=3, rng=1),
    partial(graph_loops, "torus:5x5", frustration="1/4", loop_density="0.7", rng=1),
    partial(graph_loops, "complete:7 without 2", frustration="1/3", loops=3, length=3, rng=1),
    partial(structured_graph_loops, "complete:12", frustration="1/5", block="1/2", loops=3, rng=1),
]


@pytest.fixture(scope="module", params=PLANTS, ids=lambda grow: grow.func.__name__)
def plant(request) -> Planted:
    return request.param()


@pytest.mark.parametrize("name", NAMES)
def test_the_size_of_a_graph_is_known_from_its_name(name):
    graph, extent = Graph.parse(name), GraphName.parse(name).extent
    assert extent.nodes == graph.num_nodes
    assert graph.num_edges <= extent.edges


def test_spins_and_loops_are_known_from_the_recipe(plant):
    asked = Plan.of(plant.recipe).demand
    assert asked.spins == plant.problem.num_variables
    assert asked.parts == plant.loops.num_loops
    assert asked.memory < 100_000


def test_enough_steps_change_nothing_and_none_are_an_error(plant):
    assert Planted.from_recipe(plant.recipe, steps=10**7) == plant
    with pytest.raises(EffortError, match="number of steps"):
        Planted.from_recipe(plant.recipe, steps=0)
    assert Planted.from_recipe(plant.recipe) == plant


@pytest.mark.parametrize(("method", "asked"), [
    ("random_loops", {"n": 2, "m": 60_000, "frustration": "1/4", "loops": 30_000,
                      "overlap": "none"}),
    ("structured_loops", {"n": 4000, "m": 4000, "frustration": 0, "block": "1/2", "loops": 10**5,
                          "left": 1}),
    ("graph_loops", {"graph": "torus:9999", "frustration": 0, "loops": 10**5}),
    ("graph_loops", {"graph": "complete:40", "frustration": "1/3", "loops": 9999, "length": 3,
                     "max_weight": 1}),
    ("classic_loops", {"graph": (9999, 9999), "loops": 10**5, "length": 19_998}),
    ("bias_loops", {"n": 9, "m": 9, "frustration": "1/4", "loops": 10**6}),
])  # fmt: skip
def test_a_long_search_ends_with_its_steps(method, asked):
    plan = METHODS[method].plan(**asked)
    with pytest.raises(EffortError):
        plan.grow(rng=Seed(1), steps=10**6)


def test_long_names_of_many_layers_are_refused_before_their_pairs_are_listed():
    with pytest.raises(ValueError, match="edges, above"):
        Graph.parse("layers:" + "x".join(["1"] * 30_000))
    with pytest.raises(ValueError, match="sizes; lattice has at most 32"):
        Graph.parse("lattice:" + "x".join(["1"] * 33))
