"""A tree on its way: the search, what it knows, and the certificate that it is at any moment."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from concurrent.futures import Executor
from fractions import Fraction

from glasshouse.certificates import Certificate
from glasshouse.proofs.contraction import ContractedGraph
from glasshouse.proofs.core import Core, lifted_state
from glasshouse.proofs.parts import Packing
from glasshouse.proofs.preparation import Prepared
from glasshouse.proofs.signed_graph import Spins
from glasshouse.proofs.trees.node import certificate_of_tree
from glasshouse.proofs.trees.relaxations import new_relaxation
from glasshouse.proofs.trees.resuming import goes_on_from, tree_of
from glasshouse.proofs.trees.search import Incumbent, TreeProgress, TreeSearch
from glasshouse.proofs.trees.subtrees import SharedSearch

_log = logging.getLogger("glasshouse")


class Growth:
    """One tree of one problem.

    Args:
        prepared: the problem.
        reduction: of its graph.
        method: which relaxation bounds the nodes.
        deadline: when to stop, on the clock of `working_time`.
        packings: what linear programs of the blocks have found.
        start: a certificate to go on from, if its tree is one over the same core.
    """

    def __init__(
        self,
        prepared: Prepared,
        reduction: ContractedGraph,
        method: str,
        deadline: float,
        packings: list[Packing],
        start: Certificate | None = None,
    ) -> None:
        self.prepared, self.reduction, self.method = prepared, reduction, method
        form = prepared.form
        self.core = Core.reduced(reduction, prepared.clause_loops())
        self.incumbent = Incumbent(self.core.graph, prepared.best[self.core.names])
        relaxation = new_relaxation(method, self.core.graph)
        self.search = TreeSearch(form, self.core, relaxation, self.incumbent, deadline)
        self.goes_on = start is not None and goes_on_from(start, self.core)
        if start is not None and self.goes_on:
            self.root = tree_of(start, form, self.core.names, self.search.value)
        else:
            parts = self.core.packed(reduction, packings, form.loop_scale)
            self.root = self.search.new_root(parts)

    def run(
        self,
        report: Callable[[TreeProgress], bool],
        *,
        most_nodes: float = math.inf,
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> bool:
        """Search on; True if nothing is left to do."""
        best = self.prepared.best[self.core.names]
        self.incumbent.offer(best)
        self.search.report = report
        if workers is None and executor is None:
            return self.search.run(self.root, most_nodes=most_nodes)
        try:
            shared = SharedSearch(self.search, self.method, workers, executor)
        except OSError as error:  # a system without semaphores, or without room for processes
            _log.warning(
                "workers=%s: no worker can be started here (%s); this process searches by itself",
                workers,
                error,
            )
            return self.search.run(self.root, most_nodes=most_nodes)
        return shared.run(self.root)

    def certificate(self) -> Certificate:
        """The certificate that the tree is now."""
        self.prepared.known.append(self.state())
        best = self.prepared.best
        return certificate_of_tree(self.root, self.core.common, self.core.names, best)

    def state(self) -> Spins:
        """The best state that it knows, of the whole graph."""
        return lifted_state(self.reduction, self.core, self.incumbent.state)

    @property
    def bound(self) -> Fraction:
        """No state has a lower value."""
        return min(leaf.bound for leaf in self.root.leaves())
