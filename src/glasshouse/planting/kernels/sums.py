"""Linear-time passes over loops: a check of their weights, and their sum as a matrix."""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import compiled


@compiled
def find_bad_weights(starts: Any, weights: Any) -> int:
    """Return the first loop whose last weight is positive or outweighs another; -1 if none."""
    for loop in range(starts.size - 1):
        end = starts[loop + 1] - 1
        if weights[end] > 0:
            return loop
        for k in range(starts[loop], end):
            if weights[k] <= 0 or weights[k] < -weights[end]:
                return loop
    return -1


@compiled
def add_to_matrix(
    nodes: Any, starts: Any, weights: Any, spins: Any, matrix: Any, biases: Any
) -> None:
    """Add all loops to a weight matrix and its biases, in the gauge in which `spins` is planted.

    Nodes are rows, then columns, then the ghost. A loop of a bipartite problem alternates.
    """
    rows, ghost = matrix.shape[0], biases.size
    for loop in range(starts.size - 1):
        first, end = starts[loop], starts[loop + 1] - 1
        for k in range(first, end + 1):
            a, b = nodes[k], nodes[first if k == end else k + 1]
            low, high = min(a, b), max(a, b)
            if high == ghost:
                biases[low] += weights[k] * spins[low]
            else:
                matrix[low, high - rows] += weights[k] * spins[low] * spins[high]
