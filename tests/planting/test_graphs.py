import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.planting.graph_plants import NAMED, graphs

from glasshouse.planting import Graph
from glasshouse.planting.demand import new_meter
from glasshouse.planting.kernels.cycles import list_cycles
from glasshouse.problems import Ising


def as_networkx(graph: Graph) -> nx.Graph:
    other = nx.Graph(graph.edges.tolist())
    other.add_nodes_from(range(graph.num_nodes))
    return other


@pytest.mark.parametrize(
    ("graph", "other"),
    [
        (Graph.complete(7), nx.complete_graph(7)),
        (Graph.layers(2, 3, 4), nx.complete_multipartite_graph(2, 3, 4)),
        (Graph.lattice(3, 4), nx.grid_graph([4, 3])),
        (Graph.torus(3, 4), nx.grid_graph([4, 3], periodic=True)),
        (Graph.torus(2, 3, 4), nx.grid_graph([4, 3, 2], periodic=True)),
        (Graph.lattice(2, 3, 4), nx.grid_graph([4, 3, 2])),
        (Graph.torus(9), nx.cycle_graph(9)),
    ],
)
def test_families_are_those_of_networkx(graph, other):
    ordered = nx.convert_node_labels_to_integers(other, ordering="sorted")
    assert graph == Graph.of(sorted(map(sorted, ordered.edges)))
    assert graph.num_nodes == len(ordered)


def test_deep_networks_couple_only_neighbouring_layers():
    graph = Graph.deep(2, 3, 2)
    assert graph.edges.tolist() == [[i, j] for i in (0, 1) for j in (2, 3, 4)] + [
        [i, j] for i in (2, 3, 4) for j in (5, 6)
    ]
    assert Graph.deep(4).num_edges == 0


@pytest.mark.parametrize(("family", "sizes"), [("chimera", (2, 3, 4)), ("pegasus", (2,)),
                                               ("zephyr", (2, 4))])  # fmt: skip
def test_machines_are_those_of_dwave(family, sizes):
    machine = pytest.importorskip("dwave.graphs")
    original = getattr(machine, f"{family}_graph")(*sizes)
    graph = getattr(Graph, family)(*sizes)
    assert graph.labels == tuple(sorted(original.nodes))
    named = {frozenset((graph.labels[i], graph.labels[j])) for i, j in graph.edges.tolist()}
    assert named == set(map(frozenset, original.edges))
    assert Graph.parse(graph.name) == graph


def test_machines_need_no_package_that_is_deprecated():
    pytest.importorskip("dwave.graphs")
    script = """
import sys
sys.modules["dwave_networkx"] = None
import glasshouse as gh
print(gh.Graph.parse("zephyr:2").num_nodes)
"""
    call = [sys.executable, "-W", "error", "-c", script]
    assert subprocess.check_output(call, text=True) == "160\n"


def test_dead_qubits():
    graph = Graph.chimera(2).without([3, 17, 3])
    assert graph.num_nodes == 30
    assert graph.name == "chimera:2x2x4 without 3,17"
    assert graph.labels[3] == 4
    assert not {3, 17} & set(graph.labels)
    again = graph.without([0])
    assert again.name == "chimera:2x2x4 without 0,3,17"
    assert Graph.parse(again.name) == again
    assert Graph.parse(again.name).labels == again.labels
    assert Graph.complete(3).without([]) == Graph.complete(3)
    with pytest.raises(ValueError, match="dead node 99 is not one of the 32 nodes"):
        Graph.chimera(2).without([99])
    with pytest.raises(ValueError, match="dead node 99 is not one"):
        Graph.parse("chimera:2 without 99")


def test_anybodys_graphs():
    ising = Ising.from_edges(5, [(0, 1), (1, 2), (0, 2)], [1, -1, 2])
    assert Graph.of(ising).num_nodes == 5
    named = nx.Graph([("c", "a"), ("a", "b"), ("b", "c")])
    assert Graph.of(named).labels == ("c", "a", "b")
    assert Graph.of(named).without(["a"]).labels == ("c", "b")
    doubled = nx.MultiGraph([(0, 1), (1, 0), (1, 2)])
    assert Graph.of(doubled).num_edges == 2
    assert Graph.of([(2, 1), (1, 0), (1, 2)]).edges.tolist() == [[0, 1], [1, 2]]
    assert Graph.of(np.array([[0, 1], [1, 2]])) == Graph.of("edges:3 0-1 1-2")


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.DiGraph([(0, 1)]), "directed"),
        (nx.Graph([(0, 0)]), "has an edge to itself"),
        ([(0, 0)], "joins spin 0 to itself"),
        ([(0, 1, 2)], "a list of pairs"),
        ([(0.5, 1)], "a list of pairs"),
        ("moebius:3", "not the name of a graph"),
        ("lattice:3x", "not the name of a graph"),
        ("edges:3 0-1 whatever", "not a list of edges"),
        ("edges:2 0-5", "contains spin 5"),
        ("complete:3 and more", "must end in"),
        ("complete:99999", "4999850001 edges, above"),
        ("torus:99999x99999x99999", "999970000299999 nodes, above"),
        ("edges:99999999 0-1", "99999999 nodes, above"),
        ("layers:99999999", "99999999 nodes, above"),
        ("chimera:1x1x99999", "edges, above"),
        ("pegasus:999", "nodes, above"),
        ("zephyr:9x999", "edges, above"),
        ("chimera:1x2x3x4", "has 4 sizes; chimera has at most 3"),
        ("pegasus:2x2", "has 2 sizes; pegasus has at most 1"),
        ("edges:3 0-99999999999999999999999", "not a list of edges"),
        ("edges:3 0-999999999999999999", "contains spin 999999999999999999"),
        ("complete:" + "9" * 5000, "not the name of a graph"),
        ("complete:٣", "not the name of a graph"),
        ("edges:3 0-١", "not a list of edges"),
        ("complete:3 without ١", "must end in"),
        ("layers:0x3", "below 1"),
    ],
)
def test_bad_graphs_are_named(graph, message):
    with pytest.raises(ValueError, match=message):
        Graph.of(graph)


@given(graphs())
def test_names_give_the_graph_back(graph):
    assert Graph.parse(graph.name) == graph
    other = as_networkx(graph)
    assert graph.is_bipartite == nx.is_bipartite(other)
    assert graph.core.tolist() == sorted(nx.k_core(other, 2))


@given(st.sampled_from(NAMED) | graphs(8).map(lambda graph: graph.name), st.integers(3, 6))
def test_all_cycles_of_a_length_are_listed_once(name, length):
    graph = Graph.parse(name)
    starts, neighbours, _, _ = graph.core_rows
    table, is_complete = list_cycles(starts, neighbours, length, 1 << 20, 1 << 25, new_meter())
    assert is_complete

    def canonical(cycle):
        turned = [tuple(cycle[k:]) + tuple(cycle[:k]) for k in range(length)]
        return min(turned + [t[::-1] for t in turned])

    mine = [canonical(row) for row in table.reshape(-1, length).tolist()]
    expected = {
        canonical(cycle)
        for cycle in nx.simple_cycles(as_networkx(graph), length_bound=length)
        if len(cycle) == length
    }
    assert len(mine) == len(set(mine))
    assert set(mine) == expected


def test_listing_stops_at_its_bounds():
    starts, neighbours, _, _ = Graph.complete(12).core_rows
    assert not list_cycles(starts, neighbours, 4, 100, 1 << 25, new_meter())[1]
    assert not list_cycles(starts, neighbours, 4, 1 << 20, 1000, new_meter())[1]
