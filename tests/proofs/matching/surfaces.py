"""Random planar graphs and lattices on a torus."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy.spatial import Delaunay

from glasshouse.problems import Ising
from glasshouse.proofs.signed_graph import SignedGraph, exact_array

# The steps from a vertex (i, j) to others; hexagonal lattices have every other vertical step.
LATTICES = {
    "square": ((0, 1), (1, 0)),
    "triangular": ((0, 1), (1, 0), (1, 1)),
    "hexagonal": ((0, 1), (1, 0)),
}


def graph_of_edges(
    size: int, edges: npt.ArrayLike, weights: Sequence[int] | npt.NDArray[np.int64]
) -> SignedGraph:
    return SignedGraph(size, np.array(edges, np.int32), exact_array(map(int, weights)))


def problem_of(graph: SignedGraph) -> Ising:
    return Ising.from_edges(graph.num_vertices, graph.edges, graph.weights.astype(np.int64))


def random_weights(count: int, kind: str, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    if kind == "pm":
        return rng.choice([-1, 1], count)
    if kind == "few":
        return rng.choice([-2, -1, 1, 2, 3], count)
    if kind == "huge":  # they add up to the largest total in the plane
        values = rng.integers(1, 2**59 // count, count)
        values[0] += 2**59 - values.sum()
        return values * rng.choice([-1, 1], count)
    values = np.rint(1e5 * rng.normal(size=count)).astype(np.int64)
    return np.where(values == 0, 1, values)


def torus_lattice(kind: str, shape: tuple[int, int], seed: int, weights: str = "pm") -> SignedGraph:
    rows, columns = shape
    edges = set()
    for i in range(rows):
        for j in range(columns):
            for down, right in LATTICES[kind]:
                if kind == "hexagonal" and down and (i + j) % 2:
                    continue
                other = columns * ((i + down) % rows) + (j + right) % columns
                edges.add((min(columns * i + j, other), max(columns * i + j, other)))
    rng = np.random.default_rng(seed)
    return graph_of_edges(rows * columns, sorted(edges), random_weights(len(edges), weights, rng))


def random_planar(size: int, seed: int, weights: str = "pm") -> SignedGraph:
    """A biconnected planar graph: a triangulation of random points without some of its edges."""
    rng = np.random.default_rng(seed)
    triangles = Delaunay(rng.random((size, 2))).simplices
    network = nx.Graph()
    for a, b, c in triangles.tolist():
        network.add_edges_from([(a, b), (b, c), (a, c)])
    for edge in rng.permutation(np.array(network.edges))[: int(rng.integers(0, 2 * size))].tolist():
        network.remove_edge(*edge)
        if not nx.is_biconnected(network):
            network.add_edge(*edge)
    edges = np.sort(np.array(network.edges), axis=1)
    return graph_of_edges(size, edges, random_weights(len(edges), weights, rng))
