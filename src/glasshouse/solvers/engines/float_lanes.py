"""Floats or integers on any graph: lanes of floats over the neighbours of each site."""

from __future__ import annotations

from glasshouse.solvers.engine import ColouredGraph, Engine, float_for
from glasshouse.solvers.kernels import float_lanes
from glasshouse.solvers.kernels.float_lanes import FloatTables
from glasshouse.solvers.kernels.kernel import annealing_kernel


@annealing_kernel("float lanes", rank=30, tables=FloatTables, functions=float_lanes)
def float_engine(network: ColouredGraph) -> Engine | None:
    """Lanes of floats over the neighbours of each site: any sparse problem."""
    dtype = float_for(network.problem)
    if dtype is None:
        return None
    order, starts, neighbours, weights = network.in_sweep_order()
    tables = FloatTables(starts, neighbours, weights.astype(dtype))
    cost = 16 * (8 * len(order) + 2 * len(weights))
    return Engine(tables, order, 128 // dtype().itemsize, dtype, dtype, len(order) + 1, cost)
