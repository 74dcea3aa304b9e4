"""The cycle relaxation of one block, solved with cutting planes.

With u_e = 1 if edge e is violated,

    minimise Σ|w_e| u_e   subject to   Σ_{e ∈ C} u_e ≥ 1 for every odd cycle C,   u ≥ 0,

where odd means: an odd number of negative edges (Barahona and Mahjoub; the other cycle
inequalities hold at the optimum). The dual packs odd cycles into the weights. Both have the value
of the ground state whenever the problem is a sum of frustrated loops, planar, or has no K5 minor.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.proofs import cycle_kernels, kernels
from glasshouse.proofs.linear_program import is_optimal, new_highs
from glasshouse.proofs.packing import Packing, round_duals
from glasshouse.proofs.primal import annealed_state
from glasshouse.proofs.refinement import refine
from glasshouse.proofs.signed_graph import SignedGraph, Spins

Cycles = list[npt.NDArray[np.int32]]

# A cycle is a cut if its length is below 1 by more than the LP's own tolerance.
_TOLERANCE = 1e-6
# Makes the shorter of two equally violated cycles the better one, and no cut too long to find.
_HOP = 1e-8
# How many cuts of one round may share an edge.
_COVER = 6
# The greedy start: cycles for each edge to look for, in how many turns at most, how many of a turn
# may share an edge, and what an edge costs even if it is empty.
_GREEDY_CUTS = 1.4
_GREEDY_TURNS = 40
_GREEDY_COVER = 2
_GREEDY_HOP = 1e-3
# Rounds for which a cut may be slack before it goes.
_PATIENCE = 6
# Share of a time limit that the LP leaves to the search for a state.
_RESERVE = 0.2
# Sources are searched in groups, between which the clock is read.
_GROUP = 64
_MOST_CUTS = 4000
# Above this many cuts the interior point method is much faster than re-solving from a basis: the
# LPs are highly degenerate. Below it, the simplex method's vertices round to small denominators.
_SIMPLEX_CUTS = 500


@dataclass
class BlockResult:
    """What the LP found: `packing.total` ≤ optimum ≤ `cost`, the cost of `state`."""

    state: Spins
    cost: int
    packing: Packing
    rounds: int
    cuts: int
    converged: bool


@dataclass
class _Model:
    """HiGHS with one column for each edge and one row for each cut."""

    weights: npt.NDArray[np.float64]
    cycles: Cycles = field(default_factory=list)
    slack_for: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        self.solver = new_highs(
            self.weights,
            threads=1,
            presolve="off",  # it costs more than it saves, and throws the basis away
            run_crossover="off",  # any optimal duals will do
        )

    def add(self, cycles: Cycles) -> None:
        lengths = np.array([len(cycle) for cycle in cycles], dtype=np.int32)
        begins = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int32)
        edges = np.concatenate(cycles).astype(np.int32)
        ones = np.ones(len(cycles))
        upper = np.full(len(cycles), np.inf)
        self.solver.addRows(
            len(cycles), ones, upper, len(edges), begins, edges, np.ones(len(edges))
        )
        self.cycles += cycles
        self.slack_for = np.concatenate([self.slack_for, np.zeros(len(cycles), dtype=np.int64)])

    def solve(self, seconds: float) -> bool:
        """Solve; False if the time ran out (or, never seen, the solver gave up)."""
        if len(self.cycles) >= _SIMPLEX_CUTS:
            self.solver.setOptionValue("solver", "ipm")
            if self.run(seconds):
                return True
        self.solver.setOptionValue("solver", "simplex")
        return self.run(seconds)

    def run(self, seconds: float) -> bool:
        """Let the solver work for some time; True if it reached the optimum."""
        if np.isfinite(seconds):
            limit = self.solver.getRunTime() + max(seconds, 0.0)
            self.solver.setOptionValue("time_limit", limit)
        self.solver.run()
        return is_optimal(self.solver)

    def interior(
        self, seconds: float, otherwise: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """A solution inside the optimal face, where the time allows."""
        self.solver.setOptionValue("solver", "ipm")
        if seconds > 0 and self.run(seconds):
            return self.violation()
        return otherwise

    def violation(self) -> npt.NDArray[np.float64]:
        return np.maximum(np.array(self.solver.getSolution().col_value, dtype=np.float64), 0.0)

    def duals(self) -> npt.NDArray[np.float64]:
        return np.maximum(np.array(self.solver.getSolution().row_dual, dtype=np.float64), 0.0)

    def drop_slack(self) -> None:
        """Remove cuts that have been slack for long: they slow every further solve down."""
        slack = np.array(self.solver.getSolution().row_value) > 1.0 + _TOLERANCE
        self.slack_for = np.where(slack, self.slack_for + 1, 0)
        old = self.slack_for > _PATIENCE
        if 4 * int(old.sum()) < len(old):
            return
        gone = np.flatnonzero(old).astype(np.int32)
        self.solver.deleteRows(len(gone), gone)
        self.cycles = [cycle for cycle, is_old in zip(self.cycles, old, strict=True) if not is_old]
        self.slack_for = self.slack_for[~old]


@dataclass
class _Work:
    """How far the rounds have come; `solved` are the cuts of the last solved LP, and its duals."""

    model: _Model
    violation: npt.NDArray[np.float64]
    solved: tuple[Cycles, npt.NDArray[np.float64]] = field(
        default_factory=lambda: ([], np.zeros(0))
    )
    lower: Fraction = Fraction(0)
    rounds: int = 0
    cuts: int = 0
    converged: bool = False
    stopped: bool = False


class CycleLp:
    """One block's LP, its bounds and its best state.

    Args:
        graph: a biconnected signed graph.
        slack: a gap below this is closed; half as much again may be lost by rounding the duals.
        deadline: time on the monotonic clock at which to stop.
        report: called with (lower bound, cost of the best state) after every round; it returns
            True to stop.
    """

    def __init__(
        self,
        graph: SignedGraph,
        slack: Fraction,
        deadline: float = np.inf,
        report: Callable[[Fraction, int], bool] = lambda lower, upper: False,
    ) -> None:
        self.graph = graph
        self.slack = slack
        self.deadline = deadline
        self.lp_deadline = deadline
        self.report = report
        # Not from the couplings: the sign of a weight too small for a float would be lost.
        self.negative = (graph.weights < 0).astype(np.uint8)
        self.signatures = np.random.default_rng(0).integers(
            0, 2**64, graph.num_edges, dtype=np.uint64
        )
        self.interrupted = self.annealed = False
        self.state = np.ones(graph.num_vertices, dtype=np.int8)
        self.cost = graph.cost(self.state)

    def solve(self) -> BlockResult:
        """Add cuts until none is left, the gap is closed, or it is time to stop.

        A KeyboardInterrupt stops it, too; the last LP that was solved is kept.
        """
        self.reserve_time()
        work = _Work(_Model(np.abs(self.graph.couplings)), np.zeros(self.graph.num_edges))
        try:
            self.add_cuts(work)
            if not (self.closed(work.lower) or work.stopped):
                self.anneal(work.lower)
                violation = work.model.interior(self.time_left(), work.violation)
                self.anneal(work.lower, violation)
        except KeyboardInterrupt:
            self.interrupted = work.stopped = True
        cycles, duals = work.solved
        if not cycles:  # not even one LP was solved
            cycles, duals = work.model.cycles, np.zeros(len(work.model.cycles))
        packing = self.packed(duals, [cycle.tolist() for cycle in cycles])
        return BlockResult(self.state, self.cost, packing, work.rounds, work.cuts, work.converged)

    def add_cuts(self, work: _Work) -> None:
        """The rounds of `solve`."""
        model = work.model
        while True:
            spins = kernels.round_to_spins(*self.graph.rows, self.negative, work.violation)
            self.offer(spins)
            work.lower = Fraction(float(work.solved[1].sum())) * self.graph.largest
            if work.rounds == 1:  # plants need no more rounds, and no annealing
                self.anneal(work.lower)
            work.converged = self.closed(work.lower)
            work.stopped = self.report(work.lower, self.cost)
            if work.stopped or work.converged:
                break
            new = self.separate(work.violation) if work.rounds else self.greedy_packing()
            if not new:
                work.converged = self.time_left() > 0
                break
            work.rounds += 1
            work.cuts += len(new)
            model.add(new)
            if not model.solve(self.time_left()):
                break
            work.violation = model.violation()
            work.solved = list(model.cycles), model.duals()
            model.drop_slack()

    def reserve_time(self) -> None:
        """Keep some of the time for a better state, should the LP not end in the rest of it."""
        left = self.deadline - time.monotonic()
        self.lp_deadline = self.deadline - (_RESERVE * left if np.isfinite(left) else 0.0)

    def time_left(self) -> float:
        """Seconds for the LP."""
        return self.lp_deadline - time.monotonic()

    def packed(self, duals: npt.NDArray[np.float64], cycles: list[list[int]]) -> Packing:
        """The duals as an exact packing."""
        capacity = [abs(w) for w in self.graph.weights]
        packing = round_duals(duals, self.graph.largest, cycles, capacity, self.slack / 2)
        gap = self.cost - packing.total
        # The float sum may be off by this much where weights are large.
        blur = max(self.slack, Fraction(self.cost, 10**6))
        if self.slack * 3 / 2 < gap < blur and time.monotonic() < self.deadline:
            return refine(packing, cycles, capacity, self.cost - self.slack)
        return packing

    def closed(self, lower: Fraction) -> bool:
        """Whether no state can cost less."""
        return self.cost - lower < self.slack

    def anneal(self, lower: Fraction, violation: npt.NDArray[np.float64] | None = None) -> None:
        """Look for a better state where the gap is open: around an LP solution, or anywhere, once.

        A KeyboardInterrupt is passed on when the best state so far was kept.
        """
        if self.closed(lower) or (violation is None and self.annealed):
            return
        self.annealed |= violation is None
        seconds = (self.deadline - time.monotonic()) / 2
        least = math.ceil(lower - self.slack)
        spins, interrupted = annealed_state(self.graph, violation, least, seconds)
        self.offer(spins)
        if interrupted:
            raise KeyboardInterrupt

    def offer(self, spins: Spins) -> None:
        """Improve a state by single flips and keep it if it is the best."""
        kernels.descend(*self.graph.rows, self.graph.couplings, spins)
        cost = self.graph.cost(spins)
        if cost < self.cost:
            self.state, self.cost = spins, cost

    def greedy_packing(self) -> Cycles:
        """Cycles to start from, found by filling up the weights with short cycles.

        Each turn looks for the shortest cycles, an edge being as long as it is full, and adds half
        of what fits. These cycles are close to an optimal packing: often one LP solve is enough.
        """
        # Weights too small for a float have some room, too.
        capacity = np.maximum(np.abs(self.graph.couplings), sys.float_info.min)
        load = np.zeros_like(capacity)
        found: dict[int, npt.NDArray[np.int32]] = {}
        enough = _GREEDY_CUTS * self.graph.num_edges
        for _ in range(_GREEDY_TURNS):
            before = len(found)
            for cycle in self.short_cycles(load / capacity, np.inf, _GREEDY_HOP, _GREEDY_COVER):
                load[cycle] += capacity[cycle].min() / 2
                found.setdefault(int(self.signatures[cycle].sum()), cycle)
            few = 50 * (len(found) - before) < self.graph.num_edges
            if few or len(found) > enough or self.time_left() < 0:
                break
        return list(found.values())

    def separate(self, violation: npt.NDArray[np.float64]) -> Cycles:
        """Violated cycles, the shortest first, spread over the edges."""
        # Without the rounding, noise of the LP would outweigh the preference for few edges.
        lengths = np.round(violation, 9)
        return self.short_cycles(lengths, 1.0 - _TOLERANCE, _HOP, _COVER)[:_MOST_CUTS]

    def short_cycles(
        self, lengths: npt.NDArray[np.float64], limit: float, hop: float, cover: int
    ) -> Cycles:
        """Odd cycles below a length, the shortest first, no edge in more than `cover` of them."""
        size = self.graph.num_vertices
        graph = cycle_kernels.LengthGraph(*self.graph.rows, self.negative, lengths)
        clean = np.zeros(size, dtype=np.bool_)
        parts = []
        found = 0
        for first in range(0, size, _GROUP):
            sources = np.arange(first, min(first + _GROUP, size), dtype=np.int32)
            parts.append(cycle_kernels.odd_cycles(graph, hop, limit, sources, clean))
            found += len(parts[-1][2])
            if found > 16 * _MOST_CUTS or self.time_left() < 0:
                break
        edges = np.concatenate([part[0] for part in parts])
        shifts = np.cumsum([0] + [len(part[0]) for part in parts])
        begins = np.concatenate(
            [part[1][:-1] + shift for part, shift in zip(parts, shifts[:-1], strict=True)]
            + [shifts[-1:]]
        )
        totals = np.concatenate([part[2] for part in parts])
        order = np.lexsort((np.diff(begins), np.round(totals, 6)))
        chosen = cycle_kernels.spread(
            order, edges, begins, self.signatures, self.graph.num_edges, cover
        )
        return [edges[begins[k] : begins[k + 1]] for k in chosen.tolist()]
