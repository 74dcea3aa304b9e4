"""Compressed rows against lists of neighbours made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from glasshouse.kernels.adjacency import adjacency, fill_rows


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_the_sorted_neighbours_of_every_node(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 12))
    tails = rng.integers(0, size, int(rng.integers(0, 40)))
    edges = np.column_stack([tails, (tails + rng.integers(1, size, len(tails))) % size])
    rows = adjacency(size, edges)
    for v in range(size):
        # Parallel edges in the order given.
        expected = sorted(
            (int(a + b - v), k) for k, (a, b) in enumerate(edges) if v in (a, b)
        )  # fmt: skip
        part = slice(rows.starts[v], rows.starts[v + 1])
        assert list(zip(rows.neighbours[part], rows.edge_ids[part], strict=True)) == expected


def test_every_array_of_edges_runs_the_same_machine_code():
    edges = np.array([(0, 1), (1, 2)])
    locked = edges.astype(np.int32)
    locked.flags.writeable = False
    for given in (edges, locked, edges[:, ::-1], np.asfortranarray(edges), edges[:0]):
        adjacency(3, given)
    assert len(fill_rows.signatures) == 1
