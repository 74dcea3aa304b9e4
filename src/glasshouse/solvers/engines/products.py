"""The engine for polynomials of any degree."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.solvers.engine import Engine, Hypergraph, float_for, signs
from glasshouse.solvers.kernels import product_lanes
from glasshouse.solvers.kernels.kernel import annealing_kernel
from glasshouse.solvers.kernels.product_lanes import ProductTables


@annealing_kernel(
    "product lanes", rank=50, tables=ProductTables, functions=product_lanes, any_degree=True
)
def product_engine(network: Any) -> Engine | None:
    """Prepare a polynomial of any degree for 16 runs side by side."""
    if not isinstance(network, Hypergraph) or float_for(network.problem) is None:
        return None
    order = network.sweep_order()
    place = np.full(network.problem.num_variables, -1, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    counts = np.diff(network.starts)[order]
    starts = np.concatenate([[0], np.cumsum(counts)])
    # The monomials of each site, then the members of each monomial, without the site itself.
    shift = np.repeat(network.starts[:-1][order] - starts[:-1], counts)
    held = network.neighbours[np.arange(starts[-1]) + shift]
    members = network.problem.monomials.chosen(held)
    sites, rows = place[members.indices], members.rows
    kept = np.flatnonzero(sites != np.repeat(np.arange(len(order)), counts)[rows])
    kept = kept[np.lexsort((sites[kept], rows[kept]))]
    lengths = np.bincount(rows[kept], minlength=len(held))
    tables = ProductTables(
        starts.astype(np.int64),
        -network.problem.weights[held].astype(np.float64),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.ascontiguousarray(sites[kept], dtype=np.int32),
    )
    cost = 16 * (8 * len(order) + 2 * len(held) + len(kept))
    return Engine(tables, order, 16, np.float64, np.float64, len(order) + 1, cost, spread=signs)
