"""Floats or integers on any graph, all in float64: weights too unlike each other for float32."""

from __future__ import annotations

import numpy as np

from glasshouse.solvers.engine import ColouredGraph, Engine, float_for, signs
from glasshouse.solvers.kernels import float64_lanes
from glasshouse.solvers.kernels.float64_lanes import Float64Tables
from glasshouse.solvers.kernels.kernel import annealing_kernel


@annealing_kernel("float64 lanes", rank=40, tables=Float64Tables, functions=float64_lanes)
def float64_engine(network: ColouredGraph) -> Engine | None:
    """16 runs side by side over the neighbours of each site: any sparse problem."""
    if float_for(network.problem) is None:
        return None
    order, starts, neighbours, weights = network.in_sweep_order()
    tables = Float64Tables(starts, neighbours, weights.astype(np.float64))
    cost = 16 * (8 * len(order) + 2 * len(weights))
    return Engine(tables, order, 16, np.float64, np.float64, len(order) + 1, cost, spread=signs)
