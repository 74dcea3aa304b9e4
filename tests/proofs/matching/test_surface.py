"""Faces of planar graphs and of lattices on a torus, and cuts along closed paths."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from tests.proofs.matching.surfaces import LATTICES, graph_of_edges, random_planar, torus_lattice

from glasshouse.proofs.budget import Budget
from glasshouse.proofs.matching.surface import Surface
from glasshouse.proofs.signed_graph import SignedGraph

SHAPES = [("square", (5, 5)), ("square", (7, 10)), ("triangular", (5, 6)), ("hexagonal", (6, 8))]


def surface_of(graph: SignedGraph) -> Surface:
    surface = Surface.of(graph)
    assert surface is not None
    return surface


def assert_faces(surface: Surface) -> None:
    """Each dart is on one face, and each face is a simple cycle of darts, head to tail."""
    darts, starts, sides = surface.faces
    ends = surface.graph.edges
    assert sorted(darts.tolist()) == list(range(2 * len(ends)))
    for face, (first, last) in enumerate(itertools.pairwise(starts.tolist())):
        around = darts[first:last]
        tails = ends[around >> 1, around & 1]
        heads = ends[around >> 1, 1 - (around & 1)]
        assert (heads == np.roll(tails, -1)).all()
        assert len(set(tails.tolist())) == last - first
        assert (sides[around >> 1, around & 1] == face).all()


@pytest.mark.parametrize("seed", range(30))
def test_planar_graphs_have_the_faces_of_a_sphere(seed):
    surface = surface_of(random_planar(4 + seed, seed))
    graph = surface.graph
    assert_faces(surface)
    assert surface.is_planar
    assert graph.num_vertices - graph.num_edges + surface.num_faces == 2


@pytest.mark.parametrize(("kind", "shape"), SHAPES)
def test_lattices_on_a_torus_are_recognised(kind, shape):
    surface = surface_of(torus_lattice(kind, shape, 0))
    graph = surface.graph
    assert_faces(surface)
    assert not surface.is_planar
    assert graph.num_vertices - graph.num_edges + surface.num_faces == 0


def klein_bottle(side: int) -> SignedGraph:
    """A square lattice whose last column is joined to the first one upside down."""
    places = list(itertools.product(range(side), repeat=2))
    right = [(i, j + 1) if j + 1 < side else (side - 1 - i, 0) for i, j in places]
    down = [((i + 1) % side, j) for i, j in places]
    pairs = [*zip(places, right, strict=True), *zip(places, down, strict=True)]
    edges = [sorted((side * a + b, side * c + d)) for (a, b), (c, d) in pairs]
    return graph_of_edges(side * side, edges, np.ones(len(edges), np.int64))


@pytest.mark.parametrize(
    "graph",
    [
        torus_lattice("square", (4, 6), 0),  # more squares than faces
        graph_of_edges(5, list(itertools.combinations(range(5), 2)), [1, -1] * 5),  # K5
        graph_of_edges(6, list(itertools.product(range(3), range(3, 6))), [1] * 9),  # K3,3
        klein_bottle(7),
        graph_of_edges(4, [[0, 1], [1, 2], [2, 3], [0, 3]], [2**57, 2**58, 2**57, -1]),
        torus_lattice("triangular", (4, 4), 0, "huge"),
    ],
)
def test_other_graphs_and_large_weights_are_not_matched(graph):
    assert Surface.of(graph) is None


def test_planar_graphs_are_embedded_only_if_there_is_time():
    graph = random_planar(20, 0)
    assert Surface.of(graph, Budget(1e-6)) is None
    assert Surface.of(graph, Budget(60.0)) is not None


@pytest.mark.parametrize(("kind", "shape"), SHAPES)
@pytest.mark.parametrize("root", [0, 11, 22])
def test_seams_leave_a_disc(kind, shape, root):
    surface = surface_of(torus_lattice(kind, shape, 0))
    graph, seams = surface.graph, surface.seams(root)
    assert len(seams) == 2
    for seam in seams:
        degrees = np.bincount(graph.edges[seam].ravel())
        assert set(degrees[degrees > 0].tolist()) == {2}
    # Without the seams, the faces are connected, and χ = vertices - edges + faces of a disc is 1.
    cut = seams.any(axis=0)
    joined = nx.Graph(surface.faces.sides[~cut].tolist())
    assert nx.is_connected(joined)
    assert len(joined) == surface.num_faces
    on_seams = np.unique(graph.edges[cut])
    assert (graph.num_vertices - len(on_seams)) - int((~cut).sum()) + len(joined) == 1


@pytest.mark.parametrize(("kind", "shape"), SHAPES)
@pytest.mark.parametrize("root", [0, 7, 19])
def test_a_torus_cut_along_a_path_over_faces_is_planar(kind, shape, root):
    surface = surface_of(torus_lattice(kind, shape, 0))
    graph, loops = surface.graph, surface.face_loops(root)
    assert len(loops) == 2
    for loop in loops:
        sides = surface.cut_along(loop)
        left = nx.Graph(graph.edges[~loop].tolist())
        assert nx.is_connected(left)
        assert nx.check_planarity(left)[0]
        # χ of a sphere is 2; removed faces have no more edges.
        faces = len(np.unique(sides[~loop]))
        assert graph.num_vertices - int((~loop).sum()) + faces == 2
        for end in (surface.num_faces, surface.num_faces + 1):
            border = (sides == end).sum(axis=1) % 2 == 1
            assert (np.bincount(graph.edges[border & ~loop].ravel()) % 2 == 0).all()


def test_every_kind_of_lattice_is_tested():
    assert {kind for kind, _ in SHAPES} == set(LATTICES)
