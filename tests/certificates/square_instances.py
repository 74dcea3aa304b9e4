"""Sums of squares and loops made here, from the definition, and what proves them."""

from __future__ import annotations

import numpy as np

from glasshouse.certificates import Certificate, Squares
from glasshouse.problems import Ising

# Coefficients in the planted gauge, each with the least (a·s)² that its parity allows there: not
# all equal, two in four, three spins and an ancilla for an XOR, partitions.
PATTERNS = (
    (1, 1, -1), (1, 1, -1, -1), (1, 1, 1, -1, -2), (1, -1, -1, -1, 2), (2, -1, -1), (3, -1, -1),
    (6, -4, -2), (1,), (1, -1), (5, -3, -1), (4, -2, -1, -1),
)  # fmt: skip


def square_sum(
    size: int, rng: np.random.Generator, *, squares: int = 4, most_spins: int = 5
) -> tuple[Ising, Certificate]:
    """A problem of some squares, perhaps a loop and a rest, and its certificate: a tight one.

    Nodes are spins and the ghost; terms may cancel each other.
    """
    state = np.append(rng.choice([-1, 1], size), 1)
    denominator = int(rng.integers(1, 4))
    matrix, rows, multipliers = np.zeros((size + 1, size + 1), dtype=np.int64), [], []
    while len(rows) < squares:
        pattern = PATTERNS[rng.integers(len(PATTERNS))]
        nodes = rng.permutation(size + 1)[: len(pattern)]
        if len(pattern) > size + 1 or (nodes < size).sum() > most_spins:
            continue
        a = np.array(pattern) * state[nodes] * rng.choice([-1, 1])
        c = int(rng.integers(1, 4))
        matrix[np.ix_(nodes, nodes)] -= 2 * c * np.outer(a, a)
        rows.append(list(zip(nodes.tolist(), a.tolist(), strict=True)))
        multipliers.append(c * denominator)
    cycle = rng.permutation(size + 1)[: rng.integers(3, size + 2)] if rng.random() < 0.5 else []
    for k, node in enumerate(cycle):  # the last edge, back to the first, is violated
        value = state[node] * state[cycle[k - 1]] * (-1 if k == 0 else 1)
        matrix[node, cycle[k - 1]] += value
        matrix[cycle[k - 1], node] += value
    rest = np.triu(rng.integers(0, 3, matrix.shape) * (rng.random(matrix.shape) < 0.1), 1)
    matrix += (rest + rest.T) * np.outer(state, state)
    np.fill_diagonal(matrix, 0)
    problem = Ising.from_matrix(matrix[:size, :size], fields=matrix[:size, size])
    starts, weights = ([0, len(cycle)], [denominator]) if len(cycle) else ([0], [])
    parts = Squares.of(rows, multipliers)
    nodes = np.array(cycle, dtype=np.int64)
    return problem, Certificate(state[:size], nodes, starts, weights, denominator, None, parts)
