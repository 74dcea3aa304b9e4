"""Branch and bound: a tree that branches on pairs of spins, with a relaxation at each node.

The result of a relaxation is never trusted. The function that checks a leaf of a certificate also
decides whether a node is closed, from the parts that the certificate will contain.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from glasshouse.certificates import Cover, ExactForm, Pair, Parts, bounded_leaf, exact_leaf, ties_of
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.core import Core
from glasshouse.proofs.kernels import graphs
from glasshouse.proofs.lp.node import CliqueRelaxation, CycleRelaxation
from glasshouse.proofs.parts import joined_parts, named_parts
from glasshouse.proofs.relaxation import Relaxation
from glasshouse.proofs.semidefinite import SemidefiniteRelaxation
from glasshouse.proofs.signed_graph import SignedGraph, Spins
from glasshouse.proofs.trees.node import Holdings, Node
from glasshouse.stopping import working_time

# The relaxations that bound the nodes of a tree, by name.
RELAXATIONS: dict[str, Callable[[SignedGraph], Relaxation]] = {
    kind.name: kind for kind in (CycleRelaxation, CliqueRelaxation, SemidefiniteRelaxation)
}
# With at most this many vertices, enumerating all states is quicker than any bound.
_FEW_CLASSES = 9
# A difference this many times smaller than all weights together exceeds the precision of an LP.
_BLUR = 10**10


class Incumbent:
    """The best state found so far for a graph.

    Attributes:
        found: called after every improvement.
    """

    def __init__(self, graph: SignedGraph, spins: Spins) -> None:
        self.graph, self.state, self.cost = graph, spins, graph.cost(spins)
        self.found: Callable[[], object] = lambda: None

    def offer(self, spins: Spins) -> None:
        """Improve a state by single flips, and keep it if it is better than the best so far."""
        better, before = spins.copy(), self.cost
        graphs.descend(*self.graph.rows, self.graph.couplings, better)
        for state in (better, spins):
            cost = self.graph.cost(state)
            if cost < self.cost:
                self.state, self.cost = state, cost
        if self.cost < before:
            self.found()


@dataclass(frozen=True)
class TreeProgress:
    """The progress of a tree search.

    Attributes:
        lower: the current bound of the tree: no state has a lower value.
        upper: the value of the best state.
        nodes: the number of nodes that were bounded.
        open_nodes: the number of open nodes.
        held: the approximate number of bytes of the tree: the parts and warm starts of its leaves,
            and the data that all nodes share. Cuts that a warm start shares count twice.
    """

    lower: Fraction
    upper: int
    nodes: int
    open_nodes: int
    held: int = 0


class TreeSearch:
    """A tree search in one process.

    The search is best bound first, with dives from the most promising open node down to a closed
    node. During a dive, a relaxation continues from its current state.

    Args:
        form: the problem in the checker's exact form.
        core: the graph to branch on.
        relaxation: bounds the nodes of the core.
        incumbent: the best state of the core.
        budget: decides when to stop.
        report: called after every node.
    """

    def __init__(
        self,
        form: ExactForm,
        core: Core,
        relaxation: Relaxation,
        incumbent: Incumbent,
        budget: Budget,
        report: Callable[[TreeProgress], object] = lambda progress: None,
    ) -> None:
        self.form, self.core, self.relaxation = form, core, relaxation
        self.incumbent = incumbent
        self.budget, self.report = budget, report
        self.nodes, self.holdings = 0, Holdings()
        self.most_open = self.most_nodes = self._until = math.inf
        self._before = 0  # the nodes that were bounded before `run`
        self._order = itertools.count()
        self._waiting: list[tuple[Fraction, int, Node]] = []
        self._blur = Fraction(form.total, _BLUR)

    @property
    def value(self) -> int:
        """The value of the best state."""
        return self.core.offset + 2 * self.incumbent.cost

    def new_root(self, parts: Parts) -> Node:
        """Return a tree of one node, which is bounded by the given parts."""
        root = Node([], parts, Fraction(0), 0)
        self._bound(root)
        return root

    def run(
        self,
        root: Node,
        most_open: float = math.inf,
        most_nodes: float = math.inf,
        seconds: float = math.inf,
    ) -> bool:
        """Search a tree until no leaf is open or a limit is hit; return whether no leaf is open.

        When a limit stops the search, its results stay in the tree.

        Args:
            root: the root of the tree.
            most_open: stop once this many nodes are open.
            most_nodes: stop once this many nodes have been bounded.
            seconds: stop after the first node that ends later than this; unlike the budget,
                this does not cut short the work on a node.
        """
        self.most_open, self.most_nodes = most_open, most_nodes
        self._before, self._until = self.nodes, working_time() + seconds
        self.holdings.recount(root)
        self._waiting.clear()
        for leaf in root.leaves():
            self.wait_for(leaf)
        with self.budget.hearing_ctrl_c():
            while self._waiting and not self._is_time_to_stop:
                self._dive(self.next_open())
        return all(self.is_done(leaf) for leaf in root.leaves())

    def is_done(self, node: Node) -> bool:
        """Return whether no state of a node beats the incumbent, as far as floats can resolve."""
        return node.is_finished or node.least >= self.value

    def _dive(self, start: Node) -> None:
        """Bound a node, then one of its children, and so on until a node is closed."""
        node: Node | None = start
        while node is not None:
            with self.holdings.changing(node):
                children = self._bounded(node)
            node = None
            if children is not None:
                node, other = children
                self.wait_for(other)
            self.report(self.progress(node))
            if node is not None and self._is_time_to_stop:
                self.wait_for(node)
                node = None

    def _bounded(self, node: Node) -> tuple[Node, Node] | None:
        """Bound a node and branch on it; return its children, or None if there are none."""
        if self.is_done(node) or self._enumerated(node):
            return None
        self.nodes += 1
        outcome = self.relaxation.bound(node.pairs, self.incumbent.cost, self.budget, node.warm)
        for state in outcome.states:
            self.incumbent.offer(state)
        self._bound(node, named_parts(outcome.parts, self.form.loop_scale, self.core.names))
        node.warm = outcome.warm
        if self.is_done(node):
            node.warm = None
            return None
        if self.budget.asks_to_stop():
            self.wait_for(node)
            return None
        if self.value - node.bound < self._blur and self.form.step < self._blur:
            node.is_finished = True
            return None
        return node.split(self._branch(node, outcome.branch))

    def _bound(self, node: Node, parts: Parts | None = None) -> None:
        """Bound a node by `parts`; store the parts if they prove more than its current parts."""
        parts = node.parts if parts is None else parts
        pairs, every = self._named(node.pairs), joined_parts([self.core.common, parts])
        found = bounded_leaf(self.form, pairs, every, self.value)
        assert found is not None, "pairs that contradict each other are never branched on"
        if parts is node.parts or (found.least, found.bound) > (node.least, node.bound):
            node.parts, node.bound, node.least = parts, found.bound, found.least

    def _enumerated(self, node: Node) -> bool:
        """Enumerate the states of a node if there are few; return whether they were enumerated."""
        if not self.core.is_whole:
            return False
        ties = ties_of(self.core.graph.num_vertices, node.pairs)
        assert ties is not None
        roots = np.unique(ties.roots)
        if len(roots) > _FEW_CLASSES:
            return False
        cover = Cover(tuple(self.core.names[roots[:-1]].tolist()))
        found = exact_leaf(self.form, self._named(node.pairs), cover)
        assert found is not None
        node.exact, node.bound, node.least = cover, found.bound, found.least
        node.forget()
        return True

    def _branch(self, node: Node, wanted: Pair | None) -> Pair:
        """Return the pair to branch on: `wanted` if possible, else the heaviest undecided edge."""
        ties = ties_of(self.core.graph.num_vertices, node.pairs)
        assert ties is not None
        if wanted is not None and ties.roots[wanted[0]] != ties.roots[wanted[1]]:
            return wanted
        ends = ties.roots[self.core.graph.edges]
        weights = np.where(ends[:, 0] != ends[:, 1], np.abs(self.core.graph.couplings), -1.0)
        a, b = self.core.graph.edges[int(np.argmax(weights))].tolist()
        return a, b, 1

    def _named(self, pairs: list[Pair]) -> list[Pair]:
        """Return pairs of core vertices as pairs of nodes of the whole problem."""
        names = self.core.names
        return [(int(names[a]), int(names[b]), sign) for a, b, sign in pairs]

    def wait_for(self, node: Node) -> None:
        """Queue an open node, at which a later dive may start."""
        if not self.is_done(node):
            heapq.heappush(self._waiting, (node.bound, next(self._order), node))

    def next_open(self) -> Node:
        """Remove and return the open node with the least bound."""
        return heapq.heappop(self._waiting)[2]

    @property
    def num_open(self) -> int:
        """The number of open nodes that wait for a dive."""
        return len(self._waiting)

    @property
    def _is_time_to_stop(self) -> bool:
        is_enough = len(self._waiting) >= self.most_open or self.nodes >= self.most_nodes
        is_late = self.nodes > self._before and working_time() > self._until
        return is_enough or is_late or self.budget.asks_to_stop()

    def progress(self, current: Node | None, elsewhere: list[Node] | None = None) -> TreeProgress:
        """Return the search's progress, counting the node in progress and nodes `elsewhere`."""
        at_work = [*(elsewhere or []), *([] if current is None else [current])]
        bounds = [Fraction(self.value), *(node.bound for node in at_work)]
        if self._waiting:
            bounds.append(self._waiting[0][0])
        open_nodes = len(self._waiting) + len(at_work)
        held = self.holdings.num_bytes + self.relaxation.num_bytes
        return TreeProgress(min(bounds), self.value, self.nodes, open_nodes, held)
