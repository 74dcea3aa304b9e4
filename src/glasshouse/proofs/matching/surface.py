"""Graphs on surfaces: planar graphs, and regular lattices on a torus, recognised by their faces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np
import numpy.typing as npt

from glasshouse.kernels.adjacency import Adjacency, adjacency
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.matching.kernels import faces as kernels
from glasshouse.proofs.matching.kernels.faces import Faces
from glasshouse.proofs.signed_graph import SignedGraph

Marks = npt.NDArray[np.bool_]
Sides = npt.NDArray[np.int32]

# The greatest total length of all edges, so that the sums of a matching fit into int64. Lengths are
# weights in units of 1 / 2 in the plane, and of 1 / MOST_DENOMINATOR on a torus.
_MOST_LENGTH = 1 << 60
MOST_DENOMINATOR = 1 << 16
# The number of edges of a face of a regular lattice whose vertices have this many edges.
_SIZE_OF_FACE = {3: 6, 4: 4, 6: 3}
# Seconds per edge that finding an embedding in the plane may take. It cannot be stopped.
_SECONDS_PER_EDGE = 1e-4


@dataclass(frozen=True, eq=False)
class Surface:
    """A graph on an oriented surface without border.

    Attributes:
        graph: a connected graph.
        faces: its faces. Each dart is on the boundary of one face.
        is_planar: whether the surface is a sphere. Then every cycle is the boundary of a set of
            faces.
    """

    graph: SignedGraph
    faces: Faces
    is_planar: bool

    @classmethod
    def of(cls, graph: SignedGraph, budget: Budget | None = None) -> Surface | None:
        """Recognise a planar graph or a regular lattice on a torus; return None for all others.

        Args:
            graph: a connected graph.
            budget: planar graphs are recognised only if there is enough time.
        """
        if 2 * graph.total > _MOST_LENGTH or not graph.num_edges:
            return None
        faces = _faces_of_lattice(graph)
        if faces is not None:
            is_small = MOST_DENOMINATOR * graph.total <= _MOST_LENGTH
            return cls(graph, faces, is_planar=False) if is_small else None
        seconds = (budget or Budget()).left()
        if seconds < _SECONDS_PER_EDGE * graph.num_edges:
            return None
        faces = _faces_in_plane(graph)
        return None if faces is None else cls(graph, faces, is_planar=True)

    @property
    def num_faces(self) -> int:
        """The number of faces."""
        return len(self.faces.starts) - 1

    @cached_property
    def dual(self) -> Adjacency:
        """The faces, each next to the faces with which it shares an edge."""
        return adjacency(self.num_faces, self.faces.sides)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The weights without their signs."""
        lengths: npt.NDArray[np.int64] = np.abs(self.graph.weights.astype(np.int64))
        return lengths

    def is_odd(self, sides: Sides, crossed: Marks, num_faces: int) -> Marks:
        """Return which faces have an odd number of edges that are either negative or crossed.

        Args:
            sides: the faces of each edge, for example after the surface was cut.
            crossed: a mask of edges.
            num_faces: the number of faces.
        """
        counted = np.repeat(self.graph.negative != crossed, 2)
        odd: Marks = np.bincount(sides.ravel()[counted], minlength=num_faces) % 2 == 1
        return odd

    def odd_faces(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Return the edges of the odd faces, and where each of these faces begins."""
        starts, edges = self.faces.starts, self.faces.darts >> 1
        nothing = np.zeros(self.graph.num_edges, np.bool_)
        odd = self.is_odd(self.faces.sides, nothing, self.num_faces)
        sizes = np.diff(starts)
        return edges[np.repeat(odd, sizes)], np.append(0, np.cumsum(sizes[odd]))

    def seams(self, root: int) -> Marks:
        """Return cycles near the vertex `root` along which the surface can be cut into a disc."""
        rows, ends = tuple(self.graph.rows), self.graph.edges
        seams: Marks = kernels.loops(rows, ends, tuple(self.dual), self.faces.sides, root)
        return seams

    def face_loops(self, root: int) -> Marks:
        """Return closed paths over faces, near the face `root`, that wind around the surface.

        Each is a mask of the edges that it crosses. Without these edges, the graph is planar.
        """
        rows, ends = tuple(self.graph.rows), self.graph.edges
        loops: Marks = kernels.loops(tuple(self.dual), self.faces.sides, rows, ends, root)
        return loops

    def cut_along(self, loop: Marks) -> Sides:
        """Return the faces of each edge after all edges that a path over faces crosses are removed.

        The faces on the path are replaced by the last two of `num_faces` + 2 faces.
        """
        sides: Sides = kernels.cut_along(*self.faces, loop)
        return sides


def _faces_of_lattice(graph: SignedGraph) -> Faces | None:
    """Return the faces of a square, triangular or hexagonal lattice on a torus, otherwise None.

    All vertices must have the same number of edges, and each edge must be on two cycles of the
    length that belongs to it. Then there are as many vertices and faces as edges, so the surface is
    a torus if it can be oriented.
    """
    degrees = np.diff(graph.rows[0])
    length = _SIZE_OF_FACE.get(int(degrees[0]), 0)
    if not length or (degrees != degrees[0]).any():
        return None
    rings = kernels.rings(tuple(graph.rows), graph.edges, length, 2 * graph.num_edges // length)
    if (np.bincount(rings.ravel() >> 1, minlength=graph.num_edges) != 2).any():
        return None
    if not kernels.orient(rings, graph.num_edges):
        return None
    return _faces(rings.ravel(), length * np.arange(len(rings) + 1))


def _faces_in_plane(graph: SignedGraph) -> Faces | None:
    """Return the faces of a connected planar graph in some embedding; None for other graphs."""
    size, ends = graph.num_vertices, graph.edges.astype(np.int64)
    if graph.num_edges > max(3 * size - 6, 1):
        return None
    network: nx.Graph[int] = nx.Graph()
    network.add_edges_from(zip(*ends.T.tolist(), strict=True))
    is_planar, embedding = nx.check_planarity(network)
    if not is_planar:
        return None
    orders = [[*embedding.neighbors_cw_order(vertex)] for vertex in range(size)]
    counts = np.array([len(order) for order in orders])
    heads = np.array([head for order in orders for head in order], dtype=np.int64)
    tails = np.repeat(np.arange(size), counts)
    keys = np.stack([ends @ [size, 1], ends @ [1, size]], axis=1).ravel()
    order = np.argsort(keys)
    out = order[np.searchsorted(keys, tails * size + heads, sorter=order)]
    # A dart that enters a vertex is followed by the one that leaves it before, in clockwise order.
    first = np.append(0, np.cumsum(counts))
    before = np.arange(len(out)) - 1
    before[first[:-1]] = first[1:] - 1
    after = np.empty(len(out), np.int32)
    after[out ^ 1] = out[before]
    return _faces(*kernels.trace(after))


def _faces(darts: npt.NDArray[np.int32], starts: npt.NDArray[np.int64]) -> Faces:
    """Return faces, given the darts around each of them."""
    sides = np.empty(len(darts), np.int32)
    sides[darts] = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    return Faces(np.ascontiguousarray(darts), starts, sides.reshape(-1, 2))
