"""Linear equations modulo 2, stored as squares, and the number of their solutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.flat_cycles import node_values
from glasshouse.planting.counting import GroundStates, count_ground_states
from glasshouse.planting.kernels import gf2
from glasshouse.problems import Polynomial, validation

if TYPE_CHECKING:
    from glasshouse.planting.planted import Planted

# With three equations per variable, this takes a second and 60 MB; 100,000 take ten seconds.
_MOST = 50_000


def count_solutions(planted: Planted, most: int = _MOST) -> GroundStates:
    """Count the ground states of 3-XORSAT by Gaussian elimination over GF(2).

    Only the squares are examined: for each equation (±s1 ±s2 ±s3 ±1 ±2z)², where z is in no other
    square, which is zero for one value of s1·s2·s3 and one z. In a polynomial, the squares
    (±s1·s2·s3 ±1)² express the same equations. If all squares of a plant are such equations, and
    are zero in the planted state, the ground states are the solutions: 2^(variables - rank) in all.
    The ground states of any other plant are counted by `count_ground_states`.

    Args:
        planted: a plant; its certificate must be valid (`Planted.verify`).
        most: the largest number of variables or equations that is counted.

    >>> from glasshouse.planting import xorsat
    >>> print(count_solutions(xorsat(24, rng=1)))
    2 (proven: 23 of 24 equations are independent)
    """
    most = validation.count(most, "most")
    is_native = isinstance(planted.problem, Polynomial)
    rows = product_rows(planted) if is_native else equation_rows(planted)
    if rows is None:
        return count_ground_states(planted)
    variables = planted.problem.num_variables - (0 if is_native else len(rows))
    equations = len(rows)
    if max(variables, equations) > most:
        reason = (
            f"{variables} variables in {equations} equations: the rank is computed only for "
            f"at most {most} of each; pass a larger `most` to count_solutions"
        )
        return GroundStates(2 ** max(0, variables - equations), False, reason)
    log2 = free_variables(rows, variables)
    reason = f"proven: {variables - log2} of {equations} equations are independent"
    return GroundStates(2**log2, True, reason)


def equation_rows(planted: Planted) -> npt.NDArray[np.int32] | None:
    """Return each equation's variables, renumbered without auxiliaries; None for other squares."""
    squares, size = planted.squares, planted.problem.num_variables
    if planted.loops or not squares or (squares.lengths != 5).any():
        return None
    nodes, factors = squares.nodes.reshape(-1, 5), squares.coefficients.reshape(-1, 5)
    magnitudes = np.abs(factors)
    # Nodes are sorted, so the ghost is the last.
    is_own = magnitudes[:, :4] == 2
    expected = (nodes[:, 4] == size) & (magnitudes[:, 4] == 1) & (is_own.sum(axis=1) == 1)
    if not (expected & (magnitudes.sum(axis=1) == 6)).all():
        return None
    helpers = nodes[:, :4][is_own]
    if (np.bincount(squares.nodes)[helpers] != 1).any():
        return None
    spins = np.append(planted.state, np.int8(1)).astype(np.int64)
    if (factors * spins[nodes]).sum(axis=1).any():
        return None
    is_variable = np.ones(size, dtype=np.bool_)
    is_variable[helpers] = False
    names = np.cumsum(is_variable, dtype=np.int32) - np.int32(1)
    rows: npt.NDArray[np.int32] = names[nodes[:, :4][~is_own].reshape(-1, 3)]
    return rows


def product_rows(planted: Planted) -> npt.NDArray[np.int32] | None:
    """Return the spins of a polynomial's equations; None unless all equations have 3 spins."""
    squares, table, size = planted.squares, planted.monomials, planted.problem.num_variables
    if not squares or (squares.lengths != 2).any() or (table.degrees != 3).any():
        return None
    nodes = squares.nodes.reshape(-1, 2)
    values = node_values(planted.state, table)[squares.nodes] * squares.coefficients
    is_product = (nodes[:, 0] == size) & (nodes[:, 1] > size)  # the ghost comes first
    if not is_product.all() or values.reshape(-1, 2).sum(axis=1).any():
        return None
    return table.indices.reshape(-1, 3)[nodes[:, 1] - size - 1]


def free_variables(rows: npt.NDArray[np.int32], variables: int) -> int:
    """Return the number of variables that no equation determines: all variables minus the rank.

    Args:
        rows: the variables of each equation, distinct; one row per equation.
        variables: the number of variables.

    >>> free_variables(np.array([[0, 1, 2], [0, 1, 3], [2, 3, 4]], dtype=np.int32), 5)
    2
    """
    places = np.argsort(rows.reshape(-1), kind="stable") // rows.shape[1]
    counts = np.bincount(rows.reshape(-1), minlength=variables)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    order, reason = gf2.solving_order(rows, starts, places.astype(np.int32))
    known = int((reason < 0).sum())
    return known - int(gf2.rank(gf2.remaining_equations(rows, order, reason, known)))
