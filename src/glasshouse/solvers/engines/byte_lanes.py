"""Integers with few different local fields per site: 64 runs, a byte each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.solvers.engine import ColouredGraph, Engine
from glasshouse.solvers.kernels import byte_lanes, byte_tables
from glasshouse.solvers.kernels.byte_tables import ByteTables
from glasshouse.solvers.kernels.kernel import FEW_RUNS, annealing_kernel

# With more levels per site than this, comparing with each costs more than floating-point lanes.
_MOST_LEVELS = 32


@annealing_kernel(
    "byte lanes", rank=10, tables=ByteTables, functions=byte_lanes, least_runs=FEW_RUNS + 1
)
def byte_engine(network: ColouredGraph) -> Engine | None:
    """64 runs, a byte each: integer weights, and few different local fields per site."""
    problem = network.problem
    if not problem.is_integer or not byte_tables.fits(network.starts, network.weights):
        return None
    parts, order, levels = byte_tables.build_parts(
        network.colours, network.starts, network.neighbours, network.weights
    )
    if levels > _MOST_LEVELS:
        return None
    cost = byte_tables.ROW // 8 * (8 * len(order) + len(network.neighbours))
    return Engine(
        ByteTables(*parts), order, 64, np.uint8, np.int32, 2 * len(order) + 2, cost,
        spread=_with_complements,
    )  # fmt: skip


def _with_complements(spins: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Each row of spins, followed by its complement."""
    return np.stack([spins, ~spins], axis=1)
