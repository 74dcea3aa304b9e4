"""The LP of a node in the tree: HiGHS with a column for each edge and a row for each cut.

One object serves all nodes. Going to a node changes the bounds of columns, and the dual simplex
method goes on from the last basis, which stays dual feasible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.lp.cuts import Cut
from glasshouse.proofs.lp.highs import End, LinearProgramError, checked, new_highs, run
from glasshouse.proofs.lp.tied_graph import TiedGraph

Floats = npt.NDArray[np.float64]

# A row is asleep if it is slack by more than the LP's tolerance.
_TOLERANCE = 1e-6
# How HiGHS chooses rows. With steepest edges it needs half the iterations, but a tenth of a second
# to begin from a basis that it does not know.
_DEVEX, _STEEPEST_EDGE = 1, 2
_POINTER = 8  # bytes


@dataclass(frozen=True, eq=False)
class Basis:
    """Where an LP stood: its cuts, and the status of each column and row as HiGHS numbers them."""

    cuts: tuple[Cut, ...]
    columns: npt.NDArray[np.int8]
    rows: npt.NDArray[np.int8]

    @property
    def num_bytes(self) -> int:
        """How much memory it takes, without the cuts, which others share."""
        return self.columns.nbytes + self.rows.nbytes + _POINTER * len(self.cuts)

    @property
    def shared(self) -> tuple[Cut, ...]:
        """The cuts."""
        return self.cuts


class NodeLp:
    """Minimise Σ|w_e| u_e over 0 ≤ u ≤ 1 and the cuts, in units of the largest weight.

    Attributes:
        cuts: row by row.
        value: of the last solved LP, likewise the next two.
        violation: u, one for each edge.
        duals: one for each cut that it had.
        finished: whether the last run reached the optimum, or what was enough.
    """

    def __init__(self, weights: Floats) -> None:
        self.solver = _new_simplex(weights, _STEEPEST_EDGE)
        self.lower, self.upper = np.zeros(len(weights)), np.ones(len(weights))
        self.cuts: list[Cut] = []
        self.asleep_for = np.zeros(0, dtype=np.int64)
        self.right_sides = np.zeros(0)
        self.value = 0.0
        self.violation, self.duals = np.zeros(len(weights)), np.zeros(0)
        self.row_values = np.zeros(0)
        self.finished = True

    def go_to(self, ties: TiedGraph) -> None:
        """Fix the edges whose ends are tied."""
        lower = np.where(ties.inside & ties.violated, 1.0, 0.0)
        upper = np.where(ties.inside & ~ties.violated, 0.0, 1.0)
        changed = np.flatnonzero((lower != self.lower) | (upper != self.upper)).astype(np.int32)
        if len(changed):
            bounds = lower[changed], upper[changed]
            checked(self.solver.changeColsBounds(len(changed), changed, *bounds), "bounds")
        self.lower, self.upper = lower, upper

    def add(self, cuts: Sequence[Cut]) -> None:
        """Append rows."""
        if not cuts:
            return
        sizes = np.array([len(cut.edges) for cut in cuts])
        begins = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        columns = np.concatenate([cut.edges for cut in cuts])
        values = np.concatenate([cut.coefficients for cut in cuts]).astype(np.float64)
        sides = np.array([cut.right_side for cut in cuts], dtype=np.float64)
        endless = np.full(len(cuts), np.inf)
        rows = len(cuts), sides, endless, len(columns), begins, columns, values
        checked(self.solver.addRows(*rows), "rows")
        self.cuts += cuts
        self.right_sides = np.concatenate([self.right_sides, sides])
        self.asleep_for = np.concatenate([self.asleep_for, np.zeros(len(cuts), dtype=np.int64)])

    def solve(self, enough: float, seconds: float) -> None:
        """Go to the optimum, or until the value is above `enough`, or for some seconds."""
        checked(self.solver.setOptionValue("objective_bound", enough), "objective_bound")
        self.read(run(self.solver, seconds))

    def read(self, end: End) -> None:
        """Take over what the last run found; where it ran out of time, keep what was before."""
        if end in ("infeasible", "iterations"):
            raise LinearProgramError(f"a node's LP has a solution, but HiGHS ended with {end!r}")
        self.finished = end in ("optimal", "bound")
        if not self.finished:
            return
        solution = self.solver.getSolution()
        self.value = self.solver.getInfo().objective_function_value
        self.violation = np.clip(np.array(solution.col_value), 0.0, 1.0)
        self.row_values = np.array(solution.row_value)
        self.duals = np.array(solution.row_dual)

    def drop_sleepers(self, patience: int, least_share: float) -> None:
        """Remove rows that have been slack for more than `patience` solves, if they are many."""
        slack = self.row_values > self.right_sides + _TOLERANCE
        self.asleep_for = np.where(slack, self.asleep_for + 1, 0)
        old = self.asleep_for > patience
        if not old.any() or old.sum() < least_share * len(old):
            return
        gone = np.flatnonzero(old).astype(np.int32)
        checked(self.solver.deleteRows(len(gone), gone), "rows to delete")
        self.cuts = [cut for cut, is_old in zip(self.cuts, old.tolist(), strict=True) if not is_old]
        for name in ("asleep_for", "right_sides", "duals", "row_values"):
            setattr(self, name, getattr(self, name)[~old])

    def basis(self) -> Basis:
        """Where the LP stands."""
        basis = self.solver.getBasis()
        columns, rows = ([int(x) for x in part] for part in (basis.col_status, basis.row_status))
        return Basis(
            tuple(self.cuts), np.array(columns, dtype=np.int8), np.array(rows, dtype=np.int8)
        )

    def return_to(self, basis: Basis) -> None:
        """Have the cuts of an earlier LP, and its basis, again."""
        count = len(self.cuts)
        if count:
            rows = np.arange(count, dtype=np.int32)
            checked(self.solver.deleteRows(count, rows), "rows to delete")
        self.cuts, self.asleep_for = [], np.zeros(0, dtype=np.int64)
        self.right_sides, self.duals = np.zeros(0), np.zeros(0)
        self.add(basis.cuts)
        checked(self.solver.setBasis(_highs_basis(basis)), "a basis")


class Probe:
    """Tries out what fixing some columns of a solved LP does to its value.

    Args:
        lp: it stays as it is.
        iterations: of the dual simplex method, for each trial.
    """

    def __init__(self, lp: NodeLp, iterations: int) -> None:
        self.lp = lp
        self.solver = _new_simplex(np.zeros(0), _DEVEX)
        checked(self.solver.passModel(lp.solver.getLp()), "a model")
        checked(self.solver.setOptionValue("simplex_iteration_limit", iterations), "iterations")
        self.basis = lp.solver.getBasis()

    def value(self, edges: npt.NDArray[np.int32], sides: Floats) -> float:
        """The value after so many iterations, infinite if there is no solution."""
        lp, solver = self.lp, self.solver
        checked(solver.setBasis(self.basis), "a basis")
        checked(solver.changeColsBounds(len(edges), edges, sides, sides), "bounds")
        is_infeasible = run(solver) == "infeasible"
        value: float = np.inf if is_infeasible else solver.getInfo().objective_function_value
        bounds = lp.lower[edges], lp.upper[edges]
        checked(solver.changeColsBounds(len(edges), edges, *bounds), "bounds")
        return value


def _new_simplex(weights: Floats, edge_weights: int) -> Any:
    """HiGHS, ready for columns between 0 and 1."""
    return new_highs(
        weights,
        upper=1.0,
        presolve="off",  # it costs more than it saves, and throws the basis away
        solver="simplex",
        dual_feasibility_tolerance=1e-9,
        simplex_dual_edge_weight_strategy=edge_weights,
    )


def _highs_basis(basis: Basis) -> Any:
    import highspy

    made = highspy.HighsBasis()
    statuses = list(highspy.HighsBasisStatus.__members__.values())
    by_number = {int(status): status for status in statuses}
    made.col_status = [by_number[k] for k in basis.columns.tolist()]
    made.row_status = [by_number[k] for k in basis.rows.tolist()]
    made.valid = True
    return made
