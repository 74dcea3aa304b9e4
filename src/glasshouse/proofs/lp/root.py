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
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.budget import Budget, TimeIsUpError
from glasshouse.proofs.kernels import graphs
from glasshouse.proofs.lp.cut_lp import CutLp
from glasshouse.proofs.lp.cuts import Cut, cycle_cuts
from glasshouse.proofs.lp.rounding import Certifying, Rounded, refine, round_duals
from glasshouse.proofs.lp.rounds import CentredRounds, GreedyRounds
from glasshouse.proofs.lp.separation import Separation
from glasshouse.proofs.matching.square_torus import SquareTorus
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
# A torus is cut open this many times in a row without a better state before the LP begins, and this
# many times in each of its rounds.
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
    """

    def __init__(
        self,
        graph: SignedGraph,
        slack: Fraction,
        budget: Budget,
        report: Callable[[Fraction, int], bool] = lambda lower, upper: False,
        certifying: Certifying | None = None,
        found: Callable[[], object] = lambda: None,
    ) -> None:
        self.graph, self.found = graph, found
        self.certifying = certifying or Certifying()
        self.slack, self.capacity = slack, [abs(w) for w in graph.weights]
        self.budget = self.lp_budget = budget
        self.report = report
        self.separation = Separation(graph)
        self.rounds: GreedyRounds | CentredRounds = GreedyRounds(self.separation)
        self.torus = SquareTorus.of(graph)
        if self.torus is not None or (is_sparse(graph) and graph.num_edges >= LARGE):
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
            if self.torus is not None:
                self.match_faces(self.torus, work)
            if not work.stopped:
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

    def match_faces(self, torus: SquareTorus, work: _Work) -> None:
        """Find a bound and a state of a torus by matching, without an LP."""
        try:
            moats = torus.moats(self.lp_budget)
        except TimeIsUpError:  # an LP would take even longer
            work.stopped = True
            self.make_do(work)
            return
        cuts = cycle_cuts(moats.edges, moats.begins)
        self.solved(work, cuts, moats.duals, len(moats.edges))
        self.offer(torus.state_near(moats.crossed))
        states = [self.state]
        best, in_vain = self.cost, 0
        while in_vain < _CUTS_IN_VAIN and not (self.closed(work.lower) or self.is_time_up):
            self.cut_open(torus)
            states.append(self.state)
            in_vain = in_vain + 1 if self.cost == best else 0
            best = self.cost
        if self.closed(work.lower) or self.is_time_up:
            return
        work.lp.violation = moats.crossed.astype(np.float64)
        assert isinstance(self.rounds, CentredRounds)
        centre = mean_violation(self.graph, np.array(states))
        self.rounds.begin_inside(cuts, work.lp.violation, centre)

    def make_do(self, work: _Work) -> None:
        """Provide a simple bound and state if the search stopped before it found any."""
        if work.solved[0]:
            return
        spins = self.state.copy()
        if self.torus is not None:
            faces = self.torus.faces.edges[self.torus.odd]  # cycles that need no search
            work.unsolved = cycle_cuts(faces.reshape(-1), 4 * np.arange(len(faces) + 1))
            spins = self.torus.state_near(np.zeros(self.graph.num_edges, np.bool_))
        self.offer(spins)

    def cut_open(self, torus: SquareTorus) -> None:
        """Replace the state of a torus by a matching's state, if that is at least as good."""
        try:
            spins = torus.improved(self.state, self.lp_budget)
        except TimeIsUpError:
            return
        if self.graph.cost(spins) == self.cost:
            self.state = spins
        else:
            self.offer(spins)

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
        if self.torus is not None:
            for _ in range(_CUTS_OF_ROUND if work.rounds else 0):
                if not (self.closed(work.lower) or self.is_time_up):
                    self.cut_open(self.torus)
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
        """Return the last solved LP's exact packing, or its heaviest loops if time is short."""
        cuts, duals = work.solved
        if not cuts:  # not even one LP was solved
            cuts = work.lp.cuts or work.unsolved
            duals = np.zeros(len(cuts))
        self.measure_pace(duals, cuts, sum(len(cut.edges) for cut in cuts))
        places = self.certifying.affordable(duals, cuts)
        return self.packed(duals[places], [cuts[k] for k in places.tolist()])

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

    def offer(self, spins: Spins) -> None:
        """Improve a state by single flips and by mixing, and keep it if it is the best so far."""
        graphs.descend(*self.graph.rows, self.graph.couplings, spins)
        if is_sparse(self.graph):
            pair = np.stack([spins, self.state])
            mix(self.graph, pair, 2)
            spins = pair[0]
        cost = self.graph.cost(spins)
        if cost < self.cost:
            self.state, self.cost = spins, cost
            self.found()
