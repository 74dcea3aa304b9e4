"""The LP part of a proof: reduce a graph, solve the LP of each block, and combine the parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from glasshouse.certificates import Parts
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.contraction import ContractedGraph, OddCycle
from glasshouse.proofs.lp.root import BlockResult, CycleLp
from glasshouse.proofs.lp.rounding import Certifying
from glasshouse.proofs.parts import NO_PARTS, cycle_parts, joined_parts, named_parts
from glasshouse.proofs.progress import Bounds
from glasshouse.proofs.signed_graph import SignedGraph, Spins

Test = Callable[[Fraction, Fraction], bool]

# Graphs with fewer edges, or fewer edges per vertex, are contracted: little or nothing of them
# remains, and their certificates have few loops. The faces of all other graphs are matched if
# possible.
_LEAST_TO_MATCH, _LEAST_PER_VERTEX = 500, 1.25


class Blocks:
    """The linear programs of a graph, one for each block of its core.

    Args:
        graph: the graph to minimise.
        budget: decides when to stop; gets the bounds after every LP solve.
        found: a function to call with every better state, or None.

    Raises:
        TimeIsUpError: the time ended before the graph was reduced.
    """

    def __init__(
        self,
        graph: SignedGraph,
        budget: Budget,
        found: Callable[[Spins], object] | None = None,
    ) -> None:
        self.graph, self.budget, self.found = graph, budget, found
        least = max(_LEAST_TO_MATCH, _LEAST_PER_VERTEX * graph.num_vertices)
        matching = graph.num_edges >= least
        self.reduction = ContractedGraph(graph, budget, matching=matching)
        self.results: list[BlockResult] = []
        self.lower = Fraction(self.reduction.cost)
        self.gave_up = False
        # Makes a test for each block, which is called after every round with the bounds on the
        # optimum, and ends the search if it returns True.
        self.new_test: Callable[[], Test] = lambda: lambda lower, upper: False
        self.upper = 0  # the cost of the blocks that are not being solved
        self.rounds = 0

    def run(self, states: list[Spins]) -> Spins:
        """Solve the LPs of all blocks from the best given state; return the best state found."""
        blocks = self.reduction.blocks
        start = min(states, key=self.graph.cost, default=None)
        # The gaps of all blocks together must stay below the least difference of two costs.
        slack = Fraction(self.graph.unit, 2 * max(1, len(blocks)))

        told = math.inf if start is None else self.graph.cost(start)

        def tell() -> None:
            nonlocal told
            cost = self.reduction.cost + sum(solver.cost for solver in solvers)
            # Before all blocks have their part of the best state, the whole state may be worse.
            if self.found is not None and len(solvers) == len(blocks) and cost < told:
                told = cost
                self.found(self.reduction.lift_state([solver.state for solver in solvers]))

        solvers: list[CycleLp] = []
        for block in blocks:
            budget, is_lifted = self.budget, self.reduction.is_lifting
            certifying = Certifying(budget.certify_until, is_lifted, budget.whole.reserved)
            limits = budget.part(), self._report, certifying
            solvers.append(CycleLp(block.graph, slack, *limits, tell, block.surface))
        if start is not None:
            for solver, spins in zip(solvers, self.reduction.restrict(start), strict=True):
                solver.offer(spins)
        self.upper = self.reduction.cost + sum(solver.cost for solver in solvers)
        for solver in solvers:
            self.upper -= solver.cost
            self._gives_up = self.new_test()
            result = solver.solve()
            self.results.append(result)
            self.lower += result.packing.total
            self.upper += result.cost
        states = [result.state for result in self.results]
        return self.budget.to_the_end(lambda: self.reduction.lift_state(states))

    def _report(self, lower: Fraction, upper: int) -> bool:
        """Report the bounds after a round of one block; return True if the search must stop."""
        self.rounds += 1
        low = Fraction(self.graph.value(self.lower + lower)) / self.graph.scale
        high = Fraction(self.graph.value(self.upper + upper)) / self.graph.scale
        bounds = Bounds(float(low), float(high), self.budget.seconds, self.rounds)
        self.gave_up = self._gives_up(low, high)
        return self.budget.tell(bounds) or self.gave_up

    def core_parts(self) -> Parts:
        """Return the unlifted loops of all blocks, with the node numbers of the whole problem."""
        groups = [NO_PARTS]
        for block, result in zip(self.reduction.blocks, self.results, strict=False):
            names = self.reduction.names[block.vertices]
            own = result.packing.parts(block.graph)
            groups.append(named_parts(own, self.graph.loop_scale, names))
        return joined_parts(groups)

    def parts(self) -> Parts:
        """Return the loops of all blocks, lifted to the whole graph."""
        if not self.reduction.is_lifting:
            return self.core_parts()
        denominator = math.lcm(1, *(result.packing.denominator for result in self.results))
        loops = [
            OddCycle(
                multiplier * (denominator // result.packing.denominator),
                {block.edges[edge] for edge in cut.edges.tolist()},
            )
            for block, result in zip(self.reduction.blocks, self.results, strict=True)
            for multiplier, cut in zip(
                result.packing.multipliers.tolist(), result.packing.cuts, strict=True
            )
        ]
        lifted = self.reduction.lift_loops(loops, denominator)
        multipliers = [loop.multiplier for loop in lifted]
        cycles = [[*loop.edges] for loop in lifted]
        whole = cycle_parts(self.graph, cycles, multipliers, denominator)
        return named_parts(whole, self.graph.loop_scale)

    @property
    def converged(self) -> bool:
        """Whether every LP was solved to the end, or stopped because it had closed its gap."""
        return all(result.converged for result in self.results)
