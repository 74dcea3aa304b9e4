import itertools
import os
import subprocess
import sys
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from tests.oracles import optimum
from tests.planting.graph_plants import all_graph_plants, graph_plants, structured_graph_plants
from tests.planting.test_golden import fingerprint

from glasshouse.landscape import frustration_index, ground_state_count
from glasshouse.planting import Graph, Planted
from glasshouse.planting.methods import classic_loops, graph_loops, structured_graph_loops
from glasshouse.planting.methods import dropping as dropping_module
from glasshouse.problems import Ising


@given(all_graph_plants())
def test_the_planted_energy_is_the_minimum(plant):
    plant.verify()
    energy, states = optimum(plant.problem)
    assert energy == plant.energy
    assert tuple(plant.state.tolist()) in states


@given(all_graph_plants())
def test_recipes_grow_the_same_plant(plant):
    assert Planted.from_recipe(type(plant.recipe).from_json(plant.recipe.to_json())) == plant


@given(all_graph_plants())
def test_loops_run_along_edges_of_the_graph(plant):
    graph = plant.recipe.parameters["graph"]
    graph = Graph.parse(graph) if isinstance(graph, str) else Graph.layers(*graph)
    edges = set(map(tuple, graph.edges.tolist()))
    for k in range(len(plant.loops)):
        nodes = plant.loops[k].nodes.tolist()
        for u, v in zip(nodes, nodes[1:] + nodes[:1], strict=True):
            assert (min(u, v), max(u, v)) in edges


@given(graph_plants() | structured_graph_plants())
def test_realised_frustration_is_the_requested_one(plant):
    f = Fraction(plant.recipe.parameters["frustration"])
    assert frustration_index(plant.problem, plant.state) == f
    for k in range(len(plant.loops)):
        weights = plant.loops[k].weights
        assert -weights[-1] == f * np.abs(weights).sum()


@given(graph_plants())
def test_ground_states_below_the_maximum_are_component_flips(plant):
    f = Fraction(plant.recipe.parameters["frustration"])
    if f * int(plant.loops.lengths.max()) < 1:
        _, states = optimum(plant.problem)
        assert len(states) == ground_state_count(plant.problem, unique_up_to_flips=True)


@given(graph_plants())
def test_options_hold(plant):
    asked = plant.recipe.parameters
    lengths = plant.loops.lengths
    if "length" in asked:
        assert (lengths == asked["length"]).all()
    if "max_length" in asked:
        assert lengths.max() <= asked["max_length"]
    if "max_weight" in asked:
        assert np.abs(plant.problem.weights).max() <= asked["max_weight"]
    if asked["overlap"] == "none":
        edges = [
            frozenset(pair)
            for k in range(len(plant.loops))
            for pair in itertools.pairwise(plant.loops[k].nodes.tolist())
        ]
        assert len(edges) == len(set(edges))


def test_triangles_reach_a_third():
    plant = graph_loops("complete:12", frustration="1/3", length=3, loops=20, rng=1)
    assert plant.summary().frustration == Fraction(1, 3)
    assert plant.energy == -20


def test_any_kind_of_graph_gives_the_same_plant():
    torus = Graph.torus(4, 4)
    options = {"frustration": "1/6", "loop_density": 2, "rng": 5}
    plant = graph_loops(torus, **options)
    ising = Ising.from_edges(16, torus.edges, np.arange(1, 33))
    for other in (torus.name, torus.edges, torus.edges.tolist(), ising):
        assert graph_loops(other, **options).problem == plant.problem
    network = nx.Graph()
    network.add_nodes_from(range(16))
    network.add_edges_from(map(tuple, torus.edges[::-1].tolist()))
    assert graph_loops(network, **options).problem == plant.problem
    assert plant.loops.num_loops == 16
    assert plant.summary().loop_density == 2


def test_cycles_of_a_length_are_uniform():
    """Chi-square with 59 degrees of freedom; 110 is passed by chance once in ten thousand."""
    counts: dict[frozenset[int], int] = {}
    for seed in range(600):
        plant = graph_loops(
            "complete:6 without 5", frustration=0, length=4, loops=1, rng=seed, state=[1] * 5
        )
        edges = frozenset(map(tuple, plant.problem.edges.tolist()))
        counts[edges] = counts.get(edges, 0) + 1
    # A loop of f = 0 is a path of three edges: 15 cycles of four nodes, four paths in each.
    assert len(counts) == 60
    observed = np.array(list(counts.values()))
    expected = 600 / 60
    assert ((observed - expected) ** 2 / expected).sum() < 110


@pytest.mark.parametrize("name", ["torus:12x12", "complete:12", "deep:6x6x6", "chimera:3"])
def test_loops_from_the_basis_spread_over_the_graph(name):
    graph = Graph.parse(name)
    plant = graph_loops(graph, frustration="1/12", loops=40 * graph.num_nodes, rng=2)
    assert len(np.unique(plant.loops.nodes)) == graph.num_nodes
    assert plant.problem.num_edges > 0.95 * graph.num_edges
    assert len(np.unique(plant.loops.lengths)) >= 2


def test_one_long_ring_is_its_own_basis():
    plant = graph_loops("torus:60", frustration="1/60", loops=3, rng=1)
    assert (plant.loops.lengths == 60).all()
    plant.verify()


def test_wide_rings_and_long_lengths_do_not_hang():
    plant = graph_loops("torus:50000", frustration=0, loops=2, rng=1)
    assert plant.loops.lengths.tolist() == [50000, 50000]
    with pytest.raises(ValueError, match=r"no loop of length 400 was found .* another length"):
        graph_loops("torus:60x60", frustration="1/400", length=400, loops=2, rng=1)


def test_paths_serve_where_cycles_are_too_many_to_list(monkeypatch):
    monkeypatch.setattr(dropping_module, "_MOST_LISTED", 10)
    plant = graph_loops("complete:9", frustration="1/5", length=5, loops=40, rng=1)
    plant.verify()
    assert (plant.loops.lengths == 5).all()
    assert plant.summary().frustration == Fraction(1, 5)
    assert optimum(plant.problem)[0] == plant.energy


def test_constructive_loops_never_jam():
    plant = graph_loops("edges:4 0-1 1-2 2-3 0-3", frustration="1/4", loops=500, rng=1)
    assert sorted(np.abs(plant.problem.weights)) == [500] * 4
    many = graph_loops("torus:3x3", frustration="1/4", length=4, loops=2000, rng=1)
    many.verify()


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        ("lattice:5", {}, "has no cycle, so no loop fits"),
        (nx.balanced_tree(2, 4), {}, "has no cycle"),
        ([(0, 1)], {}, "too small for a cycle"),
        (nx.DiGraph([(0, 1), (1, 2), (2, 0)]), {}, "directed"),
        ("complete:5", {"frustration": "2/5"}, "above 1/3, the largest f of a loop with 3 edges"),
        ("torus:4x4", {"frustration": "0.3"}, "above 1/4, the largest f of a loop with 4 edges"),
        ("torus:4x4", {"frustration": -1}, "below 0"),
        (
            "torus:4x4",
            {"length": 6, "frustration": "1/5"},
            "above 1/6, the largest",
        ),
        (
            "torus:4x4",
            {"max_length": 8, "frustration": "1/5"},
            "above 1/8, the largest",
        ),
        ("torus:4x4", {"length": 5}, "has no cycle of length 5; use an even length"),
        ("complete:4", {"length": 5}, "no cycle of length 5; use at most 4"),
        ("torus:5x5x5", {"length": 3}, "has no cycle of length 3"),
        ("torus:4x4", {"length": 4, "max_length": 8}, "pass one"),
        ("torus:9", {"frustration": "1/5"}, "no loop of length 3 to 5 was found"),
        ("torus:4x4", {"loops": 50, "overlap": "none"}, "no space for 50 disjoint loops"),
        ("torus:4x4", {"loops": 500, "max_weight": 20}, "no space for 500 loops under max_weight"),
        ("torus:4x4", {"max_weight": 2}, "below 9, the heaviest weight"),
        ("torus:4x4", {"max_weight": 99, "overlap": "none"}, "remove max_weight"),
        ("torus:4x4", {"overlap": "some"}, "is not one of"),
        ("torus:4x4", {"loops": None}, "pass exactly one"),
        ("torus:4x4", {"loops": 4, "frustration": f"1/{10**18 + 1}"}, "2\\^63-1"),
        ("torus:4x4", {"state": [1, 1]}, "state has shape"),
    ],
)
def test_bad_input_is_refused(graph, options, message):
    with pytest.raises(ValueError, match=message):
        graph_loops(graph, **({"frustration": "1/10", "loops": 4, "rng": 1} | options))


def test_the_most_disjoint_loops_are_named():
    with pytest.raises(ValueError, match=r"8 was the most in 4 attempts; use loops=8"):
        graph_loops("torus:4x4", frustration="1/4", length=4, loops=9, overlap="none", rng=1)


PLANTS = {
    "basis": lambda: graph_loops("torus:10x10", frustration="1/8", loop_density=1, rng=1),
    "table": lambda: graph_loops("lattice:4x4x4", frustration="1/4", length=4, loops=40, rng=2),
    "path": lambda: graph_loops("complete:200", frustration="1/6", length=5, loops=90, rng=3),
    "disjoint": lambda: graph_loops(
        "layers:9x9x9", frustration="1/7", loops=20, overlap="none", rng=4
    ),
    "classic": lambda: classic_loops((30, 20), loop_density=2, rng=5),
    "classic, limited": lambda: classic_loops("torus:5x5x5", loops=90, max_weight=3, rng=6),
    "structured": lambda: structured_graph_loops(
        "complete:30", frustration="0.24", block="1/3", left="1/4", loop_density=4, rng=7
    ),
}  # fmt: skip
GOLDEN = {
    "basis": "b4ec93113fa4fe50",
    "table": "4f67c18659a3c0d7",
    "path": "b2a435dccf40613e",
    "disjoint": "ad1710967ac4debf",
    "classic": "23c652e42eb51258",
    "classic, limited": "4a71e7eeb8603d65",
    "structured": "f91f68866e78e06f",
}


@pytest.mark.parametrize("name", PLANTS)
def test_seeds_grow_what_they_always_grew(name):
    assert fingerprint(PLANTS[name]()) == GOLDEN[name]


def test_instances_do_not_depend_on_the_hash_seed():
    code = (
        "from tests.planting.methods.test_graph_loops import *;"
        "print([fingerprint(PLANTS[n]()) for n in ('basis', 'classic')])"
    )
    run = [sys.executable, "-c", code]
    environment = os.environ | {"PYTHONHASHSEED": "4242"}
    found = subprocess.run(run, capture_output=True, text=True, check=True, env=environment)
    assert found.stdout.strip() == str([GOLDEN["basis"], GOLDEN["classic"]])
