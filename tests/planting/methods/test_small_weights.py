"""Loops on graphs for machines of few bits: weights stay small, and densities count per node."""

from __future__ import annotations

import pytest

import glasshouse as gh

FAMILIES = {
    "graph_loops": {"graph": "pegasus:3", "frustration": "1/5", "length": 4},
    "classic_loops": {"graph": "pegasus:3"},
    "structured_graph_loops": {"graph": "complete:40", "frustration": "1/5", "block": "1/2"},
}


@pytest.mark.parametrize("name", FAMILIES)
def test_weights_fit_into_the_bits(name):
    method, given = getattr(gh, name), FAMILIES[name]
    plant = method(**given, loops=30, bits=4, rng=1)
    assert abs(plant.problem.weights).max() <= 7
    plant.verify()
    assert gh.Planted.from_recipe(plant.recipe) == plant
    assert plant.problem == method(**given, loops=30, max_weight=7, rng=1).problem
    with pytest.raises(ValueError, match="bits=4 and max_weight=7 are both given"):
        method(**given, loops=30, bits=4, max_weight=7)
    with pytest.raises(ValueError, match=r"no space for|was found on"):
        method(**given, loops=100_000, bits=4, rng=1)


@pytest.mark.parametrize("name", FAMILIES)
def test_loops_per_node_are_twice_as_many_as_per_half(name):
    method, given = getattr(gh, name), FAMILIES[name]
    plant = method(**given, loops_per_node="1/4", rng=1)
    assert plant.loops.num_loops == plant.problem.num_variables // 4
    assert plant.problem == method(**given, loop_density="1/2", rng=1).problem
    assert gh.Planted.from_recipe(plant.recipe) == plant
    with pytest.raises(ValueError, match="loops_per_node=1/4 already sets the number"):
        method(**given, loops_per_node="1/4", loops=3)
