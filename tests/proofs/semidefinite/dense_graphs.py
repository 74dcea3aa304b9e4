"""Dense graphs, and what squares prove of them, in the plainest way."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from tests.proofs.instances import listed

from glasshouse.certificates.bound import Parts
from glasshouse.certificates.ties import Pair
from glasshouse.proofs.signed_graph import SignedGraph, exact_array


def random_graph(seed: int) -> SignedGraph:
    """A dense graph of 2 to 11 vertices whose weights are small, large or far beyond 64 bits."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 12))
    edges = [pair for pair in itertools.combinations(range(size), 2) if rng.random() < 0.8]
    edges = edges or [(0, 1)]
    largest = [1, 3, 100_000, 2**40, 10**30][seed % 5]
    weights = [round(float(rng.normal()) * largest) or largest for _ in edges]
    return SignedGraph(size, np.array(edges, np.int32), exact_array(weights), int(rng.integers(9)))


def ties(graph: SignedGraph, pairs: list[Pair]) -> tuple[list[int], list[int]]:
    roots = list(range(graph.num_vertices))
    signs = [1] * graph.num_vertices
    for a, b, sign in pairs:
        old, turn = roots[b], sign * signs[a] * signs[b]
        for v in range(graph.num_vertices):
            if roots[v] == old:
                roots[v], signs[v] = roots[a], signs[v] * turn
    return roots, signs


def step(graph: SignedGraph, pairs: list[Pair]) -> int:
    """2 gcd(2g, Σ_b W_ab) of the contracted weights W, g their gcd."""
    roots, signs = ties(graph, pairs)
    weights: dict[tuple[int, int], int] = {}
    for (a, b), w in zip(graph.edges.tolist(), graph.weights.tolist(), strict=True):
        key = min(roots[a], roots[b]), max(roots[a], roots[b])
        weights[key] = weights.get(key, 0) + w * signs[a] * signs[b]
    fields = [0] * graph.num_vertices
    between = {key: w for key, w in weights.items() if key[0] != key[1]}
    for (a, b), w in between.items():
        fields[a] += w
        fields[b] += w
    return 2 * math.gcd(2 * math.gcd(*between.values()), *fields)


def exact_bound(graph: SignedGraph, pairs: list[Pair], parts: Parts) -> Fraction:
    """The bound of parts as the interface defines it, in the plainest way."""
    roots, signs = ties(graph, pairs)
    rest: dict[tuple[int, int], int] = {}
    total = graph.constant * parts.denominator
    terms = [
        (a, b, w * parts.denominator)
        for (a, b), w in zip(graph.edges.tolist(), graph.weights.tolist(), strict=True)
    ]
    loops, squares = listed(parts)
    assert not loops
    for multiplier, vertices, factors in squares:
        assert multiplier > 0
        assert len(set(vertices)) == len(vertices) == len(factors)
        divisor = math.gcd(*factors)
        odd = sum(factors) // divisor % 2
        total -= multiplier * (sum(a * a for a in factors) - divisor * divisor * odd)
        for (u, a), (v, b) in itertools.combinations(zip(vertices, factors, strict=True), 2):
            terms.append((u, v, 2 * multiplier * a * b))
    for u, v, amount in terms:
        key = min(roots[u], roots[v]), max(roots[u], roots[v])
        rest[key] = rest.get(key, 0) + amount * signs[u] * signs[v]
    total -= sum(r if u == v else abs(r) for (u, v), r in rest.items())
    return Fraction(total, parts.denominator)
