"""Engines for any graph: many runs in lanes of bytes, float32 or float64, or one run at a time.

* Bytes, 64 runs: integers with few different local fields per site.
* float32, 16 runs or 8: floats or integers.
* float64, 16 runs: weights of too different magnitudes for float32.
* One run at a time: integers of any size, and all other problems.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.solvers.engine import ColouredGraph, Engine, float_for, signs
from glasshouse.solvers.kernels import (
    byte_lanes,
    byte_tables,
    float32_lanes,
    float32_tables,
    float64_lanes,
    scalar,
    sweep_order,
)
from glasshouse.solvers.kernels.byte_tables import ByteTables
from glasshouse.solvers.kernels.float32_tables import NarrowTables, WideTables
from glasshouse.solvers.kernels.float64_lanes import Float64Tables
from glasshouse.solvers.kernels.kernel import FEW_RUNS, annealing_kernel
from glasshouse.solvers.kernels.scalar import ScalarTables

# With more levels per site, the comparisons take longer than floating-point lanes.
_MOST_LEVELS = 32


@annealing_kernel(
    "byte lanes", rank=10, tables=ByteTables, functions=byte_lanes, least_runs=FEW_RUNS + 1
)
def byte_engine(network: ColouredGraph) -> Engine | None:
    """Prepare 64 byte lanes for a problem with integer weights and few distinct local fields."""
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
        spread=lambda spins: np.stack([spins, ~spins], axis=1),
    )  # fmt: skip


@annealing_kernel("float32 lanes", rank=30, tables=WideTables, functions=float32_lanes)
def float32_engine(network: ColouredGraph) -> Engine | None:
    """Prepare a sparse problem for 16 runs side by side in float32."""
    return _engine(network, WideTables)


@annealing_kernel(
    "few float32 lanes", rank=25, tables=NarrowTables, functions=float32_lanes, most_runs=FEW_RUNS
)
def few_engine(network: ColouredGraph) -> Engine | None:
    """Prepare a sparse problem for 8 runs side by side in float32."""
    return _engine(network, NarrowTables)


def _engine(network: ColouredGraph, kind: Any) -> Engine | None:
    lanes = kind.LANES
    too_many = (network.problem.num_variables + 1) * lanes > float32_tables.MOST_PLACE
    if too_many or float_for(network.problem) is None:
        return None
    if not float32_tables.suits_float32(network.starts, network.weights):
        return None
    # Sites of one colour share no edge, so their order is free. Sites with equal numbers of
    # neighbours are adjacent, so that the processor predicts the length of the next loop.
    degrees = np.diff(network.starts).astype(np.int32)
    everyone = np.arange(network.problem.num_variables, dtype=np.int32)
    order = sweep_order.order_by(network.colours, sweep_order.order_by(degrees, everyone))
    tables = kind(
        *float32_tables.build(order, network.starts, network.neighbours, network.weights, lanes)
    )
    cost = lanes * (8 * len(order) + len(network.weights))
    return Engine(tables, order, lanes, np.float32, np.float64, len(order) + 1, cost, spread=signs)


@annealing_kernel("float64 lanes", rank=40, tables=Float64Tables, functions=float64_lanes)
def float64_engine(network: ColouredGraph) -> Engine | None:
    """Prepare a sparse problem for 16 runs side by side in float64."""
    if float_for(network.problem) is None:
        return None
    order, starts, neighbours, weights = network.in_sweep_order()
    tables = Float64Tables(starts, neighbours, weights.astype(np.float64))
    cost = 16 * (8 * len(order) + 2 * len(weights))
    return Engine(tables, order, 16, np.float64, np.float64, len(order) + 1, cost, spread=signs)


@annealing_kernel("scalar", rank=1000, tables=ScalarTables, functions=scalar)
def scalar_engine(network: ColouredGraph) -> Engine:
    """Prepare any problem for one run at a time, in 64-bit integers or floats."""
    order, starts, neighbours, weights = network.in_sweep_order()
    tables = ScalarTables(starts, neighbours, weights)
    cost = 8 * len(order) + len(weights)
    return Engine(
        tables, order, 1, np.int64, weights.dtype.type, len(order) + 1, cost, spread=signs
    )
