"""Connected components against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from glasshouse.problems.two_sides import lowest_nodes


@pytest.mark.parametrize("seed", range(40))
def test_every_node_gets_the_lowest_node_of_its_component(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 80))
    ends = rng.integers(0, size, (2, int(rng.integers(0, 2 * size))))
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(ends.T.tolist())
    expected = np.empty(size, dtype=np.int64)
    for component in nx.connected_components(graph):
        expected[list(component)] = min(component)
    assert lowest_nodes(size, *ends).tolist() == expected.tolist()


def test_a_long_path_in_any_order_is_one_component():
    order = np.random.default_rng(1).permutation(100_000)
    assert not lowest_nodes(100_000, order[1:], order[:-1]).any()
