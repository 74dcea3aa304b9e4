"""Loops as a tree's leaves and certificates have them: vertices, and the signs of their edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from glasshouse.problems import Max2Sat
from glasshouse.proofs.signed_graph import SignedGraph
from glasshouse.proofs.trees.relaxation import Loop


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
