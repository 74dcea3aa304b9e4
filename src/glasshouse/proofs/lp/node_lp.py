"""The LP of a tree node: a HiGHS model with a column for each edge and a row for each cut.

One object serves all nodes. Moving to a node changes the bounds of columns, and the dual simplex
method continues from the last basis, which stays dual feasible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.lp.cut_lp import CutLp, Floats
from glasshouse.proofs.lp.cuts import Cut
from glasshouse.proofs.lp.highs import checked, new_highs, run
from glasshouse.proofs.lp.tied_graph import TiedGraph

_SIMPLEX: dict[str, Any] = {
    "upper": 1.0,
    "solver": "simplex",
    "dual_feasibility_tolerance": 1e-9,
}
# The pricing strategies of HiGHS. Steepest edge needs half the iterations, but a tenth of a second
# to start from a new basis.
_DEVEX, _STEEPEST_EDGE = 1, 2
_POINTER = 8  # bytes


@dataclass(frozen=True, eq=False)
class Basis:
    """A basis of an LP, with the cuts of the LP and the HiGHS status of each column and row.

    `shared` are the cuts of the LP, most of which other bases share.
    """

    shared: tuple[Cut, ...]
    columns: npt.NDArray[np.int8]
    rows: npt.NDArray[np.int8]

    @property
    def num_bytes(self) -> int:
        """The memory of the basis in bytes, without the cuts."""
        return self.columns.nbytes + self.rows.nbytes + _POINTER * len(self.shared)


class NodeLp(CutLp):
    """A `CutLp` with u ≤ 1, in which u is fixed for edges with tied ends."""

    def __init__(self, weights: Floats) -> None:
        super().__init__(weights, **_SIMPLEX, simplex_dual_edge_weight_strategy=_STEEPEST_EDGE)
        self.lower, self.upper = np.zeros(len(weights)), np.ones(len(weights))

    def go_to(self, ties: TiedGraph) -> None:
        """Move the LP to a node by fixing the variable of every edge whose ends are tied."""
        lower = np.where(ties.inside & ties.violated, 1.0, 0.0)
        upper = np.where(ties.inside & ~ties.violated, 0.0, 1.0)
        changed = np.flatnonzero((lower != self.lower) | (upper != self.upper)).astype(np.int32)
        if len(changed):
            bounds = lower[changed], upper[changed]
            checked(self.solver.changeColsBounds(len(changed), changed, *bounds), "bounds")
        self.lower, self.upper = lower, upper

    def basis(self) -> Basis:
        """Return the current basis, together with the LP's cuts."""
        basis = self.solver.getBasis()
        columns, rows = ([int(x) for x in part] for part in (basis.col_status, basis.row_status))
        return Basis(
            tuple(self.cuts), np.array(columns, dtype=np.int8), np.array(rows, dtype=np.int8)
        )

    def return_to(self, basis: Basis) -> None:
        """Restore the cuts and the basis that `basis` returned earlier."""
        import highspy

        self.remove(np.ones(len(self.cuts), dtype=np.bool_))
        self.add(basis.shared)
        made = highspy.HighsBasis()
        statuses = list(highspy.HighsBasisStatus.__members__.values())
        by_number = {int(status): status for status in statuses}
        made.col_status = [by_number[k] for k in basis.columns.tolist()]
        made.row_status = [by_number[k] for k in basis.rows.tolist()]
        made.valid = True
        checked(self.solver.setBasis(made), "a basis")


class Probe:
    """Trial solves that measure how an LP's value changes if some columns are fixed.

    Args:
        lp: the LP, which is not changed.
        iterations: the iterations of the dual simplex method for each trial.
    """

    def __init__(self, lp: NodeLp, iterations: int) -> None:
        self.lp = lp
        self.solver = new_highs(
            [], presolve="off", simplex_dual_edge_weight_strategy=_DEVEX, **_SIMPLEX
        )
        checked(self.solver.passModel(lp.solver.getLp()), "a model")
        checked(self.solver.setOptionValue("simplex_iteration_limit", iterations), "iterations")
        self.basis = lp.solver.getBasis()

    def value(self, edges: npt.NDArray[np.int32], sides: Floats) -> float:
        """Return the LP's value with `edges` fixed to `sides`; infinity if that is infeasible."""
        lp, solver = self.lp, self.solver
        checked(solver.setBasis(self.basis), "a basis")
        checked(solver.changeColsBounds(len(edges), edges, sides, sides), "bounds")
        is_infeasible = run(solver) == "infeasible"
        value: float = np.inf if is_infeasible else solver.getInfo().objective_function_value
        bounds = lp.lower[edges], lp.upper[edges]
        checked(solver.changeColsBounds(len(edges), edges, *bounds), "bounds")
        return value
