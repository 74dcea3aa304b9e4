"""The choice of the pair to branch on, such that both sides raise the bound as much as possible.

A pair ties two classes of spins, and decides all the edges between them, a *bundle*, at once. A few
bundles are tried by a few iterations of the simplex method (strong branching). Their gains are
stored edge by edge (pseudo-costs), and decide which bundles are tried at later nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp.cut_lp import Floats
from glasshouse.proofs.lp.node_lp import NodeLp, Probe
from glasshouse.proofs.lp.tied_graph import TiedGraph

# Edges with u this close to 0 or 1 count as decided.
_DECIDED = 1e-6
# Gains below this, in units of the largest weight, are raised to it: a product must not be 0.
_LEAST_GAIN = 1e-7
# Bundles to try, and iterations of the simplex method for each side of each.
_CANDIDATES, _ITERATIONS = 8, 60


@dataclass(frozen=True)
class Choice:
    """A bundle of edges between two classes, and the gain in the LP's value for each relative sign.

    Attributes:
        edge: one of the edges.
        gains: with the classes' spins equal (the edge as in the state `signs` of the ties), and
            with them opposite.
    """

    edge: int
    gains: tuple[float, float]

    @property
    def merit(self) -> float:
        """The product of both gains, which serves to compare bundles."""
        return self.gains[0] * self.gains[1]


class Brancher:
    """Strong branching with pseudo-costs that all nodes share.

    Args:
        weights: |w|, in units of the largest.
    """

    def __init__(self, weights: Floats) -> None:
        self.weights = weights
        self.gains = np.zeros((2, len(weights)))  # per unit of u, down to 0 and up to 1, summed
        self.trials = np.zeros((2, len(weights)))
        self.budget = Budget()

    def choose(self, lp: NodeLp, ties: TiedGraph, enough: float) -> Choice | None:
        """Return the best of a solved LP's most promising bundles, or None if all are decided.

        Args:
            lp: the LP, which is not changed.
            ties: the node.
            enough: a value at which a side is closed; gains beyond it do not count.
        """
        edges = np.flatnonzero(~ties.inside)
        bundle = ties.bundles[1]
        scores = self.scores(lp.violation[edges], ties.violated[edges], edges, bundle)
        order = np.argsort(-scores, kind="stable")[:_CANDIDATES]
        probe = Probe(lp, _ITERATIONS)
        best: Choice | None = None
        for k in order.tolist():
            if scores[k] == 0.0 or (best is not None and self.budget.asks_to_stop()):
                break
            chosen = edges[bundle == k].astype(np.int32)
            choice = self.try_out(probe, chosen, ties.violated[chosen], enough)
            if best is None or choice.merit > best.merit:
                best = choice
        return best

    def try_out(
        self,
        probe: Probe,
        edges: npt.NDArray[np.int32],
        violated: npt.NDArray[np.bool_],
        enough: float,
    ) -> Choice:
        """Measure a bundle's gains; `violated` marks edges that equal spins violate."""
        value, violation = probe.lp.value, probe.lp.violation[edges]
        gains: list[float] = []
        for sides in (violated, ~violated):
            found = probe.value(edges, sides.astype(np.float64))
            gains.append(max(min(found, enough) - value, _LEAST_GAIN))
            way = max(float(np.abs(violation - sides).sum()), _DECIDED)
            self.gains[sides.astype(int), edges] += gains[-1] / way
            self.trials[sides.astype(int), edges] += 1
        return Choice(int(edges[0]), (gains[0], gains[1]))

    def scores(
        self,
        violation: Floats,
        violated: npt.NDArray[np.bool_],
        edges: npt.NDArray[np.int64],
        bundle: npt.NDArray[np.int64],
    ) -> Floats:
        """Return each bundle's score: the product of its expected gains, or 0 if decided."""
        # A bundle that was not tried is expected to gain its weight.
        known = np.maximum(self.trials, 1.0)
        rate = np.where(self.trials > 0, self.gains / known, self.weights)[:, edges]
        promises = []
        for sides in (violated, ~violated):
            gains = np.where(sides, rate[1] * (1.0 - violation), rate[0] * violation)
            promises.append(np.maximum(np.bincount(bundle, gains), _LEAST_GAIN))
        doubt = np.zeros(len(promises[0]))
        np.maximum.at(doubt, bundle, np.minimum(violation, 1.0 - violation))
        scores: Floats = np.where(doubt > _DECIDED, promises[0] * promises[1], 0.0)
        return scores
