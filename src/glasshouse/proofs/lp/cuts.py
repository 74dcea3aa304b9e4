"""Inequalities that all states satisfy: rows of a node's LP, and the loops and squares they are.

With u_e = 1 where edge e is violated, a cycle C and some of its edges F,

    Σ_{C∖F} u + Σ_F (1 - u) ≥ 1   whenever |F| plus the number of negative edges of C is odd.

An edge is two *arcs*: arc 2e, plain, is u_e long, arc 2e + 1, flipped, 1 - u_e. A walk of odd
parity from v to w is never shorter than d = (1 + s_v s_w)/2, one of even parity never shorter than
(1 - s_v s_w)/2.

Of an odd number k of spins, turned by signs t, (Σ t_i s_i)² ≥ 1, so that the d of all their pairs
add up to (k - 1)²/4 or more. Walks in their place give the inequality of an *odd clique*, whose
pairs need not be edges. As a sum it is one square, and one loop for each walk of several arcs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.relaxation import Loop, Parts, Square

# Bytes of an array beside its numbers.
_ARRAY = 112


class Walk(NamedTuple):
    """Arcs one after the other, and the vertices they pass.

    A closed walk has as many vertices as arcs. An open one has one more; the pair of its ends
    closes it to a loop, whether or not that is an edge.
    """

    arcs: npt.NDArray[np.int32]
    vertices: npt.NDArray[np.int32]


class Clique(NamedTuple):
    """An odd number of spins, each turned or not: (Σ turns · s)² is at least 1."""

    vertices: npt.NDArray[np.int32]
    turns: npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Cut:
    """Σ coefficients · u ≥ right_side over some edges, as a sum of loops and perhaps a square."""

    edges: npt.NDArray[np.int32]
    coefficients: npt.NDArray[np.int64]
    right_side: int
    walks: tuple[Walk, ...]
    clique: Clique | None = None

    @classmethod
    def of_cycle(cls, arcs: npt.NDArray[np.int32], vertices: npt.NDArray[np.int32]) -> Cut:
        """A cycle inequality: its arcs, and the vertex where each begins."""
        flipped = (arcs & 1).astype(np.int64)
        return cls(arcs >> 1, 1 - 2 * flipped, 1 - int(flipped.sum()), (Walk(arcs, vertices),))

    @classmethod
    def of_clique(cls, clique: Clique, walks: Sequence[Walk]) -> Cut:
        """An odd clique, and a walk for each pair of its spins."""
        arcs = np.concatenate([walk.arcs for walk in walks])
        flipped = (arcs & 1).astype(np.int64)
        edges, places = np.unique(arcs >> 1, return_inverse=True)
        coefficients = np.zeros(len(edges), np.int64)
        np.add.at(coefficients, places, 1 - 2 * flipped)
        counted = coefficients != 0
        least = (len(clique.vertices) - 1) ** 2 // 4
        loops = tuple(walk for walk in walks if len(walk.arcs) > 1)
        return cls(edges[counted].astype(np.int32), coefficients[counted],
                   least - int(flipped.sum()), loops, clique)  # fmt: skip

    @cached_property
    def depth(self) -> int:
        """How far below zero Σ -coefficients · (±s s) can get: L - 2 for a cycle of L edges."""
        return int(self.coefficients.sum()) - 2 * self.right_side

    @cached_property
    def num_bytes(self) -> int:
        """About how much memory it takes."""
        arrays: list[npt.NDArray[Any]] = [self.edges, self.coefficients]
        arrays += [array for walk in self.walks for array in walk]
        arrays += [] if self.clique is None else [*self.clique]
        return sum(_ARRAY + array.nbytes for array in arrays)

    @cached_property
    def size(self) -> int:
        """No sum over the coefficients is larger."""
        return int(np.abs(self.coefficients).sum()) + abs(self.depth)


def parts_of(
    cuts: Sequence[Cut],
    multipliers: npt.NDArray[Any],
    denominator: int,
    signs: npt.NDArray[np.int8],
) -> Parts:
    """The loops and squares of some cuts.

    Args:
        cuts: with a multiplier each.
        multipliers: not negative.
        denominator: of all multipliers.
        signs: those that the weights give the edges.
    """
    # A square counts half of what its loops do.
    factor = 2 if any(cut.clique is not None for cut in cuts) else 1
    loops: list[Loop] = []
    squares: list[Square] = []
    for multiplier, cut in zip(multipliers.tolist(), cuts, strict=True):
        amount = factor * int(multiplier)
        loops += [(amount, *_signed(walk, signs)) for walk in cut.walks]
        if cut.clique is not None:
            vertices, turns = (part.tolist() for part in cut.clique)
            squares.append((amount // 2, vertices, turns))
    return Parts(factor * denominator, loops, squares)


def _signed(walk: Walk, signs: npt.NDArray[np.int8]) -> tuple[list[int], list[int]]:
    """The vertices of a loop, and the sign of the edge from each to the next, -1 an odd number."""
    wanted = signs[walk.arcs >> 1] * (1 - 2 * (walk.arcs & 1))
    if len(walk.vertices) > len(walk.arcs):
        wanted = np.append(wanted, -np.prod(wanted))
    return walk.vertices.tolist(), wanted.tolist()
