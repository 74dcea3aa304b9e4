"""Chips: every coupling of an instance is a coupler of the user's own graph, by every way out."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace

import dimod
import dwave.graphs
import networkx as nx
import numpy as np
import pytest

import glasshouse as gh
from glasshouse.files.graphs import read_graph
from glasshouse.planting import Graph


@dataclass(frozen=True)
class Qubit:
    row: int
    place: int


LABELS = {
    "ints": lambda k: 7 * k + 3,
    "tuples": lambda k: (k % 5, (k // 5, "a")),
    "strings": lambda k: f"q{k}",
    "dataclasses": lambda k: Qubit(k % 5, k) if k % 2 else frozenset([k, "s"]),
    "bytes": lambda k: k.to_bytes(2, "big"),
}
PLAIN = {"ints", "tuples", "strings"}
FABRICS = [
    lambda: dwave.graphs.chimera_graph(3),
    lambda: dwave.graphs.pegasus_graph(2),
    lambda: dwave.graphs.zephyr_graph(1),
]


def damaged(seed):
    """A chip with dead qubits and couplers, under the user's labels; and the kind of labels."""
    rng = np.random.default_rng(seed)
    chip = FABRICS[seed % 3]()
    chip.remove_nodes_from(rng.choice(sorted(chip), size=4, replace=False).tolist())
    edges = sorted(chip.edges)
    chip.remove_edges_from([edges[k] for k in rng.choice(len(edges), 9, replace=False)])
    kind = list(LABELS)[seed % 5]
    nodes = sorted(chip)
    rng.shuffle(nodes)
    named = nx.Graph()
    named.add_nodes_from(LABELS[kind](k) for k in nodes)
    named.add_edges_from((LABELS[kind](u), LABELS[kind](v)) for u, v in chip.edges)
    return named, kind


def couplings(thing):
    if isinstance(thing, dimod.BinaryQuadraticModel):
        return [pair for pair, bias in thing.quadratic.items() if bias]
    if isinstance(thing, nx.Graph):
        return list(thing.edges)
    names = thing.variables
    return [(names[i], names[j]) for i, j in thing.edges.tolist()]


@pytest.mark.parametrize("seed", range(50))
def test_every_coupling_is_a_coupler(seed, tmp_path):
    chip, kind = damaged(seed)
    plant = gh.graph_loops(chip, frustration="1/5", length=4, loops=12, rng=seed)
    problem = plant.problem
    again = gh.classic_loops(Graph.of(problem), loops=5, rng=seed).problem
    model = problem.to_bqm()
    ways = [problem, model, problem.to_scaled_bqm()[0], problem.to_networkx(), again,
            gh.Ising.from_bqm(model), gh.to_qubo(problem)[0], again.to_bqm()]  # fmt: skip
    for suffix in (".coo", ".bqm", ".json", ".qubo", ".wcnf", ".mc"):
        path = tmp_path / f"chip{suffix}"
        if kind in PLAIN:
            gh.write(path, plant)
            ways.append(gh.to_ising(gh.read(path))[0])
            continue
        with pytest.raises(ValueError, match=r"label (Qubit|frozenset|b'|b\").* cannot be written"):
            gh.write(path, plant)
        assert not path.exists()
    for way in ways:
        found = couplings(way)
        assert found
        assert all(chip.has_edge(u, v) for u, v in found)
    assert set(problem.variables) == set(chip)
    answer = dict(zip(problem.variables, plant.state.tolist(), strict=True))
    assert problem.energy(answer) == plant.energy


def test_dead_couplers_of_a_named_chip():
    graph = Graph.parse("chimera:2 without 3,4-0,17")
    assert graph.name == "chimera:2x2x4 without 3,17,0-4"
    assert Graph.parse(graph.name) == graph
    assert graph.num_edges == Graph.chimera(2).without([3, 17]).num_edges - 1
    # What is dead already may be named again; so may couplers of dead qubits.
    assert graph.without([3], couplers=[(0, 4), (3, 4)]).name == graph.name
    assert graph.without([0]).name == "chimera:2x2x4 without 0,3,17"
    with pytest.raises(ValueError, match=r"dead coupler \(0, 1\) is not one of the 80 edges"):
        Graph.chimera(2).without([], couplers=[(0, 1)])
    plant = gh.graph_loops(graph, frustration="1/5", loops=3, length=4, rng=1)
    assert gh.Planted.from_recipe(plant.recipe) == plant
    assert plant.recipe.parameters["graph"] == graph.name


def test_numbers_that_pegasus_skips_are_dead_already():
    whole = Graph.pegasus(3)
    skipped = sorted(set(range(24 * 3 * 2)) - set(whole.labels))
    assert skipped
    assert whole.without(skipped) == whole
    name = f"pegasus:3 without {skipped[0]},30"
    assert Graph.parse(name).name == "pegasus:3 without 30"
    assert gh.graph_loops(name, frustration="1/5", loops=3, length=4, rng=1).verify() is None
    with pytest.raises(ValueError, match="dead node 144 is not one of"):
        whole.without([144])


def test_a_chip_by_the_lists_of_its_solver(tmp_path):
    chip = dwave.graphs.zephyr_graph(1)
    chip.remove_node(5)
    lists = {"qubits": sorted(chip), "couplers": [list(pair) for pair in chip.edges]}
    sampler = SimpleNamespace(nodelist=sorted(chip), edgelist=sorted(chip.edges))
    structured = dimod.StructureComposite(dimod.RandomSampler(), sorted(chip), sorted(chip.edges))
    path = tmp_path / "solver.json"
    path.write_text(json.dumps(lists | {"h_range": [-4, 4], "topology": {"type": "zephyr"}}))
    expected = Graph.of("zephyr:1 without 5")
    found = [Graph.of(lists), Graph.of(sampler), Graph.of(structured), Graph.of(read_graph(path))]
    for graph in found:
        assert graph == expected
        assert graph.labels == expected.labels
    with pytest.raises(ValueError, match='must list both "qubits" and "couplers"'):
        Graph.of({"topology": {}})
    with pytest.raises(ValueError, match=r"coupler \[1, 9\] has a qubit that is not in the list"):
        Graph.of({"qubits": [1], "couplers": [[1, 9]]})
    path.write_text('{"qubits": [1, 2], "couplers": [[1, 1]]}')
    with pytest.raises(ValueError, match=r"solver.json: .* node 1 has an edge to itself"):
        read_graph(path)


def test_a_self_loop_in_a_file_names_its_line(tmp_path):
    path = tmp_path / "couplers.txt"
    path.write_text("0 1\n# a comment\n4 4\n1 2\n")
    with pytest.raises(ValueError, match=r"line 3: node 4 is joined to itself; remove the line"):
        read_graph(path)


def test_models_are_scaled_to_the_ranges_of_a_chip():
    plant = gh.graph_loops("pegasus:2", frustration="1/5", length=4, loops=20, rng=1)
    problem = plant.problem
    for ranges in ({}, {"j_range": (-2, 1)}, {"j_range": (-2, 1), "per_qubit_range": (-3, 3)}):
        model, factor = problem.to_scaled_bqm(**ranges)
        low, high = ranges.get("j_range", (-1, 1))
        biases = np.array(list(model.quadratic.values()))
        assert biases.min() >= low
        assert biases.max() <= high
        sums = [sum(model.adj[v].values()) for v in model.variables]
        assert "per_qubit_range" not in ranges or max(map(abs, sums)) <= 3 + 1e-12
        reached = (biases.min() == low, biases.max() == high, max(map(abs, sums)) > 3 - 1e-12)
        assert any(reached)  # no larger factor would do
        assert model.energy(dict(zip(problem.variables, plant.state.tolist(), strict=True))) \
            == pytest.approx(float(factor * plant.energy))  # fmt: skip
    biased = replace(problem, fields=np.full(problem.num_variables, 100))
    assert biased.to_scaled_bqm(h_range=(-4, 4))[1] == Fraction(1, 25)
    with pytest.raises(
        ValueError, match=r"h_range=\(0, 4\) excludes the value 100, which is -100 in dimod"
    ):
        biased.to_scaled_bqm(h_range=(0, 4))
    with pytest.raises(ValueError, match=r"j_range=3 is not a pair"):
        problem.to_scaled_bqm(j_range=3)


def test_the_older_package_of_graphs_does_as_well():
    """The package warns that it will be discontinued, which must not become an error."""
    pytest.importorskip("dwave_networkx")
    script = """
import sys
sys.modules["dwave.graphs"] = None
import glasshouse as gh
print(gh.Graph.parse("zephyr:2").num_nodes)
"""
    call = [sys.executable, "-W", "error", "-c", script]
    assert subprocess.check_output(call, text=True) == "160\n"
