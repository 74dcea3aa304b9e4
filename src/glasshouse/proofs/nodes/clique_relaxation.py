"""The relaxation of sparse graphs where cycles alone leave too much: odd cliques beside them."""

from __future__ import annotations

from glasshouse.proofs.limits import Clock
from glasshouse.proofs.nodes.aim import Point
from glasshouse.proofs.nodes.clique_cuts import CliqueSeparator
from glasshouse.proofs.nodes.cuts import Cut
from glasshouse.proofs.nodes.cycle_cuts import arc_lengths
from glasshouse.proofs.nodes.cycle_relaxation import CycleRelaxation, Stall
from glasshouse.proofs.signed_graph import SignedGraph

# Cuts have to be violated by this much once there are cliques among them, and cliques on the way
# to the LP's solution by this much.
_CLEARLY, _NEARLY = 0.02, 0.005
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
        self.cliques = CliqueSeparator(graph, self.separator.signatures)

    def keep_time(self, clock: Clock) -> None:
        """Let searches for cliques end at a deadline, too."""
        super().keep_time(clock)
        self.cliques.clock = clock

    def cuts_at(
        self, point: Point, history: list[float], goal: float, tolerance: float
    ) -> list[Cut]:
        """Cycles, and where these do not get far, cliques; see `CycleRelaxation.cuts_at`."""
        cuts: list[Cut] = []
        if _SLOW.is_reached(history, goal):
            least = _CLEARLY if self.aim.is_there else _NEARLY
            cuts = self.cliques.cuts(arc_lengths(point), least)
            tolerance = max(tolerance, _CLEARLY) if self.aim.is_there else tolerance
        return cuts + super().cuts_at(point, history, goal, tolerance)
