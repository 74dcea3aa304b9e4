"""Rounding never claims more than is true, whatever it is given."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.oracles import all_states
from tests.proofs.semidefinite.dense_graphs import exact_bound, random_graph

from glasshouse.proofs.semidefinite.cuts import WIDTH, Cuts
from glasshouse.proofs.semidefinite.rounding import exact_squares
from glasshouse.proofs.semidefinite.subproblem import Subproblem


def arbitrary_cuts(size: int, rng: np.random.Generator) -> Cuts:
    """Odd cliques of any width with multipliers that are far off."""
    count = int(rng.integers(0, 30))
    vertices = np.zeros((count, WIDTH), np.int32)
    coefficients = np.zeros((count, WIDTH), np.int8)
    for t in range(count):
        width = int(rng.integers(2, min(size, WIDTH) + 1))
        vertices[t, :width] = rng.permutation(size)[:width]
        coefficients[t, :width] = rng.choice([-2, -1, 1, 2], width)
        coefficients[t, 0] = 1 if coefficients[t, 1:].sum() % 2 == 0 else 2
    return Cuts(vertices, coefficients, 10.0 ** rng.uniform(-6, 3, count))


@pytest.mark.parametrize("seed", range(40))
def test_bound_holds_for_any_multipliers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graphs = map(random_graph, itertools.count(seed, 5))  # with weights of the same size
    graph = next(graph for graph in graphs if Subproblem.of(graph, []).size)
    problem = Subproblem.of(graph, [])
    cuts = arbitrary_cuts(problem.size, rng)
    assert (cuts.coefficients.astype(int).sum(axis=1) % 2 == 1).all()
    diagonal = rng.normal(size=problem.size) * 10.0 ** float(rng.integers(-3, 4))
    least = min(map(graph.value, map(graph.cost, all_states(graph.num_vertices, -1))))
    for bits in (4, 12, 24, 40):
        squares = exact_squares(problem, cuts, diagonal, bits)
        bound = squares.bound(problem)
        assert bound <= exact_bound(graph, [], squares.parts(problem)) <= least
