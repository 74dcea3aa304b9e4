"""HiGHS, the LP solver, as everything here uses it: silent, with columns that have costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def new_highs(
    costs: npt.ArrayLike, lower: npt.ArrayLike = 0.0, upper: npt.ArrayLike = np.inf, **options: Any
) -> Any:
    """A solver that minimises costs · x over lower ≤ x ≤ upper, without rows as yet.

    Args:
        costs: one per column.
        lower: one per column, or the same for all.
        upper: likewise.
        options: HiGHS's own, by name.
    """
    import highspy

    make: Any = highspy.Highs  # untyped
    solver = make()
    for name, value in {"output_flag": False, **options}.items():
        solver.setOptionValue(name, value)
    values = np.asarray(costs, dtype=np.float64)
    size = len(values)
    solver.addVars(size, *(np.broadcast_to(x, size).astype(np.float64) for x in (lower, upper)))
    solver.changeColsCost(size, np.arange(size, dtype=np.int32), values)
    return solver


def run(solver: Any, seconds: float) -> None:
    """Solve, for some seconds at most; HiGHS counts those of all runs together."""
    if np.isfinite(seconds):
        solver.setOptionValue("time_limit", solver.getRunTime() + max(seconds, 0.0))
    solver.run()


def is_optimal(solver: Any) -> bool:
    """Whether the last run ended at an optimum."""
    import highspy

    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)
