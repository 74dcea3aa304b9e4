"""The cycle relaxation of one block, solved with cutting planes.

With u_e = 1 if edge e is violated,

    minimise Σ|w_e| u_e   subject to   Σ_{e ∈ C} u_e ≥ 1 for every odd cycle C,   u ≥ 0,

where odd means: an odd number of negative edges (Barahona and Mahjoub; the other cycle
inequalities hold at the optimum). The dual packs odd cycles into the weights. Both have the value
of the ground state whenever the problem is a sum of frustrated loops, planar, or has no K5 minor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.budget import Budget, TimeIsUpError
from glasshouse.proofs.kernels import graphs
from glasshouse.proofs.lp.cut_lp import CutLp
from glasshouse.proofs.lp.cuts import Cut, cycle_cuts
from glasshouse.proofs.lp.rounding import SAMPLE, Certifying, Rounded, refine, round_duals
from glasshouse.proofs.lp.rounds import CentredRounds, GreedyRounds
from glasshouse.proofs.lp.separation import Separation
from glasshouse.proofs.matching.packing import Packing
from glasshouse.proofs.matching.search import SurfaceSearch
from glasshouse.proofs.matching.surface import Surface
from glasshouse.proofs.signed_graph import SignedGraph, Spins
from glasshouse.proofs.states import (
    annealed_state,
    annealed_states,
    best_of,
    is_sparse,
    mean_violation,
    mix,
)
from glasshouse.stopping import working_time

# The fraction of a time limit that the LP leaves for finding a state.
_RESERVE = 0.2
# Sparse graphs with at least this many edges get centred rounds; otherwise a greedy LP serves.
LARGE = 3500
# A population of states: their number, and the turns of mixing before and after the centre is set.
_RUNS, _TURNS_TO_CENTRE, _TURNS = 128, 2, 16
# The LP has stalled if this many rounds gain less than this fraction of the gap.
_STALL_ROUNDS, _STALL_GAIN = 10, 0.002
# In units of the slack, which is half of the permitted gap: a gap that counts as closed before the
# duals are rounded, and after.
_CLOSED, _PROVEN = Fraction(15, 8), Fraction(31, 16)
# Annealing searches around the LP's solution once in this many interior rounds.
_INTERIOR_PAUSE = 2
# A torus is cut open this many times in a row without a better bound or state before the LP begins,
# and this many times in each of its rounds.
_CUTS_IN_VAIN, _CUTS_OF_ROUND = 12, 4


@dataclass
class BlockResult:
    """The result for one block: `packing.total` ≤ optimum ≤ `cost`, the cost of `state`."""

    state: Spins
    cost: int
    packing: Rounded
    rounds: int
    cuts: int
    converged: bool


@dataclass
class _Work:
    """The progress of the rounds, with the cuts and duals of the last solved LP (`solved`)."""

    lp: CutLp
    solved: tuple[list[Cut], npt.NDArray[np.float64]] = field(
        default_factory=lambda: ([], np.zeros(0))
    )
    unsolved: list[Cut] = field(default_factory=list)  # used if no LP was solved
    packing: Packing | None = None  # the best packing from matchings
    lower: Fraction = Fraction(0)
    rounds: int = 0
    cuts: int = 0
    converged: bool = False
    stopped: bool = False


class CycleLp:
    """The cycle LP of one block, with the block's bounds and best state.

    Args:
        graph: a biconnected signed graph.
        slack: a gap below twice this counts as closed; rounding of the duals may use a part of it.
        budget: decides when to stop.
        report: called with (lower bound, cost of the best state) after every round; returns True to
            stop.
        certifying: the time by which the certificate must be complete.
        found: called whenever `state` is better than before.
        surface: a surface of the graph whose faces can be matched, if there is one.
    """

    def __init__(
        self,
        graph: SignedGraph,
        slack: Fraction,
        budget: Budget,
        report: Callable[[Fraction, int], bool] = lambda lower, upper: False,
        certifying: Certifying | None = None,
        found: Callable[[], object] = lambda: None,
        surface: Surface | None = None,
    ) -> None:
        self.graph, self.found, self.surface = graph, found, surface
        self.certifying = certifying or Certifying()
        self.slack, self.capacity = slack, [abs(w) for w in graph.weights]
        self.budget = self.lp_budget = budget
        self.report = report
        self.separation = Separation(graph)
        self.rounds: GreedyRounds | CentredRounds = GreedyRounds(self.separation)
        self.search: SurfaceSearch | None = None
        if surface is not None or (is_sparse(graph) and graph.num_edges >= LARGE):
            self.rounds = CentredRounds(self.separation, np.zeros(graph.num_edges))
        self.interior_rounds = 0
        self.annealed = False
        self.state = np.ones(graph.num_vertices, dtype=np.int8)
        self.cost = graph.cost(self.state)

    def solve(self) -> BlockResult:
        """Add cuts until no cut is violated, the gap is closed, or the time is up.

        After Ctrl-C, the last solved LP is kept.
        """
        # The remaining time is for a better state, if the LP does not finish.
        self.lp_budget = self.separation.budget = self.budget.part(1 - _RESERVE)
        # A crossover to a basis is not needed, because any optimal duals are good enough.
        lp = CutLp(np.abs(self.graph.couplings), run_crossover="off")
        work = _Work(lp)
        with self.budget.hearing_ctrl_c():
            if self.surface is not None:
                self.match_faces(self.surface, work)
            if not (work.stopped or work.converged):
                self.add_cuts(work)
            if not (self.closed(work.lower) or work.stopped):
                self.anneal(work.lower)
                if not (self.is_time_up or lp.is_interior):
                    lp.solve(self.lp_budget.left(), solver="ipm")
                self.anneal(work.lower, lp.violation)
        if self.budget.stopped == "Ctrl-C":
            self.certifying.hurry()
            self.budget.to_the_end(lambda: self.make_do(work))
        packing = self.budget.to_the_end(lambda: self.affordable_packing(work))
        return BlockResult(self.state, self.cost, packing, work.rounds, work.cuts, work.converged)

    def match_faces(self, surface: Surface, work: _Work) -> None:
        """Find a bound and a state by matching the faces of a surface, without an LP."""
        search = self.search = SurfaceSearch(surface, self.lp_budget)
        try:
            spins = search.begin()
        except TimeIsUpError:  # an LP would take even longer
            work.stopped = True
            self.make_do(work)
            return
        self.offer(spins)
        self.matched(work, search.packing)
        states, in_vain = [self.state], 0
        while not (work.stopped or work.converged) and in_vain < _CUTS_IN_VAIN:
            before = work.lower, self.cost
            self.cut_open(search)
            self.matched(work, search.packing)
            states.append(self.state)
            in_vain = in_vain + 1 if before == (work.lower, self.cost) else 0
        if work.stopped or work.converged:
            return
        cuts = cycle_cuts(search.packing.edges, search.packing.begins)
        work.lp.violation = search.crossed.astype(np.float64)
        assert isinstance(self.rounds, CentredRounds)
        centre = mean_violation(self.graph, np.array(states))
        self.rounds.begin_inside(cuts, work.lp.violation, centre)

    def matched(self, work: _Work, packing: Packing) -> None:
        """Store a packing from matchings, report its bound, and decide whether to stop."""
        if packing is not work.packing:
            work.packing, work.lower = packing, max(packing.total, work.lower)
            some = packing.begins[: SAMPLE + 2]
            cuts = cycle_cuts(packing.edges[: some[-1]], some)
            self.measure_pace(np.zeros(len(cuts)), cuts, len(packing.edges))
            self.budget.end_by(self.certifying.latest_start(len(packing.edges)))
        work.converged = self.closed(work.lower)
        work.stopped = self.report(work.lower, self.cost) or self.is_time_up

    def make_do(self, work: _Work) -> None:
        """Provide a simple bound and state if the search stopped before it found any."""
        if work.solved[0] or work.packing is not None:
            return
        spins = self.state.copy()
        if self.surface is not None:
            work.unsolved = cycle_cuts(*self.surface.odd_faces())  # cycles that need no search
            nothing = np.zeros(self.graph.num_edges)
            spins = graphs.round_to_spins(*self.graph.rows, self.graph.negative, nothing)
        self.offer(spins)

    def cut_open(self, search: SurfaceSearch) -> None:
        """Improve the bound and the state of a torus by matchings on parts of it."""
        with suppress(TimeIsUpError):
            spins = search.on_cylinder(self.state)
            self.offer(search.on_disc(spins), equal=True)
            self.offer(search.on_disc(self.state), equal=True)

    def add_cuts(self, work: _Work) -> None:
        """Add cuts and solve the LP, round by round, until no cut is violated or a limit is met."""
        lp, rounds = work.lp, self.rounds
        history: list[Fraction] = []
        while True:
            self.look_for_states(work)
            work.converged = self.closed(work.lower)
            work.stopped = self.report(work.lower, self.cost)
            if work.stopped or work.converged or self.is_time_up:
                break
            history.append(work.lower)
            if self.stalled(history):
                work.converged = True
                break
            new = rounds.cuts(work.lp.violation) if work.rounds else rounds.start()
            if not new:
                work.converged = not self.is_time_up
                break
            work.rounds += 1
            work.cuts += len(new)
            lp.add(new)
            method = rounds.method(lp)
            end = lp.solve(self.lp_budget.left(), solver=method)
            if end == "unsure" and method == "ipm":
                end = lp.solve(self.lp_budget.left(), solver="simplex")
            if end != "optimal":  # more time does not help a solver that is not sure
                work.converged = end == "unsure"
                break
            self.solved(work, list(lp.cuts), lp.duals, int(lp.sizes.sum()))
            rounds.clean(lp)

    def solved(
        self, work: _Work, cuts: list[Cut], duals: npt.NDArray[np.float64], num_edges: int
    ) -> None:
        """Store the solution of an LP, and reserve time for its certificate."""
        work.solved = cuts, duals
        work.lower = Fraction(float(duals.sum())) * self.graph.largest
        self.measure_pace(duals, cuts, num_edges)
        self.budget.end_by(self.certifying.latest_start(num_edges))

    def look_for_states(self, work: _Work) -> None:
        """Search for better states: round the LP's solution, and anneal if a gap remains."""
        negative = self.graph.negative
        self.offer(graphs.round_to_spins(*self.graph.rows, negative, work.lp.violation))
        if self.search is not None:
            for _ in range(_CUTS_OF_ROUND if work.rounds else 0):
                if not (self.closed(work.lower) or self.is_time_up):
                    with suppress(TimeIsUpError):
                        self.offer(self.search.on_disc(self.state), equal=True)
        elif work.rounds == 1:  # after the first round, which closes the gap of most plants
            self.anneal(work.lower)
        elif isinstance(self.rounds, CentredRounds) and self.rounds.interior:
            self.interior_rounds += 1
            if self.interior_rounds % _INTERIOR_PAUSE == 0:
                self.anneal(work.lower, work.lp.violation)

    def stalled(self, history: list[Fraction]) -> bool:
        """Return whether the last `_STALL_ROUNDS` rounds raised the bound by almost nothing."""
        if len(history) <= _STALL_ROUNDS:
            return False
        gain = history[-1] - history[-1 - _STALL_ROUNDS]
        return gain < _STALL_GAIN * (self.cost - history[-1])

    @property
    def is_time_up(self) -> bool:
        """Whether the LP must end, because its time is up or the proof was stopped."""
        return self.lp_budget.asks_to_stop()

    def affordable_packing(self, work: _Work) -> Rounded:
        """Return the best exact packing, or its heaviest loops if time is short."""
        if work.packing is not None and work.packing.total >= work.lower:
            return self.affordable_matching(work.packing)
        cuts, duals = work.solved
        if not cuts:  # not even one LP was solved
            cuts = work.lp.cuts or work.unsolved
            duals = np.zeros(len(cuts))
        self.measure_pace(duals, cuts, sum(len(cut.edges) for cut in cuts))
        places = self.certifying.affordable(duals, cuts)
        return self.packed(duals[places], [cuts[k] for k in places.tolist()])

    def affordable_matching(self, packing: Packing) -> Rounded:
        """Return the cycles of a packing from matchings, or the heaviest if time is short."""
        cuts = cycle_cuts(packing.edges, packing.begins)
        places = self.certifying.affordable(packing.widths.astype(np.float64), cuts)
        widths = packing.widths[places]
        common = math.gcd(packing.denominator, int(np.gcd.reduce(widths)))
        return Rounded(packing.denominator // common, widths // common,
                       [cuts[k] for k in places.tolist()], int(widths.sum()) // common)  # fmt: skip

    def measure_pace(self, duals: npt.NDArray[np.float64], cuts: list[Cut], num_edges: int) -> None:
        """Measure how long a certificate takes by rounding a few loops, if time may be short."""
        if self.certifying.may_be_late(num_edges):
            self.certifying.measure(cuts, lambda some: self.rounded(duals[: len(some)], some))

    def rounded(self, duals: npt.NDArray[np.float64], cuts: list[Cut]) -> Rounded:
        """Round the duals to an exact packing, within the precision of floats."""
        total = Fraction(float(duals.sum())) * self.graph.largest
        room = self.slack * _PROVEN - (self.cost - total)
        loss = min(self.slack / 2, max(room, self.slack * (_PROVEN - _CLOSED)))
        return round_duals(duals, self.graph.largest, cuts, self.capacity, loss)

    def packed(self, duals: npt.NDArray[np.float64], cuts: list[Cut]) -> Rounded:
        """Round the duals to an exact packing, beyond the precision of floats if needed."""
        packing = self.rounded(duals, cuts)
        gap = self.cost - packing.total
        # The float sum may be off by this much if weights are large.
        blur = max(self.slack, Fraction(self.cost, 10**6))
        if self.slack * _PROVEN < gap < blur and working_time() < self.budget.deadline:
            return self.refined(packing, cuts)
        return packing

    def refined(self, packing: Rounded, cuts: list[Cut]) -> Rounded:
        """Refine the packing beyond the precision of floats, if there is time."""
        with self.budget.hearing_ctrl_c():
            enough, deadline = self.cost - self.slack, self.budget.deadline
            return refine(packing, cuts, self.capacity, enough, deadline)
        return packing

    def closed(self, lower: Fraction) -> bool:
        """Return whether `lower` closes the gap, even after the duals are rounded."""
        return self.cost - lower < self.slack * _CLOSED

    def anneal(self, lower: Fraction, violation: npt.NDArray[np.float64] | None = None) -> None:
        """Anneal if the gap is open: near the LP solution `violation`, or, once, without it."""
        budget, is_anywhere = self.budget, violation is None
        if self.closed(lower) or (is_anywhere and self.annealed) or budget.asks_to_stop():
            return
        self.annealed |= is_anywhere
        least = math.ceil(lower - self.slack)
        if is_anywhere and isinstance(self.rounds, CentredRounds):
            states = annealed_states(self.graph, _RUNS, least, budget.part(0.5))
            mix(self.graph, states, _TURNS_TO_CENTRE, budget)
            self.rounds.aim.centre = mean_violation(self.graph, states)
            mix(self.graph, states, _TURNS, budget)
            self.offer(best_of(self.graph, states))
        else:
            self.offer(annealed_state(self.graph, violation, least, budget))

    def offer(self, spins: Spins, equal: bool = False) -> None:
        """Improve a state by single flips and by mixing, and keep it if it is the best so far.

        Args:
            spins: the state.
            equal: whether to keep it even if it is only as good as the best.
        """
        graphs.descend(*self.graph.rows, self.graph.couplings, spins)
        if is_sparse(self.graph):
            pair = np.stack([spins, self.state])
            mix(self.graph, pair, 2)
            spins = pair[0]
        cost = self.graph.cost(spins)
        if cost < self.cost:
            self.state, self.cost = spins, cost
            self.found()
        elif equal and cost == self.cost:
            self.state = spins
