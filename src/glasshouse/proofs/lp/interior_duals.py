"""Duals that prove exactly that a state is optimal, even if weights have many digits.

Loops that are at their minimum in a state prove its value exactly if the remainder, in the gauge of
the state, is not negative on any edge. The dual simplex method ends with a remainder that is zero
on many edges, and rounding then makes it negative on some. Integral solutions of the cycle LP are
highly degenerate, so other optimal duals exist. This module maximises the least remainder; any
rounding finer than that is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.lp.cuts import Cut
from glasshouse.proofs.lp.highs import checked, new_highs, run
from glasshouse.proofs.lp.tied_graph import TiedGraph
from glasshouse.proofs.signed_graph import Spins

Floats = npt.NDArray[np.float64]

# The remainder need not be larger than this fraction of the weights.
_ENOUGH = 0.1


def interior_duals(
    ties: TiedGraph, cuts: Sequence[Cut], state: Spins, seconds: float
) -> Floats | None:
    """Return duals, in units of the largest weight, that prove a state optimal; None if not found.

    Args:
        ties: the node; the state agrees with it.
        cuts: the inequalities. Only those that the state satisfies with equality are used.
        state: the state to prove optimal.
        seconds: the time limit.
    """
    graph = ties.graph
    first, second = graph.edges.T
    products = (state[first] * state[second]).astype(np.int64)
    # In the gauge of the state a tight cut is at its minimum.
    gauged = [(graph.signs * products)[cut.edges] * cut.coefficients for cut in cuts]
    tight = [k for k, cut in enumerate(cuts) if gauged[k].sum() == cut.depth]
    edges = np.flatnonzero(~ties.inside)
    bundle = np.full(graph.num_edges, -1)
    bundle[edges] = ties.bundles[1]
    gauged_weights = (graph.couplings * products)[edges]
    room = np.bincount(bundle[edges], gauged_weights).astype(np.float64)
    # One column for each tight loop, and one for the least remainder, relative to the weights.
    sizes = np.bincount(bundle[edges], np.abs(graph.couplings)[edges])
    costs = np.append(np.zeros(len(tight)), -1.0)
    upper = np.append(np.full(len(tight), np.inf), _ENOUGH)
    rows, columns, values = _entries(bundle, [cuts[k] for k in tight], [gauged[k] for k in tight])
    touched = np.unique(rows)
    if (np.delete(room, touched) < 0.0).any():
        return None  # no loop uses a violated bundle
    rows = np.concatenate([np.searchsorted(touched, rows), np.arange(len(touched))])
    columns = np.concatenate([columns, np.full(len(touched), len(tight))])
    values = np.concatenate([values, sizes[touched]])
    solver = new_highs(costs, 0.0, upper)
    _add_rows(solver, rows, columns, values, room[touched])
    if run(solver, seconds) != "optimal":
        return None
    duals = np.zeros(len(cuts))
    duals[tight] = np.maximum(np.array(solver.getSolution().col_value)[:-1], 0.0)
    return duals


def _entries(
    bundle: npt.NDArray[np.int64], cuts: Sequence[Cut], gauged: Sequence[npt.NDArray[np.int64]]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
    """Return the LP matrix's entries: the row (bundle), column (loop) and value of each entry."""
    sizes = [len(cut.edges) for cut in cuts]
    rows = bundle[np.concatenate([cut.edges for cut in cuts] or [np.zeros(0, dtype=int)])]
    columns = np.repeat(np.arange(len(cuts)), sizes)
    values = np.concatenate([*gauged, np.zeros(0)]).astype(np.float64)
    outside = rows >= 0
    return rows[outside], columns[outside], values[outside]


def _add_rows(
    solver: Any,
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    values: Floats,
    room: Floats,
) -> None:
    """Add the rows Σ values · x ≤ room to a solver; entries with the same row and column add up."""
    from scipy.sparse import csr_array

    shape = len(room), int(columns.max(initial=0)) + 1
    matrix = csr_array((values, (rows, columns)), shape=shape)
    begins, indices = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32)
    lower = np.full(len(room), -np.inf)
    made = len(room), lower, room, matrix.nnz, begins, indices, matrix.data
    checked(solver.addRows(*made), "rows")
