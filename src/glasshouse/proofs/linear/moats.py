"""Square lattices on a torus with weights ±w: an excellent packing of odd cycles, without an LP.

A face with an odd number of negative edges is violated in every state. Violated edges pair such
faces up: crossing them one after the other leads from one odd face to another. So the least weight
of a perfect matching of the odd faces, each pair being as heavy as the way between them, is a lower
bound (Bieche, Maynard, Rammal and Uhry). Edmonds' duals of the matching are moats around faces and
around sets of faces: odd cycles, whose widths are a packing of exactly this value.

The matching knows nothing of cycles that wind around the torus. Where its paths are the violated
edges of a state, that state is optimal. Where they are not, the cycle LP begins with the moats and
has to find what winding cycles add.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.kernels import matching as matching_kernels
from glasshouse.proofs.kernels import moats as kernels
from glasshouse.proofs.linear.separation import Cycles
from glasshouse.proofs.signed_graph import SignedGraph

# Pairs further apart than this are looked at only if that was not enough.
_FIRST_RADIUS = 8


@dataclass(frozen=True, eq=False)
class Moats:
    """Odd cycles, their multipliers in units of the weights, and which edges the matching crosses.

    The multipliers add up to the number of these edges.
    """

    cycles: Cycles
    duals: npt.NDArray[np.float64]
    crossed: npt.NDArray[np.bool_]


def moats_of(graph: SignedGraph) -> Moats | None:
    """The moats of a square lattice on a closed surface; None for any other graph."""
    faces = square_faces(graph)
    if faces is None:
        return None
    negative = (graph.weights < 0).astype(np.uint8)
    odd = np.flatnonzero(negative[faces.edges].sum(axis=1) % 2).astype(np.int32)
    radius, is_done = _FIRST_RADIUS, False
    while not is_done and radius < 4 * len(faces.edges):
        starts, others, weights = kernels.near_pairs(faces, odd, radius)
        is_done, forest = matching_kernels.match(starts, others, weights, radius)
        radius *= 2
    if not is_done or (forest.width < 0).any():
        return None
    edges, begins, widths = kernels.moats(
        faces, tuple(graph.rows), graph.edges, negative, odd, forest
    )
    cycles = [edges[begins[k] : begins[k + 1]] for k in range(len(widths))]
    return Moats(cycles, widths / 2, kernels.join(faces, odd, forest.mate, radius))


def square_faces(graph: SignedGraph) -> kernels.Faces | None:
    """All squares of a graph of equal weights, if each of its edges is on exactly two of them."""
    if len({abs(weight) for weight in graph.weights}) != 1 or graph.num_edges % 2:
        return None
    squares = kernels.squares(*graph.rows, graph.num_edges // 2)
    if 2 * len(squares) != graph.num_edges:
        return None
    if (np.bincount(squares.ravel(), minlength=graph.num_edges) != 2).any():
        return None
    order = np.argsort(squares.ravel(), kind="stable")
    return kernels.Faces(squares, (order // 4).reshape(-1, 2).astype(np.int32))
