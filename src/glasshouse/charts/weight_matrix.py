"""A problem's weights as a matrix for figures, summed over blocks if it is too large."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import Ising, Rbm

Floats = npt.NDArray[np.float64]


def shape_of(problem: Rbm | Ising) -> tuple[int, int]:
    """Return the shape of the weight matrix: visible × hidden for an RBM, otherwise spins × spins.

    >>> shape_of(Rbm([[1, 2, 3]])), shape_of(Ising.from_edges(3, [(0, 1)], [1]))
    ((1, 3), (3, 3))
    """
    if isinstance(problem, Rbm):
        return problem.num_visible, problem.num_hidden
    return problem.num_variables, problem.num_variables


def entries_of(problem: Rbm | Ising) -> tuple[Any, Any, Any]:
    """Return rows, columns and values of all non-zero weights; couplings appear in both halves."""
    from scipy.sparse import coo_array

    if isinstance(problem, Rbm):
        entries = coo_array(problem.matrix)
        (rows, columns), values = entries.coords, entries.data
    else:
        rows, columns = np.concatenate([problem.edges, problem.edges[:, ::-1]]).T
        values = np.concatenate([problem.weights, problem.weights])
    return rows, columns, values


def pixels_of(problem: Rbm | Ising, most: int) -> tuple[Floats, int]:
    """Return the weight matrix, summed over square blocks if large, and the side of a block.

    >>> pixels_of(Rbm([[1, 2], [3, 4]]), 1)
    (array([[10.]]), 2)
    """
    n, m = shape_of(problem)
    step = -(-max(n, m) // most)
    rows, columns, values = entries_of(problem)
    pixels = np.zeros((-(-n // step), -(-m // step)))
    np.add.at(pixels, (rows // step, columns // step), values)
    return pixels, step


def loop_cells(nodes: npt.ArrayLike, num_visible: int | None) -> list[tuple[int, int]]:
    """Return the cells (row, column) of a loop's edges, in order; the negative edge is last.

    Args:
        nodes: the nodes of the loop; none may be a ghost.
        num_visible: the visible spins of an RBM, whose columns are hidden; None for all spins.

    >>> loop_cells([0, 2, 1, 3], 2)
    [(0, 0), (1, 0), (1, 1), (0, 1)]
    """
    path = [int(node) for node in np.asarray(nodes)]
    pairs = zip(path, path[1:] + path[:1], strict=True)
    shift = 0 if num_visible is None else num_visible
    return [(min(a, b), max(a, b) - shift) for a, b in pairs]
