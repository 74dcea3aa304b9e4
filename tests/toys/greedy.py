"""An annealing kernel that flips every spin whose flip does not raise the energy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from glasshouse.compiled import compiled
from glasshouse.solvers.engine import ColouredGraph, Engine
from glasshouse.solvers.kernels import scalar
from glasshouse.solvers.kernels.kernel import annealing_kernel


class GreedyTables(NamedTuple):
    """The neighbours of each site; the class of the tables selects the kernel."""

    starts: Any
    neighbours: Any
    weights: Any


@compiled
def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """Make one deterministic sweep."""
    for site in range(block.spins.size - 1):
        x = scalar.local_field(tables, block.spins, site) * block.spins[site]
        if x <= 0:
            block.spins[site] = -block.spins[site]
            block.energies[0] += 2 * x


FUNCTIONS = SimpleNamespace(
    workspace=scalar.workspace,
    begin=scalar.begin,
    step=step,
    measure=scalar.measure,
    watched_step=scalar.watched_step,
    keep=scalar.keep,
)


@annealing_kernel("greedy", rank=0, tables=GreedyTables, functions=FUNCTIONS)
def make(network: ColouredGraph) -> Engine | None:
    """Return an engine for problems of seven spins, and None for all other problems."""
    if network.problem.num_variables != 7 or not network.problem.is_integer:
        return None
    order, starts, neighbours, weights = network.in_sweep_order()
    tables = GreedyTables(starts, neighbours, weights)
    return Engine(tables, order, 1, np.int64, np.int64, len(order) + 1, len(weights))
