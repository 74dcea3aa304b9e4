"""Workers complete the node at hand, begin with the cuts found so far, and share what they find."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import replace

import pytest
from tests.proofs.trees.test_node import dense, grown_tree
from tests.proofs.trees.test_search import half_complete, only_trees

from glasshouse.certificates import verify
from glasshouse.proofs import prove
from glasshouse.proofs.lp.node import CycleRelaxation
from glasshouse.proofs.trees.subtrees import Job, explore, seconds_of_job

__all__ = ["only_trees"]  # a fixture


class Inline(Executor):
    """Workers that explore at once, each job with a relaxation of its own, and keep the jobs."""

    _max_workers = 2

    def __init__(self, seconds=None):
        self.seconds, self.jobs, self.explored = seconds, [], []

    def submit(self, work, job):
        self.jobs.append(job)
        own = replace(job, key=str(len(self.jobs)), node=copied(job.node))
        if self.seconds is not None:
            own = replace(own, seconds=self.seconds)
        future = Future()
        future.set_result(work(own))
        self.explored.append(future.result())
        return future


def copied(node):
    """What a process gets: a node of its own."""
    return replace(node, children=list(node.children))


def test_workers_begin_with_cuts_and_complete_their_node(only_trees, monkeypatch):
    problem, executor, rows = half_complete(22, 2), Inline(seconds=0.0), []
    real = CycleRelaxation.cut_rounds

    def counted(self, *arguments):
        rows.append(len(self.lp.cuts))
        return real(self, *arguments)

    monkeypatch.setattr(CycleRelaxation, "cut_rounds", counted)
    proof = prove(problem, executor=executor, loops_only=True)
    assert proof.optimal
    assert verify(problem, proof.certificate).optimal
    # Even a job without time bounds a node, to the end.
    assert [found.nodes for found in executor.explored] == [1] * len(executor.jobs)
    # The first job of each worker brings cuts; later ones do not.
    sent = [job.node.warm is not None for job in executor.jobs]
    assert sent == [True, True] + [False] * (len(sent) - 2)
    assert len(sent) > 2
    here = len(rows) - len(sent)
    assert min(rows[here : here + 2]) > 0


@pytest.mark.parametrize(
    ("make", "method", "returns"),
    [(lambda: half_complete(22, 2), "cycle LP", False), (dense, "semidefinite", True)],
    ids=["LP", "semidefinite"],
)
def test_only_small_warm_starts_come_back(make, method, returns):
    search, root = grown_tree(make(), method, 0)
    job = Job(method, search.form, search.core, method, root, search.incumbent.state, 0.0, 600.0)
    found = explore(job)
    assert found.nodes == 1
    leaves = list(found.node.leaves())
    assert len(leaves) == 2
    assert [leaf.warm is not None for leaf in leaves] == [returns, returns]


@pytest.mark.parametrize(("waiting", "seconds"), [(0, 2.0), (3, 4.0), (100, 20.0)])
def test_the_fewer_nodes_wait_the_sooner_a_worker_returns(waiting, seconds):
    assert seconds_of_job(waiting, 2) == seconds
