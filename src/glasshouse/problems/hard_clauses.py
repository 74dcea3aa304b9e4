"""Satisfiability of two-literal clauses (2-SAT), decided in linear time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


class HardClausesUnsatisfiableError(ValueError):
    """Raised if no assignment satisfies all hard clauses."""


def satisfy(num_variables: int, clauses: npt.NDArray[np.int32]) -> npt.NDArray[np.int8]:
    """Return an assignment (0/1) that satisfies all clauses.

    `l ∨ m` means ¬l → m and ¬m → l. Literals that imply each other (a strongly connected component)
    are equal; if x and ¬x are equal, the clauses are unsatisfiable (Aspvall, Plass and Tarjan).

    >>> satisfy(3, np.array([[1, 2], [-1, 0], [-2, 3]])).tolist()
    [0, 1, 1]
    >>> satisfy(1, np.array([[1, 0], [-1, 0]]))
    Traceback (most recent call last):
        ...
    glasshouse.problems.hard_clauses.HardClausesUnsatisfiableError: hard clauses are unsatisfiable:
    they force variable 1 to be both true and false
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if not len(clauses):
        return np.zeros(num_variables, dtype=np.int8)
    first = clauses[:, 0].astype(np.int64)
    second = np.where(clauses[:, 1] == 0, first, clauses[:, 1])
    tails = np.concatenate([_node(-first), _node(-second)])
    heads = np.concatenate([_node(second), _node(first)])
    size = 2 * num_variables
    implies = csr_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), shape=(size, size))
    count, component = connected_components(implies, directed=True, connection="strong")
    contradiction = np.flatnonzero(component[0::2] == component[1::2])
    if len(contradiction):
        raise HardClausesUnsatisfiableError(
            "hard clauses are unsatisfiable: they force variable "
            f"{contradiction[0] + 1} to be both true and false"
        )
    rank = _topological_rank(component[tails], component[heads], count)
    # Of x and ¬x, the literal that comes later in the order of implication can be true.
    true: npt.NDArray[np.bool_] = rank[component[0::2]] > rank[component[1::2]]
    return true.astype(np.int8)


def _node(literals: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return each literal's node in the implication graph: 2k - 2 for x_k, 2k - 1 for ¬x_k."""
    return 2 * (np.abs(literals) - 1) + (literals < 0)


def _topological_rank(
    tails: npt.NDArray[np.int64], heads: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    """Return a topological rank of each component, below the ranks of all components it implies."""
    between = tails != heads
    tails, heads = tails[between], heads[between]
    order = np.argsort(tails, kind="stable")
    heads = heads[order]
    starts = np.searchsorted(tails[order], np.arange(count + 1)).tolist()
    missing = np.bincount(heads, minlength=count)
    ready = np.flatnonzero(missing == 0).tolist()
    followers, missing = heads.tolist(), missing.tolist()
    rank = np.zeros(count, dtype=np.int64)
    place = 0
    while ready:
        component = ready.pop()
        rank[component] = place
        place += 1
        for follower in followers[starts[component] : starts[component + 1]]:
            missing[follower] -= 1
            if not missing[follower]:
                ready.append(follower)
    return rank
