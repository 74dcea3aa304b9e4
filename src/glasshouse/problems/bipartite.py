"""Bipartite forms of problems, with doubled variables and ghost spins (paper, section 2)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from glasshouse.problems import exact
from glasshouse.problems.ising import Ising
from glasshouse.problems.qubo import Qubo
from glasshouse.problems.rbm import Rbm, rbm_of_sides
from glasshouse.problems.reduction import Reduction, bits, spins
from glasshouse.problems.two_sides import sides_of

Penalty = Literal["tight", "paper"]


def qubo_to_bipartite(problem: Qubo, *, penalty: Penalty = "tight") -> tuple[Qubo, Reduction]:
    """Return a bipartite QUBO with two copies (v, h) of every variable; at optima, v = h.

    `penalty="tight"` splits every term evenly between the copies and charges P_i = (Σ_j |Q_ij| +
    unit)/8 for v_i ≠ h_i, with the unit the gcd of the coefficients (their least magnitude for
    floats): the smallest penalty that works (ERRATA 1). `penalty="paper"` leaves linear terms on v,
    couples v_i to h_j for i < j and charges 2c = 2(Σ|B| + Σ|Q|), the paper's penalty with its sign
    corrected.

    A state with v ≠ h maps back to a state that costs no more (see `_merge_copies`).
    """
    if penalty not in ("tight", "paper"):
        raise ValueError(f'penalty={penalty!r} is not known; use "tight" or "paper"')
    size, edges = problem.num_variables, problem.edges
    weights, linear = exact.room(
        problem.weights, problem.linear, factor=64, constant=problem.offset
    )
    straight = np.arange(size)
    if penalty == "tight":
        grain = exact.unit(weights, linear, problem.offset)
        charge = exact.sums_at_ends(size, edges, np.abs(weights)) + grain
        # The unit is 1/8: B/2, Q/2 and P = charge/8.
        scaled = exact.cleared(8, 4 * linear, 4 * weights, charge)
        (half_linear, half_weights, charge), factor = scaled
        doubled_edges = np.concatenate(
            [
                np.column_stack([edges[:, 0], edges[:, 1] + size]),
                np.column_stack([edges[:, 1], edges[:, 0] + size]),
            ]
        )
        doubled_weights = np.concatenate([half_weights, half_weights])
        doubled_linear = np.concatenate([half_linear, half_linear])
    else:
        factor = Fraction(1)
        total = exact.total(np.abs(linear)) + exact.total(np.abs(weights))
        charge = np.full(size, 2 * total, dtype=weights.dtype)
        doubled_edges = np.column_stack([edges[:, 0], edges[:, 1] + size])
        doubled_weights = weights
        doubled_linear = np.concatenate([linear, np.zeros_like(linear)])
    doubled = Qubo.from_edges(
        2 * size,
        np.concatenate([doubled_edges, np.column_stack([straight, straight + size])]),
        np.concatenate([doubled_weights, -2 * charge]),
        doubled_linear + np.concatenate([charge, charge]),
        problem.offset * (int(factor) if problem.is_integer else float(factor)),
    )
    reduction = Reduction(
        bits("QUBO", size),
        bits("bipartite QUBO", 2 * size),
        lambda values: np.concatenate([values, values], axis=-1),
        lambda values: _merge_copies(problem, values),
        factor,
        bijective=False,
    )
    return doubled, reduction


def _merge_copies(problem: Qubo, copies: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Merge the two copies of each variable into one value, without increasing the cost.

    If the copies differ, the variable starts half-way. Such variables then move one by one to the
    cheaper end. The penalties are at least what the multilinear extension gains half-way.
    """
    size = problem.num_variables
    merged = copies[..., :size].copy()
    rows, others = merged.reshape(-1, size), copies[..., size:].reshape(-1, size)
    torn = rows != others
    if not torn.any():
        return merged
    starts, partners, weights = _adjacency(problem)
    for k in np.flatnonzero(torn.any(axis=1)):
        doubled = rows[k].astype(np.int64) + others[k]  # 0, 1 or 2: twice the value
        for i in np.flatnonzero(torn[k]):
            beside = slice(starts[i], starts[i + 1])
            slope = 2 * problem.linear[i].item() + exact.total(
                weights[beside] * doubled[partners[beside]]
            )
            doubled[i] = 0 if slope > 0 else 2
        rows[k] = doubled // 2
    return merged


def _adjacency(problem: Qubo) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the QUBO's adjacency in compressed rows: row starts, neighbours and weights."""
    from glasshouse.kernels.adjacency import adjacency  # importing Numba is slow

    (weights,) = exact.room(problem.weights, factor=8)  # a slope is at most twice the weights
    starts, partners, ids = adjacency(problem.num_variables, problem.edges)
    return starts, partners, weights[ids]


def ising_to_rbm(
    problem: Ising,
    *,
    num_visible: int | None = None,
    hidden: npt.NDArray[np.bool_] | None = None,
) -> tuple[Rbm, Reduction]:
    """Convert a bipartite Ising problem to an RBM; its layers are the two sides of the graph.

    The lowest spin of every component is visible, so isolated spins are visible. `num_visible`
    makes the first spins visible instead, and undoes `rbm_to_ising` exactly; `hidden` marks the
    hidden spins one by one.

    >>> square = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)], [1, 1, 1, -1])
    >>> ising_to_rbm(square)[0].matrix.toarray()
    array([[ 1, -1], [ 1,  1]])
    """
    sides = sides_of(problem, num_visible=num_visible, hidden=hidden)
    rbm = rbm_of_sides(problem, sides)
    size = problem.num_variables
    reduction = Reduction(
        spins("Ising", size),
        spins("RBM", size),
        lambda state: state[..., sides.order],
        lambda state: state[..., sides.place],
    )
    return rbm, reduction


def rbm_to_ghost(problem: Rbm, *, free: bool = False) -> tuple[Rbm, Reduction]:
    """Replace biases by weights to two ghost spins, v_{n+1} and h_{m+1} (paper, "Ghost Spins").

    The ghosts are *fixed* at +1: states with other ghost values are meaningless. `free=True`
    couples the ghosts with min(Σ|a|, Σ|b|), which keeps them aligned at an optimum, shifts the
    energy by that much, and lets any solver of unbiased problems flip them.

    >>> from glasshouse.problems import Rbm
    >>> with_ghosts, reduction = rbm_to_ghost(Rbm([[2]], visible_bias=[1], hidden_bias=[-1]))
    >>> with_ghosts.matrix.toarray()
    array([[ 2,  1],
           [-1,  0]])
    >>> print(reduction)
    RBM → RBM with fixed ghosts: E_target = E_source
    """
    n, m = problem.num_visible, problem.num_hidden
    pairs, weights = problem.edges - np.array([0, n], dtype=np.int32), problem.weights
    a, b = problem.visible_bias, problem.hidden_bias
    on_visible, on_hidden = np.flatnonzero(a), np.flatnonzero(b)
    corner = min(exact.total(np.abs(a)), exact.total(np.abs(b))) if free else 0
    ghost_edges: list[npt.ArrayLike] = [
        pairs,
        np.column_stack([on_visible, np.full_like(on_visible, m)]),
        np.column_stack([np.full_like(on_hidden, n), on_hidden]),
        [[n, m]],
    ]
    ghost_weights = [weights, a[on_visible], b[on_hidden], np.array([corner], weights.dtype)]
    ghost = Rbm.from_edges(
        n + 1, m + 1, np.concatenate(ghost_edges), np.concatenate(ghost_weights),
        offset=problem.offset,
    )  # fmt: skip
    # If free ghosts disagree, follow the one with the stronger biases.
    leader = n if exact.total(np.abs(b)) > exact.total(np.abs(a)) else n + 1 + m
    reduction = Reduction(
        spins("RBM", n + m),
        spins("RBM with free ghosts" if free else "RBM with fixed ghosts", n + m + 2),
        lambda state: np.insert(state, [n, n + m], 1, axis=-1),
        lambda state: np.delete(state, [n, n + 1 + m], axis=-1) * state[..., [leader]],
        shift=-Fraction(corner) if problem.is_integer else -corner,
        bijective=False,
    )
    return ghost, reduction
