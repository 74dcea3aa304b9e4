"""Clauses of two literals: a test of whether the planted state is their only model.

In the planted gauge every variable is true. A clause of i and j then has both its literals true, or
only that of i. Flipping i requires flipping j in the second case, and forbids it in the first. A
second model is a set of flips that is closed under the arrows i → j and contains no clause with
both literals true. Every closed set contains a whole strong component that no arrow leaves; so
there is a second model if and only if one of these components contains no such clause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glasshouse.planting.counting import GroundStates, count_ground_states
from glasshouse.planting.kernels.clauses import BOTH, ONE
from glasshouse.planting.loops import Loops

if TYPE_CHECKING:
    from glasshouse.planting.planted import Planted

Clauses = npt.NDArray[np.int32]  # rows (i, j, kind)


def is_unique(size: int, clauses: Clauses) -> bool:
    """Return, in linear time, whether the planted state is the only model.

    >>> is_unique(2, np.array([(0, 1, ONE), (1, 0, ONE)], dtype=np.int32))
    False
    >>> is_unique(2, np.array([(0, 1, ONE), (1, 0, ONE), (0, 1, BOTH)], dtype=np.int32))
    True
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    i, j, kind = clauses.T
    arrow = kind == ONE
    graph = coo_array((np.ones(arrow.sum(), np.int8), (i[arrow], j[arrow])), shape=(size, size))
    number, labels = connected_components(graph, directed=True, connection="strong")
    from_, to = labels[i], labels[j]
    is_held = np.zeros(number, dtype=np.bool_)
    is_held[from_[arrow & (from_ != to)]] = True  # an arrow leaves it
    is_held[from_[~arrow & (from_ == to)]] = True
    return bool(is_held.all())


def least_unique(size: int, clauses: Clauses) -> int | None:
    """Return how many of the first clauses give a unique model; None if even all clauses do not."""
    first = np.full(size, len(clauses), dtype=np.int64)  # no arrow leaves i before this clause
    arrows = np.flatnonzero(clauses[:, 2] == ONE)[::-1]
    first[clauses[arrows, 0]] = arrows
    low = int(first.max()) + 1  # with fewer, some variable can be flipped alone
    if low > len(clauses) or not is_unique(size, clauses):
        return None
    if is_unique(size, clauses[:low]):
        return low
    high = len(clauses)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_unique(size, clauses[:middle]) else (middle, high)
    return high


def loops_of(size: int, clauses: Clauses, weights: npt.NDArray[np.int64]) -> Loops:
    """Return clauses as triangles of two spins and the ghost, in the planted gauge.

    A violated clause of weight b costs 4b: b (1 - s_i) (1 - s_j) if both literals are true, and b
        (1 - s_i) (1 + s_j) if only that of i is.
    """
    i, j, kind = clauses.T
    ghost = np.full(len(i), size, dtype=np.int32)
    both = np.column_stack([j, ghost, i])  # the last edge, back to the first node, is < 0
    one = np.column_stack([ghost, i, j])
    nodes = np.where((kind == BOTH)[:, None], both, one)
    signed = weights[:, None] * np.array([1, 1, -1])
    return Loops(nodes.reshape(-1), np.arange(len(i) + 1) * 3, signed.reshape(-1))


def clauses_of(size: int, loops: Loops) -> Clauses:
    """Return the clauses among the loops: triangles with the ghost, with weights w, w and -w."""
    at = loops.starts[:-1][loops.lengths == 3][:, None] + np.arange(3)
    nodes, weights = loops.nodes[at], loops.weights[at]
    is_clause = (nodes == size).any(axis=1)
    is_clause &= (weights == weights[:, :1] * np.array([1, 1, -1])).all(axis=1)
    is_clause &= weights[:, 0] > 0
    a, b, c = nodes[is_clause].T
    rows = [(b == size, a, c, BOTH), (a == size, b, c, ONE), (c == size, b, a, ONE)]
    found = [np.column_stack([i, j, np.full(len(i), kind)])[here] for here, i, j, kind in rows]
    return np.concatenate(found).astype(np.int32)


def count_models(planted: Planted) -> GroundStates:
    """Count the ground states of a plant with clauses: one if its clauses have only one model."""
    size = planted.ising.num_variables
    clauses = clauses_of(size, planted.loops)
    if is_unique(size, clauses):
        return GroundStates(1, True, "proven: the 2-SAT has no other model")
    counted = count_ground_states(planted)
    is_all = len(clauses) == planted.loops.num_loops and not planted.squares
    if is_all and counted.least < 2:
        return GroundStates(2, False, "the 2-SAT has a second model")
    return counted
