"""The memory of a tree, and its limit."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from tests.proofs.instances import spin_glass
from tests.proofs.lattices import lattice
from tests.proofs.trees.test_search import half_complete

from glasshouse.proofs import prove
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp.blocks import Blocks
from glasshouse.proofs.preparation import Prepared
from glasshouse.proofs.prover import Prover
from glasshouse.proofs.trees import subtrees
from glasshouse.proofs.trees.node import Holdings


def grown_tree(problem, method, nodes):
    """A search that has bounded some nodes, and its tree."""
    prover = Prover(Prepared(problem, None, None), Budget())
    prover.search = Blocks(prover.prepared.graph, prover.budget)
    growth = prover._growth(method)
    growth.run(lambda progress: False, most_nodes=nodes)
    return growth.search, growth.root


def dense():
    """A problem of 60 spins whose semidefinite tree has 9 nodes."""
    return spin_glass(60, 0.85, np.random.default_rng(2), gaussian=True)


def held_by(root):
    """The bytes of all that the leaves hold, each thing once."""
    things = {}
    for leaf in root.leaves():
        for thing in (leaf.parts, leaf.warm):
            if thing is not None:
                things[id(thing)] = thing.num_bytes
                things |= {id(cut): cut.num_bytes for cut in getattr(thing, "shared", ())}
    return sum(things.values())


@pytest.mark.parametrize(
    ("make", "method", "nodes"),
    [(half_complete, "cycle LP", 4), (dense, "semidefinite", 1)],
    ids=["LP", "semidefinite"],
)
def test_parts_bases_and_slacks_are_counted_once_and_branches_hold_nothing(make, method, nodes):
    search, root = grown_tree(make(), method, nodes)
    leaves = list(root.leaves())
    assert len(leaves) > 1
    assert any(leaf.warm is not None for leaf in leaves)
    assert search.holdings.num_bytes == held_by(root)
    assert held_by(root) > sum(leaf.warm.num_bytes for leaf in leaves[:1] if leaf.warm)
    for node in root.nodes():
        if node.children:
            assert node.warm is None
            assert not len(node.parts.multipliers)
            assert not node.parts.squares


def test_a_count_from_the_start_is_the_same():
    search, root = grown_tree(half_complete(), "cycle LP", 4)
    anew = Holdings()
    anew.recount(root)
    assert anew.num_bytes == search.holdings.num_bytes


def test_slacks_count_for_the_memory_limit():
    slack = 4 * 60 * 60  # bytes
    proof = prove(dense(), memory_limit=3 * slack, node_limit=40)
    assert proof.statistics.stopped == "memory limit"
    assert proof.statistics.nodes < 10


def test_where_no_worker_can_start_this_process_searches(monkeypatch, caplog):
    def refuse(workers):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(subtrees, "WorkerPool", refuse)
    problem = lattice(4, 4, 4, seed=1)
    with caplog.at_level(logging.WARNING, "glasshouse"):
        proof = prove(problem, workers=2, node_limit=4)
    assert proof.lower_bound <= proof.energy
    if proof.statistics.nodes:
        assert "no worker can be started here" in caplog.text
