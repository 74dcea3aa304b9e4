"""Relaxations of sparse graphs in a tree search: LPs that are carried over from node to node.

`CycleRelaxation` has only cycle inequalities; `CliqueRelaxation` adds odd cliques if needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasshouse.certificates import Pair
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.kernels import graphs
from glasshouse.proofs.lp.centre import Aim, Point, centre_of, states_of
from glasshouse.proofs.lp.cuts import Cut
from glasshouse.proofs.lp.interior_duals import interior_duals
from glasshouse.proofs.lp.node_lp import Basis, NodeLp
from glasshouse.proofs.lp.rounding import Rounded, exact_bound, honest_bound, round_leaf_duals
from glasshouse.proofs.lp.separation import CliqueSeparator, Separation, arc_lengths
from glasshouse.proofs.lp.stock import Stock
from glasshouse.proofs.lp.strong_branching import Brancher, Choice
from glasshouse.proofs.lp.tied_graph import TiedGraph
from glasshouse.proofs.relaxation import Outcome
from glasshouse.proofs.signed_graph import SignedGraph, Spins

# The violation that a cut should have, and the least that it may have if there is no such cut.
_CLEARLY, _BARELY = 0.02, 1e-5
# The cost of an arc in addition to its length: prefers the shorter of equally violated cycles.
_HOP = 1e-7
# The most cuts of one round that may share an arc, and the most cuts in total.
_COVER, _MOST_CUTS = 4, 2000
# The first fraction of the way from the centre to the solution, and the last before the end.
_FIRST_AIM, _LAST_AIM = 0.7, 0.95
# Fewer cuts than this fraction of the vertices are not worth a round far from the solution.
_FEW = 0.04
# The excess of a value over the goal above which its duals are worth rounding.
_MARGIN = 1e-7
# The relative error of an LP's value: a node may still be closed if this much of it is missing.
_BLUR = 1e-9
# Solves for which a cut may be slack, and the fraction of such cuts worth removing.
_PATIENCE, _SHARE_ASLEEP = 4, 0.2


class Stall(NamedTuple):
    """The condition for branching: the last `rounds` rounds closed less than `share` of the gap."""

    rounds: int
    share: float

    def is_reached(self, history: list[float], goal: float) -> bool:
        """Return whether the rounds have stalled, given the LP's value after each round so far."""
        if len(history) <= self.rounds:
            return False
        gain = history[-1] - history[-1 - self.rounds]
        return gain < self.share * (goal - history[-1])


class CycleRelaxation:
    """The relaxation by cycle inequalities (see `relaxation.Relaxation`).

    Args:
        graph: a signed graph; the sparser it is, the better the bounds.
    """

    name = "cycle LP"
    stall_of_root, stall_of_node = Stall(5, 0.005), Stall(2, 0.15)

    def __init__(self, graph: SignedGraph) -> None:
        self.graph = graph
        self.weights = np.abs(graph.couplings)
        self.separation = Separation(graph, flipped=True)
        self.brancher = Brancher(self.weights)
        self.lp = NodeLp(self.weights)
        self.stock = Stock(graph.num_edges)
        self.aim = Aim(None, _FIRST_AIM, _LAST_AIM)
        self.at: Basis | None = None  # the basis of the LP, if it is known
        self.best = graph.total + 1  # the cost to beat
        self.found: list[Spins] = []

    @property
    def num_bytes(self) -> int:
        """The memory of the stock of cuts, in bytes."""
        return self.stock.num_bytes

    def bound(self, pairs: list[Pair], incumbent: int, budget: Budget, warm: Any = None) -> Outcome:
        """Bound the states that satisfy `pairs` (see `Relaxation.bound`)."""
        self.best, self.found = min(self.best, incumbent), []
        self.separation.budget = self.brancher.budget = budget
        ties = TiedGraph.of(self.graph, pairs)
        with budget.hearing_ctrl_c():
            return self.bound_node(ties, not pairs, budget, warm)
        lp, self.lp, self.at = self.lp, NodeLp(self.weights), None  # `lp` may be inconsistent
        known = min(len(lp.cuts), len(lp.duals))  # cuts of the last solved LP
        weak = honest_bound(ties, lp.cuts[:known], lp.duals[:known])
        return self.outcome(weak)

    def bound_node(self, ties: TiedGraph, is_root: bool, budget: Budget, warm: Any) -> Outcome:
        """Run cutting-plane rounds at a node; then close the node or choose a pair to branch on."""
        if not ties.step:  # all states of the node have one value
            self.consider(ties.signs.copy())
            return self.outcome(exact_bound(ties, 1, np.zeros(0, np.int64), []), closed=True)
        lp = self.lp
        if isinstance(warm, Basis) and warm is not self.at:
            lp.return_to(warm)
        lp.go_to(ties)
        self.at = None
        states = states_of(ties, budget)  # the search for cuts begins near their mean
        if len(states):
            self.consider(states[0].copy())
        self.aim = Aim(centre_of(ties, states), _FIRST_AIM, _LAST_AIM)
        proof = self.cut_rounds(ties, is_root, budget)
        if proof is not None:
            return self.outcome(proof, closed=True)
        weak = honest_bound(ties, lp.cuts, lp.duals)
        if budget.asks_to_stop():
            return self.outcome(weak, warm=warm)
        choice = self.brancher.choose(lp, ties, self.goal(ties) + _MARGIN)
        self.at = lp.basis()
        return self.outcome(weak, branch=self.branch(ties, choice), warm=self.at)

    def cut_rounds(self, ties: TiedGraph, is_root: bool, budget: Budget) -> Rounded | None:
        """Add cuts round by round; return the proof that closes the node; None if it stays open."""
        lp = self.lp
        stall = self.stall_of_root if is_root else self.stall_of_node
        history: list[float] = []
        while True:
            lp.solve(budget.left(), objective_bound=self.goal(ties) + _MARGIN)
            if not lp.finished:
                return None
            spins = self.as_rounded()
            graphs.descend(*self.graph.rows, self.graph.couplings, spins)
            self.consider(spins)
            goal = self.goal(ties)
            if lp.value > goal - _BLUR * (1.0 + abs(goal)):
                proof = self.proof(ties, budget)
                if proof is not None:
                    return proof
                # If the LP stopped early, its solution is not a vertex to cut off.
                lp.solve(budget.left(), objective_bound=np.inf)
                if not lp.finished:
                    return None
            history.append(lp.value)
            lp.drop_sleepers(_PATIENCE, _SHARE_ASLEEP)
            if stall.is_reached(history, goal):
                return None
            cuts = self.new_cuts(history, goal, _BARELY if is_root else _CLEARLY)
            if not cuts:
                return None
            lp.add(cuts)

    def new_cuts(self, history: list[float], goal: float, tolerance: float) -> list[Cut]:
        """Return cuts that the LP's solution violates; empty if there are none or the time is up.

        Args:
            history: the values after each round.
            goal: the value to reach.
            tolerance: the least violation, if there are enough cuts.
        """
        few = _FEW * self.graph.num_vertices

        def look(point: Point) -> list[Cut]:
            least = tolerance if self.aim.is_there else _BARELY
            known = self.stock.violated(point, least)
            if len(known) > few:
                return known
            found = self.cuts_at(point, history, goal, least)
            self.stock.keep(found)
            return self.stock.joined(known, found)

        return self.aim.cuts(self.lp.violation, look, few, self.separation.budget)

    def cuts_at(
        self, point: Point, history: list[float], goal: float, tolerance: float
    ) -> list[Cut]:
        """Return cuts that a point violates clearly, or slightly if none is violated clearly."""
        return self.cycles(point, tolerance) or self.cycles(point, _BARELY)

    def cycles(self, point: Point, tolerance: float) -> list[Cut]:
        """Return cycle cuts that a point violates by more than `tolerance`, most violated first."""
        lengths, limit = arc_lengths(point), 1.0 - tolerance
        return self.separation.short(lengths, limit, _HOP, _COVER)[:_MOST_CUTS]

    def proof(self, ties: TiedGraph, budget: Budget) -> Rounded | None:
        """Round LP duals or interior duals to a proof that closes a node; None if both fail."""
        lp, target = self.lp, self.target(ties)
        rounded = round_leaf_duals(ties, lp.cuts, lp.duals, target)
        if rounded.proves(target):
            return rounded
        state = self.as_rounded()
        agrees = (state[self.graph.edges].prod(axis=1) == ties.products)[ties.inside].all()
        if not agrees or self.graph.cost(state) != self.best:
            return None
        duals = interior_duals(ties, lp.cuts, state, budget.left())
        if duals is None:
            return None
        rounded = round_leaf_duals(ties, lp.cuts, duals, target)
        return rounded if rounded.proves(target) else None

    def target(self, ties: TiedGraph) -> int | None:
        """Return the greatest value still to be excluded at a node, or None if there is none."""
        return ties.next_below(int(self.graph.value(self.best)))

    def goal(self, ties: TiedGraph) -> float:
        """Return the target as an LP value, or -1.0 (below any bound) if there is no target."""
        target = self.target(ties)
        if target is None:
            return -1.0
        return (target - self.graph.constant + self.graph.total) / (2 * self.graph.largest)

    def as_rounded(self) -> Spins:
        """Round the LP's solution to spins, along the edges that are decided most clearly."""
        spins: Spins = graphs.round_to_spins(
            *self.graph.rows, self.graph.negative, self.lp.violation
        )
        return spins

    def consider(self, state: Spins) -> None:
        """Record a state if it is better than all earlier states."""
        cost = self.graph.cost(state)
        if cost < self.best:
            self.best = cost
            self.found.append(state)

    def branch(self, ties: TiedGraph, choice: Choice | None) -> Pair | None:
        """Return the pair to branch on, with the sign of the side further from being closed."""
        if choice is None:
            return self.any_pair(ties)
        a, b = self.graph.edges[choice.edge].tolist()
        equal, opposite = choice.gains
        sign = int(ties.products[choice.edge])
        return a, b, sign if equal <= opposite else -sign

    def any_pair(self, ties: TiedGraph) -> Pair | None:
        """Return the ends of the heaviest untied edge, or None if all edges are tied."""
        free = np.flatnonzero(~ties.inside)
        if not len(free):
            return None
        heaviest = free[np.argmax(self.weights[free])]
        a, b = self.graph.edges[heaviest].tolist()
        return a, b, int(self.graph.signs[heaviest])

    def outcome(self, proof: Rounded, *, closed: bool = False, **more: Any) -> Outcome:
        """Return the outcome of a node: the parts of a proof, and the states found so far."""
        return Outcome(closed, proof.parts(self.graph), states=self.found, **more)


# The least violation of cuts once there are cliques among them, and of cliques between the centre
# and the LP's solution.
_CLEARLY_WITH_CLIQUES, _NEARLY = 0.02, 0.005
# If a round closes less of the gap than this, cliques are also searched for.
_SLOW = Stall(1, 0.05)


class CliqueRelaxation(CycleRelaxation):
    """The relaxation by cycle inequalities and odd cliques.

    Branching gains little if cycles leave a large gap. So a node gets many rounds.
    """

    name = "clique LP"
    stall_of_root, stall_of_node = Stall(5, 0.02), Stall(2, 0.04)

    def __init__(self, graph: SignedGraph) -> None:
        super().__init__(graph)
        self.cliques = CliqueSeparator(self.separation)

    def cuts_at(
        self, point: Point, history: list[float], goal: float, tolerance: float
    ) -> list[Cut]:
        """Return violated cycle cuts, and clique cuts if cycles alone close the gap slowly."""
        cuts: list[Cut] = []
        if _SLOW.is_reached(history, goal):
            least = _CLEARLY_WITH_CLIQUES if self.aim.is_there else _NEARLY
            cuts = self.cliques.cuts(arc_lengths(point), least)
            tolerance = max(tolerance, _CLEARLY_WITH_CLIQUES) if self.aim.is_there else tolerance
        return cuts + super().cuts_at(point, history, goal, tolerance)
