"""Integers of any size, and whatever the other kernels cannot hold: one run at a time."""

from __future__ import annotations

import numpy as np

from glasshouse.solvers.engine import ColouredGraph, Engine, signs
from glasshouse.solvers.kernels import scalar
from glasshouse.solvers.kernels.kernel import annealing_kernel
from glasshouse.solvers.kernels.scalar import ScalarTables


@annealing_kernel("scalar", rank=1000, tables=ScalarTables, functions=scalar)
def scalar_engine(network: ColouredGraph) -> Engine:
    """One run at a time, in 64-bit integers or floats: whatever the others cannot hold."""
    order, starts, neighbours, weights = network.in_sweep_order()
    tables = ScalarTables(starts, neighbours, weights)
    cost = 8 * len(order) + len(weights)
    return Engine(
        tables, order, 1, np.int64, weights.dtype.type, len(order) + 1, cost, spread=signs
    )
