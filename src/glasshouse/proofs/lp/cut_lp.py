"""A HiGHS linear program over edges; its rows are cuts, which are added and removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.lp.cuts import Cut
from glasshouse.proofs.lp.highs import End, LinearProgramError, checked, new_highs, run
from glasshouse.proofs.parts import flat

Floats = npt.NDArray[np.float64]

# A row is slack, and a cycle violated, only by more than this, the LP's own tolerance.
TOLERANCE = 1e-6


class CutLp:
    """The linear program min Σ|w_e| u_e over u ≥ 0 and cuts, in units of the largest weight.

    Args:
        weights: |w| of the edges.
        options: the other arguments of `new_highs`: bounds of u, and options of HiGHS.

    Attributes:
        cuts: the cuts, row by row.
        sizes: the number of edges of each cut.
        violation: u of the last solved LP, one value for each edge.
        value: the value of the last solved LP.
        duals: one dual for each cut of the last solved LP.
        finished: whether the last run reached the optimum, or a bound that is enough.
        is_interior: whether an interior point method has solved this LP, with its current cuts.
    """

    def __init__(self, weights: Floats, **options: Any) -> None:
        # Presolve costs more than it saves, and discards the basis.
        self.solver = new_highs(weights, presolve="off", **options)
        self.cuts: list[Cut] = []
        self.right_sides, self.sizes = np.zeros(0), np.zeros(0, dtype=np.int64)
        self.asleep_for = np.zeros(0, dtype=np.int64)
        self.violation, self.value = np.zeros(len(weights)), 0.0
        self.duals, self.row_values = np.zeros(0), np.zeros(0)
        self.finished, self.is_interior = True, False

    def add(self, cuts: Sequence[Cut]) -> None:
        """Append cuts to the LP, one row each."""
        if not cuts:
            return
        columns, begins = flat([cut.edges for cut in cuts], np.int32)
        values, _ = flat([cut.coefficients for cut in cuts], np.float64)
        sides = np.array([cut.right_side for cut in cuts], dtype=np.float64)
        endless, starts = np.full(len(cuts), np.inf), begins[:-1].astype(np.int32)
        rows = len(cuts), sides, endless, len(columns), starts, columns, values
        checked(self.solver.addRows(*rows), "rows")
        self.is_interior = False
        self.cuts += cuts
        self.right_sides = np.concatenate([self.right_sides, sides])
        self.sizes = np.concatenate([self.sizes, np.diff(begins)])
        self.asleep_for = np.concatenate([self.asleep_for, np.zeros(len(cuts), dtype=np.int64)])

    def solve(self, seconds: float, **options: Any) -> End:
        """Solve the LP for at most `seconds`; if the run does not finish, keep the last solution.

        Args:
            seconds: the time limit in seconds.
            options: options of HiGHS, for this run and all later runs.
        """
        for name, value in options.items():
            checked(self.solver.setOptionValue(name, value), f"{name}={value!r}")
        end = run(self.solver, seconds)
        if end in ("infeasible", "iterations"):
            raise LinearProgramError(f"HiGHS ended with {end!r}, not 'optimal'; please report this")
        self.finished = end in ("optimal", "bound")
        self.is_interior = end == "optimal" and options.get("solver") == "ipm"
        if self.finished:
            solution = self.solver.getSolution()
            self.value = self.solver.getInfo().objective_function_value
            self.violation = np.clip(np.array(solution.col_value), 0.0, 1.0)
            self.row_values = np.array(solution.row_value)
            self.duals = np.maximum(np.array(solution.row_dual), 0.0)
        return end

    def drop_sleepers(
        self, patience: int, least_share: float, tolerance: float = TOLERANCE
    ) -> None:
        """If enough cuts have been slack for too long, remove these cuts.

        Too long means over `patience` solves; enough means the fraction `least_share` of all cuts.
        Slack rows slow down every further solve.
        """
        slack = self.row_values > self.right_sides + tolerance
        self.asleep_for = np.where(slack, self.asleep_for + 1, 0)
        old = self.asleep_for > patience
        if old.any() and old.sum() >= least_share * len(old):
            self.remove(old)

    def remove(self, gone: npt.NDArray[np.bool_]) -> None:
        """Remove the cuts marked by a mask."""
        rows = np.flatnonzero(gone).astype(np.int32)
        checked(self.solver.deleteRows(len(rows), rows), "rows to delete")
        self.is_interior = False
        self.cuts = [cut for cut, is_gone in zip(self.cuts, gone, strict=True) if not is_gone]
        for name in ("asleep_for", "right_sides", "sizes", "duals", "row_values"):
            before = getattr(self, name)
            setattr(self, name, before[~gone[: len(before)]])
