"""The tree of one problem: its search, its results, and its certificate at any moment.

A search can resume from a certificate: its tree becomes the search tree, and its open leaves are
the remaining work.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from concurrent.futures import Executor
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Branch, Certificate, Leaf
from glasshouse.certificates.bound import Parts
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.leaf import bounded_leaf, exact_leaf
from glasshouse.certificates.ties import Pair
from glasshouse.certificates.tree import Tree
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.contraction import ContractedGraph
from glasshouse.proofs.core import Core, lifted_state
from glasshouse.proofs.preparation import Prepared
from glasshouse.proofs.signed_graph import Spins
from glasshouse.proofs.trees.node import Node, certificate_of_tree
from glasshouse.proofs.trees.search import RELAXATIONS, Incumbent, TreeProgress, TreeSearch
from glasshouse.proofs.trees.subtrees import SharedSearch

_log = logging.getLogger("glasshouse")


class Growth:
    """The search tree of one problem, which starts at the root or from an earlier certificate.

    Args:
        prepared: the prepared problem.
        reduction: the reduction of its graph.
        method: the name of the relaxation that bounds the nodes.
        budget: decides when to stop.
        parts: the loops that the linear programs of the blocks found.
        start: a certificate to resume from, if its tree is over the same core.
    """

    def __init__(
        self,
        prepared: Prepared,
        reduction: ContractedGraph,
        method: str,
        budget: Budget,
        parts: Parts,
        start: Certificate | None = None,
    ) -> None:
        self.prepared, self.reduction, self.method = prepared, reduction, method
        form = prepared.form
        self.core = Core.reduced(reduction, prepared.clause_loops())
        self.incumbent = Incumbent(self.core.graph, prepared.best[self.core.names])
        relaxation = RELAXATIONS[method](self.core.graph)
        self.search = TreeSearch(form, self.core, relaxation, self.incumbent, budget)
        self.goes_on = start is not None and goes_on_from(start, self.core)
        if start is not None and self.goes_on:
            self.root = tree_of(start, form, self.core.names, self.search.value)
        else:
            self.root = self.search.new_root(parts)

    def run(
        self,
        report: Callable[[TreeProgress], object],
        *,
        most_nodes: float = math.inf,
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> bool:
        """Search until no leaf is open or a limit is reached; return whether no leaf is open."""
        best = self.prepared.best[self.core.names]
        self.incumbent.offer(best)
        self.search.report = report
        if workers is None and executor is None:
            return self.search.run(self.root, most_nodes=most_nodes)
        try:
            shared = SharedSearch(self.search, self.method, workers, executor)
        except OSError as error:  # a system without semaphores, or without memory for processes
            _log.warning(
                "workers=%s: no worker can be started here (%s); searching in this process instead",
                workers,
                error,
            )
            return self.search.run(self.root, most_nodes=most_nodes)
        return shared.run(self.root)

    def certificate(self) -> Certificate:
        """Return the current certificate of the tree."""
        self.prepared.known.append(self.state())
        best = self.prepared.best
        return certificate_of_tree(self.root, self.core.common, self.core.names, best)

    def state(self) -> Spins:
        """Return the best known state of the whole graph."""
        return lifted_state(self.reduction, self.core, self.incumbent.state)

    @property
    def bound(self) -> Fraction:
        """The current bound: no state has a lower value."""
        return min(leaf.bound for leaf in self.root.leaves())


def goes_on_from(certificate: Certificate, core: Core) -> bool:
    """Return whether the certificate has a tree from which a search on this core can resume."""
    tree = certificate.tree
    if tree is None or not tree.num_branches:
        return False
    branches = (row for row in tree.rows if isinstance(row, Branch))
    named = {node for branch in branches for node in branch} <= set(core.names.tolist())
    first, second = Parts.of(certificate).chosen(*_common(tree)), core.common
    one, other = first.denominator, second.denominator
    return (
        named
        and np.array_equal(first.nodes, second.nodes)
        and np.array_equal(first.negative, second.negative)
        and np.array_equal(first.multipliers.astype(object) * other,
                           second.multipliers.astype(object) * one)
        and not first.squares
    )  # fmt: skip


def tree_of(
    certificate: Certificate, form: ExactForm, names: npt.NDArray[np.int32], value: int
) -> Node:
    """Return the tree of a certificate, with the bounds of its leaves.

    Args:
        certificate: a certificate with a tree that fits the problem.
        form: the problem.
        names: for each vertex of the core, its node in the problem; the tree branches only on
            these nodes.
        value: the value of the best state.
    """
    tree, parts = certificate.tree, Parts.of(certificate)
    assert tree is not None
    common_loops, common_squares = _common(tree)
    places = iter(tree.leaves())
    vertex = {int(name): k for k, name in enumerate(names.tolist())}
    nothing = parts.chosen([slice(0, 0)], [slice(0, 0)])
    worst = form.constant - form.total
    roots: list[Node] = []
    waiting: list[tuple[list[Node], list[Pair]]] = [(roots, [])]
    for row in tree.rows:
        siblings, pairs = waiting.pop()
        node = Node(pairs, nothing, Fraction(worst), worst)
        siblings.append(node)
        if isinstance(row, Branch):
            a, b = (vertex[end] for end in row)
            waiting += [(node.children, [*pairs, (a, b, sign)]) for sign in (-1, 1)]
            continue
        leaf = next(places)
        if not isinstance(row, Leaf):
            node.exact = row
            found = exact_leaf(form, leaf.pairs, row)
        else:
            node.parts = parts.chosen([leaf.loops], [leaf.squares])
            whole = parts.chosen([*common_loops, leaf.loops], [*common_squares, leaf.squares])
            found = bounded_leaf(form, leaf.pairs, whole, value)
        if found is None:  # the leaf has no states
            node.is_finished = True
        else:
            node.bound, node.least = found
    return roots[0]


def _common(tree: Tree) -> tuple[list[slice], list[slice]]:
    """Return slices that select the loops and the squares that all leaves share."""
    return [slice(0, tree.common_loops)], [slice(0, tree.common_squares)]
