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
    sums_of_groups,
)
from glasshouse.solvers.kernels import dense_dice, dense_fields, dense_lanes
from glasshouse.solvers.kernels.dense_lanes import DenseTables
from glasshouse.solvers.kernels.kernel import annealing_kernel

# Sums of four spins are worth their room in a processor's own memory, sums of two in a larger one.
_SMALL, _LARGE = 1 << 19, 1 << 21  # bytes


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
    used = -(-sites // 16) * 16
    sums, group = _sums_of_all(whole[:used, :used])
    tables = DenseTables(
        aligned(whole + whole),  # may wrap around, and back where they are added
        bias + whole.sum(0, numbers.dtype),
        bias,
        own,
        aligned(sums_of_groups(_among_sixteen(whole), 4)),
        aligned(sums),
        group // 2,
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


def _sums_of_all(whole: Any) -> tuple[Any, int]:
    """For each sixteen slots the sums of all groups of four spins, or two; none where too large."""
    group = 4 if 4 * whole.nbytes <= _SMALL else 2
    if (1 << group) // group * whole.nbytes > _LARGE:
        return whole[:0], group
    sums = sums_of_groups(whole, group)
    return sums.reshape(-1, 1 << group, len(whole) // 16, 16).transpose(2, 0, 1, 3), group
