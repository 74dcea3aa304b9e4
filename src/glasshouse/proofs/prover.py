"""The plan of a proof: a linear program, then a cover or a tree, until the gap is closed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Certificate, Cover, Tree, Verdict, verify
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.verdict import check_fit
from glasshouse.problems import Max2Sat, Problem, validation
from glasshouse.problems.reduction import to_spins
from glasshouse.proofs import kernels
from glasshouse.proofs.branching import Incumbent, TreeProgress, TreeSearch
from glasshouse.proofs.core import Core, lifted_state
from glasshouse.proofs.covering import Covering, lowest_state
from glasshouse.proofs.cycles import clause_cycles, make_certificate, walk_loops
from glasshouse.proofs.relaxation import Loop
from glasshouse.proofs.relaxations import new_relaxation
from glasshouse.proofs.resuming import goes_on_from, tree_of
from glasshouse.proofs.search import Search
from glasshouse.proofs.search_tree import certificate_of_tree
from glasshouse.proofs.signed_graph import SignedGraph, Spins
from glasshouse.proofs.statistics import Bounds, Statistics, Stopped
from glasshouse.proofs.subtrees import SharedSearch
from glasshouse.proofs.two_sat import satisfy

# Where looking at all states takes so little, an LP gets no more than a few times as long.
_SECONDS_OF_LP, _TIMES_COVERING = 2.0, 4.0
# Share of a time limit that the root may take where a tree can follow.
_SHARE_OF_ROOT = 0.4
# Seconds between two checkpoints, and how many times longer than the last one took.
_BETWEEN_CHECKPOINTS, _TIMES_CHECKPOINT = 10.0, 30.0


class Limits:
    """When to stop.

    Args:
        time_limit: seconds from now.
        target: an energy; stop once no state can be below it.
        node_limit: nodes of a tree; 1 is the root, without branching.
    """

    def __init__(
        self, time_limit: float | None, target: float | None, node_limit: int | None
    ) -> None:
        self.began = time.monotonic()
        self.deadline = self.began + (math.inf if time_limit is None else time_limit)
        self.target = target
        self.most_nodes = math.inf if node_limit is None else node_limit

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self.began

    @property
    def left(self) -> float:
        """Seconds until the time is up."""
        return self.deadline - time.monotonic()


class _Pause:
    """Time between two checkpoints: many times longer than the last one took."""

    def __init__(self) -> None:
        self.until = time.monotonic() + _BETWEEN_CHECKPOINTS
        self.began = 0.0

    @property
    def is_over(self) -> bool:
        """Whether it is time for another one."""
        return time.monotonic() > self.until

    def __enter__(self) -> None:
        self.began = time.monotonic()

    def __exit__(self, *fault: object) -> None:
        now = time.monotonic()
        self.until = now + max(_BETWEEN_CHECKPOINTS, _TIMES_CHECKPOINT * (now - self.began))


class Prover:
    """One proof of one problem.

    Args:
        problem: what to prove.
        limits: when to stop.
        state: one to start from, or None.
        progress: called with `Bounds` on the way.
        start: a certificate of the problem, to go on from its tree.
        checkpoint: called now and then with the certificate of the tree so far.
        workers: so many processes to search the tree; None searches it here.
        executor: instead of workers, somebody else's.
    """

    def __init__(
        self,
        problem: Problem,
        limits: Limits,
        state: npt.ArrayLike | None,
        progress: Callable[[Bounds], object] | None = None,
        *,
        start: Certificate | None = None,
        checkpoint: Callable[[Certificate], object] | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> None:
        self.problem, self.limits, self.progress = problem, limits, progress
        self.start, self.checkpoint = start, checkpoint
        self.workers, self.executor = workers, executor
        self.pause = _Pause()
        self.form = ExactForm.of(problem)
        self.known = [] if state is None else [spins_of(problem, state)]
        self.lighter = Fraction(0)
        self.graph = SignedGraph.of_form(self.form)
        if isinstance(problem, Max2Sat):
            self.known.append(_feasible(problem, self.graph))
            self._lighten(problem, self.known[-1])
        if start is not None:
            check_fit(start, problem.num_variables)
            self.known.append(np.append(start.state, np.int8(1)))
        self.history: list[Bounds] = []
        self.stopped: Stopped | None = None
        self.method, self.nodes = "cycle LP", 0
        self.search = Search(self.graph, limits.deadline, limits.target, self._note)

    def run(self) -> tuple[Certificate, Verdict]:
        """The best certificate that was found within the limits."""
        if self.start is not None and self.start.tree is not None:
            before = self._verified(self.start)
            if before[1].optimal:
                return before
            return self._by_tree()
        covering = Covering.of(self.form)
        deadline = self.limits.deadline
        if self.limits.most_nodes > 1:
            deadline -= (1 - _SHARE_OF_ROOT) * max(0.0, self.limits.left)
        if covering is not None:
            patience = max(_SECONDS_OF_LP, _TIMES_COVERING * covering.seconds)
            deadline = min(deadline, self.limits.began + patience)
        found = self._by_linear_program(deadline)
        if not self._is_open(found):
            return found
        if covering is not None and covering.seconds < max(self.limits.left, 0.5):
            return self._by_covering(covering, found)
        if self.limits.most_nodes > 1 and self.limits.left > 0:
            return self._by_tree()
        return found

    def statistics(self, certificate: Certificate) -> Statistics:
        """How it went."""
        search = self.search
        return Statistics(
            seconds=self.limits.seconds,
            num_edges=self.graph.num_edges,
            core_edges=sum(block.graph.num_edges for block in search.reduction.blocks),
            blocks=len(search.reduction.blocks),
            rounds=sum(result.rounds for result in search.results),
            cuts=sum(result.cuts for result in search.results),
            converged=search.converged,
            stopped=self.stopped,
            method=self.method,
            nodes=self.nodes,
            leaves=certificate.num_leaves,
            history=tuple(self.history),
        )

    def _is_open(self, found: tuple[Certificate, Verdict]) -> bool:
        """Whether something is left to do, and it is not time to stop."""
        return not found[1].optimal and self.stopped in (None, "time limit")

    def _by_linear_program(self, deadline: float) -> tuple[Certificate, Verdict]:
        """The root: the cycle relaxation of each block."""
        search = self.search
        search.deadline = deadline
        self.known.append(search.run(self.known))
        if search.interrupted:
            self.stopped = "Ctrl-C"
        elif not search.converged:
            self.stopped = "target" if search.reached else "time limit"
        loops, denominator = search.loops()
        spins = self._best()
        cycles = list(walk_loops(self.graph, loops, spins))
        denominator *= self.graph.loop_scale
        if isinstance(self.problem, Max2Sat):
            cycles += clause_cycles(self.problem, spins, self.lighter * denominator / 2)
        return self._verified(make_certificate(cycles, spins[:-1], denominator))

    def _by_covering(
        self, covering: Covering, found: tuple[Certificate, Verdict]
    ) -> tuple[Certificate, Verdict]:
        """All states of a few vertices."""
        try:
            self.known.append(lowest_state(self.problem, self.form))
        except KeyboardInterrupt:
            self.stopped = "Ctrl-C"
            return found
        self.stopped, self.method = None, "enumeration"
        none: Any = np.empty(0, dtype=np.int64)
        certificate = Certificate(self._best()[:-1], none, np.zeros(1, np.int64), none,
                                  tree=Tree((Cover(covering.nodes),)))  # fmt: skip
        return self._verified(certificate)

    def _by_tree(self) -> tuple[Certificate, Verdict]:
        """Branch on the core, from the root or from where another search stopped."""
        reduction = self.search.reduction
        core = Core.reduced(reduction, self._clause_loops())
        incumbent = Incumbent(core.graph, self._best()[core.names])
        relaxation = new_relaxation(self.method, core.graph)
        tree = TreeSearch(self.form, core, relaxation, incumbent, self.limits.deadline)
        start = self.start
        if start is not None and goes_on_from(start, core):
            root = tree_of(start, self.form, core.names, tree.value)
        else:
            packings = [result.packing for result in self.search.results]
            root = tree.new_root(core.packed(reduction, packings, self.form.loop_scale))

        def certificate() -> Certificate:
            self.known.append(lifted_state(reduction, core, incumbent.state))
            return certificate_of_tree(root, core.common, core.names, self._best())

        tree.report = lambda progress: self._note_tree(progress, certificate)
        if self.workers is None and self.executor is None:
            done = tree.run(root)
        else:
            done = SharedSearch(tree, self.method, self.workers, self.executor).run(root)
        self.nodes = tree.nodes
        if tree.interrupted:
            self.stopped = "Ctrl-C"
        elif done:
            self.stopped = None
        elif not tree.is_stopped:
            self.stopped = "time limit"
        return self._verified(certificate())

    def _verified(self, certificate: Certificate) -> tuple[Certificate, Verdict]:
        return certificate, verify(self.problem, certificate)

    def _best(self) -> Spins:
        """The best of all known states, turned so that the ghost is up."""
        return min((s * s[self.graph.ghost] for s in self.known), key=self.graph.cost)

    def _note(self, bounds: Bounds) -> None:
        """Keep bounds that are better than the last, and tell them."""
        last = self.history[-1] if self.history else None
        if last is None or bounds.lower > last.lower or bounds.upper < last.upper:
            lower = max(bounds.lower, last.lower if last else -math.inf)
            self.history.append(replace(bounds, lower=lower))
        if self.progress is not None:
            self.progress(bounds)

    def _note_tree(self, progress: TreeProgress, certificate: Callable[[], Certificate]) -> bool:
        """Tell how far the tree is, and keep it now and then; True if it is time to stop."""
        if self.checkpoint is not None and self.pause.is_over:
            with self.pause:
                self.checkpoint(certificate())
        lower, upper = (float(Fraction(x) / self.form.scale)
                        for x in (progress.lower, progress.upper))  # fmt: skip
        self._note(Bounds(lower, upper, self.limits.seconds, self.search.rounds, progress.nodes,
                          progress.open_nodes))  # fmt: skip
        if self.limits.target is not None and lower >= self.limits.target:
            self.stopped = "target"
            return True
        if progress.nodes >= self.limits.most_nodes:
            self.stopped = "node limit"
            return True
        return False

    def _lighten(self, problem: Max2Sat, feasible: Spins) -> None:
        """Make hard clauses no heavier than need be.

        More than the cost of a state that keeps them is enough, and floats lose less between
        numbers of similar size. What they are lighter by is made up for by triangles.
        """
        graph = self.graph
        if not problem.num_hard or not problem.is_integer:
            return
        cost = Fraction(graph.value(graph.cost(feasible)), graph.scale)
        enough = min(int(problem.hard_weight), 2 * int(cost) + 1)
        self.graph = SignedGraph.of_form(ExactForm.of_max2sat(problem, enough))
        self.lighter = Fraction(problem.hard_weight - enough)

    def _clause_loops(self) -> list[Loop]:
        """The triangles of hard clauses, in units of the graph's weights."""
        problem = self.problem
        if not isinstance(problem, Max2Sat):
            return []
        weight = self.lighter * self.graph.loop_scale / 2
        up = np.ones(self.graph.num_vertices, dtype=np.int8)
        return [(multiplier, nodes, [-1 if mark else 1 for mark in marks])
                for multiplier, nodes, marks in clause_cycles(problem, up, weight)]  # fmt: skip


def spins_of(problem: Problem, state: npt.ArrayLike) -> Spins:
    """A state of the problem as spins, the ghost's +1 behind them."""
    if np.ndim(state) > 1:
        raise ValueError(f"state has shape {np.shape(state)}; expected one state, not a batch")
    allowed = (problem.space.low, 1)
    own = validation.states(state, problem.num_variables, allowed, "state")
    return np.append(to_spins(own), np.int8(1))


def _feasible(problem: Max2Sat, graph: SignedGraph) -> Spins:
    """An assignment that satisfies the hard clauses, improved by single flips."""
    spins = spins_of(problem, satisfy(problem.num_variables, problem.hard))
    better = spins.copy()
    kernels.descend(*graph.rows, graph.couplings, better)
    better *= better[graph.ghost]
    return min(better, spins, key=graph.cost)
