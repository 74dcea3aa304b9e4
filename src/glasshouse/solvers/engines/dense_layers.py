"""Dense problems in two layers, such as RBMs: a layer's flips are decided all at once."""

from __future__ import annotations

import numpy as np

from glasshouse.solvers.engine import ColouredGraph, Engine
from glasshouse.solvers.engines.dense_numbers import (
    MOST_RUNS,
    Numbers,
    aligned,
    is_dense,
)
from glasshouse.solvers.engines.dense_sums import signed_sums
from glasshouse.solvers.kernels import dense_fields, dense_layers
from glasshouse.solvers.kernels.dense_layers import LayerTables
from glasshouse.solvers.kernels.kernel import annealing_kernel

# Sums of four spins are worth their room as long as they stay in a processor's own memory.
_SMALL = 1 << 19  # bytes


@annealing_kernel("dense layers", rank=5, tables=LayerTables, functions=dense_layers)
def layer_engine(network: ColouredGraph) -> Engine | None:
    """Two colours, most pairs between them coupled."""
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
