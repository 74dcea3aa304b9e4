"""Inequalities that all states satisfy: rows of an LP, and the loops and squares they are.

With u_e = 1 where edge e is violated, a cycle C and some of its edges F,

    Σ_{C∖F} u + Σ_F (1 - u) ≥ 1   whenever |F| plus the number of negative edges of C is odd.

An edge is two *arcs*: arc 2e, plain, is u_e long, arc 2e + 1, flipped, 1 - u_e. A walk of odd
parity from v to w is never shorter than d = (1 + s_v s_w)/2, one of even parity never shorter than
(1 - s_v s_w)/2. At the root of a tree all arcs are plain.

Of an odd number k of spins, turned by signs t, (Σ t_i s_i)² ≥ 1, so that the d of all their pairs
add up to (k - 1)²/4 or more. Walks in their place give the inequality of an *odd clique*, whose
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

# Bytes of an array beside its numbers.
_ARRAY = 112


class Walk(NamedTuple):
    """Arcs one after the other, and the vertices they pass, one more than arcs.

    The pair of the first and the last vertex closes it to a loop, whether or not that is an edge.
    """

    arcs: npt.NDArray[np.int32]
    vertices: npt.NDArray[np.int32]


class Clique(NamedTuple):
    """An odd number of spins, each turned or not: (Σ turns · s)² is at least 1.

    `walks` are those of several arcs between two of them.
    """

    vertices: npt.NDArray[np.int32]
    turns: npt.NDArray[np.int8]
    walks: tuple[Walk, ...]


@dataclass(eq=False)  # never changed, but what is frozen takes twice as long to make
class Cut:
    """Σ coefficients · u ≥ right_side over some edges: those of a cycle, or of a clique's walks."""

    edges: npt.NDArray[np.int32]
    coefficients: npt.NDArray[np.int64]
    right_side: int
    clique: Clique | None = None

    @classmethod
    def of_clique(
        cls, vertices: npt.NDArray[np.int32], turns: npt.NDArray[np.int8], walks: Sequence[Walk]
    ) -> Cut:
        """An odd clique, and a walk for each pair of its spins."""
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
        """How far below zero Σ -coefficients · (±s s) can get: L - 2 for a cycle of L edges."""
        return int(self.coefficients.sum()) - 2 * self.right_side

    @cached_property
    def num_bytes(self) -> int:
        """About how much memory it takes."""
        arrays: list[npt.NDArray[Any]] = [self.edges, self.coefficients]
        if self.clique is not None:
            arrays += [self.clique.vertices, self.clique.turns]
            arrays += [array for walk in self.clique.walks for array in walk]
        return sum(_ARRAY + array.nbytes for array in arrays)

    @cached_property
    def size(self) -> int:
        """No sum over the coefficients is larger."""
        return int(np.abs(self.coefficients).sum()) + abs(self.depth)


def cycle_cuts(
    arcs: npt.NDArray[np.int32], begins: npt.NDArray[np.int64], sides: int = 1
) -> list[Cut]:
    """Cycle inequalities.

    Args:
        arcs: of all cycles, in any order within each.
        begins: where each cycle begins, and the end of the last.
        sides: how many arcs an edge has: 1 if all are plain, 2 if arc 2e + 1 is flipped.
    """
    edges, flipped = (arcs // sides).astype(np.int32, copy=False), arcs % sides
    coefficients = 1 - 2 * flipped.astype(np.int64)
    before = np.append(0, np.cumsum(flipped))[begins]
    rows = zip(pairwise(begins.tolist()), (1 - np.diff(before)).tolist(), strict=True)
    if sides == 1:
        return [Cut(edges[a:b], coefficients[a:b], side) for (a, b), side in rows]
    # In a tree, a cut may live longer than those found with it.
    return [Cut(edges[a:b].copy(), coefficients[a:b].copy(), side) for (a, b), side in rows]


def parts_of(
    graph: SignedGraph, cuts: Sequence[Cut], multipliers: npt.NDArray[Any], denominator: int
) -> Parts:
    """The loops and squares of some cuts.

    Args:
        graph: whose cuts.
        cuts: with a multiplier each.
        multipliers: not negative.
        denominator: of all multipliers.
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
    """Squares of cliques with multipliers, and the loops of their walks."""
    walks = [(m, walk) for m, clique in cliques for walk in clique.walks]
    nodes, starts = flat([walk.vertices for _, walk in walks], np.int32)
    negative = [_closed(graph, walk.arcs) for _, walk in walks]
    squares = Squares(
        *flat([clique.vertices for _, clique in cliques], np.int32),
        flat([clique.turns for _, clique in cliques], np.int64)[0],
        packed(m for m, _ in cliques),
    )
    # A square counts half of what its loops do.
    multipliers = packed(2 * m for m, _ in walks)
    return Parts(nodes, starts, multipliers, flat(negative, np.bool_)[0], squares, 2 * denominator)


def _closed(graph: SignedGraph, arcs: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Which arcs of a walk want their spins to differ, and whether the pair that closes it does."""
    negative = (graph.negative[arcs >> 1] ^ (arcs & 1)).astype(np.bool_)
    return np.append(negative, negative.sum() % 2 == 0)
