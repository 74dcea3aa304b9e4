"""The work of a proof: reduce a graph, solve the LP of each block, put the parts together."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from glasshouse.proofs.contraction import ContractedGraph, OddCycle
from glasshouse.proofs.interruption import to_the_end
from glasshouse.proofs.limits import Clock
from glasshouse.proofs.lp.root import BlockResult, CycleLp
from glasshouse.proofs.lp.rounding import Certifying
from glasshouse.proofs.progress import Bounds
from glasshouse.proofs.signed_graph import SignedGraph, Spins
from glasshouse.stopping import working_time


class Blocks:
    """One run on one graph.

    Args:
        graph: what to minimise.
        deadline: when to stop, on the clock of `working_time`.
        target: a value of the problem; stop once no state can be below it.
        progress: called with `Bounds` after every LP solve.
        found: called with every better state on the way, or None.

    Attributes:
        certify_until: when the loops that were found are to be a certificate.
        reserved: seconds that a certificate takes even without loops.

    Raises:
        TimeIsUpError: the deadline is over before the graph is reduced.
    """

    def __init__(
        self,
        graph: SignedGraph,
        deadline: float,
        target: float | None,
        progress: Callable[[Bounds], object] | None,
        found: Callable[[Spins], object] | None = None,
    ) -> None:
        self.graph, self.found = graph, found
        self.began = working_time()
        self.deadline = deadline
        self.target = target
        self.progress = progress
        self.certify_until, self.reserved = math.inf, 0.0
        self.reduction = ContractedGraph(graph, Clock(deadline))
        self.results: list[BlockResult] = []
        self.lower = Fraction(self.reduction.cost)
        self.interrupted = self.reached = self.gave_up = False
        # Asked after every round, with the bounds on the optimum.
        self.gives_up: Callable[[Fraction, Fraction], bool] = lambda lower, upper: False
        self.upper = 0  # what the blocks that are not being solved cost
        self.rounds = 0

    def run(self, states: list[Spins]) -> Spins:
        """Solve all blocks, starting from the best of some states; return the state found."""
        blocks = self.reduction.blocks
        start = min(states, key=self.graph.cost, default=None)
        # The gaps of all blocks together must stay below the least difference of two costs.
        slack = Fraction(self.graph.unit, 2 * max(1, len(blocks)))

        def tell() -> None:
            if self.found is not None and len(solvers) == len(blocks):
                self.found(self.reduction.lift_state([solver.state for solver in solvers]))

        solvers: list[CycleLp] = []
        for block in blocks:
            is_lifted = self.reduction.is_lifting
            certifying = Certifying(self.certify_until, is_lifted, self.reserved)
            solvers.append(
                CycleLp(block.graph, slack, self.deadline, self._report, certifying, tell)
            )
        if start is not None:
            for solver, spins in zip(solvers, self.reduction.restrict(start), strict=True):
                solver.offer(spins)
        self.upper = self.reduction.cost + sum(solver.cost for solver in solvers)
        for solver in solvers:
            self.upper -= solver.cost
            result = solver.solve()
            if solver.interrupted:  # the blocks to come report once and stop
                self.interrupted = True
                self.deadline = self.began
            self.results.append(result)
            self.lower += result.packing.total
            self.upper += result.cost
        states = [result.state for result in self.results]
        state, stopped = to_the_end(lambda: self.reduction.lift_state(states))
        self.interrupted |= stopped
        return state

    def _report(self, lower: Fraction, upper: int) -> bool:
        """Every block calls this after each round with its own bounds; True stops it."""
        self.rounds += 1
        low = Fraction(self.graph.value(self.lower + lower)) / self.graph.scale
        high = Fraction(self.graph.value(self.upper + upper)) / self.graph.scale
        seconds = working_time() - self.began
        if self.progress is not None:
            self.progress(Bounds(float(low), float(high), seconds, self.rounds))
        self.reached = self.target is not None and low >= self.target
        self.gave_up = self.gives_up(low, high)
        return self.reached or self.gave_up or working_time() > self.deadline

    def loops(self) -> tuple[list[OddCycle], int]:
        """The loops of all blocks, as loops of the whole graph over one denominator."""
        denominator = math.lcm(1, *(result.packing.denominator for result in self.results))
        loops = [
            OddCycle(
                multiplier * (denominator // result.packing.denominator),
                {block.edges[edge] for edge in cycle},
            )
            for block, result in zip(self.reduction.blocks, self.results, strict=True)
            for multiplier, cycle in zip(
                result.packing.multipliers, result.packing.cycles, strict=True
            )
        ]
        return self.reduction.lift_loops(loops, denominator), denominator

    @property
    def converged(self) -> bool:
        """Whether every LP was solved to the end, or closed its gap before."""
        return all(result.converged for result in self.results)
