"""Tree search in several processes, which receive open nodes and return explored subtrees.

A worker explores the subtree of a node for a few seconds, completes the node at hand, and returns
its results. It keeps its relaxation, with all cuts, for the next subtree of the same problem. Its
first subtree comes with the cuts that were found here, because finding them takes as long as many
nodes do.
"""

from __future__ import annotations

import threading
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from glasshouse.certificates import ExactForm
from glasshouse.pool import WorkerPool
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.core import Core
from glasshouse.proofs.relaxation import Relaxation
from glasshouse.proofs.signed_graph import Spins
from glasshouse.proofs.trees.node import Node
from glasshouse.proofs.trees.search import RELAXATIONS, Incumbent, TreeSearch
from glasshouse.stopping import deferred
from glasshouse.waiting import cancel_all, result_of, submit, wait_briefly

# Seconds for which a worker explores, at least and at most. The fewer nodes wait, the sooner it
# must return some: another worker may have nothing to do.
_LEAST_SECONDS, _MOST_SECONDS = 2.0, 20.0
# The number of failures in a row after which the search is abandoned.
_HOPELESS = 3
# The assumed number of workers of an executor that does not report it.
_UNKNOWN_WORKERS = 8


@dataclass(frozen=True)
class Job:
    """A subtree to explore for `seconds` seconds; the whole proof may take `left` more seconds."""

    key: str
    form: ExactForm
    core: Core
    method: str
    node: Node
    state: Spins
    seconds: float
    left: float


@dataclass(frozen=True)
class Explored:
    """The result of a `Job`: the explored subtree, the best state, and the number of nodes."""

    node: Node
    state: Spins
    nodes: int


class _Kept(threading.local):
    """The relaxation that a worker's thread used last."""

    key: str = ""
    relaxation: Relaxation


_kept = _Kept()


def explore(job: Job) -> Explored:
    """Explore the subtree of a job; this function runs in a worker."""
    if _kept.key != job.key:
        _kept.relaxation = RELAXATIONS[job.method](job.core.graph)
    incumbent, budget = Incumbent(job.core.graph, job.state), Budget(job.left)
    search = TreeSearch(job.form, job.core, _kept.relaxation, incumbent, budget)
    _kept.key = ""  # after an error, a relaxation may be inconsistent
    search.run(job.node, seconds=job.seconds)
    _kept.key = job.key
    for leaf in job.node.leaves():
        leaf.warm = None if _is_large(leaf.warm) else leaf.warm
    return Explored(job.node, incumbent.state, search.nodes)


def seconds_of_job(waiting: int, workers: int) -> float:
    """Return how many seconds a worker explores a subtree while `waiting` nodes wait."""
    return min(_LEAST_SECONDS * (1 + waiting // workers), _MOST_SECONDS)


def _is_large(warm: Any) -> bool:
    """Return whether a warm start contains an LP's cuts, which are too large to send each time."""
    return bool(getattr(warm, "shared", ()))


class SharedSearch:
    """A tree search in which workers explore the open nodes.

    Args:
        search: the search in this process; it decides what is closed.
        method: the name of the relaxation.
        workers: the number of processes to start; None with an executor.
        executor: an executor of the caller, for instance Dask's.
    """

    def __init__(
        self, search: TreeSearch, method: str, workers: int | None, executor: Executor | None
    ) -> None:
        self.search, self.method = search, method
        self.pool = None if workers is None else WorkerPool(workers)
        self.executor: Any = self.pool or executor
        known = workers or getattr(executor, "_max_workers", None)
        self.workers = known or _UNKNOWN_WORKERS
        self.key = uuid4().hex
        self.running: dict[Future[Explored], Node] = {}
        self.cold = self.workers  # the number of workers that may have no cuts yet
        self.breaks = 0

    def run(self, root: Node) -> bool:
        """Search a tree until no leaf is open or a limit is hit; return whether no leaf is open."""
        search = self.search
        try:
            with search.budget.hearing_ctrl_c():
                # Branch here until there is work for all workers.
                if search.run(root, self.workers):
                    return True
                while (search.num_open or self.running) and not search.budget.asks_to_stop():
                    self._send()
                    self._receive()
        finally:
            if self.pool is not None:
                self.pool.close()
            else:
                cancel_all(self.running)
        return all(search.is_done(leaf) for leaf in root.leaves())

    def _send(self) -> None:
        search = self.search
        while search.num_open and len(self.running) < self.workers:
            node = search.next_open()
            if search.is_done(node):
                continue
            seconds = seconds_of_job(search.num_open, self.workers)
            # A copy, because a worker may be a thread, and our node must not change yet.
            sent = replace(node, warm=node.warm if self.cold or not _is_large(node.warm) else None)
            self.cold = max(self.cold - 1, 0)
            with search.holdings.changing(node):
                node.warm = None
            job = Job(self.key, search.form, search.core, self.method, sent,
                      search.incumbent.state, seconds, search.budget.left())  # fmt: skip
            self.running[self._submit(job)] = node

    def _submit(self, job: Job) -> Future[Explored]:
        try:
            future = submit(self.executor, explore, job)
        except BrokenExecutor as error:
            self._rebuild(error)
            future = submit(self.executor, explore, job)
        return future

    def _receive(self) -> None:
        """Receive explored subtrees and insert them into the tree."""
        done, _ = wait_briefly(self.running)
        search = self.search
        for future in done:
            node = self.running.pop(future, None)
            if node is None:
                continue
            with deferred():
                error = future.exception()
            if error is not None:
                self._lost(node, error)
                continue
            self.breaks = 0
            explored = result_of(future)
            search.incumbent.offer(explored.state)
            search.nodes += explored.nodes
            with search.holdings.changing(node):
                node.take(explored.node)
            for leaf in node.leaves():
                search.wait_for(leaf)
        search.report(search.progress(None, [*self.running.values()]))

    def _lost(self, node: Node, error: BaseException) -> None:
        """Reopen the node of a worker that died or failed."""
        self.search.wait_for(node)
        if isinstance(error, BrokenExecutor):
            self._rebuild(error)
        else:
            self._count_fault(error)

    def _count_fault(self, error: BaseException) -> None:
        """Count a failed job; raise if `_HOPELESS` jobs in a row have failed."""
        self.breaks += 1
        if self.breaks >= _HOPELESS:
            raise RuntimeError(
                f"workers fail repeatedly ({error}); a script must start them under "
                '`if __name__ == "__main__":`, because every worker imports the script'
            ) from error

    def _rebuild(self, error: BaseException) -> None:
        """Start new workers; reopen the nodes that were sent to the old workers."""
        self._count_fault(error)
        for node in self.running.values():
            self.search.wait_for(node)
        self.running.clear()
        self.cold = self.workers
        if self.pool is None:
            raise RuntimeError("the executor accepts no more work; call prove with a new executor")
        self.pool.rebuild()
