"""Floats or integers where most pairs are coupled: rows against all spins of a range."""

from __future__ import annotations

import numpy as np

from glasshouse.solvers.engine import ColouredGraph, Engine, float_for
from glasshouse.solvers.kernels import dense_lanes, sweep_order
from glasshouse.solvers.kernels.dense_lanes import DenseTables
from glasshouse.solvers.kernels.kernel import annealing_kernel

# A dense row costs less an entry than a sparse one: worth it from this share of non-zeros on.
_LEAST_FILL = 0.4


@annealing_kernel("dense lanes", rank=20, tables=DenseTables, functions=dense_lanes)
def dense_engine(network: ColouredGraph) -> Engine | None:
    """Rows of floats against all spins of a range: where most pairs are coupled."""
    dtype = float_for(network.problem)
    if dtype is None:
        return None
    order, starts, neighbours, weights = network.in_sweep_order()
    if sweep_order.filled(starts, neighbours) < _LEAST_FILL:
        return None
    tables = dense_lanes.build(starts, neighbours, weights, np.empty(0, dtype))
    lanes = 128 // dtype().itemsize
    rows = len(tables.fields) + 1  # the ghost is not used, but drawn like everywhere
    return Engine(tables, order, lanes, dtype, dtype, rows, 16 * len(tables.weights))
