"""The cycle LP as HiGHS holds it: one column for each edge, one row for each cycle."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.lp.cuts import Cut
from glasshouse.proofs.lp.highs import End, LinearProgramError, checked, new_highs, run
from glasshouse.proofs.parts import flat
from glasshouse.stopping import working_time

# A cycle is a cut if its length is below 1 by more than the LP's own tolerance.
TOLERANCE = 1e-6
Method = Literal["simplex", "ipm"]


class CycleModel:
    """An LP that gains and loses cuts.

    Args:
        weights: of the edges, not negative.
        patience: solves for which a cut may be slack before it goes.
    """

    def __init__(self, weights: npt.NDArray[np.float64], patience: int) -> None:
        self.patience = patience
        self.cuts: list[Cut] = []
        self.slack_for = np.zeros(0, dtype=np.int64)
        self.solver = new_highs(
            weights,
            presolve="off",  # it costs more than it saves, and throws the basis away
            run_crossover="off",  # any optimal duals will do
        )

    def add(self, cuts: list[Cut]) -> None:
        """Add cuts."""
        edges, begins = flat([cut.edges for cut in cuts], np.int32)
        ones = np.ones(len(cuts))
        upper = np.full(len(cuts), np.inf)
        rows = len(cuts), ones, upper, len(edges), begins[:-1].astype(np.int32), edges
        checked(self.solver.addRows(*rows, np.ones(len(edges))), "rows")
        self.cuts += cuts
        self.slack_for = np.concatenate([self.slack_for, np.zeros(len(cuts), dtype=np.int64)])

    def solve(self, method: Method, seconds: float) -> End:
        """Solve, and return "optimal", or "time" where that ran out, or else "unsure".

        Where the interior point method is not sure of its solution, the simplex method has a try.
        """
        deadline = working_time() + seconds
        end = self._run(method, seconds)
        if end == "unsure" and method == "ipm":
            end = self._run("simplex", deadline - working_time())
        return end

    def _run(self, method: Method, seconds: float) -> End:
        checked(self.solver.setOptionValue("solver", method), f"solver={method}")
        end = run(self.solver, seconds)
        if end not in ("optimal", "time", "unsure"):
            raise LinearProgramError(f"a cycle LP always has an optimum, but HiGHS found {end!r}")
        return end

    def interior(
        self, seconds: float, otherwise: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """A solution inside the optimal face, where the time allows."""
        if seconds > 0 and self._run("ipm", seconds) == "optimal":
            return self.violation()
        return otherwise

    def violation(self) -> npt.NDArray[np.float64]:
        """u, one for each edge."""
        return np.maximum(np.array(self.solver.getSolution().col_value, dtype=np.float64), 0.0)

    def duals(self) -> npt.NDArray[np.float64]:
        """The multiplier of each cut."""
        return np.maximum(np.array(self.solver.getSolution().row_dual, dtype=np.float64), 0.0)

    def drop_slack(self, share: float, tolerance: float) -> None:
        """Remove cuts that have been slack for long, once they are a share of all.

        They slow every further solve down.
        """
        slack = np.array(self.solver.getSolution().row_value) > 1.0 + tolerance
        self.slack_for = np.where(slack, self.slack_for + 1, 0)
        old = self.slack_for > self.patience
        if int(old.sum()) < share * len(old):
            return
        gone = np.flatnonzero(old).astype(np.int32)
        checked(self.solver.deleteRows(len(gone), gone), "rows to delete")
        self.cuts = [cut for cut, is_old in zip(self.cuts, old, strict=True) if not is_old]
        self.slack_for = self.slack_for[~old]
