"""Loops as certificates write them: cycles of nodes whose last edge the state violates."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from glasshouse.certificates import Certificate
from glasshouse.problems import Max2Sat
from glasshouse.proofs.linear.contraction import OddCycle
from glasshouse.proofs.linear.packing import Packing
from glasshouse.proofs.signed_graph import SignedGraph, Spins, exact_array
from glasshouse.proofs.trees.relaxation import Loop

# A multiplier, the nodes of a cycle, and which edges (from a node to the next) are violated.
Cycle = tuple[int, list[int], list[bool]]


def make_certificate(cycles: Iterable[Cycle], state: Spins, denominator: int) -> Certificate:
    """Put cycles into a certificate, each turned so that its last edge is a violated one."""
    nodes: list[int] = []
    violated: list[bool] = []
    starts = [0]
    multipliers = []
    for multiplier, cycle, marks in cycles:
        turn = marks.index(True) + 1
        nodes += cycle[turn:] + cycle[:turn]
        violated += marks[turn:] + marks[:turn]
        starts.append(len(nodes))
        multipliers.append(multiplier)
    divisor = math.gcd(denominator, *multipliers)
    return Certificate(
        state,
        np.array(nodes, dtype=np.int32),
        np.array(starts, dtype=np.int64),
        exact_array(multiplier // divisor for multiplier in multipliers),
        denominator // divisor,
        np.array(violated, dtype=bool),
    )


def walk_loops(graph: SignedGraph, loops: Iterable[OddCycle], spins: Spins) -> Iterable[Cycle]:
    """Loops, given as sets of edges, as cycles of nodes."""
    products = spins[graph.edges[:, 0]] * spins[graph.edges[:, 1]]
    violated = ((products < 0) != (graph.weights < 0).astype(bool)).tolist()
    ends = graph.edges.tolist()
    for loop in loops:
        nodes, edges = _walk(ends, loop.edges)
        yield loop.multiplier, nodes, [violated[edge] for edge in edges]


def signed_loops(graph: SignedGraph, packing: Packing) -> Iterable[Loop]:
    """Loops of a packing as a tree's leaves have them: vertices, and the signs of their edges."""
    ends, signs = graph.edges.tolist(), [1 if w > 0 else -1 for w in graph.weights]
    for multiplier, cycle in zip(packing.multipliers, packing.cycles, strict=True):
        nodes, edges = _walk(ends, cycle)
        yield multiplier, nodes, [signs[edge] for edge in edges]


def _walk(ends: list[list[int]], loop: Iterable[int]) -> tuple[list[int], list[int]]:
    """The nodes of a cycle, given by its edges, in order, and the edge after each of them."""
    at: dict[int, list[int]] = {}
    members = sorted(loop)
    for edge in members:
        for end in ends[edge]:
            at.setdefault(end, []).append(edge)
    start = ends[members[0]][0]
    node, edge = start, at[start][0]
    nodes, edges = [], []
    for _ in range(len(at)):
        nodes.append(node)
        edges.append(edge)
        a, b = ends[edge]
        node = b if node == a else a
        first, second = at[node]
        edge = second if edge == first else first
    assert node == start, "a loop that is not one cycle"
    return nodes, edges


def clause_cycles(problem: Max2Sat, spins: Spins, weight: Fraction) -> Iterable[Cycle]:
    """For each hard clause l ∨ m the triangle of l, m and the ghost, with a multiplier.

    In spins the clause is a constant minus this frustrated triangle, nothing else. So triangles
    make up for a smaller weight of hard clauses in the LP than they have.
    """
    assert weight.denominator == 1
    ghost = problem.num_variables
    for first, second in problem.hard.tolist() if weight else ():
        if second in (0, first, -first):
            continue
        a, b = abs(first) - 1, abs(second) - 1
        one, two = spins[a] * (1 if first > 0 else -1), spins[b] * (1 if second > 0 else -1)
        yield int(weight), [ghost, a, b], [one < 0, one * two > 0, two < 0]
