"""The plan of a proof: linear programs, a semidefinite bound, a cover, an order or a tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np

from glasshouse.certificates import Certificate, Cover, Order, Proven, Tree
from glasshouse.proofs.budget import Budget, Pause, TimeIsUpError
from glasshouse.proofs.covering import Covering, lowest_state
from glasshouse.proofs.lp.blocks import Blocks
from glasshouse.proofs.lp.root import LARGE
from glasshouse.proofs.narrow import NarrowGraph
from glasshouse.proofs.parts import NO_PARTS
from glasshouse.proofs.preparation import Prepared
from glasshouse.proofs.progress import ELIMINATION, Bounds, Statistics, Stopped
from glasshouse.proofs.semidefinite.relaxation import is_dense
from glasshouse.proofs.signed_graph import Spins
from glasshouse.proofs.states import annealed_state, good_state
from glasshouse.proofs.trees.growth import Growth
from glasshouse.proofs.trees.search import TreeProgress
from glasshouse.stopping import working_time

# If a cover can be enumerated, the LP may take this long, or this many times as long as that.
_SECONDS_OF_LP, _TIMES_COVERING = 2.0, 4.0
# A cover that takes less time than this (in seconds) is preferred to an elimination order.
_QUICK_COVERING = 0.5
# An LP takes at least this time per edge of the core, without the first edges. If an elimination
# takes less, no LP is solved. Otherwise, the LP may take this many seconds, or as long as the
# elimination, of which this multiple is reserved.
_SECONDS_PER_EDGE, _FEW_EDGES = 1e-4, 1000
_SECONDS_BEFORE_ORDER, _TIMES_ORDER = 0.5, 1.5
# An elimination of a dense graph is used only if it takes at most this many seconds.
_QUICK_ORDER = 0.1
# The time of a certificate without loops, as a fraction of the time for reading the problem and
# reducing its graph: the certificate takes the same steps back.
_SHARE_OF_PREPARATION = 0.35
# The fraction of a time limit that the LP of the root may take if a tree or a semidefinite bound
# can follow. The LP of a large sparse graph may take all of it: its tree would rarely be finished.
_SHARE_OF_ROOT = 0.4
# The fraction of the remaining time that annealing may take before a tree is searched.
_SHARE_OF_ANNEALING = 0.2
# The fraction of the gap that each round of an LP must close if another bound can take over, or if
# a tree can continue with its LPs. It does not apply to larger graphs and to tori, for which the
# LP is best.
_LEAST_GAIN = 0.3


class _Stalling:
    """A test of whether a round of an LP closes too little of the gap."""

    def __init__(self) -> None:
        self.gap = math.inf

    def __call__(self, lower: Fraction, upper: Fraction) -> bool:
        before, self.gap = self.gap, float(upper - lower)
        return self.gap > (1 - _LEAST_GAIN) * before


def _always(lower: Fraction, upper: Fraction) -> bool:
    """Give up the LP before it begins."""
    return True


class Prover:
    """The search for a proof of one problem, by one method after another.

    Args:
        prepared: the problem, and the known states.
        budget: decides when to stop.
        start: a certificate of the problem, to resume from its tree.
        checkpoint: called at intervals with the certificate of the tree so far.
        workers: the number of processes that search the tree; None searches it in this process.
        executor: an executor to use instead of workers.
        loops_only: omit squares, covers and orders.
        incumbent: called with every better state, followed by the ghost's spin.
    """

    def __init__(
        self,
        prepared: Prepared,
        budget: Budget,
        *,
        start: Certificate | None = None,
        checkpoint: Callable[[Certificate], object] | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        loops_only: bool = False,
        incumbent: Callable[[Spins], object] | None = None,
    ) -> None:
        self.incumbent = incumbent
        self.prepared, self.budget = prepared, budget
        self.start, self.checkpoint, self.pause = start, checkpoint, Pause()
        self.workers, self.executor, self.loops_only = workers, executor, loops_only
        self.method, self.nodes = "cycle LP", 0
        self.found: Proven | None = None  # the proof so far
        self.search: Blocks  # set once the graph was reduced in time
        self.is_large = False
        self.is_done = False  # whether the last search completed

    def run(self) -> Proven:
        """Return the best certificate that was found within the limits."""
        with self.budget.hearing_ctrl_c():
            return self._best()
        # Ctrl-C came between two of the steps that keep their results.
        return self.found or self._certified(lambda: self.prepared.loop_certificate(NO_PARTS))

    def _best(self) -> Proven:
        """Try one method after another; each is guarded against Ctrl-C by itself."""
        if self.incumbent is not None:
            self.incumbent(self.prepared.best)
        with suppress(TimeIsUpError), self.budget.hearing_ctrl_c():
            self.search = Blocks(self.prepared.graph, self.budget, self.incumbent)
            self.budget.reserve(_SHARE_OF_PREPARATION * self.budget.seconds)
        if not hasattr(self, "search"):
            return self._certified(lambda: self.prepared.loop_certificate(NO_PARTS))
        if self.start is not None:
            before = self.found = Proven(self.prepared.problem, self.start)
            if before.verdict.optimal:
                return before
            before_stop = self._growth()
            if before_stop.goes_on:
                return self._by_tree(before_stop)
        covering, narrow = self.exact_methods()
        if narrow is not None and narrow.seconds < self._least_seconds_of_lp:
            exact = self._by_elimination(narrow)
            if exact is not None:
                return exact
            narrow = None
        found = self._by_linear_program(covering, narrow)
        if found.verdict.optimal or self.budget.stopped in ("target", "Ctrl-C"):
            return found
        if narrow is not None:
            found = self._by_elimination(narrow) or found
            if found.verdict.optimal or self.budget.stopped == "Ctrl-C":
                return found
        if covering is not None and covering.seconds < max(self.budget.left(), 0.5):
            return self._by_covering(covering, found)
        if self.budget.asks_to_stop() or (self.is_large and not self.is_done):
            self.is_done &= not self.search.gave_up  # no time is left for what would follow
            return found
        growth = self._better_root(found) if self._is_dense else None
        if self.budget.most_nodes > 1:
            if growth is None:
                growth = self._growth()
                budget = self.budget.part(_SHARE_OF_ANNEALING)
                growth.incumbent.offer(good_state(growth.core.graph, budget))
            return self._by_tree(growth)
        return found if growth is None else self._harvest(growth)

    def statistics(self, found: Proven) -> Statistics:
        """Return the statistics of the proof."""
        search = getattr(self, "search", None)
        edges = self.prepared.graph.num_edges
        blocks = search.reduction.blocks if search else []
        results = search.results if search else []
        reason: Stopped = self.budget.stopped or "time limit"
        is_finished = self.is_done and reason != "Ctrl-C"
        return Statistics(
            seconds=self.budget.seconds,
            num_edges=edges,
            core_edges=sum(block.graph.num_edges for block in blocks) if search else edges,
            blocks=len(blocks) if search else 1,
            rounds=sum(result.rounds for result in results),
            cuts=sum(result.cuts for result in results),
            converged=search is not None and search.converged,
            stopped=None if found.verdict.optimal or is_finished else reason,
            method=self.method,
            nodes=self.nodes,
            leaves=found.certificate.num_leaves,
            history=tuple(self.budget.history),
        )

    @property
    def _is_dense(self) -> bool:
        blocks = self.search.reduction.blocks
        return not self.loops_only and len(blocks) == 1 and is_dense(blocks[0].graph)

    def _growth(self, method: str | None = None) -> Growth:
        """Return a search tree that starts from an earlier certificate or from the LPs' results."""
        if method is None and self.start is not None and self.start.num_squares and self._is_dense:
            method = "semidefinite"
        elif method is None:
            method = "cycle LP" if self.loops_only else "clique LP"
        search, parts = self.search, self.search.core_parts()
        growth = Growth(self.prepared, search.reduction, method, self.budget, parts, self.start)
        tell = self.incumbent
        if tell is not None:
            growth.incumbent.found = lambda: tell(growth.state())
        return growth

    def _better_root(self, found: Proven) -> Growth | None:
        """Return a tree with a semidefinite root bound, or None if the LP's bound is better."""
        growth = self._growth("semidefinite")
        self.is_done = growth.run(self._teller(growth), most_nodes=1)
        is_better = growth.bound > found.verdict.bound * self.prepared.form.scale
        return growth if is_better or self.budget.stopped == "Ctrl-C" else None

    def exact_methods(self) -> tuple[Covering | None, NarrowGraph | None]:
        """Return a cover or a narrow graph whose least value can be computed in time."""
        if self.loops_only or not self.search.reduction.blocks:
            return None, None
        form, budget = self.prepared.form, self.budget
        covering = narrow = None
        with suppress(TimeIsUpError), budget.hearing_ctrl_c():
            covering = Covering.of(form)
            if covering is None or covering.seconds >= _QUICK_COVERING:
                narrow = NarrowGraph.of(form, budget.most_bytes, budget.check)
        if narrow is None or narrow.seconds > budget.left():
            return covering, None
        if self._is_dense and narrow.seconds > _QUICK_ORDER:
            return covering, None
        if covering is not None and covering.seconds < narrow.seconds:
            return covering, None
        return None, narrow

    @property
    def _least_seconds_of_lp(self) -> float:
        """The time that the LPs of the core will hardly fall below; 0 if the core is small."""
        edges = sum(block.graph.num_edges for block in self.search.reduction.blocks)
        return _SECONDS_PER_EDGE * max(0, edges - _FEW_EDGES)

    def _by_linear_program(
        self, covering: Covering | None, narrow: NarrowGraph | None = None
    ) -> Proven:
        """Bound each block by its cycle relaxation."""
        search, budget = self.search, self.budget
        blocks = search.reduction.blocks
        largest = max((block.graph.num_edges for block in blocks), default=0)
        is_torus = any(block.surface and not block.surface.is_planar for block in blocks)
        self.is_large = is_torus or (largest >= LARGE and not self._is_dense)
        is_followed = self._is_dense or (budget.most_nodes > 1 and not self.is_large)
        search.budget = budget.part(_SHARE_OF_ROOT if is_followed else 1.0)
        if covering is not None:
            patience = max(_SECONDS_OF_LP, _TIMES_COVERING * covering.seconds)
            search.budget.end_by(budget.began + patience)
        elif narrow is not None:
            patience = max(_SECONDS_BEFORE_ORDER, narrow.seconds)
            most = budget.left() - _TIMES_ORDER * narrow.seconds
            search.budget.end_by(working_time() + min(patience, max(most, 0.0)))
        if is_followed:
            search.new_test = (lambda: _always) if self._is_beyond_lp() else _Stalling
        self.prepared.known.append(search.run(self.prepared.known))
        self.is_done = (search.converged or search.gave_up) and budget.stopped != "target"
        began = budget.seconds
        parts = budget.to_the_end(search.parts)
        found = self.found = self._certified(lambda: self.prepared.loop_certificate(parts))
        budget.reserve(budget.seconds - began)  # the certificate of a tree takes about as long
        return found

    def _is_beyond_lp(self) -> bool:
        """Return whether no LP over cycles can prove the optimum of a dense graph.

        A cycle has at least 3 edges, so the LP is at most a third of the weight of all edges. If
        annealing does not find a state that costs less, no state seems to cost less. A target may
        be within reach of the LP in any case.
        """
        if not self._is_dense or self.budget.target is not None:
            return False
        reduction = self.search.reduction
        graph, state = reduction.blocks[0].graph, reduction.restrict(self.prepared.best)[0]
        most = graph.total // 3
        with self.budget.hearing_ctrl_c():
            if graph.cost(state) > most:
                state = annealed_state(graph, None, most, self.search.budget)
        if graph.cost(state) <= most:
            return False
        self._keep(self.budget.to_the_end(lambda: reduction.lift_state([state])))
        return True

    def _keep(self, state: Spins) -> None:
        """Keep a state, and report the best state if it has changed."""
        prepared = self.prepared
        before = prepared.graph.cost(prepared.best)
        prepared.known.append(state)
        if self.incumbent is not None and prepared.graph.cost(prepared.best) < before:
            self.incumbent(prepared.best)

    def _certified(self, certificate: Callable[[], Certificate]) -> Proven:
        """Make a certificate and verify it, even if the time is up.

        If Ctrl-C interrupts a step, only that step is repeated.
        """
        made = self.budget.to_the_end(certificate)
        return self.budget.to_the_end(lambda: Proven(self.prepared.problem, made))

    def _by_covering(self, covering: Covering, found: Proven) -> Proven:
        """Return a proof by enumerating all states of a vertex cover, or `found` after Ctrl-C."""
        prepared = self.prepared
        with self.budget.hearing_ctrl_c():
            self._keep(lowest_state(prepared.problem, prepared.form))
            none: Any = np.empty(0, dtype=np.int64)
            tree = Tree((Cover(covering.nodes),))
            state, starts = prepared.best[:-1], np.zeros(1, np.int64)
            covered = Certificate(state, none, starts, none, tree=tree)
            found = Proven(prepared.problem, covered)
            self.is_done, self.method = True, "enumeration"
        if not found.verdict.optimal and self.budget.stopped != "Ctrl-C":
            # Rounding hid the best state among others; elimination compares exact energies.
            with self.budget.hearing_ctrl_c():
                narrow = NarrowGraph.of(prepared.form, self.budget.most_bytes)
                found = (narrow and self._by_elimination(narrow)) or found
        return found

    def _by_elimination(self, narrow: NarrowGraph) -> Proven | None:
        """Return a proof by an elimination order, or None if the time is up or after Ctrl-C."""
        if narrow.seconds > self.budget.left():
            return None
        prepared, part = self.prepared, self.budget.part(0.5)  # the check takes as long
        found = None
        with suppress(TimeIsUpError), self.budget.hearing_ctrl_c():
            self._keep(narrow.lowest_state(part.check))
            none: Any = np.empty(0, dtype=np.int64)
            tree = Tree((Order(narrow.nodes),))
            ordered = Certificate(prepared.best[:-1], none, np.zeros(1, np.int64), none, tree=tree)
            found = Proven(prepared.problem, ordered)
            self.is_done, self.method = True, ELIMINATION
        return found

    def _by_tree(self, growth: Growth) -> Proven:
        """Search a tree until all leaves are closed or a limit is reached, and return its proof."""
        tell = self._teller(growth)
        self.is_done = growth.run(tell, workers=self.workers, executor=self.executor)
        return self._harvest(growth)

    def _harvest(self, growth: Growth) -> Proven:
        """Verify and return the certificate of a tree; record its method and number of nodes."""
        self.method, self.nodes = growth.method, growth.search.nodes
        return self._certified(growth.certificate)

    def _teller(self, growth: Growth) -> Callable[[TreeProgress], object]:
        """Return a function that reports a tree's progress, and writes checkpoints when due."""
        scale, budget = self.prepared.form.scale, self.budget

        def tell(progress: TreeProgress) -> None:
            if self.checkpoint is not None and self.pause.is_over:
                with self.pause:
                    self.checkpoint(growth.certificate())
            lower, upper = (float(Fraction(x) / scale) for x in (progress.lower, progress.upper))
            bounds = Bounds(lower, upper, budget.seconds, self.search.rounds, progress.nodes,
                            progress.open_nodes)  # fmt: skip
            budget.tell(bounds, progress.held)

        return tell
