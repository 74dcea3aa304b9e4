"""Loops and squares in the flat arrays of certificates.

A proof may have a million loops. Every search, over a core or over the whole graph, converts its
loops to `Parts` at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import NO_SQUARES, Certificate, Parts, Squares, Tree, packed
from glasshouse.certificates.flat_cycles import edges_of_cycles
from glasshouse.problems import Max2Sat
from glasshouse.proofs.kernels import graphs
from glasshouse.proofs.signed_graph import SignedGraph, Spins

NO_PARTS = Parts(
    np.zeros(0, np.int32),
    np.zeros(1, np.int64),
    np.zeros(0, np.int64),
    np.zeros(0, np.bool_),
    NO_SQUARES,
    1,
)


def cycle_parts(
    graph: SignedGraph,
    cycles: Sequence[Sequence[int] | npt.NDArray[Any]],
    multipliers: Iterable[int],
    denominator: int,
    turned: npt.NDArray[np.bool_] | None = None,
) -> Parts:
    """Return cycles of a graph as loops; the edges of each cycle are given in any order.

    Args:
        graph: the graph.
        cycles: the edges of each cycle.
        multipliers: one multiplier per cycle.
        denominator: the denominator of all multipliers.
        turned: a mask of the edges whose sign is opposite to their weight, or None.
    """
    edges, starts = flat(cycles, np.int32)
    ends = np.array(graph.edges, dtype=np.int32, order="C")
    nodes, places, are_cycles = graphs.walk_cycles(ends, graph.num_vertices, edges, starts)
    assert are_cycles, "a loop that is not one cycle"
    negative = graph.negative[edges].astype(np.bool_)
    if turned is not None:
        negative ^= turned
    return Parts(nodes, starts, packed(multipliers), negative[places], NO_SQUARES, denominator)


def triangle_parts(
    multipliers: Iterable[int], nodes: npt.NDArray[Any], negative: npt.NDArray[np.bool_]
) -> Parts:
    """Return triangles as loops: three nodes per row, with a sign for the edge after each node."""
    starts = 3 * np.arange(len(nodes) + 1, dtype=np.int64)
    flat_nodes = nodes.astype(np.int32).reshape(-1)
    return Parts(flat_nodes, starts, packed(multipliers), negative.reshape(-1), NO_SQUARES, 1)


def clause_parts(problem: Max2Sat, weight: Fraction) -> Parts:
    """Return the loop of each hard clause l ∨ m: the triangle of l, m and the ghost.

    In spins the clause is a constant minus this frustrated triangle, nothing else. So triangles
    compensate for hard clauses that weigh less in the LP than in the problem.
    """
    assert weight.denominator == 1
    first, second = (problem.hard if weight else problem.hard[:0]).T
    proper = (second != 0) & (np.abs(first) != np.abs(second))
    first, second = first[proper], second[proper]
    ghost = np.full(len(first), problem.num_variables)
    nodes = np.column_stack([ghost, np.abs(first) - 1, np.abs(second) - 1])
    signs = np.column_stack([first < 0, (first < 0) == (second < 0), second < 0])
    return triangle_parts([int(weight)] * len(nodes), nodes, signs)


def named_parts(parts: Parts, loop_scale: int, names: npt.NDArray[np.int32] | None = None) -> Parts:
    """Return the loops and squares of a graph as loops and squares of the whole problem.

    Args:
        parts: the parts, in units of the graph's weights.
        loop_scale: the factor of the multipliers of certificates, see `ExactForm`.
        names: the node of each vertex of the graph; None if nodes equal vertices.
    """
    nodes, squares = parts.nodes, parts.squares
    if names is not None:
        nodes = names[nodes]
        if squares:
            squares = Squares(
                names[squares.nodes], squares.starts, squares.coefficients, squares.multipliers
            )
    denominator = parts.denominator * loop_scale
    return parts._replace(nodes=nodes, squares=squares, denominator=denominator)


def joined_parts(groups: Sequence[Parts]) -> Parts:
    """Concatenate groups of loops and squares, with a common denominator."""
    denominator = math.lcm(*(group.denominator for group in groups))
    factors = [denominator // group.denominator for group in groups]
    loops = _scaled([group.multipliers for group in groups], factors)
    return Parts(
        np.concatenate([group.nodes for group in groups]),
        _starts(np.concatenate([group.lengths for group in groups])),
        loops,
        np.concatenate([group.negative for group in groups]),
        _joined_squares([group.squares for group in groups], factors),
        denominator,
    )


def certificate_of(parts: Parts, spins: Spins, tree: Tree | None = None) -> Certificate:
    """Return a certificate with the given parts and state; each loop ends with a violated edge."""
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
    """Return the node order in which each loop starts just after its first violated edge."""
    lengths = np.diff(starts)
    places = np.arange(len(violated)) - np.repeat(starts[:-1], lengths)
    far = np.where(violated, places, len(violated))
    first = np.minimum.reduceat(far, starts[:-1]) if len(lengths) else starts[:-1]
    turned = (places + np.repeat(first + 1, lengths)) % np.repeat(lengths, lengths)
    order: npt.NDArray[np.int64] = np.repeat(starts[:-1], lengths) + turned
    return order


def _divided(numbers: npt.NDArray[Any], divisor: int) -> npt.NDArray[Any]:
    """Divide integers by a common divisor, in Python integers."""
    return packed(number // divisor for number in numbers.tolist())


def flat(rows: Sequence[Sequence[Any] | npt.NDArray[Any]], kind: Any) -> tuple[Any, Any]:
    """Concatenate rows; return the array and the row offsets, including the end of the last row."""
    starts = _starts([len(row) for row in rows])
    if rows and isinstance(rows[0], np.ndarray):
        return np.concatenate(rows).astype(kind, copy=False), starts
    return np.fromiter(chain.from_iterable(rows), dtype=kind, count=int(starts[-1])), starts


def _starts(lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))])


def _scaled(numbers: list[npt.NDArray[Any]], factors: list[int]) -> npt.NDArray[Any]:
    """Multiply each array by its factor exactly, and concatenate the results."""
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
