"""Dense problems whose spins all see each other: flips one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.solvers.engine import ColouredGraph, Engine
from glasshouse.solvers.engines.dense_numbers import (
    MOST_RUNS,
    Numbers,
    aligned,
    is_dense,
)
from glasshouse.solvers.engines.dense_sums import signed_sums, sums_of_all
from glasshouse.solvers.kernels import dense_dice, dense_fields, dense_lanes
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
    sums = sums_of_all(whole, sites)
    tables = DenseTables(
        aligned(whole + whole),  # may wrap around, and back where they are added
        bias + whole.sum(0, numbers.dtype),
        own,
        aligned(signed_sums(_among_sixteen(whole), 4)),
        aligned(sums.table),
        bias + sums.least,
        aligned(sums.lacking),
        sums.group // 2,
        sums.crowd,
        slots,
        numbers.ceiling,
        numbers.rounding(couplings, 0, fields, each_pair_twice=True),
    )
    cost = MOST_RUNS * (4 * size + len(network.weights) // 16)
    return Engine(
        tables, order, MOST_RUNS, numbers.dtype, np.float64, 2 * size, cost,
        words=dense_fields.WORDS, together=dense_dice.TOGETHER,
    )  # fmt: skip


def _among_sixteen(whole: Any) -> Any:
    """Of each sixteen slots, the couplings of each of them to those after it."""
    parts = np.arange(len(whole) // 16)
    return np.triu(whole.reshape(len(parts), 16, -1, 16)[parts, :, parts], 1).reshape(-1, 16)
