"""Engines for dense problems: one for all-to-all couplings, and one for two-layer problems.

In two layers, such as those of an RBM, all flips of a layer are decided at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.solvers.engine import ColouredGraph, Engine
from glasshouse.solvers.engines.dense_numbers import (
    MOST_RUNS,
    Numbers,
    aligned,
    is_dense,
    signed_sums,
    sums_of_all,
)
from glasshouse.solvers.kernels import dense_fields, dense_lanes, dense_layers, dense_turns
from glasshouse.solvers.kernels.dense_lanes import DenseTables
from glasshouse.solvers.kernels.dense_layers import LayerTables
from glasshouse.solvers.kernels.kernel import annealing_kernel

# Sums of four spins save time as long as they fit into the cache of one core.
_SMALL = 1 << 19  # bytes


@annealing_kernel("dense lanes", rank=6, tables=DenseTables, functions=dense_lanes)
def dense_engine(network: ColouredGraph) -> Engine | None:
    """Return an engine if most pairs of a problem's spins are coupled, otherwise None."""
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
        aligned(whole + whole),  # may overflow, and wrap back when they are added
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
        words=dense_fields.WORDS, together=dense_turns.TOGETHER,
    )  # fmt: skip


def _among_sixteen(whole: Any) -> Any:
    """Return each slot's couplings to the later slots in its group of sixteen slots."""
    parts = np.arange(len(whole) // 16)
    return np.triu(whole.reshape(len(parts), 16, -1, 16)[parts, :, parts], 1).reshape(-1, 16)


@annealing_kernel("dense layers", rank=5, tables=LayerTables, functions=dense_layers)
def layer_engine(network: ColouredGraph) -> Engine | None:
    """Return an engine if a problem couples most spins of its two layers, otherwise None."""
    sizes = np.bincount(network.colours)[1:]
    if len(sizes) != 2 or not is_dense(network, sizes[0] * sizes[1]):
        return None
    numbers = Numbers.of(network)
    if numbers is None:
        return None
    order = network.sweep_order()
    widths = -(-sizes // 16) * 16
    ends = np.array([0, widths[0], widths.sum()], np.int64)
    slots = np.arange(len(order), dtype=np.int32)
    slots[sizes[0] :] += widths[0] - sizes[0]
    couplings, fields = numbers.matrix(network.problem, order, slots, int(ends[2]))
    couplings = couplings[: ends[1], ends[1] :]
    whole = numbers.rounded(couplings)
    group = 4 if 8 * whole.nbytes <= _SMALL else 2
    sums = [signed_sums(whole, group), signed_sums(whole.T, group)]
    layout = np.array([0, sums[0].size], np.int64)
    bias, own = numbers.fields(fields, slots)
    tables = LayerTables(
        aligned(*sums), layout, ends,
        -(-sizes // group), group // 2, bias, own, slots,
        numbers.ceiling, numbers.rounding(couplings, int(ends[1]), fields),
    )  # fmt: skip
    cost = MOST_RUNS * (4 * len(order) + len(network.weights) // 16)
    return Engine(
        tables, order, MOST_RUNS, numbers.dtype, np.float64, 2 * int(ends[2]), cost,
        words=dense_fields.WORDS, together=1,
    )  # fmt: skip
