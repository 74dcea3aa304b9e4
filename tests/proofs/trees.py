"""Certificates with a tree, grown by hand: branches on pairs of any kind, then a search."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from glasshouse.certificates import Certificate, Leaf
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.ties import ties_of
from glasshouse.problems import Ising, Max2Sat
from glasshouse.problems.convert import to_max2sat
from glasshouse.proofs import branching, prove
from glasshouse.proofs.branching import Incumbent, TreeSearch
from glasshouse.proofs.core import Core
from glasshouse.proofs.cycle_relaxation import CycleRelaxation
from glasshouse.proofs.search_tree import certificate_of_tree
from glasshouse.proofs.signed_graph import SignedGraph


def branched(
    problem: Max2Sat, branches: int, rng: np.random.Generator, *, covers: bool = False
) -> Certificate:
    """A proof with a tree that branches a few times on pairs that nobody asked for.

    Args:
        problem: what to prove.
        branches: how often, at a leaf of its own choice, on two vertices, neighbours or not.
        rng: draws them.
        covers: whether small leaves are looked at instead of bounded.
    """
    form = ExactForm.of(problem)
    graph = SignedGraph.of_form(form)
    state = np.append(2 * prove(problem).state - 1, 1).astype(np.int8)
    core, incumbent = Core.whole(graph), Incumbent(graph, state)
    search = TreeSearch(form, core, CycleRelaxation(graph), incumbent,
                        lambda cost: int(graph.value(cost)))  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        if not covers:
            patch.setattr(branching, "_FEW_CLASSES", 0)
        root = search.new_root()
        for _ in range(branches):
            leaves = list(root.leaves())
            leaf = leaves[rng.integers(len(leaves))]
            ties = ties_of(graph.num_vertices, leaf.pairs)
            assert ties is not None
            a, b = rng.permutation(graph.num_vertices)[:2].tolist()
            if ties.roots[a] != ties.roots[b]:
                leaf.split((a, b, 1))
        assert search.run(root)
    return certificate_of_tree(root, core.common, core.names, incumbent.state)


def is_tree_of_loops(certificate: Certificate, leaves: int) -> bool:
    """Whether it has at least so many leaves, all with loops, not covers."""
    tree = certificate.tree
    return tree is not None and tree.num_leaves >= leaves and not any(
        not isinstance(leaf.row, Leaf) for leaf in tree.leaves()
    )


def small_glass(rng: np.random.Generator) -> Max2Sat:
    """A small problem: complete graphs like K5, where LPs leave gaps, tori and cubes, ±J or Gaussian."""
    kind, has_fields = int(rng.integers(4)), bool(rng.integers(2))
    if kind < 2:
        size = int(rng.integers(5, 10))
        edges = np.array(list(combinations(range(size), 2)))
    else:
        shape = ((3, 3, 3), (4, 4))[kind - 2]
        size, edges = int(np.prod(shape)), _torus(shape)
    fields = rng.choice([-1, 0, 1], size) if has_fields else np.zeros(size, dtype=np.int64)
    if kind == 0:  # nearly all alike, in a random gauge
        gauge = rng.choice([-1, 1], size)
        weights = -rng.integers(4, 6, len(edges)) * gauge[edges].prod(axis=1)
    elif rng.integers(2):
        weights = rng.choice([-1, 1], len(edges)) * int(rng.integers(1, 3))
    else:
        weights = np.rint(20 * rng.normal(size=len(edges))).astype(np.int64)
    return to_max2sat(Ising.from_edges(size, edges, weights, fields))[0]


def _torus(shape: tuple[int, ...]) -> np.ndarray:
    """Each vertex of a periodic lattice with its next ones."""
    places = np.arange(np.prod(shape)).reshape(shape)
    ways = [np.roll(places, -1, axis) for axis in range(len(shape))]
    return np.concatenate([np.column_stack([places.ravel(), way.ravel()]) for way in ways])
