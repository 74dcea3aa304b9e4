"""Floats or integers on any graph, flips decided in float32: many runs, or few of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.solvers.engine import ColouredGraph, Engine, float_for, signs
from glasshouse.solvers.kernels import float32_lanes, float32_tables, sweep_order
from glasshouse.solvers.kernels.float32_tables import NarrowTables, WideTables
from glasshouse.solvers.kernels.kernel import FEW_RUNS, annealing_kernel


@annealing_kernel("float32 lanes", rank=30, tables=WideTables, functions=float32_lanes)
def float32_engine(network: ColouredGraph) -> Engine | None:
    """16 runs side by side."""
    return _engine(network, WideTables)


@annealing_kernel(
    "few float32 lanes", rank=25, tables=NarrowTables, functions=float32_lanes, most_runs=FEW_RUNS
)
def few_engine(network: ColouredGraph) -> Engine | None:
    """8 runs side by side: up to sixteen runs pay for no more lanes than they need."""
    return _engine(network, NarrowTables)


def _engine(network: ColouredGraph, kind: Any) -> Engine | None:
    lanes = kind.LANES
    too_many = (network.problem.num_variables + 1) * lanes > float32_tables.MOST_PLACE
    if too_many or float_for(network.problem) is None:
        return None
    if not float32_tables.suits_float32(network.starts, network.weights):
        return None
    # Sites of one colour share no edge: their order changes nothing. Those of as many neighbours
    # stand together, so that the processor foresees how many come next.
    degrees = np.diff(network.starts).astype(np.int32)
    everyone = np.arange(network.problem.num_variables, dtype=np.int32)
    order = sweep_order.order_by(network.colours, sweep_order.order_by(degrees, everyone))
    tables = kind(
        *float32_tables.build(order, network.starts, network.neighbours, network.weights, lanes)
    )
    cost = lanes * (8 * len(order) + len(network.weights))
    return Engine(tables, order, lanes, np.float32, np.float64, len(order) + 1, cost, spread=signs)
