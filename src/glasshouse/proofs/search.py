"""The work of a proof: reduce a graph, solve the LP of each block, put the parts together."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from glasshouse.proofs.contraction import ContractedGraph, OddCycle
from glasshouse.proofs.cycle_lp import BlockResult, CycleLp
from glasshouse.proofs.signed_graph import SignedGraph, Spins
from glasshouse.summaries import Summarised


@dataclass(frozen=True, repr=False)
class Bounds(Summarised):
    """What is known so far: `lower` ≤ optimum ≤ `upper`, up to the LP's float error."""

    lower: float
    upper: float
    seconds: float
    rounds: int


@dataclass(frozen=True, repr=False)
class Statistics(Summarised):
    """How a proof was found.

    Attributes:
        seconds: wall-clock time.
        num_edges: couplings and fields before reduction.
        core_edges: edges that no exact reduction removed.
        blocks: biconnected blocks of the core, each with its own LP.
        rounds: LP solves.
        cuts: cycle inequalities found.
        converged: whether every LP was solved to the end, or closed its gap before.
        stopped: why the search ended before that, or None.
    """

    seconds: float
    num_edges: int
    core_edges: int
    blocks: int
    rounds: int
    cuts: int
    converged: bool
    stopped: Literal["time limit", "Ctrl-C"] | None = None


class Search:
    """One run on one graph.

    Args:
        graph: what to minimise.
        time_limit: seconds from now.
        target: a value of the problem; stop once no state can be below it.
        progress: called with `Bounds` after every LP solve.
    """

    def __init__(
        self,
        graph: SignedGraph,
        time_limit: float | None,
        target: float | None,
        progress: Callable[[Bounds], object] | None,
    ) -> None:
        self.graph = graph
        self.began = time.monotonic()
        self.deadline = self.began + (math.inf if time_limit is None else time_limit)
        self.target = target
        self.progress = progress
        self.reduction = ContractedGraph(graph)
        self.results: list[BlockResult] = []
        self.lower = Fraction(self.reduction.cost)
        self.interrupted = False
        self.upper = 0  # what the blocks that are not being solved cost
        self.rounds = 0

    def run(self, states: list[Spins]) -> Spins:
        """Solve all blocks, starting from the best of some states; return the state found."""
        blocks = self.reduction.blocks
        start = min(states, key=self.graph.cost, default=None)
        # The gaps of all blocks together must stay below the least difference of two costs.
        slack = Fraction(self.graph.unit, 2 * max(1, len(blocks)))
        solvers = [CycleLp(block.graph, slack, self.deadline, self._report) for block in blocks]
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
        return self.reduction.lift_state([result.state for result in self.results])

    def _report(self, lower: Fraction, upper: int) -> bool:
        """Every block calls this after each round with its own bounds; True stops it."""
        self.rounds += 1
        low = Fraction(self.graph.value(self.lower + lower)) / self.graph.scale
        high = Fraction(self.graph.value(self.upper + upper)) / self.graph.scale
        seconds = time.monotonic() - self.began
        if self.progress is not None:
            self.progress(Bounds(float(low), float(high), seconds, self.rounds))
        reached = self.target is not None and low >= self.target
        return reached or time.monotonic() > self.deadline

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

    def statistics(self) -> Statistics:
        """How it went."""
        return Statistics(
            seconds=time.monotonic() - self.began,
            num_edges=self.graph.num_edges,
            core_edges=sum(block.graph.num_edges for block in self.reduction.blocks),
            blocks=len(self.reduction.blocks),
            rounds=sum(result.rounds for result in self.results),
            cuts=sum(result.cuts for result in self.results),
            converged=all(result.converged for result in self.results),
            stopped=self._stopped(),
        )

    def _stopped(self) -> Literal["time limit", "Ctrl-C"] | None:
        if self.interrupted:
            return "Ctrl-C"
        done = all(result.converged for result in self.results)
        return None if done or time.monotonic() < self.deadline else "time limit"
