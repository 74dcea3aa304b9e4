"""Certificates with a tree, grown by hand: branches on pairs of any kind, then a search."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.proofs.instances import torus_edges

from glasshouse.certificates import Certificate, Leaf
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.ties import ties_of
from glasshouse.problems import Ising, Max2Sat
from glasshouse.problems.convert import to_max2sat
from glasshouse.proofs import prove
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.core import Core
from glasshouse.proofs.lp.node import CycleRelaxation
from glasshouse.proofs.parts import NO_PARTS, named_parts
from glasshouse.proofs.signed_graph import SignedGraph
from glasshouse.proofs.trees import search as tree_search
from glasshouse.proofs.trees.node import certificate_of_tree
from glasshouse.proofs.trees.search import Incumbent, TreeSearch


def branched(problem: Max2Sat, branches: int, rng: np.random.Generator) -> Certificate:
    """A proof with a tree of loops that branches a few times on random pairs.

    Args:
        problem: what to prove.
        branches: the number of branches, each at a random leaf, on two vertices, neighbours or not.
        rng: draws them.
    """
    form = ExactForm.of(problem)
    graph = SignedGraph.of_form(form)
    state = np.append(2 * prove(problem).state - 1, 1).astype(np.int8)
    core, incumbent = Core.whole(graph), Incumbent(graph, state)
    search = TreeSearch(form, core, CycleRelaxation(graph), incumbent, Budget())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_search, "_FEW_CLASSES", 0)  # no covers
        root = search.new_root(named_parts(NO_PARTS, form.loop_scale, core.names))
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
    """Whether a proof has at least `leaves` leaves, all with loops, not covers."""
    tree = certificate.tree
    if tree is None or tree.num_leaves < leaves:
        return False
    return all(isinstance(leaf.row, Leaf) for leaf in tree.leaves())


def small_glass(rng: np.random.Generator) -> Max2Sat:
    """A complete graph, a torus or a cube, ±J or Gaussian, with and without fields.

    Mostly with some K5 on top whose couplings all favour opposite spins, in a random gauge: there
    linear programs leave a gap.
    """
    shape = [(int(rng.integers(5, 10)),), (3, 3, 3), (4, 4)][rng.integers(3)]
    size = int(np.prod(shape))
    edges = np.array(list(combinations(range(size), 2))) if len(shape) == 1 else torus_edges(shape)
    matrix = np.zeros((size, size), dtype=np.int64)
    strength = int(rng.integers(1, 3))
    if rng.integers(2):
        matrix[tuple(edges.T)] += strength * rng.choice([-1, 1], len(edges))
    else:
        strength *= 10
        matrix[tuple(edges.T)] += np.rint(strength * rng.normal(size=len(edges))).astype(np.int64)
    gauge = rng.choice([-1, 1], size)
    for _ in range(rng.integers(4)):
        five = np.ix_(*[rng.permutation(size)[:5]] * 2)
        matrix[five] -= np.triu(4 * strength * np.outer(gauge, gauge)[five], 1)
    fields = strength * rng.choice([-1, 0, 1], size) * int(rng.integers(2))
    matrix += matrix.T
    np.fill_diagonal(matrix, 0)
    return to_max2sat(Ising.from_matrix(matrix, fields=fields))[0]
