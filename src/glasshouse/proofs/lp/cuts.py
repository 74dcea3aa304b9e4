"""Inequalities that all states satisfy: as rows of an LP, and as loops and squares.

With u_e = 1 if edge e is violated, a cycle C and some of its edges F,

    Σ_{C∖F} u + Σ_F (1 - u) ≥ 1   whenever |F| plus the number of negative edges of C is odd.

Edge e has two *arcs*: the plain arc 2e of length u_e, and the flipped arc 2e + 1 of length 1 - u_e.
A walk of odd parity from v to w is never shorter than d = (1 + s_v s_w)/2, and a walk of even
parity never shorter than (1 - s_v s_w)/2. At the root of a tree all arcs are plain.

For an odd number k of spins, turned by signs t, (Σ t_i s_i)² ≥ 1, so the d of all their pairs add
up to (k - 1)²/4 or more. Replacing pairs by walks yields the inequality of an *odd clique*, whose
pairs need not be edges. As a sum it is one square, and one loop for each walk of several arcs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Parts, Squares, packed
from glasshouse.proofs.parts import cycle_parts, flat, joined_parts
from glasshouse.proofs.signed_graph import SignedGraph

# The overhead of an array, in bytes.
_ARRAY = 112


class Walk(NamedTuple):
    """A walk: n consecutive arcs, and the n + 1 vertices that they visit.

    The pair of its first and last vertex closes it to a loop, even if this pair is not an edge.
    """

    arcs: npt.NDArray[np.int32]
    vertices: npt.NDArray[np.int32]


class Clique(NamedTuple):
    """An odd clique: an odd number of spins with signs `turns`, so that (Σ turns · s)² ≥ 1.

    `walks` are the walks of several arcs, each between two of the spins.
    """

    vertices: npt.NDArray[np.int32]
    turns: npt.NDArray[np.int8]
    walks: tuple[Walk, ...]


@dataclass(eq=False)  # never changed, but a frozen object takes twice as long to create
class Cut:
    """A cut: Σ coefficients · u ≥ right_side over the edges of a cycle, or of walks in a clique."""

    edges: npt.NDArray[np.int32]
    coefficients: npt.NDArray[np.int64]
    right_side: int
    clique: Clique | None = None

    @classmethod
    def of_clique(
        cls, vertices: npt.NDArray[np.int32], turns: npt.NDArray[np.int8], walks: Sequence[Walk]
    ) -> Cut:
        """Return the cut of an odd clique, given a walk for each pair of its spins."""
        arcs = np.concatenate([walk.arcs for walk in walks])
        flipped = (arcs & 1).astype(np.int64)
        edges, places = np.unique(arcs >> 1, return_inverse=True)
        coefficients = np.zeros(len(edges), np.int64)
        np.add.at(coefficients, places, 1 - 2 * flipped)
        counted = coefficients != 0
        least = (len(vertices) - 1) ** 2 // 4
        clique = Clique(vertices, turns, tuple(walk for walk in walks if len(walk.arcs) > 1))
        return cls(edges[counted].astype(np.int32), coefficients[counted],
                   least - int(flipped.sum()), clique)  # fmt: skip

    @cached_property
    def depth(self) -> int:
        """The depth: Σ coefficients - 2 · right_side, which is L - 2 for a cycle of L edges."""
        return int(self.coefficients.sum()) - 2 * self.right_side

    @cached_property
    def num_bytes(self) -> int:
        """The approximate memory of the cut, in bytes."""
        arrays: list[npt.NDArray[Any]] = [self.edges, self.coefficients]
        if self.clique is not None:
            arrays += [self.clique.vertices, self.clique.turns]
            arrays += [array for walk in self.clique.walks for array in walk]
        return sum(_ARRAY + array.nbytes for array in arrays)

    @cached_property
    def size(self) -> int:
        """The sum of |depth| and all |coefficients|, an upper bound on the size of partial sums."""
        return int(np.abs(self.coefficients).sum()) + abs(self.depth)


def cycle_cuts(
    arcs: npt.NDArray[np.int32], begins: npt.NDArray[np.int64], sides: int = 1
) -> list[Cut]:
    """Return the cycle inequalities of cycles given by their arcs.

    Args:
        arcs: the arcs of all cycles, in any order within each cycle.
        begins: the index at which each cycle begins, and the end of the last.
        sides: the number of arcs per edge: 1 if all are plain, 2 if arc 2e + 1 is flipped.
    """
    edges, flipped = (arcs // sides).astype(np.int32, copy=False), arcs % sides
    coefficients = 1 - 2 * flipped.astype(np.int64)
    before = np.append(0, np.cumsum(flipped))[begins]
    rows = zip(pairwise(begins.tolist()), (1 - np.diff(before)).tolist(), strict=True)
    if sides == 1:
        return [Cut(edges[a:b], coefficients[a:b], side) for (a, b), side in rows]
    # In a tree, a cut may outlive the cuts found with it, so it must not refer to their arrays.
    return [Cut(edges[a:b].copy(), coefficients[a:b].copy(), side) for (a, b), side in rows]


def parts_of(
    graph: SignedGraph, cuts: Sequence[Cut], multipliers: npt.NDArray[Any], denominator: int
) -> Parts:
    """Return the loops and squares that represent cuts with multipliers.

    Args:
        graph: the graph of the cuts.
        cuts: the cuts, with one multiplier each.
        multipliers: the multipliers, not negative.
        denominator: the denominator of all multipliers.
    """
    both = list(zip(multipliers.tolist(), cuts, strict=True))
    cliques = [(m, cut.clique) for m, cut in both if cut.clique is not None]
    numbers = [m for m, cut in both if cut.clique is None]
    cycles = [cut for cut in cuts if cut.clique is None]
    turned = flat([cut.coefficients for cut in cycles], np.int64)[0] < 0
    loops = cycle_parts(graph, [cut.edges for cut in cycles], numbers, denominator, turned)
    return joined_parts([loops, _clique_parts(graph, cliques, denominator)]) if cliques else loops


def _clique_parts(
    graph: SignedGraph, cliques: Sequence[tuple[int, Clique]], denominator: int
) -> Parts:
    """Return the squares of cliques with multipliers, and the loops of their walks."""
    walks = [(m, walk) for m, clique in cliques for walk in clique.walks]
    nodes, starts = flat([walk.vertices for _, walk in walks], np.int32)
    negative = [_closed(graph, walk.arcs) for _, walk in walks]
    squares = Squares(
        *flat([clique.vertices for _, clique in cliques], np.int32),
        flat([clique.turns for _, clique in cliques], np.int64)[0],
        packed(m for m, _ in cliques),
    )
    # A square counts half as much as its loops.
    multipliers = packed(2 * m for m, _ in walks)
    return Parts(nodes, starts, multipliers, flat(negative, np.bool_)[0], squares, 2 * denominator)


def _closed(graph: SignedGraph, arcs: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Return whether each arc of a walk, and then its closing pair, favours opposite spins."""
    negative = (graph.negative[arcs >> 1] ^ (arcs & 1)).astype(np.bool_)
    return np.append(negative, negative.sum() % 2 == 0)
