"""Loops and squares as certificates have them: in flat arrays over the whole problem.

A proof may have a million loops: lists over a core, or cycles given by their edges, become arrays
here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Certificate, Squares, Tree
from glasshouse.certificates.bound import Parts as FlatParts
from glasshouse.certificates.exact_form import packed
from glasshouse.certificates.flat_cycles import edges_of_cycles
from glasshouse.certificates.squares import NO_SQUARES
from glasshouse.problems import Max2Sat
from glasshouse.proofs.relaxation import Loop, Parts
from glasshouse.proofs.signed_graph import SignedGraph, Spins

# Cycles, each given by its edges.
Cycles = list[npt.NDArray[np.int32]]


@dataclass(frozen=True)
class Packing:
    """Cycles (as edge lists) with multipliers over a denominator, within the edges' weights."""

    denominator: int
    multipliers: list[int]
    cycles: list[list[int]]

    @property
    def total(self) -> Fraction:
        """Σ μ: no state violates edges of less weight."""
        return Fraction(sum(self.multipliers), self.denominator)


def signed_loops(
    graph: SignedGraph, multipliers: Iterable[int], cycles: Iterable[Iterable[int]]
) -> Iterator[Loop]:
    """Cycles that are given by their edges, each with its multiplier."""
    # Column by column: lists of pairs keep Python's garbage collector busy.
    first, second = graph.edges.T.tolist()
    signs = graph.signs.tolist()
    for multiplier, cycle in zip(multipliers, cycles, strict=True):
        nodes, edges = _walk(first, second, cycle)
        yield multiplier, nodes, [signs[edge] for edge in edges]


def _walk(first: list[int], second: list[int], loop: Iterable[int]) -> tuple[list[int], list[int]]:
    """The nodes of a cycle, given by its edges, in order, and the edge after each of them."""
    at: dict[int, list[int]] = {}
    members = sorted(loop)
    for edge in members:
        at.setdefault(first[edge], []).append(edge)
        at.setdefault(second[edge], []).append(edge)
    start = first[members[0]]
    node, edge = start, at[start][0]
    nodes, edges = [], []
    for _ in range(len(at)):
        nodes.append(node)
        edges.append(edge)
        node = first[edge] + second[edge] - node
        one, two = at[node]
        edge = two if edge == one else one
    assert node == start, "a loop that is not one cycle"
    return nodes, edges


def clause_loops(problem: Max2Sat, weight: Fraction) -> Iterator[Loop]:
    """For each hard clause l ∨ m the triangle of l, m and the ghost, with a multiplier.

    In spins the clause is a constant minus this frustrated triangle, nothing else. So triangles
    make up for a smaller weight of hard clauses in the LP than they have.
    """
    assert weight.denominator == 1
    ghost = problem.num_variables
    for first, second in problem.hard.tolist() if weight else ():
        if second in (0, first, -first):
            continue
        one, two = (1 if literal > 0 else -1 for literal in (first, second))
        yield int(weight), [ghost, abs(first) - 1, abs(second) - 1], [one, -one * two, two]


def flat_parts(parts: Parts, names: npt.NDArray[np.int32], loop_scale: int = 1) -> FlatParts:
    """The same parts in flat arrays, over the vertices that `names` has for their own.

    Args:
        parts: in units of a graph's weights.
        names: for each vertex of the graph, the node it is.
        loop_scale: what the multipliers of certificates are multiplied with, see `ExactForm`.
    """
    lengths = [len(vertices) for _, vertices, _ in parts.loops]
    nodes = _flat([vertices for _, vertices, _ in parts.loops], np.int32)
    signs = _flat([signs for *_, signs in parts.loops], np.int8)
    squares = NO_SQUARES
    if parts.squares:
        rows = _flat([vertices for _, vertices, _ in parts.squares], np.int32)
        starts = _starts([len(vertices) for _, vertices, _ in parts.squares])
        factors = packed(chain.from_iterable(factors for *_, factors in parts.squares))
        squares = Squares(names[rows], starts, factors, packed(c for c, *_ in parts.squares))
    multipliers = packed(multiplier for multiplier, *_ in parts.loops)
    return FlatParts(names[nodes], _starts(lengths), multipliers, signs < 0, squares,
                     parts.denominator * loop_scale)  # fmt: skip


def joined_parts(groups: Sequence[FlatParts]) -> FlatParts:
    """All loops and squares of some groups over one denominator, in their order."""
    denominator = math.lcm(*(group.denominator for group in groups))
    factors = [denominator // group.denominator for group in groups]
    loops = _scaled([group.multipliers for group in groups], factors)
    return FlatParts(
        np.concatenate([group.nodes for group in groups]),
        _starts(np.concatenate([group.lengths for group in groups])),
        loops,
        np.concatenate([group.negative for group in groups]),
        _joined_squares([group.squares for group in groups], factors),
        denominator,
    )


def certificate_of(parts: FlatParts, spins: Spins, tree: Tree | None = None) -> Certificate:
    """A certificate in the gauge of a state: each loop is turned to end with a violated edge."""
    edges = edges_of_cycles(parts.nodes, parts.starts)
    violated = (spins[edges[:, 0]] != spins[edges[:, 1]]) != parts.negative
    order = _turned(violated, parts.starts)
    numbers = [parts.multipliers, parts.squares.multipliers]
    divisor = math.gcd(parts.denominator, *(int(np.gcd.reduce(x)) for x in numbers if len(x)))
    squares = parts.squares
    if divisor > 1 and squares:
        squares = Squares(squares.nodes, squares.starts, squares.coefficients,
                          _divided(squares.multipliers, divisor))  # fmt: skip
    return Certificate(
        spins[:-1],
        parts.nodes[order],
        parts.starts,
        _divided(parts.multipliers, divisor),
        parts.denominator // divisor,
        violated[order],
        squares,
        tree,
    )


def _turned(violated: npt.NDArray[np.bool_], starts: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The order of all nodes that puts behind each loop's first violated edge its beginning."""
    lengths = np.diff(starts)
    places = np.arange(len(violated)) - np.repeat(starts[:-1], lengths)
    far = np.where(violated, places, len(violated))
    first = np.minimum.reduceat(far, starts[:-1]) if len(lengths) else starts[:-1]
    turned = (places + np.repeat(first + 1, lengths)) % np.repeat(lengths, lengths)
    order: npt.NDArray[np.int64] = np.repeat(starts[:-1], lengths) + turned
    return order


def _divided(numbers: npt.NDArray[Any], divisor: int) -> npt.NDArray[Any]:
    """Numbers by a divisor of theirs, which may be larger than 64 bits where there are none."""
    return packed(number // divisor for number in numbers.tolist())


def _flat(rows: list[list[int]], kind: Any) -> npt.NDArray[Any]:
    return np.fromiter(chain.from_iterable(rows), dtype=kind)


def _starts(lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))])


def _scaled(numbers: list[npt.NDArray[Any]], factors: list[int]) -> npt.NDArray[Any]:
    """Each array times its factor, one after the other, in Python integers where need be."""
    return packed(
        x * factor for array, factor in zip(numbers, factors, strict=True) for x in array.tolist()
    )


def _joined_squares(groups: list[Squares], factors: list[int]) -> Squares:
    kept = [(group, factor) for group, factor in zip(groups, factors, strict=True) if group]
    if not kept:
        return NO_SQUARES
    return Squares(
        np.concatenate([group.nodes for group, _ in kept]),
        _starts(np.concatenate([group.lengths for group, _ in kept])),
        np.concatenate([group.coefficients for group, _ in kept]),
        _scaled([group.multipliers for group, _ in kept], [factor for _, factor in kept]),
    )
