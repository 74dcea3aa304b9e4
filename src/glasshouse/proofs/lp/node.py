"""The relaxations of sparse graphs for a tree search: LPs that go from node to node.

One has cycle inequalities only. Where these leave too much of a gap, the other adds odd cliques.
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
from glasshouse.proofs.lp.strong_branching import Brancher, Choice
from glasshouse.proofs.lp.tied_graph import TiedGraph
from glasshouse.proofs.relaxation import Outcome
from glasshouse.proofs.signed_graph import SignedGraph, Spins

# Cuts of a node have to be violated by this much, unless there are none.
_CLEARLY, _BARELY = 0.02, 1e-5
# What an arc costs beside its length: of two equally violated cycles the one of fewer edges comes.
_HOP = 1e-7
# How many cuts of one round may share an arc, and how many there are at most.
_COVER, _MOST_CUTS = 4, 2000
# Where on the way from the centre to the solution to begin, and from where to go all the way.
_FIRST_AIM, _LAST_AIM = 0.7, 0.95
# So few cuts, of the vertices, are not worth a round far from the LP's solution.
_FEW = 0.04
# A value must be above the goal by this much before its duals are worth rounding.
_MARGIN = 1e-7
# The error of an LP's value, relatively: below the goal by less, a node may still be closed.
_BLUR = 1e-9
# Solves for which a cut may be slack before it goes, and the share of such cuts that is worth it.
_PATIENCE, _SHARE_ASLEEP = 4, 0.2


class Stall(NamedTuple):
    """When it is quicker to branch: so many rounds have closed less than a share of the gap."""

    rounds: int
    share: float

    def is_reached(self, history: list[float], goal: float) -> bool:
        """Whether the values after all rounds so far say so."""
        if len(history) <= self.rounds:
            return False
        gain = history[-1] - history[-1 - self.rounds]
        return gain < self.share * (goal - history[-1])


class CycleRelaxation:
    """Bounds by cycle inequalities; see `relaxation.Relaxation`.

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
        self.aim = Aim(None, _FIRST_AIM, _LAST_AIM)
        self.at: Basis | None = None  # where the LP stands, if that is known
        self.best = graph.total + 1  # the cost to be beaten
        self.found: list[Spins] = []

    def bound(self, pairs: list[Pair], incumbent: int, budget: Budget, warm: Any = None) -> Outcome:
        """Bound the states that agree with the pairs; see `Relaxation.bound`."""
        self.best, self.found = min(self.best, incumbent), []
        self.separation.budget = self.brancher.budget = budget
        ties = TiedGraph.of(self.graph, pairs)
        with budget.hearing_ctrl_c():
            return self.bound_node(ties, not pairs, budget, warm)
        lp, self.lp, self.at = self.lp, NodeLp(self.weights), None  # it may be half changed
        known = min(len(lp.cuts), len(lp.duals))  # of the last LP that was solved
        weak = honest_bound(ties, lp.cuts[:known], lp.duals[:known])
        return self.outcome(weak)

    def bound_node(self, ties: TiedGraph, is_root: bool, budget: Budget, warm: Any) -> Outcome:
        """The node's rounds, and what to do with it then."""
        if not ties.step:  # all states of the node have one value
            self.consider(ties.signs.copy())
            return self.outcome(exact_bound(ties, 1, np.zeros(0, np.int64), []), closed=True)
        lp = self.lp
        if isinstance(warm, Basis) and warm is not self.at:
            lp.return_to(warm)
        lp.go_to(ties)
        self.at = None
        states = states_of(ties, budget)  # cuts are looked for around them at first
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
        """Add cuts until the node is closed, and return the proof; None if that does not happen."""
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
                # Where it stopped early the solution is none that could be cut off.
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
        """Inequalities that the LP's solution violates; none only if there is none.

        Args:
            history: the values after each round.
            goal: the value to be reached.
            tolerance: how much they are violated, where there are enough of them.
        """

        def look(point: Point) -> list[Cut]:
            return self.cuts_at(point, history, goal, tolerance if self.aim.is_there else _BARELY)

        few = _FEW * self.graph.num_vertices
        return self.aim.cuts(self.lp.violation, look, few, self.separation.budget)

    def cuts_at(
        self, point: Point, history: list[float], goal: float, tolerance: float
    ) -> list[Cut]:
        """Inequalities that a point violates; where there are none, barely violated ones."""
        return self.cycles(point, tolerance) or self.cycles(point, _BARELY)

    def cycles(self, point: Point, tolerance: float) -> list[Cut]:
        """Cycles violated by more than `tolerance`, the most violated first."""
        lengths, limit = arc_lengths(point), 1.0 - tolerance
        return self.separation.short(lengths, limit, _HOP, _COVER)[:_MOST_CUTS]

    def proof(self, ties: TiedGraph, budget: Budget) -> Rounded | None:
        """Round the LP's duals, or, where the digits of floats do not do, others."""
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
        """The greatest value that still has to be excluded at a node."""
        return ties.next_below(int(self.graph.value(self.best)))

    def goal(self, ties: TiedGraph) -> float:
        """The same as a value of the LP; a node without such a value is closed by any bound."""
        target = self.target(ties)
        if target is None:
            return -1.0
        return (target - self.graph.constant + self.graph.total) / (2 * self.graph.largest)

    def as_rounded(self) -> Spins:
        """Spins along the edges that the LP is surest of."""
        spins: Spins = graphs.round_to_spins(
            *self.graph.rows, self.graph.negative, self.lp.violation
        )
        return spins

    def consider(self, state: Spins) -> None:
        """Keep a state if it is better than all before."""
        cost = self.graph.cost(state)
        if cost < self.best:
            self.best = cost
            self.found.append(state)

    def branch(self, ties: TiedGraph, choice: Choice | None) -> Pair | None:
        """The edge's ends, and the side that is further from being closed."""
        if choice is None:
            return self.any_pair(ties)
        a, b = self.graph.edges[choice.edge].tolist()
        equal, opposite = choice.gains
        sign = int(ties.products[choice.edge])
        return a, b, sign if equal <= opposite else -sign

    def any_pair(self, ties: TiedGraph) -> Pair | None:
        """Ends of some edge that are not tied: where the LP is integral, but no proof was found."""
        free = np.flatnonzero(~ties.inside)
        if not len(free):
            return None
        heaviest = free[np.argmax(self.weights[free])]
        a, b = self.graph.edges[heaviest].tolist()
        return a, b, int(self.graph.signs[heaviest])

    def outcome(self, proof: Rounded, *, closed: bool = False, **more: Any) -> Outcome:
        """What a proof shows of a node, with the states found on the way."""
        return Outcome(closed, proof.parts(self.graph), states=self.found, **more)


# Cuts have to be violated by this much once there are cliques among them, and cliques on the way
# to the LP's solution by this much.
_CLEARLY_WITH_CLIQUES, _NEARLY = 0.02, 0.005
# Where a round closes less of the gap than this, it is time to look for cliques, too.
_SLOW = Stall(1, 0.05)


class CliqueRelaxation(CycleRelaxation):
    """Bounds by cycle inequalities and odd cliques.

    Branching gains little where cycles leave much of a gap. So a node gets many rounds.
    """

    name = "clique LP"
    stall_of_root, stall_of_node = Stall(5, 0.02), Stall(2, 0.04)

    def __init__(self, graph: SignedGraph) -> None:
        super().__init__(graph)
        self.cliques = CliqueSeparator(self.separation)

    def cuts_at(
        self, point: Point, history: list[float], goal: float, tolerance: float
    ) -> list[Cut]:
        """Cycles, and where these do not get far, cliques; see `CycleRelaxation.cuts_at`."""
        cuts: list[Cut] = []
        if _SLOW.is_reached(history, goal):
            least = _CLEARLY_WITH_CLIQUES if self.aim.is_there else _NEARLY
            cuts = self.cliques.cuts(arc_lengths(point), least)
            tolerance = max(tolerance, _CLEARLY_WITH_CLIQUES) if self.aim.is_there else tolerance
        return cuts + super().cuts_at(point, history, goal, tolerance)
