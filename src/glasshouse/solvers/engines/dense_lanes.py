"""Dense problems whose spins all see each other: flips one after the other."""

from __future__ import annotations

import numpy as np

from glasshouse.solvers.engine import ColouredGraph, Engine
from glasshouse.solvers.engines.dense_numbers import MOST_RUNS, Numbers, aligned, is_dense
from glasshouse.solvers.kernels import dense_fields, dense_lanes
from glasshouse.solvers.kernels.dense_lanes import DenseTables
from glasshouse.solvers.kernels.kernel import annealing_kernel


@annealing_kernel("dense lanes", rank=6, tables=DenseTables, functions=dense_lanes)
def dense_engine(network: ColouredGraph) -> Engine | None:
    """Most pairs of spins coupled."""
    sites = int(np.count_nonzero(network.colours))
    if not is_dense(network, sites * (sites - 1) // 2):
        return None
    numbers = Numbers.of(network)
    if numbers is None:
        return None
    order = network.sweep_order()
    slots = np.arange(sites, dtype=np.int32)
    size = -(-sites // 32) * 32
    couplings, fields = numbers.matrix(network.problem, order, slots, size)
    whole = numbers.rounded(couplings)
    bias, own = numbers.fields(fields, slots)
    up = bias + whole.sum(0, numbers.dtype)
    rows = whole + whole  # may wrap around, and back where they are added
    tables = DenseTables(
        aligned(rows),
        up,
        own,
        slots,
        numbers.ceiling,
        numbers.rounding(couplings, 0, fields, each_pair_twice=True),
    )
    cost = MOST_RUNS * (4 * size + len(network.weights) // 16)
    return Engine(
        tables, order, MOST_RUNS, numbers.dtype, np.float64, 2 * size, cost,
        words=dense_fields.WORDS, together=dense_lanes.TOGETHER,
    )  # fmt: skip
