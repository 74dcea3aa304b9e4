"""Which edge to branch on: the one whose two sides both raise the bound most.

A few candidates are tried out by some iterations of the simplex method (strong branching); what
they gain is remembered (pseudo-costs) and tells which to try at later nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glasshouse.proofs.node_lp import Floats, NodeLp

# Edges with u this near to 0 or 1 are as good as decided.
_DECIDED = 1e-6
# Gains below this, in units of the largest weight, count as this: a product of gains must not be 0.
_LEAST_GAIN = 1e-7


@dataclass(frozen=True)
class Choice:
    """An edge, and how much the value grows where it is satisfied (u = 0) and violated (u = 1)."""

    edge: int
    gains: tuple[float, float]


class Brancher:
    """Strong branching with pseudo-costs that all nodes share.

    Args:
        weights: |w|, in units of the largest.
        candidates: how many edges to try out.
        iterations: of the simplex method, for each side of each.
    """

    def __init__(self, weights: Floats, candidates: int = 5, iterations: int = 40) -> None:
        self.weights, self.candidates, self.iterations = weights, candidates, iterations
        self.gains = np.zeros((2, len(weights)))  # per unit of u, summed up
        self.trials = np.zeros((2, len(weights)))

    def choose(self, lp: NodeLp, enough: float) -> Choice | None:
        """Try out the most promising edges of a solved LP; None if all are decided.

        Args:
            lp: it is left at the optimum where it was.
            enough: a value at which a side is closed; gains beyond do not count.
        """
        value, violation = lp.value, lp.violation
        scores = self.scores(lp)
        order = np.argsort(-scores, kind="stable")[: self.candidates]
        candidates = [int(edge) for edge in order if scores[edge] > 0.0]
        if not candidates:
            return None
        basis = lp.solver.getBasis()
        best: Choice | None = None
        for edge in candidates:
            gains = []
            for side in (0, 1):
                found = lp.probe(edge, float(side), self.iterations)
                lp.solver.setBasis(basis)
                gains.append(max(min(found, enough) - value, _LEAST_GAIN))
                way = violation[edge] if side == 0 else 1.0 - violation[edge]
                self.gains[side, edge] += gains[-1] / way
                self.trials[side, edge] += 1
            choice = Choice(edge, (gains[0], gains[1]))
            if best is None or np.prod(choice.gains) > np.prod(best.gains):
                best = choice
        return best

    def scores(self, lp: NodeLp) -> Floats:
        """What each edge promises: the product of both sides' gains, 0 if it is decided."""
        down, up = lp.violation, 1.0 - lp.violation
        # What is not tried yet is expected to gain its weight.
        known = np.maximum(self.trials, 1.0)
        expected = np.where(self.trials > 0, self.gains / known, self.weights)
        open_ = (np.minimum(down, up) > _DECIDED) & ~lp.is_fixed
        first, second = (np.maximum(x, _LEAST_GAIN) for x in (expected[0] * down, expected[1] * up))
        scores: Floats = np.where(open_, first * second, 0.0)
        return scores
