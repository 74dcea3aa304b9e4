"""Square lattices on a torus with weights ±w: bounds and states by matching, without an LP.

A face with an odd number of negative edges is *odd*. In every state an odd face has an odd number
of violated edges, and any other face an even number. So paths that cross only violated edges
connect odd faces, and the least total length of paths that pair all odd faces is a lower bound
(Bieche, Maynard, Rammal and Uhry). Edmonds' duals of this matching are moats around faces and sets
of faces: odd cycles, whose widths are a packing of exactly that value.

The matching ignores cycles that wind around the torus. If a state violates only edges that the
matching's paths cross, it is optimal. Otherwise the cycle LP begins with the moats, and adds the
cycles that wind.

Matchings also yield states. Cut open along two seams, whose edges do not change, the torus is a
disc, on which a matching yields the best of all states. A few cuts at random positions, along two
seams or fewer, nearly always lead to an optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.budget import Budget
from glasshouse.proofs.kernels import graphs
from glasshouse.proofs.matching.kernels import faces as face_kernels
from glasshouse.proofs.matching.kernels import matching as matching_kernels
from glasshouse.proofs.matching.kernels import moats as moat_kernels
from glasshouse.proofs.signed_graph import SignedGraph, Spins

Marks = npt.NDArray[np.bool_]

# Pairs of faces more than this many steps apart are used only if closer pairs are not enough.
_FIRST_RADIUS = 8
# Work between two checks of the clock, a few hundredths of a second: the total number of faces
# within reach, and the number of odd faces or blossoms whose moats are computed.
_FACES_AT_ONCE, _PARTS_AT_ONCE = 1 << 18, 1 << 13


@dataclass(frozen=True, eq=False)
class Moats:
    """Odd cycles with multipliers, and the edges that the paths of a matching cross.

    The multipliers, in units of the weights, add up to the number of crossed edges. Cycle k has the
    edges from `begins[k]` to `begins[k + 1]` - 1.
    """

    edges: npt.NDArray[np.int32]
    begins: npt.NDArray[np.int64]
    duals: npt.NDArray[np.float64]
    crossed: Marks


class SquareTorus:
    """A square lattice on a torus, whose weights are all ±w.

    Attributes:
        graph: the lattice.
        faces: the squares of the lattice.
    """

    def __init__(self, graph: SignedGraph, faces: face_kernels.Faces) -> None:
        self.graph, self.faces = graph, faces
        self.odd = graph.negative[faces.edges].sum(axis=1) % 2 == 1
        self.rng = np.random.default_rng(0)

    @classmethod
    def of(cls, graph: SignedGraph) -> SquareTorus | None:
        """Recognise a square lattice on a torus; return None if the graph is not such a lattice.

        Each vertex must have four edges, and each edge must be on two squares. Nothing else is
        required: on any surface, the boundary of a set of faces consists of cycles.
        """
        if (np.diff(graph.rows[0]) != 4).any() or len({abs(w) for w in graph.weights}) != 1:
            return None
        squares = face_kernels.squares(*graph.rows, graph.num_vertices)
        if (np.bincount(squares.ravel(), minlength=graph.num_edges) != 2).any():
            return None
        sides = np.argsort(squares.ravel(), kind="stable").reshape(-1, 2) // 4
        return cls(graph, face_kernels.Faces(squares, sides.astype(np.int32)))

    def moats(self, budget: Budget) -> Moats:
        """Return the best packing of cycles that do not wind around the torus.

        Raises:
            TimeIsUpError: the budget asks to stop.
        """
        odd, forest, crossed = _matched(self.faces, self.odd, self.rng, budget)
        lattice = self.faces, tuple(self.graph.rows), self.graph.edges, self.graph.negative
        edges, lengths, duals = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)], [np.zeros(0)]
        for first, last in budget.pieces(2 * len(odd), _PARTS_AT_ONCE):
            some, begins, widths = moat_kernels.moats(*lattice, odd, forest, first, last)
            edges.append(some)
            lengths.append(np.diff(begins))
            duals.append(widths / 2)
        begins = np.cumsum(np.concatenate(lengths))
        return Moats(np.concatenate(edges), begins, np.concatenate(duals), crossed)

    def state_near(self, crossed: Marks) -> Spins:
        """Return a state that violates only the given edges, or more edges if none exists."""
        lengths = crossed.astype(np.float64)
        spins: Spins = graphs.round_to_spins(*self.graph.rows, self.graph.negative, lengths)
        return spins

    def improved(self, state: Spins, budget: Budget) -> Spins:
        """Return a state, usually no worse than `state`, from a matching on a randomly cut torus.

        Cut along two seams, the torus is a disc, and the new state is the best of all states that
        violate the same edges of the seams. With one seam or none, the paths of the matching may
        wind so that no state violates exactly the edges they cross; the new state is then poor.

        Raises:
            TimeIsUpError: the budget asks to stop.
        """
        root = int(self.rng.integers(self.graph.num_vertices))
        ends = self.graph.edges
        all_seams = face_kernels.seams(self.faces, tuple(self.graph.rows), ends, root)
        on_seam = all_seams[self.rng.random(len(all_seams)) < 0.5].any(axis=0)
        kept = self.graph.violated(state) & on_seam
        odd = self.odd ^ (kept[self.faces.edges].sum(axis=1) % 2 == 1)
        crossed = _matched(_cut_open(self.faces, on_seam), odd, self.rng, budget)[2]
        return self.state_near(kept | crossed[: self.graph.num_edges])


def _cut_open(faces: face_kernels.Faces, on_seam: Marks) -> face_kernels.Faces:
    """Cut the torus open at its seams; return its faces, each with its own edge along the seams."""
    own = np.arange(len(faces.edges), dtype=np.int32)
    edges = np.where(on_seam[faces.edges], len(on_seam) + own[:, None], faces.edges)
    sides = np.concatenate([faces.sides, np.stack([own, own], axis=1)])
    return face_kernels.Faces(edges.astype(np.int32), sides)


def _matched(
    faces: face_kernels.Faces, is_odd: Marks, rng: np.random.Generator, budget: Budget
) -> tuple[npt.NDArray[np.int32], matching_kernels.Forest, Marks]:
    """Return the odd faces, a best matching of them, and the edges that its paths cross."""
    odd = rng.permutation(np.flatnonzero(is_odd)).astype(np.int32)
    radius = _FIRST_RADIUS
    while True:
        pairs = _near_pairs(faces, odd, radius, budget)
        is_done, forest = matching_kernels.match(*pairs, radius, budget.check)
        if is_done:
            return odd, forest, _crossed(faces, odd, forest, radius, budget)
        assert radius < len(faces.edges), "an odd number of odd faces"
        radius *= 2


def _near_pairs(
    faces: face_kernels.Faces, odd: npt.NDArray[np.int32], radius: int, budget: Budget
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the pairs of odd faces within `radius` steps as rows, and twice their distances."""
    place = np.full(len(faces.edges), -1, np.int32)
    place[odd] = np.arange(len(odd))
    counts, others, weights = [], [], []
    for first, last in budget.pieces(len(odd), _FACES_AT_ONCE // radius**2):
        starts, *found = face_kernels.near_pairs(faces, place, odd[first:last], radius)
        counts.append(np.diff(starts))
        others.append(found[0])
        weights.append(found[1])
    none = np.zeros(0, np.int32)
    ends = np.cumsum(np.concatenate([np.zeros(1, np.int64), *counts]))
    return ends, np.concatenate([none, *others]), np.concatenate([none, *weights])


def _crossed(
    faces: face_kernels.Faces,
    odd: npt.NDArray[np.int32],
    forest: matching_kernels.Forest,
    radius: int,
    budget: Budget,
) -> Marks:
    """Return a mask of the edges that the paths of a matching cross."""
    crossed = np.zeros(len(faces.sides), np.bool_)
    for first, last in budget.pieces(len(odd), _FACES_AT_ONCE // radius**2):
        face_kernels.join(faces, odd, forest.mate, first, last, radius, crossed)
    return crossed
